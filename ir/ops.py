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
        """Whether the result is a bool for each component."""
        return self in _COMPARISONS

    @property
    def is_short_circuit(self) -> bool:
        """Whether the right operand may go unevaluated."""
        return self in (BinaryOp.LOGICAL_AND, BinaryOp.LOGICAL_OR)


_COMPARISONS = frozenset(
    {BinaryOp.EQUAL, BinaryOp.NOT_EQUAL, BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL}
)
