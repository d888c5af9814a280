"""`python -m benchmarks.tuning [NAME…]`: how good the decisions are that the tuner finds, and after how long.

A name is that of a small space, or of a nest of `benchmarks.schedules`.

Small spaces are measured whole, and the result of each seed is compared with the best of all points. In large ones it
is compared with the best point that is known: one that any seed has found, or the decisions by hand of
`benchmarks.schedules`. Where there are such, it is also told how many seeds find what is as fast as these, and when.
Each point is measured once, and all seeds are told the same time, unless they measure apart; in the end the fastest are
measured again by turns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.table import Table

from tinct import Nest
from tinct.ir.schedule.nodes import Decisions
from tinct.ir.schedule.text import parse_decisions, print_decisions
from tinct.nests.tuned import lowered_for
from tinct.tuning.devices import gpu_kind
from tinct.tuning.nest_task import Task
from tinct.tuning.nest_tuning import NestProblem, patience_of
from tinct.tuning.point_processes import number_of_processes

from .. import machine
from ..report import wide_console
from ..schedules import decisions
from ..schedules.nests import total
from ..schedules.problems import Sizes, problems
from .replay import WITHIN, Replay, Seed

MOST_WHOLE = 4096
"""The largest space that is measured whole."""
USUAL = (
    *("sum in order", "scaled", "scan", "row sums", "product 512", "product 1024", "product 1000×777×333"),
    *("convolution 3×3", "sum", "softmax", "5-point stencil"),
)
"""The spaces that are searched if none is named."""


@dataclass(frozen=True, slots=True)
class Space:
    """A nest at sizes. `tiny` are sizes at which all takes some seconds."""

    name: str
    nest: Nest
    sizes: Sizes
    tiny: Sizes
    reassociate: bool = True
    contract: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What seeds found in a space. `points` is None for a large one, `best` and `by_hand` are in milliseconds.

    `within` counts the seeds whose choice takes at most 5 % longer than the best. `found_after` is in seconds: the
    median over the seeds until such a point was measured, None if half of them found none. `like_by_hand` and
    `like_by_hand_after` are the same of the decisions by hand, None where there are none.
    """

    name: str
    sizes: dict[str, int]
    points: int | None
    best: float
    decisions: str
    seeds: int
    within: int
    found_after: float | None
    by_hand: float | None
    like_by_hand: int | None
    like_by_hand_after: float | None
    measured: float
    pruned: float


def scaled() -> Nest:
    """Each element twice: nothing to decide but how elements are spread."""
    nest = Nest("scaled")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "f32", [i]) * 2.0, [i])
    return nest


def scan() -> Nest:
    """The sums of all elements up to each one, by rows."""
    nest = Nest("scan")
    i, j = nest.dim("rows"), nest.dim("columns")
    so_far = nest.fby(0.0, on=[j])
    so_far.next = so_far + nest.load("x", "f32", [i, j])
    nest.store("y", so_far, [i, j])
    return nest


def spaces() -> list[Space]:
    """All of them: small ones, and the nests of `benchmarks.schedules`. Of the small ones, all but the sum in order,
    which one worker does, take half a millisecond or more: of a dispatch of 0.1 ms, the time depends on when a second
    worker wakes, and not on decisions alone.
    """
    return [
        Space("sum in order", total(), {"n": 1 << 16}, {"n": 64}, reassociate=False),
        Space("scaled", scaled(), {"n": 1 << 22}, {"n": 3}, reassociate=False),
        Space("scan", scan(), {"rows": 2, "columns": 1 << 20}, {"rows": 1, "columns": 16}, reassociate=False),
        *(Space(it.name, it.nest, it.sizes, it.quick, contract="contracted" in it.rounding) for it in problems()),
    ]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--seconds", default=60.0, show_default=True, help="How long each search takes.")
