// Follows a plan that `tinct graph --emit` wrote, with nothing but WebGPU: in browsers, Deno, or node with a package that
// has WebGPU. docs/emit.md describes plans.

const VERSION = 6;

export class Program {
    // `wgsl` maps the names of the plan's files to their texts. Throws where the plan or a kernel does not fit.
    static async make(device, plan, wgsl) {
        if (plan.format !== "tinct plan" || plan.version !== VERSION) {
            throw new Error(`expected a tinct plan of version ${VERSION}`);
        }
        const program = new Program(device, plan);
        program.wgsl = wgsl;
        program.pipelines = await Promise.all(plan.kernels.map((kernel) => program.pipelineOf(kernel, wgsl)));
        return program;
    }

    constructor(device, plan) {
        this.device = device;
        this.plan = plan;
        this.buffers = plan.buffers.map((described) => this.made(described));
    }

    // A buffer, or what a plan has in its place.
    made({ size, usage, texture, sampler }) {
        const bits = (names) => usage.reduce((sum, name) => sum | names[name], 0);
        if (sampler) return this.device.createSampler(sampler);
        if (!texture) return this.device.createBuffer({ size, usage: bits(GPUBufferUsage) });
        const { format, size: extent, viewDimension, levels, samples = 1 } = texture;
        const dimension = ["1d", "3d"].includes(viewDimension) ? viewDimension : "2d";
        return this.device.createTexture({
            size: extent, mipLevelCount: levels, sampleCount: samples, dimension, format, usage: bits(GPUTextureUsage) });
    }

    async pipelineOf({ file, entry, bindings }, wgsl) {
        const groups = Math.max(...bindings.map(({ group }) => group)) + 1;
        const layouts = Array.from({ length: groups }, (_, wanted) => this.device.createBindGroupLayout({
            entries: bindings.filter(({ group }) => group === wanted)
                .map(({ binding, type, texture, storageTexture, sampler }) => ({
                    binding, visibility: GPUShaderStage.COMPUTE,
                    ...(type ? { buffer: { type } } : { texture, storageTexture, sampler }),
                })),
        }));
        const module = this.device.createShaderModule({ code: wgsl[file], label: file });
        const pipeline = await this.device.createComputePipelineAsync({
            layout: this.device.createPipelineLayout({ bindGroupLayouts: layouts }),
            compute: { module, entryPoint: entry },
        });
        return { pipeline, layouts };
    }

    // Executes the plan, `repeat` times if outputs become inputs. `inputs` maps names to bytes, as WGSL lays them out;
    // so does the result for outputs.
    async run(inputs, { repeat = 1 } = {}) {
        if (repeat > 1 && this.plan.feeds.length === 0) {
            throw new Error("the plan is for one execution: no output becomes an input");
        }
        this.order = this.buffers.map((_, number) => number);
        this.write(inputs);
        const encoder = this.device.createCommandEncoder();
        for (let turn = 0; turn < repeat; turn++) {
            if (turn > 0) this.rotate();
            for (const step of this.plan.steps) this.encode(encoder, step);
        }
        const errors = this.plan.errors.map((error) => this.stage(encoder, { ...error, size: 16 }));
        const staged = this.plan.outputs.map((output) => this.stage(encoder, output));
        this.device.queue.submit([encoder.finish()]);
        for (const [, bytes] of await Promise.all(errors.map((error) => error()))) this.checkError(bytes);
        return Object.fromEntries(await Promise.all(staged.map((output) => output())));
    }

    // Throws if a dispatch had more invocations than it may have, or a number could not be computed: nothing ran then.
    checkError(bytes) {
        const [number, ...words] = new Uint32Array(bytes.buffer, bytes.byteOffset, 4);
        if (number === 0) return;
        const { node, indirect, computes } = this.plan.steps.find(({ indirect, computes }) =>
            (indirect ?? computes)?.number === number - 1);
        if (computes) throw new Error(`node ${node}: ${failure(computes.text, words)}`);
        throw new Error(`node ${node}: ${words.join(" x ")} invocations are refused; its capacity is ${indirect.capacity}`);
    }

    // The buffer that has this number in the plan, in the current execution.
    buffer(number) {
        return this.buffers[this.order[number]];
    }

