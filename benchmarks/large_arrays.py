"""`python -m benchmarks.large_arrays`: `Kernel.run` on arrays of some sizes, which stay as they are, with a new result.

The kernel is y + 2 x. On the CPU, NumPy and Numba make a new array, too; "dispatch alone" works on the buffers of a
session. On the GPU, wgpu-py by hand makes both buffers, dispatches and reads the result, with a pipeline that is made
before. All peers run by turns; the table has medians, and ratios to ours.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import wgpu
from rich.console import Console
from rich.table import Table

import tinct
from tinct.backend.gpu import GpuDevice

from .graphs.dispatches import is_that_of_tinct
from .machine import describe

WGSL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let i = id.y * groups.x * 256 + id.x;
    if i < arrayLength(&y) { y[i] += 2 * x[i]; }
}
"""
Floats = npt.NDArray[np.float32]
Peers = dict[str, Callable[[], Floats]]
ALONE = "dispatch alone"


def numba_axpy() -> Callable[[Floats, Floats], Floats]:
    """y + 2 x as a new array, compiled."""
    import numba

    def axpy(x: Floats, y: Floats) -> Floats:
        result = np.empty_like(y)
        for i in numba.prange(y.size):
            result[i] = y[i] + np.float32(2) * x[i]
        return result

    compiled: Callable[[Floats, Floats], Floats] = numba.njit(parallel=True)(axpy)
    return compiled


def workgroups(count: int) -> tuple[int, int, int]:
    """Those for so many elements."""
    needed = -(-count // 256)
    rows = -(-needed // 32768)
    return -(-needed // rows), rows, 1


def on_cpu(x: Floats, y: Floats) -> tuple[Peers, Callable[[], object]]:
    """What makes the result, and the dispatch alone."""
    kernel, session = tinct.load(WGSL)["main"], tinct.Session("cpu")
    buffers = {"x": session.buffer(x), "y": session.buffer(y)}
    size = workgroups(x.size)
    two = np.float32(2)
    peers: Peers = {
        "tinct": lambda: kernel.run({"x": x, "y": y}, workgroups=size)["y"],
        "NumPy": lambda: y + two * x,
    }
    if importlib.util.find_spec("numba") is not None:
        compiled = numba_axpy()
        peers["Numba"] = lambda: compiled(x, y)
    return peers, lambda: session.run(kernel, buffers, workgroups=size)


def on_gpu(x: Floats, y: Floats) -> Peers:
    """The same on the GPU."""
    kernel, size = tinct.load(WGSL)["main"], workgroups(x.size)
    adapter = next(it for it in wgpu.gpu.enumerate_adapters_sync() if is_that_of_tinct(it.info))
    limits = {"max-buffer-size": adapter.limits["max-buffer-size"]}
    device: Any = adapter.request_device_sync(required_limits=limits)
    module = device.create_shader_module(code=WGSL)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC

    def by_hand() -> Floats:
        buffers = [device.create_buffer_with_data(data=it, usage=usage) for it in (x, y)]
        entries = [{"binding": number, "resource": {"buffer": it}} for number, it in enumerate(buffers)]
        group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*size)
        compute.end()
        device.queue.submit([encoder.finish()])
        return np.frombuffer(device.queue.read_buffer(buffers[1]), np.float32)

    return {
        "tinct": lambda: kernel.run({"x": x, "y": y}, workgroups=size, device="gpu")["y"],
        "wgpu-py by hand": by_hand,
    }


def measured(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each call by turns, medians; the first rounds, in which code is compiled, do not count."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-3, rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if number >= 0:
                times[name].append((time.perf_counter() - start) * 1e3)
    return {name: median(it) for name, it in times.items()}


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--elements",
    type=click.IntRange(1, 1 << 30),
    multiple=True,
    default=(1 << 16, 1 << 20, 1 << 23, 1 << 25),
    show_default=True,
    help="The sizes of the arrays.",
)
@click.option("--rounds", type=click.IntRange(1), default=15, show_default=True, help="Times that each peer runs.")
@click.option("--json", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write the times here, too.")
def main(elements: tuple[int, ...], rounds: int, path: Path | None) -> None:
    """Measure all sizes on the CPU, and on the GPU if there is one."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    console, reason = Console(), GpuDevice.unavailable_reason()
    if reason is not None:
        console.print(f"no GPU: {reason}")
    for device in ("cpu", "gpu") if reason is None else ("cpu",):
        table = Table(f"elements, {device}", "peer", "ms", "relative to tinct")
        for count in elements:
            x, y = np.random.default_rng(count).random((2, count), np.float32)
            peers, alone = on_cpu(x, y) if device == "cpu" else (on_gpu(x, y), None)
            for name, call in peers.items():
                np.testing.assert_array_equal(call(), y + np.float32(2) * x, name)
            calls: dict[str, Callable[[], object]] = {**peers, **({} if alone is None else {ALONE: alone})}
            times = found.setdefault(device, {})[str(count)] = measured(calls, rounds)
            for name, taken in times.items():
                table.add_row(f"{count:,}", name, f"{taken:.3f}", f"{taken / times['tinct']:.2f}")
            table.add_section()
        console.print(table)
    if path is not None:
        path.write_text(json.dumps({"machine": describe(), "milliseconds": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
