"""The operators of WGSL, shared by the syntax tree and core IR."""

from __future__ import annotations

import enum


class UnaryOp(enum.Enum):
    """Prefix operators. Address-of and indirection occur in the syntax tree only."""

    NEGATE = "-"
    COMPLEMENT = "~"
    NOT = "!"
    ADDRESS_OF = "&"
    INDIRECTION = "*"


class BinaryOp(enum.Enum):
    """Infix operators. The short-circuit ones occur in the syntax tree only."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    LOGICAL_AND = "&&"
    LOGICAL_OR = "||"

    @property
    def is_comparison(self) -> bool:
        """Whether the operator is a comparison, whose result is a bool for each component."""
        return self in _COMPARISONS

    @property
    def is_short_circuit(self) -> bool:
        """Whether the right operand may go unevaluated."""
        return self in (BinaryOp.LOGICAL_AND, BinaryOp.LOGICAL_OR)


_COMPARISONS = frozenset(
    {BinaryOp.EQUAL, BinaryOp.NOT_EQUAL, BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL}
)

_SUMS = frozenset({BinaryOp.ADD, BinaryOp.SUBTRACT})
_PRODUCTS = frozenset({BinaryOp.MULTIPLY, BinaryOp.DIVIDE, BinaryOp.REMAINDER})
_SHIFTS = frozenset({BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT})
_BITWISE = frozenset({BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
_COMPARED = _SUMS | _PRODUCTS | _SHIFTS
_DECIDED = _COMPARED | _COMPARISONS
_NONE: frozenset[BinaryOp] = frozenset()


def _bare_operands(op: BinaryOp) -> tuple[frozenset[BinaryOp], frozenset[BinaryOp]]:
    if op in _PRODUCTS:
        return _PRODUCTS, _NONE
    if op in _SUMS:
        return _SUMS | _PRODUCTS, _PRODUCTS
    if op in _SHIFTS:
        return _NONE, _NONE
    if op in _BITWISE:
        return frozenset({op}), _NONE
    if op.is_short_circuit:
        return _DECIDED | {op}, _DECIDED
    return _COMPARED, _COMPARED


BARE_OPERANDS = {op: _bare_operands(op) for op in BinaryOp}
"""The operators whose expressions may stand left and right of an operator without parentheses (WGSL, "Expression
Grammar Summary").
"""
