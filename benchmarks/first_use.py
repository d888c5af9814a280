"""`python -m benchmarks.first_use`: a kernel's first use with nothing cached, here and on the adapter that wgpu finds.

Ours is from the text to the machine code of the first runs, in this process: its stages, and all of it. `gangs` is what
it takes to the code that is made once those have been long enough, if it is made at once. wgpu's (lavapipe's, where
there is no GPU) is the shader's and the pipeline's creation, and what the first dispatch takes longer than the second,
since drivers compile then, too. Kernels and constants are those of `cases/`, at sizes of a few elements, so that
running takes no time. Times are milliseconds by the clock, the least of some rounds, in which both are interleaved.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping

import click
from rich import box
from rich.console import Console
from rich.table import Table

import tinct
from tinct.backend.cpu import CpuOptions, compile_entry
from tinct.backend.gpu import BufferBinding, GpuDevice, GpuError, shared_device
from tinct.cases import Case

from .peers.wgpu_vulkan import buffer_kind
from .problem import Problem, load_problems

STAGES = ("text to graph", "LLVM IR", "parse", "passes", "machine code", "all", "gangs")


def ours(case: Case) -> dict[str, float]:
    """The seconds of each stage."""
    start = time.perf_counter()
    shader = tinct.load(case.kernel_path)
    compilation = shader.compilation(shader.kernel(case.entry).info.name, case.constants)
    times = compile_entry(compilation.hercules, CpuOptions("baseline")).times
    whole = time.perf_counter() - start
    graph = whole - times.total
    gangs = graph + compile_entry(compilation.hercules, CpuOptions("gang")).times.total
    parts = (graph, times.emit, times.parse, times.optimise, times.generate, whole, gangs)
    return dict(zip(STAGES, parts, strict=True))


def theirs(problem: Problem, number: int) -> float | None:
    """Seconds until wgpu has compiled the kernel, made different by a number; None where it cannot."""
    case, seconds, runs = problem.case, 0.0, list[float]()
    text = f"{case.kernel_path.read_text(encoding='utf-8')}\n// {number}\n"
    constants = {name: float(value) for name, value in case.constants.items()}
    for _ in range(3):
        problem.restore()
        bindings = [
            BufferBinding(b.group, b.binding, buffer_kind(b), problem.buffers[b.name]) for b in problem.bindings
        ]
        try:
            result = shared_device().run(
                text, problem.kernel.info.name, bindings, problem.workgroups, constants, timeout=60
            )
        except GpuError:
            return None
        seconds += result.compile_seconds
        runs.append(result.run_seconds)
    return seconds + max(0.0, runs[0] - min(runs[1:]))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
def main(*, kernels: tuple[str, ...], rounds: int) -> None:
    """Compare first uses of the KERNELS named, or of all."""
    os.environ["TINCT_CACHE"] = "off"
    has_gpu = GpuDevice.unavailable_reason() is None
    table = Table("kernel", box=box.SIMPLE_HEAD, title="first use, in ms", title_justify="left")
    for column in (*STAGES, "wgpu", "all / wgpu", "gangs / wgpu"):
        table.add_column(column, justify="right")
    ratios: list[tuple[float, float]] = []
    for case in {it.kernel: it for it in load_problems(kernels, "tiny")}.values():
        problem, best, other = Problem(case), dict[str, float](), float("inf")
        for number in range(rounds + 1):
            found = ours(case)
            best = found if number == 0 else _least(best, found)
            seconds = theirs(problem, number) if has_gpu else None
            other = other if seconds is None else min(other, seconds)
        is_measured = other < float("inf")
        if is_measured:
            ratios.append((best["all"] / other, best["gangs"] / other))
        cells = [f"{best[it] * 1e3:.1f}" for it in STAGES]
        table.add_row(case.kernel, *cells, *((f"{other * 1e3:.1f}", *_two(*ratios[-1])) if is_measured else ()))
    if ratios:
        means = (statistics.geometric_mean(it) for it in zip(*ratios, strict=True))
        table.add_row("geometric mean", *[""] * (len(STAGES) + 1), *_two(*means))
    Console(width=140).print(table)


def _two(first: float, second: float) -> tuple[str, str]:
    return f"{first:.2f}", f"{second:.2f}"


def _least(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """The stage times of the faster of two rounds."""
    return dict(now if now["all"] < before["all"] else before)


if __name__ == "__main__":
    main()
