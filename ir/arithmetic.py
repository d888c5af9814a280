"""Arithmetic on scalar values of one type, for operators and builtin functions.

A kernel takes and returns Python numbers that are values of its type. `float_arithmetic(F32, Mode.RUNTIME).add` is IEEE
addition rounded to f32; in CONST mode a result that is infinite or NaN raises EvaluationError. Every kernel rounds
once, correctly: doubles are wide enough for f32 and f16.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from ..base.records import dataclass
from .scalars import (
    EvaluationError,
    Mode,
    bit_width,
    checked_float,
    checked_int,
    int_range,
    round_fraction,
    rounder,
    wrap,
    wrap_i32,
    wrap_u32,
)
from .types import I32, U32, Scalar

IntUnary: TypeAlias = Callable[[int], int]
IntBinary: TypeAlias = Callable[[int, int], int]
FloatUnary: TypeAlias = Callable[[float], float]
FloatBinary: TypeAlias = Callable[[float, float], float]
FloatTernary: TypeAlias = Callable[[float, float, float], float]


@dataclass(frozen=True, slots=True)
class FloatArithmetic:
    """Kernels of a floating-point type. `finish` rounds any double to the type, and checks it in CONST mode."""

    finish: FloatUnary
    add: FloatBinary
    subtract: FloatBinary
    multiply: FloatBinary
    divide: FloatBinary
    remainder: FloatBinary
    square_root: FloatUnary
    fused_multiply_add: FloatTernary


@dataclass(frozen=True, slots=True)
class IntArithmetic:
    """Kernels of an integer type. `finish` converts any integer to the type: it wraps, or checks the range for
    AbstractInt in CONST mode.
    """

    finish: IntUnary
    add: IntBinary
    subtract: IntBinary
    multiply: IntBinary
    divide: IntBinary
    remainder: IntBinary
    shift_left: IntBinary
    shift_right: IntBinary


@cache
def float_arithmetic(scalar: Scalar, mode: Mode) -> FloatArithmetic:
    """The kernels of f32, f16 or AbstractFloat."""
    finish = _float_finish(scalar, mode)

    def fused(a: float, b: float, c: float) -> float:
        return finish(fused_multiply_add(scalar, a, b, c))

    return FloatArithmetic(
        finish=finish,
        add=lambda a, b: finish(a + b),
        subtract=lambda a, b: finish(a - b),
        multiply=lambda a, b: finish(a * b),
        divide=lambda a, b: finish(ieee_divide(a, b)),
        remainder=lambda a, b: finish(_ieee_remainder(a, b)),
        square_root=lambda a: finish(_ieee_sqrt(a)),
        fused_multiply_add=fused,
    )


def _float_finish(scalar: Scalar, mode: Mode) -> FloatUnary:
    round_value = rounder(scalar)
    if mode is Mode.RUNTIME:
        return round_value
    return lambda value: checked_float(scalar, round_value(value))


def ieee_divide(a: float, b: float) -> float:
    """The quotient of IEEE 754, which defines division by zero."""
    if b:
        return a / b
    if a == 0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _ieee_remainder(a: float, b: float) -> float:
    """The remainder a - b · trunc(a / b), exactly."""
    if b == 0 or math.isinf(a) or a != a or b != b:
        return math.nan
    return math.fmod(a, b)


def _ieee_sqrt(a: float) -> float:
    return math.nan if a < 0 else math.sqrt(a)


def fused_multiply_add(scalar: Scalar, a: float, b: float, c: float) -> float:
    """The sum a · b + c, rounded once to the type."""
    total = a * b + c
    if not math.isfinite(total) or scalar.is_abstract:
        return _exact_fma(scalar, a, b, c) if all(map(math.isfinite, (a, b, c))) else total
    # The product of two f32 is exact as a double, and so is the error of the sum (Knuth's two-sum). The rounded sum is
    # right unless that error decides a tie.
    product = a * b
    virtual = total - product
    error = (product - (total - virtual)) + (c - virtual)
    round_value = rounder(scalar)
    rounded = round_value(total)
    if error == 0 or rounded == round_value(math.nextafter(total, math.copysign(math.inf, error))):
        return rounded
    return _exact_fma(scalar, a, b, c)


def _exact_fma(scalar: Scalar, a: float, b: float, c: float) -> float:
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return round_fraction(scalar, exact) if exact else a * b + c  # the sum of doubles has the right sign of zero


@cache
def int_arithmetic(scalar: Scalar, mode: Mode) -> IntArithmetic:
    """The kernels of i32, u32 or AbstractInt (64 bits, where overflow is an error)."""
    finish = _int_finish(scalar, mode)
    divide, remainder = _divisions(scalar, mode)
    shift_left, shift_right = _shifts(scalar, mode)
    return IntArithmetic(
        finish=finish,
        add=lambda a, b: finish(a + b),
        subtract=lambda a, b: finish(a - b),
        multiply=lambda a, b: finish(a * b),
        divide=divide,
        remainder=remainder,
        shift_left=shift_left,
        shift_right=shift_right,
    )


def _int_finish(scalar: Scalar, mode: Mode) -> IntUnary:
    if scalar is I32:
        return wrap_i32
    if scalar is U32:
        return wrap_u32
    if mode is Mode.RUNTIME:
        return lambda value: wrap(scalar, value)
    return lambda value: checked_int(scalar, value)


def _divisions(scalar: Scalar, mode: Mode) -> tuple[IntBinary, IntBinary]:
    """WGSL, "Arithmetic Expressions": at run time x / 0 is x, x % 0 is 0, and the overflowing quotient is the
    dividend.
    """
    lowest = int_range(scalar)[0]

    def divide(a: int, b: int) -> int:
        if b == 0 or (b == -1 and a == lowest):
            return a
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient

    def remainder(a: int, b: int) -> int:
        if b == 0:
            return 0
        return -(-a % abs(b)) if a < 0 else a % abs(b)

    if mode is Mode.RUNTIME:
        return divide, remainder

    def checked(divided: IntBinary) -> IntBinary:
        def run(a: int, b: int) -> int:
            check_divisor(b)
            if b == -1 and a == lowest:
                raise EvaluationError(f"the quotient of {a} by -1 overflows '{scalar}'")
            return divided(a, b)

        return run

    return checked(divide), checked(remainder)


def check_divisor(divisor: int) -> None:
    """Raises EvaluationError for a constant zero divisor."""
    if divisor == 0:
        raise EvaluationError("integer division by zero")


def _shifts(scalar: Scalar, mode: Mode) -> tuple[IntBinary, IntBinary]:
    """WGSL, "Bit Expressions". The amount is a u32, taken modulo the width at run time."""
    width = bit_width(scalar)
    mask = width - 1
    low, high = int_range(scalar)
    if mode is Mode.RUNTIME:
        return lambda a, b: wrap(scalar, a << (b & mask)), lambda a, b: a >> (b & mask)

    def shift_left(a: int, b: int) -> int:
        check_shift(scalar, b)
        if a and (b >= width or not low <= a << b <= high):
            raise EvaluationError(f"shifting {a} left by {b} overflows '{scalar}'")
        return a << b if a else 0

    def shift_right(a: int, b: int) -> int:
        check_shift(scalar, b)
        return a >> min(b, width)

    return shift_left, shift_right


def check_shift(scalar: Scalar, amount: int) -> None:
    """Raises EvaluationError for a constant shift amount that is not below the bit width of a concrete type."""
    if not scalar.is_abstract and amount >= bit_width(scalar):
        raise EvaluationError(f"shift amount {amount} is not below the bit width of '{scalar}', {bit_width(scalar)}")