    rotate() {
        const before = [...this.order];
        for (const rotation of this.plan.rotations) {
            rotation.forEach((one, place) => {
                this.order[rotation[(place + 1) % rotation.length]] = before[one];
            });
        }
    }

    write(inputs) {
        const { queue } = this.device;
        for (const { name, size, writes } of this.plan.inputs) {
            if (inputs[name]?.byteLength !== size) throw new Error(`input ${name} takes ${size} bytes`);
            const bytes = bytesOf(inputs[name]);
            for (const { buffer, offset } of writes) {
                const { texture } = this.plan.buffers[buffer];
                if (texture?.draw) this.drawTexture(this.buffer(buffer), texture, bytes);
                else if (texture) this.writeTexture(this.buffer(buffer), texture, bytes);
                else queue.writeBuffer(this.buffer(buffer), offset, padded(bytes));
            }
        }
        for (const { buffer, offset, data, pieces } of this.plan.constants) {
            const bytes = Uint8Array.from(data.match(/../g) ?? [], (pair) => parseInt(pair, 16));
            for (const piece of pieces) {
                bytes.set(bytesOf(inputs[piece.input]).subarray(piece.start, piece.start + piece.size), piece.offset);
            }
            queue.writeBuffer(this.buffer(buffer), offset, padded(bytes));
        }
        this.checkFacts(inputs);
    }

    writeTexture(texture, described, bytes) {
        for (const { mipLevel, size, texels } of levelsOf(described, bytes)) {
            const layout = { bytesPerRow: size[0] * described.texelBytes, rowsPerImage: size[1] };
            this.device.queue.writeTexture({ texture, mipLevel }, texels, layout, size);
        }
    }

    // Draws each layer of each level: WebGPU copies no texels into a texture of depths or with several samples.
    drawTexture(texture, described, bytes) {
        for (const { mipLevel, size: [width, , layers], texels } of levelsOf(described, bytes)) {
            const pipeline = this.drawingPipeline(described, width);
            const length = texels.byteLength / layers;
            for (let layer = 0; layer < layers; layer++) {
                const view = texture.createView({
                    dimension: "2d", baseMipLevel: mipLevel, mipLevelCount: 1, baseArrayLayer: layer, arrayLayerCount: 1 });
                this.draw(pipeline, described, view, texels.subarray(layer * length, (layer + 1) * length));
            }
        }
    }

    drawingPipeline({ format, draw, samples = 1 }, width) {
        const { device } = this;
        const module = device.createShaderModule({ code: this.wgsl[draw.file], label: draw.file });
        const isDepth = format.startsWith("depth");
        return device.createRenderPipeline({
            layout: "auto",
            vertex: { module, entryPoint: draw.vertex },
            fragment: { module, entryPoint: draw.fragment, constants: { width }, targets: isDepth ? [] : [{ format }] },
            ...(isDepth ? { depthStencil: { format, depthWriteEnabled: true, depthCompare: "always" } } : {}),
            multisample: { count: samples },
        });
    }

