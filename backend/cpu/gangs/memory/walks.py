"""Positions of lanes that walk along rows of their own: starts that differ, plus steps that all lanes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.types import U32
from ...llvm import Ops
from ...trip_counts import constant_change, max_trip_count
from ..analysis.body import Level
from ..analysis.costs import is_short
from ..analysis.shapes import UNIFORM
from ..context import GangContext
from .addresses import ValueQueries

_DEPTH = 8
"""The most additions, one inside of another, of which a position is the sum."""
_OPPOSITE = {"add": "sub", "sub": "add"}


@dataclass(frozen=True, slots=True)
class Walk:
    """A position as a sum: of values that differ between lanes and stay as they are in the loops of the `levels`,
    innermost first, and of `steps`, which are the same for all lanes, each added or subtracted.
    """

    levels: Sequence[Level]
    steps: Sequence[tuple[h.Node, str]]


@dataclass(frozen=True, slots=True)
class _Counted:
    """A value that is `start`, plus what the `counter` of the same loop is more than the `counter_start`."""

    start: h.Node
    counter: h.Phi
    counter_start: h.Node


@dataclass(frozen=True, slots=True)
class _Course:
    """The value of a Phi before a loop, and the constant change in each iteration."""

    start: h.Node
    change: tuple[h.BinaryOp, int]


class Walks:
    """Finds the walks of positions in loops."""

    def __init__(self, context: GangContext, values: ValueQueries) -> None:
        self._context, self._placed, self._values = context, context.placed, values
        self._one = Ops(context.out)
        self._found: dict[tuple[h.Node, ...], Walk | None] = {}

    def of(self, position: h.Node) -> Walk | None:
        """The walk of a position that is used in the current block, along enough elements to fill a vector."""
        key = self._context.site.here, position
        if key not in self._found:
            self._found[key] = self._find(position)
        return self._found[key]

    def along(self, row: h.Node, element: h.Node) -> Walk | None:
        """The walk through the elements of an array that is an element itself, at a position `row` of each lane."""
        key = self._context.site.here, row, element
        if key not in self._found:
            self._found[key] = self._in_loops([row], [(element, "add")])
        return self._found[key]

    def is_usable(self, walk: Walk) -> bool:
        """Whether the steps are available here."""
        return all(self._values.is_usable(it) for it, _ in walk.steps)

    def sum(self, walk: Walk) -> str:
        """What all lanes have gone along their rows, a u32, which may have wrapped round."""
        total = "0"
        for node, operation in walk.steps:
            total = self._one.binary(operation, "i32", total, self._values.scalar(node))
        return total

    def trips(self, levels: Sequence[Level]) -> float:
        """The most iterations of the loops."""
        return prod(max_trip_count(self._placed, it.container) for it in levels if isinstance(it.container, Loop))

    def _find(self, position: h.Node) -> Walk | None:
        if not isinstance(position, h.Cast) or self._context.types[position.operand] != U32:
            return None
        terms = list(self._terms(position.operand, "add"))
        starts = [it for it, _ in terms if self._values.shape(it) != UNIFORM]
        return self._in_loops(starts, [it for it in terms if self._values.shape(it[0]) == UNIFORM])

    def _in_loops(self, starts: Sequence[h.Node], steps: Sequence[tuple[h.Node, str]]) -> Walk | None:
        levels = list(takewhile(lambda it: it.is_loop and not self._changes(starts, it), self._levels()))
        if not levels or not starts or not self._changes([it for it, _ in steps], levels[-1]):
            return None
        if is_short(self._placed, self._context.shapes, levels[0], self._context.gang.parts):  # LLVM unrolls it
            return None
        return Walk(levels, steps) if self.trips(levels) >= self._context.gang.lanes else None

    def _levels(self) -> list[Level]:
        """The levels around the block, innermost first."""
        return self._context.body.enclosing(self._context.site.here)

    def _changes(self, nodes: Sequence[h.Node], level: Level) -> bool:
        """Whether any value is computed inside of a level."""
        return any(self._placed.place.get(it) in level.leaders for it in nodes)

    def _terms(self, node: h.Node, operation: str, depth: int = _DEPTH) -> Iterator[tuple[h.Node, str]]:
        """The values that are added or subtracted in 32 bits. A sum that is the same for all lanes is one value."""
        match node:
            case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB as op, lhs=lhs, rhs=rhs) if self._is_split(node, depth):
                yield from self._terms(lhs, operation, depth - 1)
                yield from self._terms(rhs, operation if op is h.BinaryOp.ADD else _OPPOSITE[operation], depth - 1)
            case h.Cast(operand=operand) | h.Bitcast(operand=operand) if self._is_split(
                node, depth
            ) and self._is_integer(operand):
                yield from self._terms(operand, operation, depth - 1)
            case h.Phi() if self._is_split(node, depth) and (counted := self._counted(node)) is not None:
                yield from self._terms(counted.start, operation, depth - 1)
                yield counted.counter, operation
                yield counted.counter_start, _OPPOSITE[operation]
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                yield node, operation
            case _:
                assert_never(node)

    def _counted(self, phi: h.Phi) -> _Counted | None:
        """The counter that a loop around the block changes like a value of its own in each lane."""
        loop = next((it.container for it in self._levels() if it.header is phi.region), None)
        own = None if not isinstance(loop, Loop) else _course(phi, loop)
        if own is None or not isinstance(loop, Loop):
            return None
        for counter in self._context.users[loop.header]:
            if isinstance(counter, h.Phi) and self._is_integer(counter) and self._values.shape(counter) == UNIFORM:
                course = _course(counter, loop)
                if course is not None and course.change == own.change:
                    return _Counted(own.start, counter, course.start)
        return None

    def _is_split(self, node: h.Node, depth: int) -> bool:
        return depth > 0 and self._values.shape(node) != UNIFORM and self._is_integer(node)

    def _is_integer(self, node: h.Node) -> bool:
        type = self._context.types[node]
        return isinstance(type, h.Integer) and type.bits == 32


def _course(phi: h.Phi, loop: Loop) -> _Course | None:
    """How a loop changes a Phi of its header, if each iteration adds or subtracts one constant."""
    pairs = list(zip(loop.header.predecessors, phi.values, strict=True))
    changes = {constant_change(value, phi) for control, value in pairs if control in loop.latches}
    starts = [value for control, value in pairs if control not in loop.latches]
    change = changes.pop() if len(changes) == 1 else None
    if change is None or len(starts) != 1 or change[0] not in (h.BinaryOp.ADD, h.BinaryOp.SUB):
        return None
    return _Course(starts[0], change)
