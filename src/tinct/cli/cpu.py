"""`tinct cpu`: what the processor's operations cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from .tables import Column, Row, print_table

if TYPE_CHECKING:
    from ..backend.cpu.machine import MachineCosts

_ACCESSES = {
    "gather": "gather",
    "loads": "a load for each lane",
    "scatter": "scatter",
    "stores": "a store for each lane",
    "shuffle": "shuffle",
    "masked_store": "masked store",
    "conflicts": "equal lanes found",
    "counters": "a counter for each lane incremented",
    "stored_counters": "the same, indices by way of memory",
    "atomic": "atomic addition (one lane)",
}
_SOURCES = {
    "measured": "measured on this machine",
    "table": "from the table of known processors",
    "assumed": "those of another processor, since this one is not in the table",
}


@click.command(
    name="cpu",
    epilog="""\b
The numbers are measured in about half a second before the first kernel is compiled for vectors, and kept beside
the compiled kernels (see `tinct cache`). Later processes measure again, a few times in all and some minutes apart,
since other programs may have disturbed the first time: the best number is kept. TINCT_CPU_COSTS=table does not
measure, and takes those of a known processor. TINCT_CPU_TARGET=x86-64-v3 shows the numbers of that target. Answers of
kernels never depend on them.

\b
Examples:
  tinct cpu
  tinct cpu --measure
  tinct cpu --json
""",
)
@click.option("--measure", is_flag=True, help="Forget the numbers and measure again, as after a change of the machine.")
@click.option("--json", "as_json", is_flag=True, help="For programs: seconds, bytes, nanoseconds and GB/s.")
def command(measure: bool, as_json: bool) -> None:
    """Show the processor, its vectors and caches, and what their operations cost: code is chosen by these numbers."""
    from ..backend.cpu.machine import machine_costs, measure_again, measurements

    costs = measure_again() if measure else machine_costs()
    if as_json:
        click.echo(json.dumps(asdict(costs), indent=2))
        return
    _describe(costs, measurements())


def _describe(costs: MachineCosts, measurements: int) -> None:
    from ..backend.cpu.target import current_target
    from ..backend.cpu.threads import available_processors

    target = current_target()
    click.echo(f"{costs.processor}, {available_processors()} processors")
    click.echo(f"code for {costs.target}: vectors of {target.vector_bytes // 4} lanes of 32 bits")
    times = f", the best of {measurements} measurements" if measurements > 1 else ""
    click.echo(f"costs: {_SOURCES[costs.source]}{times}\n")
    print_table([Column("of a vector, in the first cache"), Column("ns", is_number=True)], list(_accesses(costs)))
    print_table(
        [Column("reading"), Column("bytes", is_number=True), Column("GB/s", is_number=True)], list(_levels(costs))
    )
    if costs.copies:
        rates = (Column(it, is_number=True) for it in ("GB/s", "past the caches", "lines apart", "apart, past"))
        print_table([Column("copying, all processors"), *rates], list(_copies(costs)))
        click.echo(
            f"dispatches with {costs.cached_bytes:,} bytes or more store past the caches, and with "
            f"{costs.cached_bytes_apart:,} or more where lines are far apart"
        )
    if costs.wake_up:
        click.echo(f"a sleeping worker begins after {costs.wake_up * 1e6:.0f} µs")


def _accesses(costs: MachineCosts) -> Iterator[Row]:
    for name, value in asdict(costs.access).items():
        if value is not None:
            yield Row([_ACCESSES[name], f"{value:.2f}"])


def _levels(costs: MachineCosts) -> Iterator[Row]:
    for cache in costs.caches:
        yield Row([f"from cache level {cache.level}", f"{cache.size:,}", f"{cache.bandwidth:.0f}"])
    yield Row(["from memory", "", f"{costs.bandwidth:.0f}"])


def _copies(costs: MachineCosts) -> Iterator[Row]:
    for it, apart in zip(costs.copies, costs.copies_apart, strict=True):
        rates = (it.ordinary, it.past, apart.ordinary, apart.past)
        yield Row([f"{it.size:,} bytes", *(f"{rate:.0f}" for rate in rates)])
