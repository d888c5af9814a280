"""What a dispatch and a compilation cost beyond the work itself: `python -m benchmarks.overhead`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import tinct
from tinct.cases import Case, load_cases

TURNS, ROUNDS = 400, 15
ADD = """
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { a[id.x] = a[id.x] + 1; }
"""


def seconds_each(call: Callable[[], object]) -> float:
    """Seconds of this thread's processor time for a call: the least of some rounds."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(TURNS):
            call()
        rounds.append((time.thread_time() - start) / TURNS)
    return min(rounds)


def dispatch_table() -> Table:
    """The cost of a dispatch of 64 invocations through each entry of the API."""
    shader = tinct.load(ADD)
    kernel, compiled = shader["main"], shader.compilation("main", {}).cpu
    numbers = np.zeros(64, np.float32)
    buffers = [numbers.view(np.uint8)]
    bound = compiled.bind(buffers, (1, 1, 1))
    entries: dict[str, Callable[[], object]] = {
        "nothing (a Python call)": lambda: None,
        "BoundKernel.run": bound.run,
        "CompiledKernel.run": lambda: compiled.run(buffers, (1, 1, 1)),
        "CompiledKernel.run, with a timeout": lambda: compiled.run(buffers, (1, 1, 1), timeout=10),
        'shader["main"].run': lambda: kernel.run({"a": numbers}, workgroups=1),
    }
    table = Table("one dispatch of 64 invocations", "µs")
    for name, call in entries.items():
        call()
        table.add_row(name, f"{seconds_each(call) * 1e6:.1f}")
    return table


def compile_table(shaders: Path) -> Table:
    """From the text to a kernel that can run: compiled, and found on disk."""
    table = Table("kernel", "cold ms", "warm ms", title="from the WGSL text to machine code")
    for kernel in load_cases(shaders):
        case = kernel.cases[0]
        os.environ["TINCT_CACHE"] = "off"
        cold = min(_compile(case) for _ in range(3))
        os.environ["TINCT_CACHE"] = "on"
        _compile(case)
        warm = min(_compile(case) for _ in range(3))
        table.add_row(case.kernel, f"{cold * 1e3:.1f}", f"{warm * 1e3:.1f}")
    return table


def _compile(case: Case) -> float:
    """Seconds of processor time from the text to machine code."""
    start = time.thread_time()
    shader = tinct.load(case.kernel_path)
    compilation = shader.compilation(shader.kernel(case.entry).info.name, case.constants)
    _ = compilation.cpu
    return time.thread_time() - start


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure what a dispatch of 64 invocations costs, and what compiling each kernel costs, cold and from disk."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TINCT_CACHE_DIR"] = folder
        console.print(dispatch_table())
        console.print(compile_table(Path("shaders")))


if __name__ == "__main__":
    main()
