"""Which arm of a select or of a branch most gangs take in all lanes, where positions decide: that of the interior.

A clamp may be spelled `select(x - 1, 0, x == 0)`, or as a branch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.conditions import constant_truth
from .bounds import constant_value
from .spans import NEGATED

_COMPARISONS = (*NEGATED, h.BinaryOp.EQUAL, h.BinaryOp.NOT_EQUAL)
_BELOW = (h.BinaryOp.LESS, h.BinaryOp.LESS_EQUAL)


def likely_truth(select: h.Select, is_fixed: Callable[[h.Node], bool]) -> bool | None:
    """The value of the condition for which the arm is likely taken by all lanes; None if neither arm is likelier.

    `is_fixed` says whether all lanes have one value. An arm that differs between lanes is likelier than one that does
    not: the other is a border. Of two such arms, a comparison for equality likely fails, and positions are likely
    inside of their limits: above 0, and below a size.
    """
    fixed = is_fixed(select.if_true), is_fixed(select.if_false)
    if fixed[0] != fixed[1]:
        return fixed[1]
    return None if all(fixed) else likely_outcome(select.condition, is_fixed)


def is_of_positions(condition: h.Node, is_linear: Callable[[h.Node], bool]) -> bool:
    """Whether a condition only compares values that are linear in the lane number."""
    match condition:
        case h.Unary(op=h.UnaryOp.NOT, operand=operand):
            return is_of_positions(operand, is_linear)
        case h.Binary(op=h.BinaryOp.AND | h.BinaryOp.OR, lhs=lhs, rhs=rhs):
            return is_of_positions(lhs, is_linear) and is_of_positions(rhs, is_linear)
        case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in _COMPARISONS:
            return is_linear(lhs) and is_linear(rhs)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return False
        case _:
            assert_never(condition)


def likely_outcome(condition: h.Node, is_fixed: Callable[[h.Node], bool]) -> bool | None:
    """What a condition on positions, which are not fixed, likely is: they are inside of limits, and equal to none."""
    match condition:
        case h.Unary(op=h.UnaryOp.NOT, operand=operand):
            inner = likely_outcome(operand, is_fixed)
            return None if inner is None else not inner
        case h.Binary(op=h.BinaryOp.AND | h.BinaryOp.OR, lhs=lhs, rhs=rhs):
            known = {likely_outcome(lhs, is_fixed), likely_outcome(rhs, is_fixed)} - {None}
            return known.pop() if len(known) == 1 else None
        case h.Phi(values=values):  # of && or ||
            decided = {constant_truth(it) for it in values} - {None}
            return decided == {False} if len(decided) == 1 else None
        case h.Binary(op=h.BinaryOp.EQUAL):
            return False
        case h.Binary(op=h.BinaryOp.NOT_EQUAL):
            return True
        case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in NEGATED and is_fixed(lhs) != is_fixed(rhs):
            limit = constant_value(rhs if is_fixed(rhs) else lhs)
            is_below = (op in _BELOW) == is_fixed(rhs)
            return is_below == (limit is None or limit > 1)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return None
        case _:
            assert_never(condition)
