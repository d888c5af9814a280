"""`python -m benchmarks.schedules [NAME…]`: nests, tuned for some seconds each, beside decisions that were written by
hand, NumPy, kernels of `shaders/`, and what the machine does at most.

The bars of full sizes are printed as "holds" or "MISSED". Without tuning (`--seconds 0`), they are those of the
decisions by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from tinct.backend.gpu import shared_device
from tinct.base.errors import DeviceError
from tinct.devices import adapter_named
from tinct.nests.lowered import LoweredNest
from tinct.nests.tuned import TunedNest

from .. import machine
from ..graphs.measuring import Bar
from ..report import wide_console
from . import decisions
from .bars import bars_of, bars_of_all
from .measuring import BY_HAND, LIBRARY, NUMPY, TUNED, Row, Run, measured
from .problems import Problem, Scale, problems

_SHARES: Final = {
    "of copy": "copy",
    "of nt copy": "copy past caches",
    "of read": "read",
    "of FMA": "fma",
    "of × and +": "separate",
}
"""Columns of the table, each with the limit that ours is a share of."""


@dataclass(frozen=True, slots=True)
class Search:
    """How nests are tuned: for no seconds, not at all. `by_hand` are tables of decisions."""

    seconds: float
    seed: int
    by_hand: Mapping[str, Mapping[str, str]]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--seconds", default=60.0, show_default=True, help="How long to tune each nest; 0 for not at all.")
@click.option("--device", default="cpu", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--rounds", default=15, show_default=True)
@click.option("--decisions", "file", type=click.Path(path_type=Path), help="Decisions by hand, instead of ours.")
@click.option("--quick", is_flag=True, help="Small sizes, to see that all works.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(
    names: tuple[str, ...],
    seconds: float,
    device: str,
    seed: int,
    rounds: int,
    file: Path | None,
    quick: bool,
    json_path: Path | None,
) -> None:
    """Tune, compare, time."""
    console, about = wide_console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads, load {about['load']}", highlight=False)
    adapter, is_software = adapter_named(device), True
    if adapter is not None:
        found_adapter = shared_device(adapter).adapter()
        is_software = found_adapter.is_software
        about["adapter"] = f"{found_adapter.name}, {found_adapter.description}"
        console.print(f"GPU: {about['adapter']}", highlight=False)
    search = Search(seconds, seed, decisions.read(file, device, is_software=is_software))
    scale: Scale = "quick" if quick else "full" if is_software else "large"
    rows, bars = list[Row](), list[Bar]()
    for problem in _chosen(names):
        for row in _rows(problem, search, Run(device, rounds, contract=False, scale=scale)):
            rows.append(row)
            found = [] if quick else list(bars_of(row))
            bars += found
            _print_row(console, row, found)
    _print(console, rows)
    found = [] if quick else list(bars_of_all(rows))
    _print_bars(console, found)
    if json_path is not None:
        content = {"machine": about, "nests": [it.as_json() for it in rows], "bars": _as_json([*bars, *found])}
        json_path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _chosen(names: tuple[str, ...]) -> list[Problem]:
    chosen = [it for it in problems() if not names or it.name in names]
    unknown = set(names) - {it.name for it in chosen}
    if unknown:
        known = ", ".join(repr(it.name) for it in problems())
        raise click.BadParameter(f"there is no nest {min(unknown)!r}; there are {known}")
    return chosen


def _rows(problem: Problem, search: Search, how: Run) -> Iterator[Row]:
    """The nest in each of its ways to round. Only the CPU fuses."""
    ways = problem.rounding if how.device == "cpu" else ("exact",)
    sizes = problem.sizes_for(how.scale)
    for way in ways:
        run = replace(how, contract=way == "contracted")
        tuned = _tuned(problem, search, run, sizes)
        lowered: dict[str, LoweredNest] = {} if tuned is None else {TUNED: tuned.lowered}
        text = decisions.chosen(search.by_hand, problem.name, contract=run.contract)
        if text is not None:
            lowered[BY_HAND] = problem.nest.lower(text, sizes=sizes, reassociate=True)
        if lowered:
            yield measured(problem, lowered, tuned, run)


def _tuned(problem: Problem, search: Search, run: Run, sizes: Mapping[str, int]) -> TunedNest | None:
    """What a search finds; None without a search, and if none of its points works, which is said."""
    if search.seconds == 0:
        return None
    try:
        return problem.nest.tune(
            sizes,
            device=run.device,
            seconds=search.seconds,
            seed=search.seed,
            contract=run.contract,
            reassociate=True,
            renew=True,
        )
    except DeviceError as error:
        click.echo(f"{problem.name}: {error}", err=True)
        return None


def _as_json(bars: list[Bar]) -> list[dict[str, Any]]:
    return [{"what": it.what, "figure": it.figure, it.direction: it.wanted, "holds": it.holds} for it in bars]


def _print_row(console: Console, row: Row, bars: list[Bar]) -> None:
    times = ", ".join(f"{name} {it * 1e3:.3f} ms" for name, it in row.seconds.items())
    console.print(f"{row.title}: {times}", highlight=False, markup=False, soft_wrap=True)
    for name, text in row.decisions.items():
        shown = text.strip().replace("\n", "; ")
        console.print(f"  {name}: {shown}", highlight=False, markup=False, soft_wrap=True)
    for note in row.notes:
        console.print(f"  {note}", highlight=False, markup=False, soft_wrap=True)
    _print_bars(console, bars)


def _print_bars(console: Console, bars: list[Bar]) -> None:
    for bar in bars:
        console.print(f"  {'holds ' if bar.holds else 'MISSED'} {bar}", highlight=False, soft_wrap=True)


def _print(console: Console, rows: list[Row]) -> None:
    heads = ("nest", "ms", "tuned / by hand", "NumPy", "PyTorch", "shaders/", *_SHARES)
    table = Table(*heads, caption="NumPy, PyTorch, shaders/: how many times as long they take")
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(
            row.title,
            f"{row.ours * 1e3:.3f}",
            _shown(row.seconds[TUNED] / row.seconds[BY_HAND] if {TUNED, BY_HAND} <= row.seconds.keys() else None),
            _shown(row.seconds[NUMPY] / row.ours),
            _shown(row.seconds[LIBRARY] / row.ours if LIBRARY in row.seconds else None),
            _shown(None if row.hand_written is None else row.hand_written / row.ours),
            *(_shown(row.share(it)) for it in _SHARES.values()),
        )
    console.print(table)


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


if __name__ == "__main__":
    main()
