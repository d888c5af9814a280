"""Numeric builtin functions that work on each component, except those on bits (WGSL, "Numeric Built-in Functions").

Transcendental functions are computed in double precision and rounded once; functions that WGSL defines by a formula
follow it step by step, each step rounded, so that an intermediate overflow is an error of a const-expression.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..arithmetic import FloatBinary, FloatTernary, FloatUnary, float_arithmetic, ieee_divide
from ..scalars import EvaluationError, Mode, bit_width, float_format, in_finite_range, round_f16, wrap
from ..types import ABSTRACT_FLOAT, F16, Scalar
from .registry import Check, Kernel, componentwise

_FLOAT = "[T: floats](e: T) -> T"
_FLOAT2 = "[T: floats](e1: T, e2: T) -> T"
_FLOAT3 = "[T: floats](e1: T, e2: T, e3: T) -> T"
_NUMBER2 = "[T: numbers](e1: T, e2: T) -> T"


@componentwise("abs", "[T: numbers](e: T) -> T")
def _abs(scalar: Scalar, mode: Mode) -> Kernel:
    """The absolute value; the most negative integer stays as it is."""
    del mode

    def magnitude(e: int) -> int:
        return wrap(scalar, abs(e))

    return math.fabs if scalar.is_float else magnitude


@componentwise("sign", "[T: signed_numbers](e: T) -> T")
def _sign(scalar: Scalar, mode: Mode) -> FloatUnary:
    """1 if the argument is positive, 0 if it is zero, -1 if it is negative."""
    del mode
    one, zero = (1.0, 0.0) if scalar.is_float else (1, 0)
    return lambda e: one if e > 0 else -one if e < 0 else zero


@componentwise("max", _NUMBER2)
def _max(scalar: Scalar, mode: Mode) -> FloatBinary:
    """The larger argument."""
    del scalar, mode
    return _greater


@componentwise("min", _NUMBER2)
def _min(scalar: Scalar, mode: Mode) -> FloatBinary:
    """The smaller argument."""
    del scalar, mode
    return _lesser


def _greater(e1: float, e2: float) -> float:
    return e2 if e1 < e2 or e1 != e1 else e1


def _lesser(e1: float, e2: float) -> float:
    return e2 if e2 < e1 or e1 != e1 else e1


def _check_clamp(scalar: Scalar, low: float, high: float) -> None:
    del scalar
    if low > high:
        raise EvaluationError(f"the lower bound {low} is greater than the upper bound {high}")


@componentwise("clamp", "[T: numbers](e: T, low: T, high: T) -> T", checks=[Check(("low", "high"), _check_clamp)])
def _clamp(scalar: Scalar, mode: Mode) -> FloatTernary:
    """The first argument clamped to the range from the second to the third."""
    del scalar, mode
    return lambda e, low, high: _lesser(_greater(e, low), high)


@componentwise("saturate", _FLOAT)
def _saturate(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The argument clamped to the range from 0 to 1."""
    del scalar, mode
    return lambda e: _lesser(_greater(e, 0.0), 1.0)


# Rounding to whole numbers


