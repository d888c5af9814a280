"""Loops that all threads of a gang leave together, though each has a counter of its own.

`for (var i = local; i < 512; i += 64)` fills workgroup memory: counters differ, but all threads take eight turns, which
shows if the loop is executed at compile time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from .body import Body, Level
from .known import KnownValues, Values

_MOST_TURNS = 32


def alike_conditions(placed: Placement, forks: Sequence[h.Fork], body: Body) -> frozenset[h.Node]:
    """The conditions of loops that are left at their header, in the same turn by all threads of some forks."""
    exits = [placed.exits[it.header] for it in body.levels if turns(placed, forks, it, {}) is not None]
    return frozenset(it.condition for it in exits if isinstance(it, h.If))


def turns(
    placed: Placement, forks: Sequence[h.Fork], level: Level, outside: Mapping[h.Node, Values]
) -> list[dict[h.Node, Values]] | None:
    """The counters of a loop that all threads leave together, at its header: in each turn, and in the last one, which
    leaves it. None if threads do not leave it together, or if that is not known from what is known `outside` of it.
    """
    loop, exit = level.container, placed.exits[level.header]
    if {edge.source for edge in level.exits} != {level.header}:
        return None
    if not isinstance(loop, Loop) or not isinstance(exit, h.If) or len(loop.latches) != 1:
        return None
    found = [_counters(placed, loop, KnownValues(placed.types, forks, outside), is_first=True)]
    for _ in range(_MOST_TURNS + 1):
        known = KnownValues(placed.types, forks, {**outside, **found[-1]})
        outcomes = known.of(exit.condition)
        if outcomes is None or len(set(outcomes)) > 1:
            return None
        if _leaves(placed, exit, loop) == bool(outcomes[0]):
            return found
        found.append(_counters(placed, loop, known, is_first=False))
    return None


def _leaves(placed: Placement, exit: h.If, loop: Loop) -> bool:
    """The value of the condition that leaves the loop."""
    ways = [it for it in placed.graph.successors[exit] if it not in loop.body]
    return isinstance(ways[0], h.Read) and ways[0].indices == [h.ControlIndex(1)]


def _counters(placed: Placement, loop: Loop, known: KnownValues, *, is_first: bool) -> dict[h.Node, Values]:
    """The values of counters in each thread at the beginning of a turn."""
    found: dict[h.Node, Values] = {}
    for node, at in placed.place.items():
        if isinstance(node, h.Phi) and at is loop.header:
            pairs = zip(loop.header.predecessors, node.values, strict=True)
            ways = [value for control, value in pairs if (control in loop.latches) is not is_first]
            values = known.of(ways[0]) if len(ways) == 1 else None
            if values is not None:
                found[node] = tuple(values)
    return found
