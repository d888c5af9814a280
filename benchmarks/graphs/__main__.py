"""The command of `python -m benchmarks.graphs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tinct.backend.gpu import GpuDevice, shared_device

from .. import machine
from .measuring import Comparison, Effort
from .parts import PARTS

NAMES = tuple(part.name for part in PARTS)


def table(found: Comparison) -> Table:
    """Microseconds of each way, and how many times as long as ours it takes."""
    shown = Table(found.title, "µs", f"relative to {found.ours}", box=box.SIMPLE)
    for name, seconds in found.seconds.items():
        shown.add_row(name, f"{seconds * 1e6:,.2f}", f"{seconds / found.seconds[found.ours]:.2f}")
    return shown


def show(console: Console, found: Comparison, effort: Effort) -> None:
    """The times, and the bars at full size."""
    console.print(table(found))
    for bar in found.bars if effort.size == "full" else ():
        console.print(f"  {'holds ' if bar.holds else 'MISSED'} {bar}", highlight=False)
    for note in found.notes:
        console.print(f"  {note}", highlight=False)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice(NAMES))
@click.option("--rounds", type=click.IntRange(1), default=11, show_default=True, help="Rounds of each way.")
@click.option("--tiny", "size", flag_value="tiny", help="Sizes of a few elements, to see that everything works.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(parts: tuple[str, ...], rounds: int, size: str | None, json_path: Path | None) -> None:
    """Measure what programs of kernels cost: all parts, or PARTS."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads", highlight=False)
    if GpuDevice.unavailable_reason() is None:
        about["adapter"] = shared_device("").adapter().description
        console.print(f"GPU: {about['adapter']}", highlight=False)
    effort = Effort(rounds, "tiny" if size == "tiny" else "full")
    content: dict[str, Any] = {"machine": about, "parts": {}}
    for part in PARTS:
        if parts and part.name not in parts:
            continue
        reason = part.needs()
        if reason is not None:
            console.print(f"{part.name}: not measured, {reason}", highlight=False)
            content["parts"][part.name] = {"skipped": reason}
            continue
        comparisons: list[dict[str, Any]] = []
        for found in part.measure(effort):
            show(console, found, effort)
            comparisons.append(found.as_json())
        content["parts"][part.name] = comparisons
    if json_path is not None:
        json_path.write_text(json.dumps(content, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
