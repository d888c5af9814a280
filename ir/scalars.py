"""Scalar values of WGSL's types: rounding, wrapping, literals, conversions and bit patterns, exactly.

A scalar value is a Python bool, int or float (see `constants`). The functions of this module always return a value of
its type: an f32 or f16 rounded to nearest even, an i32 or u32 in range. Evaluation has two modes, see `Mode`.
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Callable
from ctypes import c_float
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, cast

from .types import ABSTRACT_FLOAT, BOOL, F16, F32, I32, U32, Scalar, ScalarKind

if TYPE_CHECKING:
    from fractions import Fraction

ScalarValue: TypeAlias = bool | int | float
"""A raw value of a scalar type."""


class Mode(enum.Enum):
    """When an expression is evaluated.

    CONST is for const-expressions and override-expressions: an evaluation that WGSL makes a shader-creation or
    pipeline-creation error raises EvaluationError. RUNTIME is for interpreters: evaluation never raises, and floats
    follow IEEE 754.
    """

    CONST = "const"
    RUNTIME = "runtime"


class EvaluationError(Exception):
    """A const-expression has no value. The message is one lower-case sentence for a diagnostic."""

    @property
    def message(self) -> str:
        """The sentence."""
        return str(self)


class FloatFormat:
    """A binary floating-point format of IEEE 754: `precision` significand bits, the hidden one included."""

    __slots__ = ("bias", "bits", "largest", "precision", "smallest_exponent")

    def __init__(self, bits: int, precision: int) -> None:
        self.bits = bits
        self.precision = precision
        self.bias = (1 << (bits - precision - 1)) - 1
        self.smallest_exponent = 1 - self.bias
        self.largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - precision), self.bias)


_FORMATS = {
    ScalarKind.F16: FloatFormat(16, 11),
    ScalarKind.F32: FloatFormat(32, 24),
    ScalarKind.ABSTRACT_FLOAT: FloatFormat(64, 53),
}


def integer_range(bits: int, *, signed: bool) -> tuple[int, int]:
    """The least and the greatest integer of `bits` bits, in two's complement if signed."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


_INT_RANGES = {
    ScalarKind.I32: integer_range(32, signed=True),
    ScalarKind.U32: integer_range(32, signed=False),
    ScalarKind.ABSTRACT_INT: integer_range(64, signed=True),
}


def float_format(scalar: Scalar) -> FloatFormat:
    """The format of a floating-point type (AbstractFloat is binary64)."""
    return _FORMATS[scalar.kind]


def int_range(scalar: Scalar) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    return _INT_RANGES[scalar.kind]


def bit_width(scalar: Scalar) -> int:
    """The number of bits of a value: 64 for the abstract types, 1 for bool."""
    match scalar.kind:
        case ScalarKind.BOOL:
            return 1
        case ScalarKind.F16:
            return 16
        case ScalarKind.I32 | ScalarKind.U32 | ScalarKind.F32:
            return 32
        case ScalarKind.ABSTRACT_INT | ScalarKind.ABSTRACT_FLOAT:
            return 64


# Rounding


def round_f32(value: float) -> float:
    """The nearest f32, ties to even; an infinity for values out of range."""
    return c_float(value).value


_half = struct.Struct("<e")


