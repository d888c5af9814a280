"""Structured points for GPUs in hardware: tiles in workgroup memory, and reductions with many loads under way.

A unit of such a GPU reaches its speed in a product only if what a workgroup loads from memory is used by all of its
invocations, and each of these computes a block. It reaches the bandwidth of memory only if some ten thousand bytes are
under way at a time for each unit: invocations load vectors, several of them before they use the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from ..ir.schedule.nodes import Decisions, Execution, Level, LevelName, Stage
from .blocks import spread
from .choices import Facts
from .level_patterns import Levels

_SIDES: Final = (8, 16)
"""The invocations along each of two dimensions."""
_ROWS: Final = (4, 8)
_COLUMNS: Final = (1, 2)
"""The block of an invocation: rows, and vectors of `_WIDTH` columns."""
_WIDTH: Final = 4
_DEPTHS: Final = (8, 16)
"""What a tile has along the dimension that is summed up along."""
_LANES: Final = (64, 128, 256)
_UNROLLED: Final = (2, 4, 8)
_TURNS: Final = (8, 32)
"""Invocations that share a reduction, the vectors that each loads before it adds them, and the turns of its loop where
several workgroups share the reduction.
"""
_JOINING: Final = 256
"""The most invocations that join the parts of these."""


def tiles(facts: Facts) -> Iterator[Decisions]:
    """Blocks whose inputs a workgroup copies to its memory, for values that are summed up along one dimension at least
    of inputs that are read again along others. Not all of them are legal.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    loads = facts.read_again
    if len(free) < 2 or not loads or not facts.carried:
        return
    along = free[-1]
    inner = max(facts.carried, key=facts.extents.__getitem__)
    scope = facts.plain.scope
    copied = [it for it in loads if inner in scope.dimensions_of(it)]
    for other in free[:-1]:
        for side, rows, columns, depth in product(_SIDES, _ROWS, _COLUMNS, _DEPTHS):
            for kind in (Execution.LOOP, Execution.UNROLLED):
                levels = spread(facts, free)
                levels[other] += Level(Execution.INVOCATION, side), Level(Execution.UNROLLED, rows)
                if columns > 1:
                    levels[along] += (Level(Execution.UNROLLED, columns),)
                levels[along] += Level(Execution.INVOCATION, side), Level(Execution.VECTOR, _WIDTH)
                levels[inner] += (Level(kind, depth),)
                made = facts.with_levels(Decisions((), ()), levels)
                # Rows of a copy that is transposed would begin in the same bank.
                stages = tuple(
                    Stage((it,), LevelName(inner, 0), padding=0 if along in scope.dimensions_of(it) else _WIDTH)
                    for it in copied
                )
                yield replace(made, order=facts.order_from_carried(levels), stages=stages)


def streams(facts: Facts) -> Iterator[Decisions]:
    """Reductions whose invocations load several vectors at a time, along the dimension of the reduction or beside it,
    in one workgroup or several. Not all of them are legal.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    for along in sorted(facts.in_parts):
        for lanes, unrolled in product(_LANES, _UNROLLED):
            levels = spread(facts, free)
            vectors = Level(Execution.UNROLLED, unrolled), Level(Execution.INVOCATION, lanes)
            levels[along] += (*vectors, Level(Execution.VECTOR, _WIDTH))
            yield facts.with_levels(Decisions((), ()), levels)
            for turns in _TURNS:
                shared = Level(Execution.PARTIAL, None), Level(Execution.LOOP, turns)
                yield _joined(facts, {**levels, along: (*shared, *levels[along][1:])}, _JOINING)
            if free:
                beside = spread(facts, free)
                beside[free[-1]] += Level(Execution.INVOCATION, lanes), Level(Execution.VECTOR, _WIDTH)
                for turns in _TURNS:
                    shared = Level(Execution.PARTIAL, None), Level(Execution.LOOP, turns)
                    beside[along] = (*shared, Level(Execution.UNROLLED, unrolled))
                    yield _joined(facts, beside, max(1, _JOINING // lanes))


def _joined(facts: Facts, levels: dict[str, Levels], most: int) -> Decisions:
    """Decisions with at most so many invocations that join each value's parts."""
    joining = {
        it: (Level(Execution.LOOP, None), Level(Execution.INVOCATION, min(most, 1 << (size.bit_length() - 1))))
        for it, size in facts.parts(levels).items()
        if size > 1 and most > 1
    }
    return facts.with_levels(Decisions((), ()), {**levels, **joining})
