// Runs an emitted graph: node run.mjs FOLDER [EXECUTIONS]. Inputs are FOLDER/inputs/NAME.bin, outputs are written to
// FOLDER/outputs/NAME.bin. WebGPU is navigator.gpu (Deno), or the npm package `webgpu`, which is Dawn.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Program } from "./plan.mjs";

async function webgpu() {
    if (globalThis.navigator?.gpu) return navigator.gpu;
    const { create, globals } = await import("webgpu");
    Object.assign(globalThis, globals);
    return create([]);
}

async function main(gpu, folder, executions) {
    const plan = JSON.parse(await readFile(join(folder, "plan.json"), "utf8"));
    const adapter = await gpu.requestAdapter();
    if (!adapter) throw new Error("there is no GPU that WebGPU can use");
    const device = await adapter.requestDevice({ requiredFeatures: plan.features, requiredLimits: plan.limits });
    device.addEventListener("uncapturederror", ({ error }) => {
        throw error;
    });
    const wgsl = {}, inputs = {};
    const drawn = plan.buffers.flatMap(({ texture }) => texture?.draw ?? []);
    for (const { file } of [...plan.kernels, ...drawn]) wgsl[file] = await readFile(join(folder, file), "utf8");
    for (const { name } of plan.inputs) inputs[name] = await readFile(join(folder, "inputs", `${name}.bin`));
    const program = await Program.make(device, plan, wgsl);
    const outputs = await program.run(inputs, { repeat: executions });
    await mkdir(join(folder, "outputs"), { recursive: true });
    for (const { name, type } of plan.outputs) {
        await writeFile(join(folder, "outputs", `${name}.bin`), outputs[name]);
        console.log(`${name}: ${type}, ${outputs[name].byteLength} bytes`);
    }
}

const [folder, executions = "1"] = process.argv.slice(2);
const gpu = await webgpu(); // Dawn ends with this object
await main(gpu, folder, Number(executions));
process.exit(0);