def round_f16(value: float) -> float:
    """The nearest f16, ties to even; an infinity for values out of range."""
    try:
        (rounded,) = _half.unpack(_half.pack(value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)


def _same(value: float) -> float:
    return value


_ROUNDERS: dict[ScalarKind, Callable[[float], float]] = {
    ScalarKind.F32: round_f32,
    ScalarKind.F16: round_f16,
    ScalarKind.ABSTRACT_FLOAT: _same,
}


def rounder(scalar: Scalar) -> Callable[[float], float]:
    """The function that rounds a double to a floating-point type."""
    return _ROUNDERS[scalar.kind]


def round_to(scalar: Scalar, value: float) -> float:
    """A double rounded to a floating-point type."""
    return _ROUNDERS[scalar.kind](value)


def round_fraction(scalar: Scalar, value: Fraction) -> float:
    """An exact number rounded once to a floating-point type; zero is positive."""
    from fractions import Fraction

    if value == 0:
        return 0.0
    form = _FORMATS[scalar.kind]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    quantum = max(exponent, form.smallest_exponent) - form.precision + 1
    significand = round(magnitude / Fraction(2) ** quantum)
    try:
        rounded = math.ldexp(significand, quantum)
    except OverflowError:
        rounded = math.inf
    if rounded > form.largest:
        rounded = math.inf
    return -rounded if value < 0 else rounded


def checked_float(scalar: Scalar, value: float) -> float:
    """The value, which must be finite. Raises EvaluationError."""
    if math.isfinite(value):
        return value
    kind = "not a number" if math.isnan(value) else "out of range"
    raise EvaluationError(f"the result is {kind} for {type_word(scalar)}")


# Integers


def wrap_i32(value: int) -> int:
    """The low 32 bits as a two's complement number."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def wrap_u32(value: int) -> int:
    """The low 32 bits."""
    return value & 0xFFFFFFFF


def wrap(scalar: Scalar, value: int) -> int:
    """The low bits of an integer as a value of i32, u32 or (64 bits) AbstractInt."""
    if scalar is I32:
        return wrap_i32(value)
    if scalar is U32:
        return wrap_u32(value)
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def fits(scalar: Scalar, value: int) -> bool:
    """Whether an integer is a value of an integer type."""
    low, high = _INT_RANGES[scalar.kind]
    return low <= value <= high


def checked_int(scalar: Scalar, value: int) -> int:
    """The value, which must be in range. Raises EvaluationError."""
    low, high = _INT_RANGES[scalar.kind]
    if low <= value <= high:
        return value
    raise EvaluationError(f"value {value} cannot be represented as {type_word(scalar)}")


def type_word(scalar: Scalar) -> str:
    """The type's name in messages."""
    return f"'{scalar}'"


# Literals


def parse_float_literal(text: str, scalar: Scalar) -> float:
    """The value of a floating-point literal without its suffix, rounded once to the type (WGSL, "Literals").

    Raises EvaluationError when it is out of range as an AbstractFloat, or when a hexadecimal one is not exactly
    representable.
    """
    is_hex = text[:2] in ("0x", "0X")
    exact = _hex_fraction(text[2:]) if is_hex else _decimal_fraction(text)
    if exact is None or round_fraction(ABSTRACT_FLOAT, exact) > float_format(scalar).largest:
        raise EvaluationError(f"value cannot be represented as {type_word(scalar)}{_largest_hint(scalar, exact)}")
    value = round_fraction(scalar, exact)
    if is_hex and exact != value:
        raise EvaluationError(f"value cannot be exactly represented as {type_word(scalar)}")
    return value


_HUGE_EXPONENT = 20_000  # out of range of every format; limits the cost of the exact arithmetic
_MOST_DIGITS = 2_000  # ties of two doubles have fewer digits, so of further digits it only matters if any is not 0


def _decimal_fraction(text: str) -> Fraction | None:
    """The exact value of a decimal literal; None if it is out of range of every format."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = _exponent(exponent) - len(fraction)
    if len(digits) > _MOST_DIGITS:
        rest = digits[_MOST_DIGITS:]
        digits = digits[:_MOST_DIGITS] + ("1" if rest.strip("0") else "0")
        power += len(rest) - 1
    return _scaled(int(digits or "0"), 10, power, len(digits) + power)


def _exponent(text: str) -> int:
    """The exponent; for too many digits, one that is out of range of every format."""
    if len(text) < 16:
        return int(text or "0")
    digits = text.lstrip("+-0")
    magnitude = int(digits or "0") if len(digits) < 16 else 10**15
    return -magnitude if text[0] == "-" else magnitude


def _hex_fraction(text: str) -> Fraction | None:
    """The exact value of a hexadecimal literal after its `0x`; None if it is out of range of every format."""
    mantissa, _, exponent = text.lower().partition("p")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = _exponent(exponent) - 4 * len(fraction)
    return _scaled(int(digits or "0", 16), 2, power, 4 * len(digits) + power)


def _scaled(significand: int, base: int, power: int, magnitude: int) -> Fraction | None:
    """The number significand · base^power, which is less than base^magnitude. None for a number too large for every
    format; a positive number that every format rounds to zero for one that is too small.
    """
    from fractions import Fraction

    if significand == 0:
        return Fraction(0)
    if magnitude > _HUGE_EXPONENT:
        return None
    if magnitude < -_HUGE_EXPONENT:
        return Fraction(1, 1 << (2 * _HUGE_EXPONENT))
    return significand * Fraction(base) ** power


# Bit patterns


def bits_of(scalar: Scalar, value: ScalarValue) -> int:
    """The bit pattern of a concrete numeric value as an unsigned integer (WGSL, "Internal Layout of Values")."""
    if scalar is F32:
        return int.from_bytes(struct.pack("<f", value), "little")
    if scalar is F16:
        return int.from_bytes(struct.pack("<e", value), "little")
    return int(value) & 0xFFFFFFFF


def from_bits(scalar: Scalar, bits: int) -> ScalarValue:
    """The concrete numeric value of a bit pattern."""
    if scalar is F32:
        return float(struct.unpack("<f", bits.to_bytes(4, "little"))[0])
    if scalar is F16:
        return float(struct.unpack("<e", bits.to_bytes(2, "little"))[0])
    return wrap(scalar, bits)


# Conversions

ScalarConverter: TypeAlias = Callable[[ScalarValue], ScalarValue]


def convert_scalar(value: ScalarValue, source: Scalar, target: Scalar, mode: Mode = Mode.CONST) -> ScalarValue:
    """The value converted from one scalar type to another, automatically or by a value constructor.

    (WGSL, "Value Constructor Built-in Functions", "Floating Point Conversion".) In CONST mode a value out of range of
    the target type raises EvaluationError, except from float to integer, which always saturates.
    """
    return scalar_converter(source, target, mode)(value)


@cache
def scalar_converter(source: Scalar, target: Scalar, mode: Mode) -> ScalarConverter:
    """The function that does `convert_scalar`."""
    if source is target:
        return _identity
    if target is BOOL:
        return bool
    if target.is_float:
        return _to_float(source, target, mode)
    if source.is_float:
        return _float_to_int(source, target)
    if source.is_abstract:
        return _abstract_to_int(target, mode)
    if source is BOOL or target.is_abstract:
        return int
    return cast(ScalarConverter, wrap_i32 if target is I32 else wrap_u32)


def _identity(value: ScalarValue) -> ScalarValue:
    return value


def _abstract_to_int(target: Scalar, mode: Mode) -> Callable[[ScalarValue], int]:
    if mode is Mode.RUNTIME:
        return lambda value: wrap(target, int(value))
    return lambda value: checked_int(target, int(value))


def _to_float(source: Scalar, target: Scalar, mode: Mode) -> Callable[[ScalarValue], float]:
    """i32 and u32 are exact as doubles, so one rounding is enough; AbstractInt is converted via AbstractFloat, as WGSL
    requires.
    """
    round_value = rounder(target)
    if source in (BOOL, I32, U32) and target is not F16:
        return lambda value: round_value(float(value))
    if mode is Mode.RUNTIME:
        return lambda value: round_value(float(value))

    return lambda value: round_value(in_finite_range(target, float(value)))


def in_finite_range(scalar: Scalar, value: float) -> float:
    """The value, which must be within the finite range of a floating-point type. Raises EvaluationError."""
    if abs(value) <= _FORMATS[scalar.kind].largest:
        return value
    from fractions import Fraction

    hint = _largest_hint(scalar, Fraction(value)) if math.isfinite(value) else ""
    raise EvaluationError(f"value {value} cannot be represented as {type_word(scalar)}{hint}")


_LARGEST_LITERALS = {ScalarKind.F32: "0x1.fffffep+127f", ScalarKind.F16: "65504.0h"}


def _largest_hint(scalar: Scalar, value: Fraction | None) -> str:
    """A hint with the literal of the largest number, for a literal that exceeds it but would be rounded to it, such as
    C's FLT_MAX in decimal; else empty.
    """
    if value is None or scalar.kind not in _LARGEST_LITERALS or math.isinf(round_fraction(scalar, abs(value))):
        return ""
    return f"; the largest is {_LARGEST_LITERALS[scalar.kind]}"


def _float_to_int(source: Scalar, target: Scalar) -> Callable[[ScalarValue], int]:
    """Truncates. Out of range it gives the closest value of the target that the source can represent; for NaN, 0."""
    low, high = int_range(target)
    high = _largest_integer(source, high)

    def convert(value: ScalarValue) -> int:
        if value != value:
            return 0
        return low if value <= low else high if value >= high else int(value)

    return convert


def _largest_integer(source: Scalar, limit: int) -> int:
    """The greatest integer up to `limit` that is a value of the floating-point type."""
    form = _FORMATS[source.kind]
    surplus = max(0, limit.bit_length() - form.precision)
    return int(min((limit >> surplus) << surplus, form.largest))
