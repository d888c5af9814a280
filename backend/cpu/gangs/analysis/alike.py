"""Loops whose turns are known of each thread before the kernel runs, since they are executed at compile time.

`for (var i = local; i < 512; i += 64)` fills workgroup memory: counters differ, but all threads take eight turns. Of
`for (var i = local; i < 324; i += 256)`, some threads take one turn, and others two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import predecessors
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
    execution = _Execution(placed, forks, loop, exit, outside, most)
    # whether there are too many turns is found sooner than what all counters are in each of them
    return None if execution.turns(execution.deciding) is None else execution.turns(execution.phis)


@dataclass(frozen=True)
class _Execution:
    """Executes a loop that has one latch and is left at its header, for at most `most` turns."""

    placed: Placement
    forks: Sequence[h.Fork]
    loop: Loop
    exit: h.If
    outside: Mapping[h.Node, Values]
    most: int

    @property
    def phis(self) -> Sequence[h.Phi]:
        """All that the loop may change from turn to turn."""
        return self.placed.members.phis.get(self.loop.header, ())

    @property
    def deciding(self) -> Sequence[h.Phi]:
        """Those that the condition depends on, in this turn or a later one."""
        found, pending = set[h.Node](), [self.exit.condition]
        while pending:
            node = pending.pop()
            if node not in found:
                found.add(node)
                is_own = isinstance(node, h.ScalarNode) or node in self.phis
                pending += predecessors(node) if is_own else ()
        return [it for it in self.phis if it in found]

    def turns(self, phis: Sequence[h.Phi]) -> list[Turn] | None:
        """The turns, with what some of the counters are in each; None if there are more, or if they are not known."""
        known = KnownValues(self.placed.types, self.forks, self.outside)
        comes, found, leaves = (True,) * known.threads, list[Turn](), self._leaves
        counters = self._counters(phis, known, is_first=True)
        while len(found) <= self.most:
            found.append(Turn(counters, comes))
            known = known.with_counters({**self.outside, **counters})
            outcomes = known.shortest(self.exit.condition)
            if outcomes is None:
                return None
            stay = [bool(it) != leaves for it in outcomes]
            if len(stay) > 1:
                comes = tuple(it and stays for it, stays in zip(comes, stay, strict=True))
            if not (any(comes) and any(stay)):
                return found
            counters = self._counters(phis, known, is_first=False)
        return None

    @property
    def _leaves(self) -> bool:
        """The value of the condition that leaves the loop."""
        ways = [it for it in self.placed.graph.successors[self.exit] if it not in self.loop.body]
        return isinstance(ways[0], h.Read) and ways[0].indices == [h.ControlIndex(1)]

    def _counters(self, phis: Sequence[h.Phi], known: KnownValues, *, is_first: bool) -> dict[h.Node, Values]:
        """The values of counters in each thread at the beginning of a turn."""
        found: dict[h.Node, Values] = {}
        for node in phis:
            pairs = zip(self.loop.header.predecessors, node.values, strict=True)
            ways = [value for control, value in pairs if (control in self.loop.latches) is not is_first]
            values = known.shortest(ways[0]) if len(ways) == 1 else None
            if values is not None:
                found[node] = values
        return found
