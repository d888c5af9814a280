"""`python -m benchmarks.sampling`: bilinear sampling of a 2048² picture, on the CPU and on the GPU that wgpu finds.

A turned picture is written as packed bytes to a storage buffer, from rgba8unorm and from rgba32float. Rounds are
interleaved. Beside wall time stand the seconds of all processors, which other processes disturb less; a software GPU
runs in this process. Times leave out packing, uploading and compiling.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import wgpu
from rich.console import Console
from rich.table import Table

import tinct
from tinct.backend.cpu.aligned import aligned_zeros
from tinct.buffers import pack_buffers
from tinct.dispatch import handle_facts
from tinct.ir.source import Source
from tinct.shader import Shader

SIZE = 2048
WGSL = f"""
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let p = (vec2f(id.xy) + 0.5) / {SIZE}.0;
    let at = vec2f(p.x * 0.9 - p.y * 0.1 + 0.05, p.x * 0.1 + p.y * 0.9);
    out[id.y * {SIZE}u + id.x] = pack4x8unorm(textureSampleLevel(picture, linear, at, 0.0));
}}
"""
WORKGROUPS = SIZE // 64, SIZE, 1
FORMATS = {"uint8": "rgba8unorm", "float32": "rgba32float"}
Pixels = npt.NDArray[np.uint8]


def ours(picture: npt.NDArray[Any]) -> tuple[Callable[[], object], Callable[[], Pixels]]:
    """The dispatch on the CPU, and its result."""
    kernel = Shader(Source.from_text(WGSL)).kernel()
    sampler = tinct.Sampler(mag_filter="linear", min_filter="linear")
    values = {"picture": picture, "linear": sampler, "out": np.zeros(SIZE * SIZE, np.uint32)}
    packed = pack_buffers(kernel.bindings, values, "compact")
    code = kernel.compilation().suited_to(handle_facts(kernel.bindings, packed)).cpu
    buffers = {point: _aligned(data) for point, data in packed.items()}
    bound = code.bind([buffers[slot.point] for slot in code.slots], WORKGROUPS)
    out = buffers[code.slots[-1].point]
    return bound.run, lambda: np.frombuffer(out, np.uint8)


def _aligned(data: bytearray) -> Pixels:
    copy = aligned_zeros(len(data))
    copy[:] = np.frombuffer(data, np.uint8)
    return copy


def theirs(picture: npt.NDArray[Any]) -> tuple[Callable[[], object], Callable[[], Pixels]]:
    """The dispatch on the GPU, with the wait for its end, and its result."""
    is_float = picture.dtype == np.float32
    adapter: Any = wgpu.gpu.request_adapter_sync()
    device: Any = adapter.request_device_sync(required_features=["float32-filterable"] if is_float else [])
    usage = wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_DST
    texture = device.create_texture(size=(SIZE, SIZE, 1), format=FORMATS[picture.dtype.name], usage=usage)
    layout = {"bytes_per_row": picture.strides[0], "rows_per_image": SIZE, "offset": 0}
    device.queue.write_texture({"texture": texture}, picture, layout, (SIZE, SIZE, 1))
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    out = device.create_buffer(size=4 * SIZE * SIZE, usage=usage)
    shown: dict[str, Any] = {"visibility": wgpu.ShaderStage.COMPUTE}
    bindings = device.create_bind_group_layout(
        entries=[
            {"binding": 0, "texture": {"sample_type": "float"}} | shown,
            {"binding": 1, "sampler": {"type": "filtering"}} | shown,
            {"binding": 2, "buffer": {"type": "storage"}} | shown,
        ]
    )
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[bindings]),
        compute={"module": device.create_shader_module(code=WGSL), "entry_point": "main"},
    )
    resources = [texture.create_view(), device.create_sampler(mag_filter="linear", min_filter="linear"), out]
    entries = [{"binding": number, "resource": it} for number, it in enumerate(resources)]
    group = device.create_bind_group(layout=bindings, entries=entries)

    def run() -> None:
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*WORKGROUPS)
        compute.end()
        device.queue.submit([encoder.finish()])
        device.queue.read_buffer(out, 0, 4)

    return run, lambda: np.frombuffer(device.queue.read_buffer(out), np.uint8)


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """Wall time, and the time of all processors."""
    wall, processors = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - processors


@click.command(help=__doc__)
@click.option("--rounds", default=9, show_default=True)
def main(rounds: int) -> None:
    """Measure both formats."""
    table = Table("format", "peer", "wall ms", "processor ms", "ratio to ours, processor time")
    random = np.random.default_rng(0).integers(0, 256, (SIZE, SIZE, 4), dtype=np.uint8)
    for picture in (random, random.astype(np.float32) / np.float32(255)):
        peers = {"tinct": ours(picture), "wgpu": theirs(picture)}
        for run, _ in peers.values():
            run()
        first, second = (result().astype(np.int32) for _, result in peers.values())
        difference = int(np.abs(first - second).max())
        if difference > 2:
            raise click.ClickException(f"results differ by {difference} of 255")
        times = [{name: seconds(run) for name, (run, _) in peers.items()} for _ in range(rounds)]
        base = median(it["tinct"][1] for it in times)
        for name in peers:
            wall, processors = (median(it[name][part] for it in times) for part in (0, 1))
            cells = f"{wall * 1e3:.1f}", f"{processors * 1e3:.1f}", f"{processors / base:.2f}"
            table.add_row(FORMATS[picture.dtype.name], name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
