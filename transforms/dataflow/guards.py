"""The conditions under which a block of an entry point is reached, as comparisons of integers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, assert_never

from ...ir.dataflow.expressions import Polynomial
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader, post_dominators
from ...ir.hercules.conditions import MIRRORED, OPPOSITE, constant_truth
from ...ir.hercules.placement import Placement
from .forms import Counter, Forms, Opaque, counters_in, variables

_ORDERED: Final = {h.BinaryOp.LESS, h.BinaryOp.LESS_EQUAL, h.BinaryOp.EQUAL}
"""The comparisons that `Comparison` has."""
_DEEPEST: Final = 32
"""A condition that is nested deeper says nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lhs op rhs` on integers; `op` is LESS, LESS_EQUAL or EQUAL."""

    op: h.BinaryOp
    lhs: Polynomial
    rhs: Polynomial
    is_signed: bool

    @property
    def counters(self) -> set[Counter]:
        """The counters of loops that are compared."""
        return counters_in(self.lhs) | counters_in(self.rhs)


@dataclass(frozen=True, slots=True)
class Guards:
    """Comparisons that hold where a block is reached. If they are `exact`, it is reached wherever they hold, if the
    loops before it end.
    """

    comparisons: tuple[Comparison, ...] = ()
    exact: bool = True

    def within(self, counters: Collection[Counter]) -> Guards:
        """What is said without other counters of loops than these."""
        known = tuple(it for it in self.comparisons if it.counters.issubset(counters))
        return Guards(known, self.exact and len(known) == len(self.comparisons))

    def plus(self, other: Guards) -> Guards:
        """Both hold."""
        return Guards((*self.comparisons, *other.comparisons), self.exact and other.exact)


_UNKNOWN: Final = Guards(exact=False)


class GuardFinder:
    """Finds the guards of the blocks of an entry point."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._placed: Placement = forms.placed
        self._ends = post_dominators(forms.placed.graph)
        self._known: dict[h.Node, Guards] = {}

    def of(self, control: h.Node) -> Guards:
        """The guards of the block of a control node."""
        leader = block_leader(control)
        if leader not in self._known:
            self._known[leader] = self._guards(leader)
        return self._known[leader]

    def is_sure(self, control: h.Node, above: h.Node) -> bool:
        """Whether control that is at `above` comes to `control`, if the loops between them end."""
        return self._ends.dominates(control, above)

    def _guards(self, leader: h.Node) -> Guards:
        above = self._placed.dominators.parent.get(leader)
        if above is None:
            return Guards()
        around = self.of(above)
        if self.is_sure(leader, above):  # the only exit of a loop is reached whatever its condition says
            return around
        match leader:
            case h.Read(h.If(condition=condition), [h.ControlIndex(output)]):
                return around.plus(self._implied(condition, bool(output), 0))
            case _:
                return around.plus(_UNKNOWN)

    def _implied(self, condition: h.Node, truth: bool, depth: int) -> Guards:
        """What a condition of this truth value says."""
        if depth > _DEEPEST:
            return _UNKNOWN
        match condition:
            case h.Unary(h.UnaryOp.NOT, operand):
                return self._implied(operand, not truth, depth + 1)
            case h.Binary(h.BinaryOp.AND, lhs, rhs) if truth:
                return self._implied(lhs, truth, depth + 1).plus(self._implied(rhs, truth, depth + 1))
            case h.Binary(h.BinaryOp.OR, lhs, rhs) if not truth:
                return self._implied(lhs, truth, depth + 1).plus(self._implied(rhs, truth, depth + 1))
            case h.Binary(op, lhs, rhs) if op in OPPOSITE:
                return self._compared(op if truth else OPPOSITE[op], lhs, rhs)
            case h.Select(chooser, if_true, if_false):
                return self._chosen(chooser, if_true, if_false, truth, depth)
            case h.Phi(h.Region() as region, values):
                return self._merged(region, values, truth, depth)
            case h.ConstantNode():
                return Guards() if constant_truth(condition) is truth else _UNKNOWN
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return _UNKNOWN
            case _:
                assert_never(condition)

    def _chosen(self, chooser: h.Node, if_true: h.Node, if_false: h.Node, truth: bool, depth: int) -> Guards:
        if constant_truth(if_false) is (not truth):
            return self._implied(chooser, True, depth + 1).plus(self._implied(if_true, truth, depth + 1))
        if constant_truth(if_true) is (not truth):
            return self._implied(chooser, False, depth + 1).plus(self._implied(if_false, truth, depth + 1))
        return _UNKNOWN

    def _merged(self, region: h.Region, values: list[h.Node], truth: bool, depth: int) -> Guards:
        """A value that several ways give, as `&&` and `||` do: one of them can have this truth value."""
        ways = [
            (value, at)
            for value, at in zip(values, region.predecessors, strict=True)
            if constant_truth(value) is not (not truth)
        ]
        if len(ways) != 1 or region in self._forms.loops:
            return _UNKNOWN
        ((value, at),) = ways
        return self.of(at).plus(self._implied(value, truth, depth + 1))

    def _compared(self, op: h.BinaryOp, lhs: h.Node, rhs: h.Node) -> Guards:
        type = self._placed.types[lhs]
        if op not in _ORDERED:
            op, lhs, rhs = MIRRORED[op], rhs, lhs
        if not isinstance(type, h.Integer) or op not in _ORDERED:
            return _UNKNOWN
        left, right = self._forms.of(lhs), self._forms.of(rhs)
        if any(isinstance(it, Opaque) for it in variables(left) | variables(right)):
            return _UNKNOWN
        return Guards((Comparison(op, left, right, type.signed),))