@click.option("--seeds", default=20, show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--apart", is_flag=True, help="Let each seed measure for itself, so that noise counts.")
@click.option("--tiny", is_flag=True, help="Tiny sizes, to see that all works.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(
    names: tuple[str, ...],
    seconds: float,
    seeds: int,
    device: str,
    apart: bool,
    tiny: bool,
    json_path: Path | None,
) -> None:
    """Search with each seed, and compare."""
    console = wide_console()
    chosen = [it for it in spaces() if it.name in (names or USUAL)]
    unknown = set(names) - {it.name for it in chosen}
    if unknown:
        known = ", ".join(repr(it.name) for it in spaces())
        raise click.BadParameter(f"there is no space {min(unknown)!r}; there are {known}")
    about = machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads, load {about['load']}")
    rows: list[Row] = []
    for space in chosen:
        rows.append(measured(space, device, range(seeds), seconds, is_tiny=tiny, is_apart=apart))
        _print_row(console, rows[-1])
    _print(console, rows)
    if json_path is not None:
        text = json.dumps({"machine": about, "spaces": [asdict(it) for it in rows]}, indent=2)
        json_path.write_text(text + "\n", encoding="utf-8")


def measured(space: Space, device: str, seeds: range, seconds: float, *, is_tiny: bool, is_apart: bool) -> Row:
    """What searches with these seeds find in a space."""
    sizes = space.tiny if is_tiny else space.sizes
    nest, reassociate = space.nest, space.reassociate
    task = Task(nest.ir, sizes, partial(lowered_for, reassociate), device, reassociate, space.contract)
    problem = NestProblem(task, patience=patience_of(seconds))
    problem.space([])  # measures the device, which nothing shall disturb
    with problem.bench, problem.processes(number_of_processes(seconds)) as processes:
        replay = Replay(problem, processes)
        whole = problem.space([]).whole(MOST_WHOLE)
        by_hand = _by_hand(space, device)
        for point in (*(whole or ()), by_hand):
            if point is not None:
                replay.measured(point, inf)
        found: list[Seed] = []
        for seed in seeds:
            one = Replay(problem, processes) if is_apart else replay
            found.append(one.search(seed, seconds))
            replay.known = one.known | replay.known
        best, times = replay.judged(it for it in (by_hand, *(seed.chosen for seed in found)) if it is not None)
    within, after = _reached(found, times, best)
    like, like_after = _reached(found, times, by_hand) if by_hand in times else (None, None)
    return Row(
        space.name,
        dict(sizes),
        None if whole is None else len(whole),
        times[best] * 1e3,
        print_decisions(best),
        len(found),
        within,
        after,
        times[by_hand] * 1e3 if by_hand in times else None,
        like,
        like_after,
        median(len(it.tried) for it in found),
        median(it.pruned for it in found),
    )


def _by_hand(space: Space, device: str) -> Decisions | None:
    """The decisions by hand for the nest of that name."""
    tables = decisions.read(None, device, is_software=gpu_kind(device) != "hardware")
    text = decisions.chosen(tables, space.name, contract=space.contract)
    return None if text is None else parse_decisions(text)


def _reached(found: Sequence[Seed], times: dict[Decisions, float], point: Decisions) -> tuple[int, float | None]:
    """How many seeds chose a point that takes about as long as this one, or less, and the median of the seconds until
    one was measured.
    """
    limit = times[point] * WITHIN
    after = median(it.found_after(times, limit) for it in found)
    chosen = sum(it.chosen is not None and times[it.chosen] <= limit for it in found)
    return chosen, after if after < inf else None


def _print_row(console: Console, row: Row) -> None:
    text = row.decisions.strip().replace("\n", "; ")
    within = f"{row.within} of {row.seeds} seeds within 5 %"
    by_hand = "" if row.by_hand is None else f", by hand {row.by_hand:.4f} ms ({row.like_by_hand} like that)"
    console.print(f"{row.name}: {row.best:.4f} ms; {within}{by_hand}; {text}", highlight=False, markup=False)


def _print(console: Console, rows: list[Row]) -> None:
    heads = ("space", "points", "best ms", "within 5 %", "found after", "by hand ms", "like that", "after")
    table = Table(*heads, "measured", "pruned")
    for row in rows:
        points = "many" if row.points is None else str(row.points)
        best = f"{row.best:.4f}", f"{row.within} of {row.seeds}", _after(row.found_after)
        by_hand = ("", "", "")
        if row.by_hand is not None:
            by_hand = f"{row.by_hand:.4f}", f"{row.like_by_hand} of {row.seeds}", _after(row.like_by_hand_after)
        table.add_row(row.name, points, *best, *by_hand, f"{row.measured:.0f}", f"{row.pruned:.0f}")
    console.print(table)


def _after(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.1f} s"


if __name__ == "__main__":
    main()