@componentwise("ceil", _FLOAT)
def _ceil(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The smallest whole number that is not less than the argument."""
    del scalar, mode
    return _whole(math.ceil)


@componentwise("floor", _FLOAT)
def _floor(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The largest whole number that is not greater than the argument."""
    del scalar, mode
    return _whole(math.floor)


@componentwise("round", _FLOAT)
def _round(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The nearest whole number; of two that are equally near, the even one."""
    del scalar, mode
    return _whole(round)


@componentwise("trunc", _FLOAT)
def _trunc(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The argument without its fraction: rounded towards zero."""
    del scalar, mode
    return _whole(math.trunc)


def _whole(function: Callable[[float], int]) -> FloatUnary:
    """Converts a rounding to integers to one to floats, which keeps the sign of zero, infinities and NaN."""
    return lambda e: math.copysign(float(function(e)), e) if math.isfinite(e) else e


_floor_of = _whole(math.floor)


@componentwise("fract", _FLOAT)
def _fract(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The argument minus its floor."""
    subtract = float_arithmetic(scalar, mode).subtract
    return lambda e: subtract(e, _floor_of(e))


# Transcendental functions


def _declare_function(name: str, function: FloatUnary, doc: str, domain: Callable[[float], bool] | None = None) -> None:
    """Declares a function of one float, whose const-expressions must stay in a domain."""

    def make(scalar: Scalar, mode: Mode) -> FloatUnary:
        finish = float_arithmetic(scalar, mode).finish
        value = _total(function)
        if domain is None or mode is Mode.RUNTIME:
            return lambda e: finish(value(e))
        is_inside = domain

        def checked(e: float) -> float:
            if not is_inside(e):
                raise EvaluationError(f"{e} is outside the domain of '{name}'")
            return finish(value(e))

        return checked

    make.__doc__ = doc
    componentwise(name, _FLOAT)(make)


def _total(function: FloatUnary) -> FloatUnary:
    """Converts a function of the math module to IEEE 754 semantics: NaN outside its domain, infinity on overflow."""

    def value(e: float) -> float:
        try:
            return function(e)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(math.inf, e) if function is math.sinh else math.inf

    return value


def _log(function: FloatUnary) -> FloatUnary:
    return lambda e: function(e) if e else -math.inf


def _atanh(e: float) -> float:
    return math.atanh(e) if abs(e) != 1 else math.copysign(math.inf, e)


_FUNCTIONS: tuple[tuple[str, FloatUnary, str, Callable[[float], bool] | None], ...] = (
    ("acos", math.acos, "The inverse cosine, in radians.", lambda e: abs(e) <= 1),
    ("acosh", math.acosh, "The inverse hyperbolic cosine.", lambda e: e >= 1),
    ("asin", math.asin, "The inverse sine, in radians.", lambda e: abs(e) <= 1),
    ("asinh", math.asinh, "The inverse hyperbolic sine.", None),
    ("atan", math.atan, "The inverse tangent, in radians.", None),
    ("atanh", _atanh, "The inverse hyperbolic tangent.", lambda e: abs(e) < 1),
    ("cos", math.cos, "The cosine of an angle in radians.", None),
    ("cosh", math.cosh, "The hyperbolic cosine.", None),
    ("degrees", lambda e: e * (180.0 / math.pi), "Degrees of an angle in radians.", None),
    ("exp", math.exp, "The natural exponential.", None),
    ("exp2", lambda e: math.pow(2.0, e), "2 to the power of the argument.", None),
    ("inverseSqrt", lambda e: ieee_divide(1.0, math.sqrt(e)), "1 by the square root.", lambda e: e > 0),
    ("log", _log(math.log), "The natural logarithm.", lambda e: e > 0),
    ("log2", _log(math.log2), "The logarithm to base 2.", lambda e: e > 0),
    ("radians", lambda e: e * (math.pi / 180.0), "Radians of an angle in degrees.", None),
    ("sin", math.sin, "The sine of an angle in radians.", None),
    ("sinh", math.sinh, "The hyperbolic sine.", None),
    ("sqrt", math.sqrt, "The square root.", lambda e: e >= 0),
    ("tan", math.tan, "The tangent of an angle in radians.", None),
    ("tanh", math.tanh, "The hyperbolic tangent.", None),
)
for _name, _function, _doc, _domain in _FUNCTIONS:
    _declare_function(_name, _function, _doc, _domain)


@componentwise("atan2", "[T: floats](y: T, x: T) -> T")
def _atan2(scalar: Scalar, mode: Mode) -> FloatBinary:
    """The angle of the point (x, y), in radians."""
    finish = float_arithmetic(scalar, mode).finish
    return lambda y, x: finish(math.atan2(y, x))


@componentwise("pow", _FLOAT2)
def _pow(scalar: Scalar, mode: Mode) -> FloatBinary:
    """The first argument to the power of the second; defined as exp2(e2 * log2(e1))."""
    finish = float_arithmetic(scalar, mode).finish

    def power(e1: float, e2: float) -> float:
        try:
            return finish(math.nan if e1 < 0 else math.pow(e1, e2))
        except ValueError:  # zero to a negative power
            return finish(math.inf)
        except OverflowError:
            return finish(math.inf)

    def checked(e1: float, e2: float) -> float:
        if e1 < 0 or (e1 == 0 and e2 <= 0):
            raise EvaluationError(f"{e1} to the power of {e2} is undefined")
        return power(e1, e2)

    return checked if mode is Mode.CONST else power


# Formulas


@componentwise("fma", _FLOAT3)
def _fma(scalar: Scalar, mode: Mode) -> FloatTernary:
    """The product of the first two arguments plus the third, rounded once."""
    arithmetic = float_arithmetic(scalar, mode)
    fused, multiply = arithmetic.fused_multiply_add, arithmetic.multiply
    if mode is Mode.RUNTIME:
        return fused

    def checked(e1: float, e2: float, e3: float) -> float:
        multiply(e1, e2)  # the rule for e1 * e2 + e3 applies: neither step may overflow
        return fused(e1, e2, e3)

    return checked


@componentwise("mix", _FLOAT3, "[S: float](e1: vecN<S>, e2: vecN<S>, e3: S) -> vecN<S>")
def _mix(scalar: Scalar, mode: Mode) -> FloatTernary:
    """The blend of two values by a third: e1 * (1 - e3) + e2 * e3."""
    arithmetic = float_arithmetic(scalar, mode)
    add, subtract, multiply = arithmetic.add, arithmetic.subtract, arithmetic.multiply
    return lambda e1, e2, e3: add(multiply(e1, subtract(1.0, e3)), multiply(e2, e3))


@componentwise("step", "[T: floats](edge: T, x: T) -> T")
def _step(scalar: Scalar, mode: Mode) -> FloatBinary:
    """1 if the first argument, the edge, is at most the second; else 0."""
    del scalar, mode
    return lambda edge, x: 1.0 if edge <= x else 0.0


def _check_edges(scalar: Scalar, edge0: float, edge1: float) -> None:
    del scalar
    if edge0 == edge1:
        raise EvaluationError(f"both edges are {edge0}")


@componentwise(
    "smoothstep",
    "[T: floats](edge0: T, edge1: T, x: T) -> T",
    checks=[Check(("edge0", "edge1"), _check_edges)],
)
def _smoothstep(scalar: Scalar, mode: Mode) -> FloatTernary:
    """The smooth Hermite interpolation between 0 at the first edge and 1 at the second."""
    arithmetic = float_arithmetic(scalar, mode)
    subtract, multiply, divide = arithmetic.subtract, arithmetic.multiply, arithmetic.divide

    def interpolate(edge0: float, edge1: float, x: float) -> float:
        t = divide(subtract(x, edge0), subtract(edge1, edge0))
        t = _lesser(_greater(t, 0.0), 1.0)
        return multiply(multiply(t, t), subtract(3.0, multiply(2.0, t)))

    return interpolate


def _check_exponent(scalar: Scalar, e2: int) -> None:
    limit = float_format(scalar).bias + 1
    if e2 > limit:
        raise EvaluationError(f"exponent {e2} is greater than {limit}")


@componentwise(
    "ldexp",
    # An AbstractFloat with an i32: accepted by implementations and the conformance suite, not by the specification.
    "[S: float](e1: S, e2: i32) -> S",
    "[S: float](e1: vecN<S>, e2: vecN<i32>) -> vecN<S>",
    "[S: abstract_float](e1: S, e2: i32) -> S",
    "[S: abstract_float](e1: vecN<S>, e2: vecN<i32>) -> vecN<S>",
    "[S: abstract_float, I: abstract_int](e1: S, e2: I) -> S",
    "[S: abstract_float, I: abstract_int](e1: vecN<S>, e2: vecN<I>) -> vecN<S>",
    checks=[Check(("e2",), _check_exponent)],
)
def _ldexp(scalar: Scalar, mode: Mode) -> Callable[[float, int], float]:
    """The first argument times 2 to the power of the second."""
    finish = float_arithmetic(scalar, mode).finish
    limit = 2 * bit_width(ABSTRACT_FLOAT) * 64  # more than the exponent range of every format

    def scale(e1: float, e2: int) -> float:
        try:
            return finish(math.ldexp(e1, max(-limit, min(e2, limit))))
        except OverflowError:
            return finish(math.copysign(math.inf, e1))

    return scale


@componentwise("quantizeToF16", "(e: f32) -> f32", "(e: vecN<f32>) -> vecN<f32>")
def _quantize(scalar: Scalar, mode: Mode) -> FloatUnary:
    """The argument rounded to f16, as an f32."""
    del scalar
    return round_f16 if mode is Mode.RUNTIME else lambda e: round_f16(in_finite_range(F16, e))
