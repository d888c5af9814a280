// Follows a plan by plan.mjs on a WebGPU that computes nothing: node recorded_plan.mjs PLAN_MJS FOLDER EXECUTIONS [ERROR].
// Copies and clears are done; dispatches and draws are only recorded. ERROR, four numbers in JSON, is written to the plan's error
// buffers by the first dispatch. Prints what was recorded as JSON, or the message of what was thrown.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const flags = (...names) => Object.fromEntries(names.map((name, bit) => [name, 1 << bit]));
globalThis.GPUBufferUsage = flags(
    "MAP_READ", "MAP_WRITE", "COPY_SRC", "COPY_DST", "INDEX", "VERTEX", "UNIFORM", "STORAGE", "INDIRECT");
globalThis.GPUTextureUsage = flags("COPY_SRC", "COPY_DST", "TEXTURE_BINDING", "STORAGE_BINDING", "RENDER_ATTACHMENT");
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

const TEXEL_BYTES = { r32: 4, rgba8: 4, rgba16: 8, rgba32: 16, depth32: 4 };

class FakeTexture {
    constructor({ size, mipLevelCount, sampleCount, dimension, format, usage }) {
        check(mipLevelCount >= 1 && [1, 4].includes(sampleCount) && ["1d", "2d", "3d"].includes(dimension), "a texture");
        const texelBytes = TEXEL_BYTES[format.match(/^[a-z]+\d+/)[0]];
        const levels = Array.from({ length: mipLevelCount }, () => []);
        Object.assign(this, { size, format, usage, dimension, sampleCount, texelBytes, levels });
    }
    need(usage) {
        check(this.usage & usage, `a texture without usage ${usage}`);
        return this;
    }
    createView(described) {
        return { texture: this, ...described };
    }
    // The rows of a level, which a copy or a write gives.
    rows(level, [width, height, depth]) {
        const length = width * this.texelBytes;
        const rows = this.levels[level];
        while (rows.length < height * depth) rows.push(new Uint8Array(length));
        return rows;
    }
    write(level, bytes, { bytesPerRow, rowsPerImage }, size) {
        check(!this.format.startsWith("depth") && this.sampleCount === 1, "texels for a texture that takes none");
        check(rowsPerImage === size[1] && bytes.length === bytesPerRow * size[1] * size[2], `${bytes.length} bytes`);
        this.need(GPUTextureUsage.COPY_DST).rows(level, size).forEach(
            (row, number) => row.set(bytes.subarray(number * bytesPerRow, number * bytesPerRow + row.length)));
    }
}

const [module, folder, executions, error] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(join(folder, "plan.json"), "utf8"));
const recorded = [];
let program;

function dispatched(label, bound, workgroups) {
    for (const it of recorded.length === 0 && error ? plan.errors : []) {
        program.buffer(it.buffer).bytes.set(new Uint8Array(new Uint32Array(JSON.parse(error)).buffer), it.offset);
    }
    recorded.push({ label, workgroups, bound: bound.map((resource) => {
        if (resource === SAMPLER) return "sampler";
        const { buffer, texture, offset, size } = resource;
        if (texture) {
            texture.need(GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.STORAGE_BINDING);
            return ["texture", program.buffers.indexOf(texture), resource.dimension];
        }
        buffer.part(offset, size, GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM);
        check(offset % 256 === 0, `an offset of ${offset}`);
        return [program.buffers.indexOf(buffer), offset, size];
    }) });
}

const SAMPLER = {};
const device = {
    createSampler: () => SAMPLER,
    createTexture: (options) => new FakeTexture(options),
    createRenderPipeline: ({ fragment, depthStencil, multisample }) => {
        check(["corner", "draw"].includes(fragment.entryPoint) && fragment.constants.width > 0, "a pipeline");
        check((fragment.targets.length === 0) === (depthStencil !== undefined), "targets");
        return { samples: multisample.count, width: fragment.constants.width, getBindGroupLayout: () => [{ binding: 0 }] };
    },
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
        writeTexture: ({ texture, mipLevel }, bytes, layout, size) => texture.write(mipLevel, bytes, layout, size),
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
            copyTextureToTexture: ({ texture: source }, { texture: target }, size) => commands.push(() => {
                check(source.format === target.format && source.size.join() === size.join(), "textures that differ");
                const copied = source.need(GPUTextureUsage.COPY_SRC).rows(0, size);
                target.need(GPUTextureUsage.COPY_DST).rows(0, size).forEach((row, number) => row.set(copied[number]));
            }),
            copyTextureToBuffer: ({ texture }, { buffer, bytesPerRow, rowsPerImage }, size) => commands.push(() => {
                check(bytesPerRow % 256 === 0 && rowsPerImage >= size[1], `rows of ${bytesPerRow} bytes`);
                texture.need(GPUTextureUsage.COPY_SRC).rows(0, size).forEach(
                    (row, number) => buffer.part(number * bytesPerRow, bytesPerRow, GPUBufferUsage.COPY_DST).set(row));
            }),
            beginRenderPass: ({ colorAttachments, depthStencilAttachment }) => {
                const { view } = depthStencilAttachment ?? colorAttachments[0];
                const drawn = {};
                view.texture.need(GPUTextureUsage.RENDER_ATTACHMENT);
                return {
                    setPipeline: ({ samples, width }) => Object.assign(drawn, { samples, width }),
                    setBindGroup: (_, [{ buffer }]) => (drawn.bytes = [...buffer.bytes]),
                    draw(vertices, instances) {
                        check(vertices === 3 && instances === drawn.samples, `${vertices}, ${instances}`);
                        const { baseMipLevel, baseArrayLayer, texture } = view;
                        recorded.push({ draws: program.buffers.indexOf(texture), baseMipLevel, baseArrayLayer, ...drawn });
                    },
                    end() {},
                };
            },
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
const drawn = plan.buffers.flatMap(({ texture }) => texture?.draw ?? []);
const wgsl = Object.fromEntries([...plan.kernels, ...drawn].map(({ file }) => [file, read(file).toString()]));
const inputs = Object.fromEntries(plan.inputs.map(({ name }) => [name, read(join("inputs", `${name}.bin`))]));
try {
    program = await Program.make(device, plan, wgsl);
    const outputs = await program.run(inputs, { repeat: Number(executions) });
    const sizes = Object.fromEntries(Object.entries(outputs).map(([name, bytes]) => [name, bytes.length]));
    const bytes = Object.fromEntries(Object.entries(outputs).map(([name, bytes]) => [name, [...bytes]]));
    console.log(JSON.stringify({ dispatches: recorded, outputs: sizes, bytes }));
} catch ({ message }) {
    console.log(JSON.stringify({ thrown: message }));
}
