"""`python -m benchmarks.via_hercules`: the kernels on the GPU that wgpu finds, by way of Hercules IR and directly.

Both texts are ours, with indices clamped and workgroup memory zeroed; the direct one is written from core IR. Times are
those of the dispatch on the device, in interleaved rounds; a ratio above 1 says that the way through Hercules IR is
slower.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from . import machine
from .__main__ import EFFORTS
from .peers.wgpu_vulkan import TinctGpu
from .problem import Problem, load_problems
from .report import geometric_mean
from .runner import measure

DIRECT = TinctGpu("directly", via_hercules=False)
VIA_HERCULES = TinctGpu("via Hercules", via_hercules=True)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1)
@click.option("--size", type=click.Choice(list(EFFORTS)), default="quick", show_default=True, help="Of the cases.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(kernels: tuple[str, ...], size: str, json_path: Path | None) -> None:
    """Measure the KERNELS named, or all, both ways."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads; {DIRECT.version()}", highlight=False)
    table = Table("kernel", "directly ms", "via Hercules ms", "ratio", "± quartiles", box=box.SIMPLE)
    ratios: dict[str, float] = {}
    for case in load_problems(kernels, size):
        problem = Problem(case)
        direct, via = measure(problem, [DIRECT, VIA_HERCULES], EFFORTS[size])
        if direct.skipped or via.skipped:
            table.add_row(problem.name, direct.skipped or "", via.skipped or "", "", "")
            continue
        ratios[problem.name] = via.median / direct.median
        numbers = (f"{direct.median * 1e3:.3f}", f"{via.median * 1e3:.3f}", f"{ratios[problem.name]:.2f}")
        table.add_row(problem.name, *numbers, f"{via.spread:.0%}")
    console.print(table)
    if ratios:
        console.print(f"geometric mean of {len(ratios)} kernels: {geometric_mean(ratios.values()):.3f}")
    if json_path is not None:
        json_path.write_text(json.dumps({"machine": about, "ratios": ratios}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
