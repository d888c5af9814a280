"""`python -m benchmarks.coverage`: how much slower the kernels run on the CPU when their blocks are counted.

Both run as `BoundKernel.run` on the same buffers, in interleaved rounds; a ratio is that of the fastest rounds, which
what else the machine does disturbs least.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from tinct.instrumented import InstrumentedKernel

from . import machine
from .__main__ import EFFORTS
from .peers.base import Prepared, timed
from .peers.tinct_cpu import TinctCpu
from .problem import Problem, load_problems
from .report import geometric_mean
from .runner import Effort, measure

PLAIN = TinctCpu()


class Counted:
    """Ours, with counters."""

    name = "counted"

    def prepare(self, problem: Problem) -> Prepared:
        start = time.perf_counter()
        program = problem.kernel.shader.counted
        counted = InstrumentedKernel(problem.kernel, program.origin, [program])
        kernel = counted.compilation(problem.case.constants).cpu
        compile_seconds = time.perf_counter() - start
        values = {name: it.view(np.uint8) for name, it in counted.values().items()}
        by_point = {it.point: (problem.buffers | values)[it.name] for it in counted.bindings}
        buffers = [by_point[slot.point] for slot in kernel.slots]
        return Prepared(timed(kernel.bind(buffers, problem.workgroups).run), compile_seconds)

    def available(self) -> str | None:
        return None

    def version(self) -> str:
        return PLAIN.version()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1)
@click.option("--size", type=click.Choice(list(EFFORTS)), default="quick", show_default=True, help="Of the cases.")
@click.option("--rounds", type=click.IntRange(1), help="Maximum number of rounds.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(kernels: tuple[str, ...], size: str, rounds: int | None, json_path: Path | None) -> None:
    """Measure the KERNELS named, or all, with and without counters."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads; {PLAIN.version()}", highlight=False)
    effort = EFFORTS[size] if rounds is None else Effort(rounds, EFFORTS[size].seconds)
    table = Table("kernel", "plain ms", "counted ms", "ratio", "± quartiles", box=box.SIMPLE)
    ratios: dict[str, float] = {}
    for case in load_problems(kernels, size):
        problem = Problem(case)
        plain, counted = measure(problem, [PLAIN, Counted()], effort)
        if plain.skipped or counted.skipped:
            table.add_row(problem.name, plain.skipped or "", counted.skipped or "", "", "")
            continue
        ratios[problem.name] = min(counted.samples) / min(plain.samples)
        numbers = (f"{min(it.samples) * 1e3:.3f}" for it in (plain, counted))
        table.add_row(problem.name, *numbers, f"{ratios[problem.name]:.2f}", f"{counted.spread:.0%}")
    console.print(table)
    if ratios:
        console.print(f"geometric mean of {len(ratios)} kernels: {geometric_mean(ratios.values()):.3f}")
    if json_path is not None:
        json_path.write_text(json.dumps({"machine": about, "ratios": ratios}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
