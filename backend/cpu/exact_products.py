"""Sums of a product that needs no rounding: a fused multiply-add gives the same bits as two operations.

Such are conversions of normalised integers: a small integer, as a float, times a constant of few bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...ir.hercules import nodes as h
from .gangs.analysis.bounds import greatest

_SIGNIFICAND = 24
_SMALLEST, _LARGEST = 2.0**-80, 2.0**80
"""Bounds of a constant for which no product with an integer is subnormal or infinite."""


def is_exact_product(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    """Whether a node is a product of f32, of a constant and a converted integer, that an f32 holds."""
    match node:
        case (
            h.Binary(op=h.BinaryOp.MUL, lhs=h.Cast(operand=integer), rhs=h.ConstantNode(value=constant))
            | h.Binary(op=h.BinaryOp.MUL, lhs=h.ConstantNode(value=constant), rhs=h.Cast(operand=integer))
        ) if isinstance(constant, h.FloatConstant):
            most = greatest(integer, types)
            is_in_range = _SMALLEST <= abs(constant.value) <= _LARGEST
            return is_in_range and most is not None and most.bit_length() + _bits(constant.value) <= _SIGNIFICAND
        case _:
            return False


def _bits(value: float) -> int:
    """The number of bits from the first to the last that is set in the significand of a float."""
    whole = int(math.ldexp(math.frexp(abs(value))[0], _SIGNIFICAND))
    return whole.bit_length() - ((whole & -whole).bit_length() - 1)
