"""Positions as sums, to guess how accesses follow each other. Wrapping is ignored, and so are clamps: code relies on
none of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import predecessors
from .....ir.hercules.placement import Placement
from .bounds import constant_value

_DEPTH = 16
_LIMITING = ("min", "max", "clamp")


@dataclass(frozen=True, slots=True)
class Form:
    """A constant plus terms, each with its factor."""

    terms: Mapping[h.Node, int] = field(default_factory=dict[h.Node, int])
    constant: int = 0

    def plus(self, other: Form, factor: int) -> Form:
        """The sum with another form times a factor."""
        terms = dict(self.terms)
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0) + factor * count
        return Form({term: it for term, it in terms.items() if it}, self.constant + factor * other.constant)

    def distance(self, other: Form) -> int | None:
        """How far this is from another form; None if that is not constant."""
        return self.constant - other.constant if self.terms == other.terms else None


def form_of(node: h.Node, depth: int = _DEPTH) -> Form:
    """The form of an integer."""
    value = constant_value(node)
    if value is not None or depth == 0:
        return Form({node: 1}) if value is None else Form(constant=value)
    match node:
        case h.Cast(operand=operand) | h.Bitcast(operand=operand):
            return form_of(operand, depth - 1)
        case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB as op, lhs=lhs, rhs=rhs):
            return form_of(lhs, depth - 1).plus(form_of(rhs, depth - 1), 1 if op is h.BinaryOp.ADD else -1)
        case h.Binary(op=h.BinaryOp.MUL, lhs=lhs, rhs=rhs) if (factor := constant_value(rhs)) is not None:
            return Form().plus(form_of(lhs, depth - 1), factor)
        case h.Binary(op=h.BinaryOp.SHIFT_LEFT, lhs=lhs, rhs=rhs) if (count := constant_value(rhs)) is not None:
            return Form().plus(form_of(lhs, depth - 1), 1 << (count % 32))
        case h.Intrinsic(function=name, arguments=[first, second, *_]) if name in _LIMITING:
            return form_of(second if constant_value(first) is not None else first, depth - 1)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return Form({node: 1})
        case _:
            assert_never(node)


def advance(position: h.Node, loop: Loop, placed: Placement) -> float:
    """How far a position moves in each iteration of a loop, at least: 0 if it may stay, infinity where it moves by a
    number of elements that is no constant, such as the length of a row.
    """
    total, is_unknown = 0.0, False
    for term, factor in form_of(position).terms.items():
        step = _step(term, loop)
        if step is not None:
            total += factor * step
        elif _depends(term, loop, placed):
            is_unknown = isinstance(term, h.Binary) and term.op is h.BinaryOp.MUL
            if not is_unknown:
                return 0.0
    return float("inf") if is_unknown else abs(total)


def constant_advance(position: h.Node, loop: Loop, placed: Placement) -> int | None:
    """By how many elements a position moves in each iteration of a loop; None if that is no constant."""
    total = 0
    for term, factor in form_of(position).terms.items():
        step = _step(term, loop)
        if step is None and _depends(term, loop, placed):
            return None
        total += factor * (step or 0)
    return total


def _step(term: h.Node, loop: Loop) -> int | None:
    """The constant that a Phi of the loop is increased by in each iteration."""
    if not isinstance(term, h.Phi) or term.region is not loop.header:
        return None
    pairs = zip(loop.header.predecessors, term.values, strict=True)
    forms = [form_of(it) for control, it in pairs if control in loop.latches]
    steps = {it.constant if it.terms == {term: 1} else None for it in forms}
    return steps.pop() if len(steps) == 1 else None


def _starts(phi: h.Phi, placed: Placement) -> list[h.Node]:
    """The values that a Phi begins with: all of them, unless it is that of a loop."""
    latches = {it for loop in placed.loops.loops if loop.header is phi.region for it in loop.latches}
    assert isinstance(phi.region, h.Region)
    return [it for control, it in zip(phi.region.predecessors, phi.values, strict=True) if control not in latches]


def _depends(node: h.Node, loop: Loop, placed: Placement, depth: int = _DEPTH) -> bool:
    """Whether a value may differ between iterations of a loop. A counter of an inner loop is taken to begin anew."""
    home = placed.place.get(node)
    if home is None or home not in loop.body:
        return False
    if depth == 0 or (isinstance(node, h.Phi) and node.region is loop.header):
        return True
    if isinstance(node, h.Phi):
        return any(_depends(it, loop, placed, depth - 1) for it in _starts(node, placed))
    return any(_depends(it, loop, placed, depth - 1) for it in predecessors(node))
