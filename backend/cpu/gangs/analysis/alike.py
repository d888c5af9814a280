"""Loops whose turns are known of each thread before the kernel runs, since they are executed at compile time.

`for (var i = local; i < 512; i += 64)` fills workgroup memory: counters differ, but all threads take eight turns. Of
`for (var i = local; i < 324; i += 256)`, some threads take one turn, and others two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from .body import Body, Level
from .known import KnownValues, Values

_MOST_TURNS = 32
"""The most turns of a loop that are looked at, where no more are asked for."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a loop: the counters at its header, and whether each thread that enters the loop comes there."""

    counters: Mapping[h.Node, Values]
    comes: tuple[bool, ...]


def alike_conditions(placed: Placement, forks: Sequence[h.Fork], body: Body) -> frozenset[h.Node]:
    """The conditions of loops that are left at their header, in the same turn by all threads of some forks."""
    exits = [placed.exits[it.header] for it in body.levels if turns_together(placed, forks, it, {}) is not None]
    return frozenset(it.condition for it in exits if isinstance(it, h.If))


def turns_together(
    placed: Placement,
    forks: Sequence[h.Fork],
    level: Level,
    outside: Mapping[h.Node, Values],
    most: int = _MOST_TURNS,
) -> list[Turn] | None:
    """The turns of a loop that all threads leave together. None if they do not, or if that is not known."""
    found = turns(placed, forks, level, outside, most)
    return found if found is not None and all(all(it.comes) for it in found) else None


def turns(
    placed: Placement,
    forks: Sequence[h.Fork],
    level: Level,
    outside: Mapping[h.Node, Values],
    most: int = _MOST_TURNS,
) -> list[Turn] | None:
    """The turns of a loop that threads leave at its header, and the last one, in which none stays. None if they leave
    it elsewhere, if there are more than `most`, or if they are not known from what is known `outside` of the loop.
    """
    loop, exit = level.container, placed.exits[level.header]
    if {edge.source for edge in level.exits} != {level.header}:
        return None
    if not isinstance(loop, Loop) or not isinstance(exit, h.If) or len(loop.latches) != 1:
        return None
    known = KnownValues(placed.types, forks, outside)
    comes, found = (True,) * known.threads, list[Turn]()
    counters = _counters(placed, loop, known, is_first=True)
    while len(found) <= most:
        found.append(Turn(counters, comes))
        known = KnownValues(placed.types, forks, {**outside, **counters})
        outcomes = known.of(exit.condition)
        if outcomes is None:
            return None
        leaves = _leaves(placed, exit, loop)
        comes = tuple(it and bool(outcome) != leaves for it, outcome in zip(comes, outcomes, strict=True))
        if not any(comes):
            return found
        counters = _counters(placed, loop, known, is_first=False)
    return None


def _leaves(placed: Placement, exit: h.If, loop: Loop) -> bool:
    """The value of the condition that leaves the loop."""
    ways = [it for it in placed.graph.successors[exit] if it not in loop.body]
    return isinstance(ways[0], h.Read) and ways[0].indices == [h.ControlIndex(1)]


def _counters(placed: Placement, loop: Loop, known: KnownValues, *, is_first: bool) -> dict[h.Node, Values]:
    """The values of counters in each thread at the beginning of a turn."""
    found: dict[h.Node, Values] = {}
    for node in placed.members.phis.get(loop.header, ()):
        pairs = zip(loop.header.predecessors, node.values, strict=True)
        ways = [value for control, value in pairs if (control in loop.latches) is not is_first]
        values = known.of(ways[0]) if len(ways) == 1 else None
        if values is not None:
            found[node] = tuple(values)
    return found
