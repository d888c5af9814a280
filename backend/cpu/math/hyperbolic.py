"""Hyperbolic functions and their inverses in f32."""

from __future__ import annotations

import math

from .coefficients import COSH, EXP, LN2_PARTS, SINH, TANH
from .exponential import exp_reduced, integer_of, log1p
from .reals import Reals

_LARGE = 2.0**13
"""From this argument on, acosh x and asinh x differ from ln(2x) by far less than 1 ulp."""

_NEAR = 0.625
"""The polynomial of tanh is accurate up to this argument."""


def _sinh_cosh(r: Reals, a: str) -> tuple[str, str]:
    """Half of the hyperbolic sine and half of the hyperbolic cosine of a number a from 0 to 90.

    Uses the addition theorems, with a = n ln 2 + f and f from 0 to ln 2, so that all terms are positive; sinh(n ln 2)
    is 0 for n = 0, which leaves small arguments their full relative precision.
    """
    shifted = r.multiply_add(a, r.c(math.log2(math.e)), r.c(-0.5))
    shifted = r.add(shifted, r.c(r.rounding))
    n = r.sub(shifted, r.c(r.rounding))
    high, low = LN2_PARTS
    f = r.multiply_add(n, r.c(-low), r.multiply_add(n, r.c(-high), a))
    square = r.mul(f, f)
    sinh = r.multiply_add(r.mul(f, square), r.polynomial(square, SINH), f)
    cosh = r.polynomial(square, COSH)
    bits = integer_of(r, shifted)
    up = r.power(r.integer("add", bits, -2))
    negated = r.ops.binary("sub", "i32", r.ops.constant("i32", -2), bits)
    down = r.power(r.ops.intrinsic("llvm.smax", "i32", negated, r.ops.constant("i32", -126)))
    first, second = r.sub(up, down), r.add(up, down)
    return r.multiply_add(second, sinh, r.mul(first, cosh)), r.multiply_add(second, cosh, r.mul(first, sinh))


def _magnitude(r: Reals, x: str, limit: float) -> str:
    a = r.call("fabs", x)
    return r.select(r.test("ogt", a, r.c(limit)), r.c(limit), a)


def sinh(r: Reals, x: str) -> str:
    """`(e^x - e^-x) / 2`."""
    half, _ = _sinh_cosh(r, _magnitude(r, x, 90.0))
    return r.with_sign(r.add(half, half), x)


def cosh(r: Reals, x: str) -> str:
    """`(e^x + e^-x) / 2`."""
    _, half = _sinh_cosh(r, _magnitude(r, x, 90.0))
    return r.add(half, half)


def tanh(r: Reals, x: str) -> str:
    """A polynomial near 0, further out `1 - 2 / (e^2a + 1)` for a = |x|, with the sign of x."""
    a = _magnitude(r, x, 20.0)
    square = r.mul(a, a)
    near = r.multiply_add(r.mul(a, square), r.polynomial(square, TANH), a)
    shifted, f = exp_reduced(r, r.add(a, a))
    power = r.mul(r.polynomial(f, EXP), r.power(integer_of(r, shifted)))
    far = r.sub(r.c(1.0), r.div(r.c(2.0), r.add(power, r.c(1.0))))
    return r.with_sign(r.select(r.test("ogt", a, r.c(_NEAR)), far, near), x)


def asinh(r: Reals, x: str) -> str:
    """`ln(x + √(x² + 1))` with the sign of x."""
    a = r.call("fabs", x)
    is_large = r.test("ogt", a, r.c(_LARGE))
    square = r.mul(a, a)
    root = r.call("sqrt", r.add(square, r.c(1.0)))
    t = r.add(a, r.div(square, r.add(root, r.c(1.0))))
    return r.with_sign(log1p(r, r.select(is_large, a, t), is_large), x)


def acosh(r: Reals, x: str) -> str:
    """`ln(x + √(x² - 1))`."""
    above = r.sub(x, r.c(1.0))
    is_large = r.test("ogt", x, r.c(_LARGE))
    t = r.add(above, r.call("sqrt", r.multiply_add(above, above, r.add(above, above))))
    result = log1p(r, r.select(is_large, x, t), is_large)
    return r.select(r.test("olt", x, r.c(1.0)), r.c(math.nan), result)


def atanh(r: Reals, x: str) -> str:
    """`½ ln(1 + 2a / (1 - a))` for a = |x|, with the sign of x."""
    a = r.call("fabs", x)
    t = r.div(r.add(a, a), r.sub(r.c(1.0), a))
    return r.with_sign(r.mul(r.c(0.5), log1p(r, t)), x)
