"""Positions as sums, to guess how accesses follow each other. Wrapping is ignored, and so are clamps: code relies on
none of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import predecessors, reached_from
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


def movement(position: h.Node, loop: Loop, placed: Placement) -> Form | None:
    """By what a position moves in each iteration of a loop; None if that is not the same in all of them."""
    total = Form()
    for term, factor in form_of(position).terms.items():
        change = _change(term, loop, placed)
        if change is None:
            return None
        total = total.plus(change, factor)
    return total


def start(form: Form, loop: Loop) -> Form | None:
    """A form in the first iteration of a loop; None if a counter of the loop begins in several ways."""
    total = Form(constant=form.constant)
    for term, factor in form.terms.items():
        starts = [Form({term: 1})]
        if isinstance(term, h.Phi) and term.region is loop.header:
            starts = [form_of(it) for it in _incoming(term, loop, is_first=True)]
        if len(starts) != 1:
            return None
        total = total.plus(starts[0], factor)
    return total


def advance(position: h.Node, loop: Loop, placed: Placement) -> float:
    """How far a position moves in each iteration of a loop, at least: 0 if it may stay, infinity where it moves by a
    number of elements that is no constant, such as the length of a row.
    """
    total, is_unknown = 0.0, False
    for term, factor in form_of(position).terms.items():
        change = _change(term, loop, placed)
        if change is not None and not change.terms:
            total += factor * change.constant
        else:
            is_unknown = isinstance(term, h.Binary) and term.op is h.BinaryOp.MUL
            if not is_unknown:
                return 0.0
    return float("inf") if is_unknown else abs(total)


def _change(term: h.Node, loop: Loop, placed: Placement) -> Form | None:
    """By what a term changes in each iteration: a counter, its product with a number, or what stays the same."""
    match term:
        case h.Phi(region=region) if region is loop.header:
            changes = [form_of(it).plus(Form({term: 1}), -1) for it in _incoming(term, loop, is_first=False)]
            return changes[0] if all(it == changes[0] for it in changes) else None
        case (
            h.Binary(op=h.BinaryOp.MUL, lhs=h.Phi() as counter, rhs=other)
            | h.Binary(op=h.BinaryOp.MUL, lhs=other, rhs=h.Phi() as counter)
        ) if counter.region is loop.header:
            change = _change(counter, loop, placed)
            is_even = change is not None and not change.terms and not _depends(other, loop, placed)
            return Form().plus(form_of(other), change.constant) if change is not None and is_even else None
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return None if _depends(term, loop, placed) else Form()
        case _:
            assert_never(term)


def _incoming(phi: h.Phi, loop: Loop, *, is_first: bool) -> list[h.Node]:
    """What a Phi of a loop's header is in the first iteration, or in one after another iteration."""
    pairs = zip(loop.header.predecessors, phi.values, strict=True)
    return [value for control, value in pairs if (control in loop.latches) is not is_first]


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


def computed_from(node: h.Node) -> list[h.Node]:
    """The node and all scalars that it is computed from, and what these are read from or chosen by."""
    return reached_from([node], lambda it: predecessors(it) if isinstance(it, h.ScalarNode) else ())
