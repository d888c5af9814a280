"""Exponentials, logarithms and powers in f32.

Arguments are reduced as P. T. P. Tang does ("Table-driven implementation of the exponential function", 1989, and "… of
the logarithm function", 1990), without tables; `pow` computes its logarithm as a sum of two floats.
"""

from __future__ import annotations

import math

from . import avx512
from .coefficients import EXP, EXP2, LN2_PARTS, LOG, LOG2, LOG2_ATANH, TWO_BY_LN2_PARTS
from .reals import Reals

_SQRT_HALF_BITS = 0x3F3504F3
_LEAST_NORMAL = 2.0**-126
_SUBNORMAL_SHIFT = 24


def exp_reduced(r: Reals, x: str) -> tuple[str, str]:
    """The pair n + r.rounding and f with x = n ln 2 + f, n an integer and |f| ≤ ln 2 / 2, for |x| up to 2^8."""
    shifted = r.multiply_add(x, r.c(math.log2(math.e)), r.c(r.rounding))
    n = r.sub(shifted, r.c(r.rounding))
    high, low = LN2_PARTS
    return shifted, r.multiply_add(n, r.c(-low), r.multiply_add(n, r.c(-high), x))


def integer_of(r: Reals, shifted: str) -> str:
    """The integer n of n + r.rounding."""
    return r.ops.binary("sub", r.integers, r.bits(shifted), r.bits(r.c(r.rounding)))


def _scaled(r: Reals, a: str, shifted: str) -> str:
    """`a * 2^n`, rounded once, for a normal float a near 1 and n + r.rounding with |n| ≤ 250."""
    if r.ops.out.module.target.has_avx512:
        return avx512.scale(r.ops, a, r.sub(shifted, r.c(r.rounding)))
    n = integer_of(r, shifted)
    half = r.integer("ashr", n, 1)
    return r.mul(r.mul(a, r.power(half)), r.power(r.ops.binary("sub", r.integers, n, half)))


def exp(r: Reals, x: str) -> str:
    """e^x."""
    shifted, f = exp_reduced(r, r.cut(x, -105.0, 90.0))
    return _scaled(r, r.polynomial(f, EXP), shifted)


def exp2(r: Reals, x: str) -> str:
    """2^x."""
    return exp2_of_sum(r, r.cut(x, -152.0, 130.0), None)


def exp2_of_sum(r: Reals, high: str, low: str | None) -> str:
    """2^(high + low) for |high| ≤ 200 and a small low."""
    shifted = r.add(high, r.c(r.rounding))
    f = r.sub(high, r.sub(shifted, r.c(r.rounding)))
    if low is not None:
        f = r.add(f, low)
    return _scaled(r, r.polynomial(f, EXP2), shifted)


def split(r: Reals, x: str) -> tuple[str, str]:
    """The pair e and m with x = m 2^e and m from √½ to √2, for a positive finite x; e is a float."""
    if not r.ops.out.module.target.has_avx512:
        exponent, m = _split_bits(r, x)
        return real(r, exponent), m
    exponent, m = avx512.exponent(r.ops, x), avx512.significand(r.ops, x)
    is_large = r.test("ogt", m, r.c(math.sqrt(2.0)))
    return (
        r.select(is_large, r.add(exponent, r.c(1.0)), exponent),
        r.select(is_large, r.mul(m, r.c(0.5)), m),
    )


def _split_bits(r: Reals, x: str) -> tuple[str, str]:
    """The pair e and m with x = m 2^e and m from √½ to √2, for a positive finite x; e is an integer."""
    is_small = r.test("olt", x, r.c(_LEAST_NORMAL))
    x = r.select(is_small, r.mul(x, r.c(2.0**_SUBNORMAL_SHIFT)), x)
    bits = r.integer("sub", r.bits(x), _SQRT_HALF_BITS)
    zero, shift = (r.ops.constant("i32", it) for it in (0, -_SUBNORMAL_SHIFT))
    exponent = r.ops.binary("add", "i32", r.integer("ashr", bits, 23), r.ops.select(is_small, "i32", shift, zero))
    return exponent, r.of_bits(r.integer("add", r.integer("and", bits, (1 << 23) - 1), _SQRT_HALF_BITS))


def real(r: Reals, integer: str) -> str:
    """An i32 as a float."""
    return r.ops.convert("sitofp", "i32", integer, "float")


def log_of(r: Reals, exponent: str, f: str) -> str:
    """`ln(2^exponent (1 + f))`, 1 + f from √½ to √2, the exponent a float."""
    high, low = LN2_PARTS
    fraction = r.multiply_add(r.mul(f, f), r.polynomial(f, LOG), f)
    return r.multiply_add(exponent, r.c(high), r.multiply_add(exponent, r.c(low), fraction))


def log_limits(r: Reals, x: str, result: str) -> str:
    """The logarithm of x, where `result` is that of a positive finite x."""
    if r.ops.out.module.target.has_avx512:
        zero, infinity = avx512.NEGATIVE_INFINITY, avx512.THE_ARGUMENT
        return avx512.with_exceptions(r.ops, result, x, negative=avx512.NAN, zero=zero, infinity=infinity)
    outside = r.select(r.test("oeq", x, r.c(0.0)), r.c(-math.inf), r.c(math.nan))
    result = r.select(r.test("ogt", x, r.c(0.0)), result, outside)
    return r.select(r.test("oeq", x, r.c(math.inf)), x, result)


