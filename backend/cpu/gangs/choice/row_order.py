"""The order of threads that exchange nothing: rows of a problem one after another, instead of workgroups.

A workgroup of several rows has a short piece of each, far apart in memory. With several arrays, or planes of one, these
are more pages and streams than a processor can follow. Such threads may run in any order, so the fork over the
workgroups along a row goes inside of the forks over the rows of a workgroup.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.copying import copy_of
from .....ir.hercules.graph import positions_of, reached_from
from .....ir.hercules.placement import Placement
from ...trip_counts import max_trip_count
from .transposing import coefficient, is_transposed
from .widen import hands_through, perfect_nest

_MOST_TURNS = 64
"""The most turns of a thread's loops. In those of more, such as sums of products, rows of a workgroup share what would
not stay in a cache for a row of the problem.
"""


def in_row_order(placed: Placement) -> h.Function | None:
    """The function with its threads in that order. None if they exchange something, if workgroups have one row, or if
    that order would not be faster.
    """
    nest = perfect_nest(placed.function, placed.users)
    if nest is None or not hands_through(placed.function, nest[1]):
        return None
    forks = nest[0]
    groups = [it for it in forks if not isinstance(it.factor, h.DynamicLiteral)]
    inside = forks[len(groups) :]
    if not groups or len(inside) < 2 or forks[: len(groups)] != groups:
        return None
    if _turns(placed) > _MOST_TURNS or not _follows_rows(placed, groups[-1], inside):
        return None
    return _reordered(placed.function, forks, [*groups[:-1], *inside[:-1], groups[-1], inside[-1]])


def _follows_rows(placed: Placement, group: h.Fork, inside: Sequence[h.Fork]) -> bool:
    """Whether adjacent threads access adjacent elements, through all workgroups of a row, and no access goes by columns
    or to where data say, for which all threads of a workgroup are near to each other.
    """
    *_, above, row = inside
    assert isinstance(row.factor, h.DynamicLiteral)
    accesses = [it for it in placed.live if isinstance(it, (h.Read, h.Write))]
    if any(is_transposed(it, above, row) or _follows_data(placed, it) for it in accesses):
        return False
    positions = [at for it in accesses for at in positions_of(it.indices)]
    return any(coefficient(it, row) == 1 and coefficient(it, group) == row.factor.value for it in positions)


def _follows_data(placed: Placement, access: h.Read | h.Write) -> bool:
    """Whether an access is at a position that is computed from floats, or from elements that threads read."""
    computed = reached_from(positions_of(access.indices), _operands)
    reads = [it for it in computed if isinstance(it, h.Read) and _has_position(it)]
    return any(isinstance(placed.types.get(it), h.Float) for it in computed) or any(
        not isinstance(it.collection, h.ConstantNode) for it in reads
    )


def _operands(node: h.Node) -> Sequence[h.Node]:
    """What a value is computed from, but for its collection."""
    match node:
        case h.Phi(values=values):
            return values
        case h.Read(indices=indices):
            return positions_of(indices)
        case h.FloatingNode():
            return node.inputs()
        case h.PinnedNode() | h.ControlNode():
            return ()
        case _:
            assert_never(node)


def _has_position(read: h.Read) -> bool:
    """Whether an element is read whose position is no constant."""
    return not all(isinstance(it, h.ConstantNode) for it in positions_of(read.indices))


def _turns(placed: Placement) -> float:
    """The most turns of all loops of a thread."""
    around = [placed.loops.around[it.header] for it in placed.loops.loops]
    return sum(math.prod(max_trip_count(placed, it) for it in loops) for loops in around)


def _reordered(function: h.Function, forks: Sequence[h.Fork], order: Sequence[h.Fork]) -> h.Function:
    """The function whose `forks`, outermost first, are in another `order`. What passes through them stays as it is."""
    made, copies = copy_of(function)
    moved: dict[h.Node, h.Node] = {}
    for place, fork in zip(forks, order, strict=True):
        copy = copies[place]
        assert isinstance(copy, h.Fork)
        copy.factor = fork.factor
        moved[copies[fork]] = copy
    for node in made.nodes:
        if isinstance(node, h.ThreadID):
            node.fork = moved[node.fork]
    return made
