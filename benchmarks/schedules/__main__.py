"""`python -m benchmarks.schedules [NAME…]`: nests, tuned for some seconds each, beside NumPy.

Results are compared before anything is timed. Rounds are interleaved; times leave out what copies to and from a GPU
take.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from tinct.buffers import buffer_elements
from tinct.ir.schedule.text import print_decisions
from tinct.nests import TunedNest
from tinct.tuning.bench import Bench
from tinct.tuning.nest_tuning import job_of
from tinct.tuning.rates import rates_of
from tinct.tuning.trial_data import TrialData

from .. import machine
from .nests import Problem, problems

_ALLOWED = 1e-3
"""Results may differ from NumPy's by this share of the largest one: NumPy adds in another order, in blocks."""


@dataclass(frozen=True, slots=True)
class Row:
    """A nest that was tuned. Times are medians in milliseconds."""

    name: str
    device: str
    sizes: dict[str, int]
    decisions: str
    tinct: float
    numpy: float
    ratio: float
    gigabytes: float
    gigaflops: float
    attempts: dict[str, int]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--seconds", default=60.0, show_default=True, help="How long to tune each nest.")
@click.option("--device", default="cpu", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--rounds", default=15, show_default=True)
@click.option("--contract", is_flag=True, help="Let the CPU fuse products and sums.")
@click.option("--quick", is_flag=True, help="Small sizes, to see that all works.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(
    names: tuple[str, ...],
    seconds: float,
    device: str,
    seed: int,
    rounds: int,
    contract: bool,
    quick: bool,
    json_path: Path | None,
) -> None:
    """Tune, compare, time."""
    console = Console()
    chosen = [it for it in problems() if not names or it.name in names]
    unknown = set(names) - {it.name for it in chosen}
    if unknown:
        known = ", ".join(repr(it.name) for it in problems())
        raise click.BadParameter(f"there is no nest {min(unknown)!r}; there are {known}")
    about = machine.describe()
    copied = rates_of(device).memory
    console.print(
        f"{about['processor']}, {about['threads']} threads, load {about['load']}; copy {copied / 1e9:.1f} GB/s"
    )
    rows: list[Row] = []
    for problem in chosen:
        sizes = problem.quick if quick else problem.sizes
        best = problem.nest.tune(
            sizes, device=device, seconds=seconds, seed=seed, contract=contract, reassociate=True, renew=True
        )
        rows.append(_measured(problem, best, rounds))
        _print_row(console, rows[-1])
    _print(console, rows)
    if json_path is not None:
        text = json.dumps({"machine": about, "copy": copied, "nests": [asdict(it) for it in rows]}, indent=2)
        json_path.write_text(text + "\n", encoding="utf-8")


def _measured(problem: Problem, best: TunedNest, rounds: int) -> Row:
    data = TrialData(problem.nest.ir, best.sizes)
    inputs = data.inputs
    (output,) = data.outputs
    expected = problem.numpy(*inputs.values())
    _check(problem.name, expected, best.run(inputs)[output])
    job = job_of(best.lowered, problem.nest.ir, best.sizes)
    values = {name: buffer_elements(it) for name, it in {**inputs, **data.outputs}.items()}
    ours, theirs = list[float](), list[float]()
    with Bench(best.device, values, contract=best.is_contracted, form="plain") as bench:
        bench.results(job, [output], float("inf"))
        for _ in range(rounds):
            ours += bench.by_turns([job], 1)
            started = time.perf_counter()
            problem.numpy(*inputs.values())
            theirs.append(time.perf_counter() - started)
    seconds, numpy = median(ours), median(theirs)
    size = sum(it.nbytes for it in values.values())
    return Row(
        problem.name,
        best.device,
        dict(best.sizes),
        print_decisions(best.decisions),
        seconds * 1e3,
        numpy * 1e3,
        numpy / seconds,
        size / seconds / 1e9,
        problem.operations(best.sizes) / seconds / 1e9,
        {
            status: sum(it.status == status for it in best.attempts)
            for status in ("measured", "pruned", "wrong", "failed")
        },
    )


def _check(name: str, expected: npt.NDArray[Any], actual: npt.NDArray[Any]) -> None:
    most = float(np.abs(expected.astype(np.float64)).max(initial=1.0))
    difference = float(np.abs(expected.astype(np.float64) - actual.astype(np.float64)).max(initial=0.0))
    if difference > _ALLOWED * most:
        raise click.ClickException(f"{name}: the results differ by {difference}")


def _print_row(console: Console, row: Row) -> None:
    decisions = row.decisions.strip().replace("\n", "; ")
    console.print(
        f"{row.name}: {row.tinct:.3f} ms, NumPy {row.numpy:.3f} ms; {decisions}", highlight=False, markup=False
    )


def _print(console: Console, rows: list[Row]) -> None:
    table = Table("nest", "ms", "NumPy ms", "NumPy / ours", "GB/s", "GFLOP/s", "measured", "pruned")
    for row in rows:
        flops = f"{row.gigaflops:.0f}" if row.gigaflops else ""
        counts = str(row.attempts["measured"]), str(row.attempts["pruned"])
        table.add_row(
            row.name, f"{row.tinct:.3f}", f"{row.numpy:.3f}", f"{row.ratio:.2f}", f"{row.gigabytes:.1f}", flops, *counts
        )
    console.print(table)
    console.print(f"geometric mean of NumPy / ours: {geometric_mean([it.ratio for it in rows]):.2f}")


if __name__ == "__main__":
    main()
