"""Cheaper operations with the same result.

A multiplication of integers by a power of two is a shift, an unsigned division or remainder by one a shift or mask.
A float division by a power of two whose inverse is an exact normal number is a multiplication: both round the same
real number once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import Builder
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import F16, U32, Scalar, Vector, scalar_of, with_scalar
from .rewriting import Rule, is_float, is_integer, number_of, rewrite, splat


@dataclass(frozen=True)
class StrengthReduction:
    """Applies the table `RULES`."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "strength_reduction"

    def run(self, module: nodes.Module) -> bool:
        """Whether a rule applied."""
        return rewrite(module, RULES)


def multiply_by_power(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x * 8` is `x << 3`, for both kinds of integers."""
    if not isinstance(node, nodes.Binary) or node.op is not BinaryOp.MULTIPLY or not is_integer(node.type):
        return None
    for value, other in ((node.lhs, node.rhs), (node.rhs, node.lhs)):
        power = _power_of_two(number_of(other))
        if power and value.type is node.type and not isinstance(value, nodes.Constant):
            return _shifted(BinaryOp.SHIFT_LEFT, value, power, builder)
    return None


def divide_by_power(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x / 8` is `x >> 3` and `x % 8` is `x & 7`, for unsigned integers."""
    if not isinstance(node, nodes.Binary) or scalar_of(node.type) is not U32 or node.lhs.type is not node.type:
        return None
    power = _power_of_two(number_of(node.rhs))
    if not power or isinstance(node.lhs, nodes.Constant):
        return None
    match node.op:
        case BinaryOp.DIVIDE:
            return _shifted(BinaryOp.SHIFT_RIGHT, node.lhs, power, builder)
        case BinaryOp.REMAINDER:
            return builder.binary(BinaryOp.AND, node.lhs, splat(node.type, (1 << power) - 1))
        case _:
            return None


def divide_float_by_power(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x / 4` is `x * 0.25`."""
    if not isinstance(node, nodes.Binary) or node.op is not BinaryOp.DIVIDE or not is_float(node.type):
        return None
    number = number_of(node.rhs)
    if not isinstance(number, float) or number == 0.0 or not math.isfinite(number):
        return None
    fraction, exponent = math.frexp(number)
    least = 14 if scalar_of(node.type) is F16 else 126
    if abs(fraction) != 0.5 or abs(number) == 1.0 or not -least < exponent - 1 < least:
        return None
    return builder.binary(BinaryOp.MULTIPLY, node.lhs, splat(node.rhs.type, 1 / number))


def _power_of_two(number: bool | int | float | None) -> int:
    """The exponent of a power of two above 1, else 0."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 2 or number & (number - 1):
        return 0
    return number.bit_length() - 1


def _shifted(op: BinaryOp, value: Value, by: int, builder: Builder) -> Value:
    assert isinstance(value.type, (Scalar, Vector))
    counts = with_scalar(value.type, U32)
    return builder.binary(op, value, splat(counts, by))


RULES: tuple[Rule, ...] = (multiply_by_power, divide_by_power, divide_float_by_power)
"""Tried in this order."""