    draw(pipeline, { format, samples = 1 }, view, texels) {
        const { device } = this;
        const buffer = device.createBuffer({
            size: texels.byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
        device.queue.writeBuffer(buffer, 0, texels);
        const colour = { view, loadOp: "clear", storeOp: "store" };
        const depth = { view, depthLoadOp: "clear", depthClearValue: 0, depthStoreOp: "store" };
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginRenderPass(format.startsWith("depth")
            ? { colorAttachments: [], depthStencilAttachment: depth } : { colorAttachments: [colour] });
        pass.setPipeline(pipeline);
        const layout = pipeline.getBindGroupLayout(0);
        pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }));
        pass.draw(3, samples);
        pass.end();
        device.queue.submit([encoder.finish()]);
        buffer.destroy();
    }

    // What a dispatch binds.
    resource({ buffer, offset, size }) {
        const { texture, sampler } = this.plan.buffers[buffer];
        if (texture) return this.buffer(buffer).createView({ dimension: texture.viewDimension });
        return sampler ? this.buffer(buffer) : { buffer: this.buffer(buffer), offset, size };
    }

    // The plan's numbers hold for these values of inputs only.
    checkFacts(inputs) {
        for (const { input, start, type, value } of this.plan.facts) {
            const bytes = bytesOf(inputs[input]);
            const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            const found = type === "i32" ? view.getInt32(start, true) : view.getUint32(start, true);
            if (found !== value) throw new Error(`the plan is for a ${input} that has ${value}, not ${found}`);
        }
    }

    encode(encoder, step) {
        switch (step.do) {
            case "clear":
                encoder.clearBuffer(this.buffer(step.buffer), step.offset, step.size);
                break;
            case "copy":
                encoder.copyBufferToBuffer(
                    this.buffer(step.source.buffer), step.source.offset,
                    this.buffer(step.target.buffer), step.target.offset, step.size);
                break;
            case "copy-texture":
                encoder.copyTextureToTexture(
                    { texture: this.buffer(step.source.buffer) }, { texture: this.buffer(step.target.buffer) }, step.size);
                break;
            case "dispatch":
                this.dispatch(encoder, step);
                break;
            default:
                throw new Error(`unknown step ${step.do}`);
        }
    }

    dispatch(encoder, { node, kernel, workgroups, indirect, bindings }) {
        const { pipeline, layouts } = this.pipelines[kernel];
        const pass = encoder.beginComputePass({ label: node });
        pass.setPipeline(pipeline);
        layouts.forEach((layout, wanted) => {
            const entries = bindings.filter(({ group }) => group === wanted)
                .map((bound) => ({ binding: bound.binding, resource: this.resource(bound) }));
            pass.setBindGroup(wanted, this.device.createBindGroup({ layout, entries }));
        });
        if (indirect) {
            pass.dispatchWorkgroupsIndirect(this.buffer(indirect.buffer), indirect.offset);
        } else {
            pass.dispatchWorkgroups(...workgroups);
        }
        pass.end();
    }

    // Copies an output to where the processor can read it; the result reads it.
    stage(encoder, { name, buffer, offset, size, bytesPerRow, rowsPerImage }) {
        const { texture } = this.plan.buffers[buffer];
        const rows = texture ? rowsPerImage * texture.size[2] : 1;
        const length = texture ? bytesPerRow * rows : Math.max(Math.ceil(size / 4) * 4, 4);
        const room = this.device.createBuffer({ size: length, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
        if (texture) {
            encoder.copyTextureToBuffer(
                { texture: this.buffer(buffer) }, { buffer: room, bytesPerRow, rowsPerImage }, texture.size);
        } else if (size > 0) {
            encoder.copyBufferToBuffer(this.buffer(buffer), offset, room, 0, length);
        }
        return async () => {
            await room.mapAsync(GPUMapMode.READ);
            const bytes = withoutPadding(new Uint8Array(room.getMappedRange()), rows, size / rows);
            room.destroy();
            return [name, bytes];
        };
    }
}

// The texels of each level: one after the other, without space between rows.
function* levelsOf({ viewDimension, size: [width, height, depth], levels, texelBytes }, bytes) {
    let start = 0;
    for (let mipLevel = 0; mipLevel < levels; mipLevel++) {
        const layers = viewDimension === "3d" ? Math.max(1, depth >> mipLevel) : depth;
        const size = [Math.max(1, width >> mipLevel), Math.max(1, height >> mipLevel), layers];
        const end = start + size[0] * size[1] * size[2] * texelBytes;
        yield { mipLevel, size, texels: bytes.subarray(start, end) };
        start = end;
    }
}

// The first bytes of each row.
function withoutPadding(padded, rows, length) {
    const bytes = new Uint8Array(rows * length);
    const step = padded.length / rows;
    for (let row = 0; row < rows; row++) bytes.set(padded.subarray(row * step, row * step + length), row * length);
    return bytes;
}

// What has failed of a computation.
function failure(text, [reason, low, high]) {
    if (reason % 256 === 1) return `${text} divides by zero`;
    if (reason % 256 === 2) return `${text} has more than 64 bits`;
    const size = (BigInt(high) << 32n) | BigInt(low);
    return `${text} is ${reason >= 256 ? -size : size}, which does not fit`;
}

function bytesOf(data) {
    return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

// `writeBuffer` takes multiples of four bytes.
function padded(bytes) {
    if (bytes.byteLength % 4 === 0) return bytes;
    const whole = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
    whole.set(bytes);
    return whole;
}
