"""Structured points for GPUs in software, where loads take longer than all else.

Each element that is loaded should serve as many outputs as possible: a block has up to hundreds of them, though they
do not stay in registers. Several elements of a vector may be loaded in less time than one by one. Invocations that
wait for each other gain nothing, since a unit executes them one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from math import prod
from typing import Final

from ..ir.schedule.nodes import Decisions, Execution, Level, Scatter
from ..transforms.schedule.tasks import Carry
from .blocks import spread, unrolled_level
from .choices import Facts
from .level_patterns import Levels, part_factors

_ROWS: Final = (1, 2, 4, 8, 16)
_COLUMNS: Final = (1, 2, 4, 8, 16)
_WIDTHS: Final = (1, 4)
"""A block: rows, and columns of so many vectors of elements."""
_MOST_OUTPUTS: Final = 512
_MOST_WRITTEN: Final = 1024
"""Outputs of a block, and what is summed up for them in a turn: more takes a driver many seconds to compile."""
_LONGEST_WINDOW: Final = 32
_VECTORS: Final = (1, 8)
"""Vectors of a workgroup: fewer workgroups begin, if invocations do not wait for each other."""
_UNROLLED: Final = (1, 4, 8)
_TURNS: Final = (64, 1024)


def large_blocks(facts: Facts) -> Iterator[Decisions]:
    """Blocks of outputs that invocations compute, reductions that invocations share, rows that each invocation reduces
    by itself, and outputs that workgroups count in copies; not all of them are legal.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    pairs = permutations(free, 2) if len(free) > 1 else ((it, None) for it in free)
    for along, other in pairs:
        yield from _of_pair(facts, free, along, other)
    for along in sorted(facts.in_parts):
        yield from _along_reduction(facts, free, along)
    yield from _own_rows(facts, free)
    yield from _counted(facts, free)


def _of_pair(facts: Facts, free: list[str], along: str, other: str | None) -> Iterator[Decisions]:
    window = _windows(facts, free)
    for written in ((), window) if window else ((),):
        turn = prod(facts.extents[it] for it in written)
        sizes = product(_ROWS if other else (1,), _COLUMNS, _WIDTHS, _VECTORS)
        for rows, columns, width, vectors in sizes:
            outputs, lanes = rows * columns * width, vectors * facts.lanes
            is_wide = columns * width * lanes >= 2 * facts.extents[along]
            if is_wide or outputs > _MOST_OUTPUTS or outputs * turn > _MOST_WRITTEN:
                continue
            levels = spread(facts, free) | dict.fromkeys(written, (Level(Execution.UNROLLED, None),))
            its = (Level(Execution.INVOCATION, lanes), *unrolled_level(columns))
            levels[along] = (*levels[along], *(its if window else its[::-1]), *_vector(width))
            if other is not None:
                levels[other] = (*levels[other], *unrolled_level(rows))
            made = facts.with_levels(Decisions((), ()), levels)
            yield replace(made, order=facts.order_of_blocks(levels)) if written else made


def _windows(facts: Facts, free: list[str]) -> list[str]:
    """The short dimensions that values are carried along whose index is added to an output's in a subscript."""
    summed = {it for names in facts.sums if names & set(free) for it in names & facts.carried}
    return [it for it in facts.extents if it in summed and facts.extents[it] <= _LONGEST_WINDOW]


def _along_reduction(facts: Facts, free: list[str], along: str) -> Iterator[Decisions]:
    for vectors, unrolled, width in product(_VECTORS, _UNROLLED, _WIDTHS):
        lanes = vectors * facts.lanes
        inner = (*unrolled_level(unrolled), Level(Execution.INVOCATION, lanes), *_vector(width))
        levels = spread(facts, free)
        yield facts.with_levels(Decisions((), ()), levels | {along: (Level(Execution.LOOP, None), *inner)})
        for turns in part_factors(facts.extents[along], unrolled * lanes * width):
            shared = Level(Execution.PARTIAL, None), Level(Execution.LOOP, turns), *inner
            yield facts.with_levels(Decisions((), ()), levels | {along: shared})


def _own_rows(facts: Facts, free: list[str]) -> Iterator[Decisions]:
    """Each invocation has a row of what is reduced, and goes through the row alone."""
    carries = [it for it in facts.plain.tasks if isinstance(it, Carry)]
    rows = [it for it in free if carries and all(it in carry.dimensions for carry in carries)]
    if not rows:
        return
    for unrolled, width in product(_UNROLLED, _WIDTHS):
        inner: Levels = (*unrolled_level(unrolled), *_vector(width))
        levels = spread(facts, rows) | {
            it: (Level(Execution.LOOP, None), *inner) for it in facts.extents if it not in rows
        }
        levels[rows[-1]] = (*levels[rows[-1]], Level(Execution.INVOCATION, facts.lanes))
        yield facts.with_levels(Decisions((), ()), levels)


def _counted(facts: Facts, free: list[str]) -> Iterator[Decisions]:
    """Each workgroup joins many values to a copy of an output of its own."""
    private = tuple(it.array for it in facts.nest.body if isinstance(it, Scatter))
    for along in facts.scattered if private else ():
        for turns, width in product(_TURNS, _WIDTHS):
            levels = spread(facts, free)
            inner = Level(Execution.LOOP, turns), Level(Execution.INVOCATION, facts.lanes), *_vector(width)
            levels[along] = (Level(Execution.WORKGROUP, None), *inner)
            yield replace(facts.with_levels(Decisions((), ()), levels), private=private)


def _vector(width: int) -> Levels:
    return (Level(Execution.VECTOR, width),) if width > 1 else ()
