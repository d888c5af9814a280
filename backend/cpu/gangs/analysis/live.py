"""What is known before the kernel runs about a gang whose threads' numbers and counters are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from .alike import Turn
from .body import BlockEdge, Body, Item, Level
from .known import KnownValues

Truth = bool | None
"""None where it is not known."""


@dataclass(slots=True)
class Knowledge:
    """The known values of a gang's threads, and which threads pass a block."""

    placed: Placement
    body: Body
    values: KnownValues
    unrolled: Mapping[Level, Turn] = field(default_factory=dict[Level, Turn])
    """The loops of which one turn is written."""
    _live: dict[h.Node, Sequence[Truth]] = field(default_factory=dict[h.Node, Sequence[Truth]])

    def live(self, leader: h.Node) -> Sequence[Truth]:
        """Whether each thread passes a block."""
        if leader not in self._live:
            self._live[leader] = self._find(leader)
        return self._live[leader]

    def _find(self, leader: h.Node) -> Sequence[Truth]:
        level = self.body.level_of[leader]
        if leader is self.body.top.header:
            return [True] * self.values.threads
        if level is not self.body.top and level not in self.unrolled:
            return [None] * self.values.threads
        if leader is level.header:
            enters = self.of(next(it for it in _parent(level).items if it.inner is level))
            return [_both(it, comes) for it, comes in zip(enters, self.unrolled[level].comes, strict=True)]
        return self.of(next(it for it in level.items if it.leader is leader and it.inner is None))

    def of(self, item: Item) -> Sequence[Truth]:
        """Whether each thread passes an item of a level."""
        if item.twin is not None or not item.incoming:
            return self.live((item.twin or item).leader)
        return self._joined(item)

    def in_turn(self, level: Level, turn: Turn) -> Knowledge:
        """What is known in one turn of a loop."""
        values = self.values.with_counters({**self.values.counters, **turn.counters})
        return Knowledge(self.placed, self.body, values, {**self.unrolled, level: turn})

    def _joined(self, item: Item) -> Sequence[Truth]:
        """Whether each thread takes one of the edges to an item."""
        ways = [self._taken(it) for it in item.incoming]
        return ways[0] if len(ways) == 1 else [_any(it) for it in zip(*ways, strict=True)]

    def _taken(self, edge: BlockEdge) -> Sequence[Truth]:
        before, exit = self.live(edge.source), self.placed.exits[edge.source]
        if not isinstance(exit, h.If):
            return before
        is_true = isinstance(edge.target, h.Read) and edge.target.indices == [h.ControlIndex(1)]
        found = self.values.of(exit.condition)
        if found is None:
            return [None if it is None or it else False for it in before]
        return [_both(it, bool(value) == is_true) for it, value in zip(before, found, strict=True)]


def _both(left: Truth, right: Truth) -> Truth:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _any(truths: Sequence[Truth]) -> Truth:
    if True in truths:
        return True
    return None if None in truths else False


def _parent(level: Level) -> Level:
    assert level.parent is not None
    return level.parent