def log(r: Reals, x: str) -> str:
    """`ln x`."""
    exponent, m = split(r, x)
    return log_limits(r, x, log_of(r, exponent, r.sub(m, r.c(1.0))))


def log2(r: Reals, x: str) -> str:
    """`log2 x`."""
    exponent, m = split(r, x)
    f = r.sub(m, r.c(1.0))
    fraction = r.multiply_add(f, r.polynomial(f, LOG2), f)
    return log_limits(r, x, r.add(exponent, fraction))


def log1p(r: Reals, t: str, doublings: str | None = None) -> str:
    """`ln(1 + t)` for t ≥ 0, or a t below -1 where it is NaN. Where the flag `doublings` is set: `ln(2 t)`.

    The rounding error of 1 + t is added to the fraction, as in W. Kahan's correction for any logarithm.
    """
    is_big = r.test("ogt", t, r.c(1.0))
    big, small = r.select(is_big, t, r.c(1.0)), r.select(is_big, r.c(1.0), t)
    high = r.add(big, small)
    low = r.sub(small, r.sub(high, big))
    if doublings is not None:
        high, low = r.select(doublings, t, high), r.select(doublings, r.c(0.0), low)
    exponent, m = _split_bits(r, high)
    negated = r.ops.binary("sub", "i32", r.ops.constant("i32", 0), exponent)
    unit = r.power(r.ops.intrinsic("llvm.smax", "i32", negated, r.ops.constant("i32", -126)))
    f = r.multiply_add(low, unit, r.sub(m, r.c(1.0)))
    if doublings is not None:
        exponent = r.ops.binary("add", "i32", exponent, r.ops.convert("zext", "i1", doublings, "i32"))
    return log_limits(r, high, log_of(r, real(r, exponent), f))


def _log2_of_two(r: Reals, x: str) -> tuple[str, str]:
    """The binary logarithm of a positive finite x as an unevaluated sum, with a relative error below 2^-30."""
    exponent, m = split(r, x)
    f, above = r.sub(m, r.c(1.0)), r.add(m, r.c(1.0))
    above_low = r.sub(m, r.sub(above, r.c(1.0)))
    inverse = _inverse(r, above)
    s = r.mul(f, inverse)
    rest = r.exact_fma(r.neg(s), above_low, r.exact_fma(r.neg(s), above, f))
    s_low = r.mul(rest, inverse)
    high_factor, low_factor = (r.c(it) for it in TWO_BY_LN2_PARTS)
    nearest = r.add(s, s_low)
    square = r.mul(nearest, nearest)
    product = r.mul(s, high_factor)
    product_low = r.exact_fma(s, high_factor, r.neg(product))
    product_low = r.add(product_low, r.multiply_add(s, low_factor, r.mul(s_low, high_factor)))
    tail = r.mul(r.mul(nearest, square), r.polynomial(square, LOG2_ATANH))
    fraction, fraction_low = _ordered_sum(r, product, tail)
    total, total_low = _ordered_sum(r, exponent, fraction)
    return total, r.add(total_low, r.add(fraction_low, product_low))


def _inverse(r: Reals, x: str) -> str:
    """`1 / x` with a relative error below 2^-23, for an x near 1."""
    if not r.ops.out.module.target.has_avx512:
        return r.div(r.c(1.0), x)
    estimate = avx512.inverse_estimate(r.ops, x)
    return r.multiply_add(r.multiply_add(r.neg(x), estimate, r.c(1.0)), estimate, estimate)


def _ordered_sum(r: Reals, a: str, b: str) -> tuple[str, str]:
    """`a + b` and its rounding error, where a is 0 or |a| ≥ |b| (T. J. Dekker's sum of two)."""
    total = r.add(a, b)
    return total, r.add(r.sub(a, total), b)


def _cut_to_number(r: Reals, x: str, limit: float) -> str:
    """The number, clamped to ±limit; a NaN becomes one of the limits."""
    x = r.select(r.test("olt", x, r.c(limit)), x, r.c(limit))
    return r.select(r.test("ogt", x, r.c(-limit)), x, r.c(-limit))


def pow(r: Reals, x: str, y: str) -> str:
    """`2^(y log2 x)`, with the special cases of IEEE 754 for x^0 and 1^y; a negative x gives NaN."""
    log, log_low = _log2_of_two(r, x)
    log = log_limits(r, x, log)
    high = r.mul(y, log)
    low = r.multiply_add(y, log_low, r.exact_fma(y, log, r.neg(high)))
    result = exp2_of_sum(r, r.cut(high, -160.0, 160.0), _cut_to_number(r, low, 1.0))
    if r.ops.out.module.target.has_avx512:
        result = r.select(r.test("oeq", y, r.c(0.0)), r.c(1.0), result)
        return avx512.with_exceptions(r.ops, result, x, negative=avx512.NAN, one=avx512.ONE)
    is_one = r.ops.binary("or", "i1", r.test("oeq", y, r.c(0.0)), r.test("oeq", x, r.c(1.0)))
    result = r.select(is_one, r.c(1.0), result)
    return r.select(r.test("olt", x, r.c(0.0)), r.c(math.nan), result)
