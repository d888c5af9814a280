// Follows a plan by plan.mjs on a WebGPU that computes nothing: node recorded_plan.mjs PLAN_MJS FOLDER EXECUTIONS [ERROR].
// Copies and clears are done; dispatches are only recorded. ERROR, four numbers in JSON, is written to the plan's error
// buffers by the first dispatch. Prints what was recorded as JSON, or the message of what was thrown.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const flags = (...names) => Object.fromEntries(names.map((name, bit) => [name, 1 << bit]));
globalThis.GPUBufferUsage = flags(
    "MAP_READ", "MAP_WRITE", "COPY_SRC", "COPY_DST", "INDEX", "VERTEX", "UNIFORM", "STORAGE", "INDIRECT");
globalThis.GPUShaderStage = flags("VERTEX", "FRAGMENT", "COMPUTE");
globalThis.GPUMapMode = flags("READ", "WRITE");

function check(is, message) {
    if (!is) throw new Error(`WebGPU: ${message}`);
}

class FakeBuffer {
    constructor({ size, usage }) {
        check(size > 0 && size % 4 === 0, `a buffer of ${size} bytes`);
        Object.assign(this, { bytes: new Uint8Array(size), usage });
    }
    part(offset, size, usage) {
        check(offset % 4 === 0 && size % 4 === 0 && offset + size <= this.bytes.length, `${offset}, ${size}`);
        check(this.usage & usage, `a buffer without usage ${usage}`);
        return this.bytes.subarray(offset, offset + size);
    }
    async mapAsync() {}
    getMappedRange() {
        return this.bytes.buffer;
    }
    destroy() {}
}

const [module, folder, executions, error] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(join(folder, "plan.json"), "utf8"));
const recorded = [];
let program;

function dispatched(label, bound, workgroups) {
    for (const it of recorded.length === 0 && error ? plan.errors : []) {
        program.buffer(it.buffer).bytes.set(new Uint8Array(new Uint32Array(JSON.parse(error)).buffer), it.offset);
    }
    recorded.push({ label, workgroups, bound: bound.map(({ buffer, offset, size }) => {
        buffer.part(offset, size, GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM);
        check(offset % 256 === 0, `an offset of ${offset}`);
        return [program.buffers.indexOf(buffer), offset, size];
    }) });
}

const device = {
    createBuffer: (options) => new FakeBuffer(options),
    createBindGroupLayout: ({ entries }) => entries,
    createShaderModule: ({ code }) => check(code.includes("fn "), "no code"),
    createPipelineLayout: ({ bindGroupLayouts }) => bindGroupLayouts,
    createComputePipelineAsync: async ({ compute }) => compute.entryPoint,
    createBindGroup: ({ layout, entries }) => {
        check(JSON.stringify(layout.map(({ binding }) => binding)) === JSON.stringify(entries.map(({ binding }) => binding)),
            "a bind group that does not fit its layout");
        return entries.map(({ resource }) => resource);
    },
    queue: {
        writeBuffer: (buffer, offset, data) => buffer.part(offset, data.byteLength, GPUBufferUsage.COPY_DST).set(data),
        submit: (commands) => commands.flat().forEach((command) => command()),
    },
    createCommandEncoder: () => {
        const commands = [];
        return {
            clearBuffer: (buffer, offset, size) =>
                commands.push(() => buffer.part(offset, size, GPUBufferUsage.COPY_DST).fill(0)),
            copyBufferToBuffer: (source, start, target, at, size) => commands.push(() =>
                target.part(at, size, GPUBufferUsage.COPY_DST).set(source.part(start, size, GPUBufferUsage.COPY_SRC))),
            beginComputePass: ({ label }) => {
                const groups = [];
                return {
                    setPipeline() {},
                    setBindGroup: (number, group) => (groups[number] = group),
                    dispatchWorkgroups: (...counts) => commands.push(() => dispatched(label, groups.flat(), counts)),
                    dispatchWorkgroupsIndirect: (buffer, offset) => commands.push(() => {
                        buffer.part(offset, 12, GPUBufferUsage.INDIRECT);
                        dispatched(label, groups.flat(), "indirect");
                    }),
                    end() {},
                };
            },
            finish: () => commands,
        };
    },
};

const { Program } = await import(module);
const read = (name) => readFileSync(join(folder, name));
const wgsl = Object.fromEntries(plan.kernels.map(({ file }) => [file, read(file).toString()]));
const inputs = Object.fromEntries(plan.inputs.map(({ name }) => [name, read(join("inputs", `${name}.bin`))]));
try {
    program = await Program.make(device, plan, wgsl);
    const outputs = await program.run(inputs, { repeat: Number(executions) });
    const sizes = Object.fromEntries(Object.entries(outputs).map(([name, bytes]) => [name, bytes.length]));
    console.log(JSON.stringify({ dispatches: recorded, outputs: sizes }));
} catch ({ message }) {
    console.log(JSON.stringify({ thrown: message }));
}
