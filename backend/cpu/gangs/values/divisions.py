"""Divisions by one number for all lanes: products with a reciprocal in integers, of which loops need only one. A small
number is divided by a constant with one product of 32 bits, without the upper halves of products.
"""

from __future__ import annotations

from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...llvm import Ops
from .vectors import LaneVectors

_BITS = 32


def divide_by_scalar(vectors: LaneVectors, op: h.BinaryOp, type: h.Integer, lhs: str, rhs: str) -> str:
    """A quotient or remainder of 32-bit integers as `data.binary` gives it, from a vector and a scalar: by 0, the
    quotient is the dividend, and the remainder 0.
    """
    one, vec = vectors.one, vectors.vec
    size = one.intrinsic("llvm.abs", "i32", rhs, flags=("false",)) if type.signed else rhs
    divisor = one.intrinsic("llvm.umax", "i32", size, "1")
    dividend = vec.intrinsic("llvm.abs", "i32", lhs, flags=("false",)) if type.signed else lhs
    quotient = _quotient(vectors, dividend, divisor)
    if op is h.BinaryOp.REM:
        product = vec.binary("mul", "i32", quotient, vectors.splat(divisor, "i32"))
        remainder = vec.binary("sub", "i32", dividend, product)
        return _with_sign(vectors, remainder, lhs) if type.signed else remainder
    if not type.signed:
        return quotient
    return _with_sign(vectors, quotient, vec.binary("xor", "i32", lhs, vectors.splat(rhs, "i32")))


def divide_number(one: Ops, op: h.BinaryOp, dividend: str, divisor: str) -> str:
    """A quotient or remainder of u32 as `data.binary` gives it, for a divisor that divides several numbers.

    For a divisor d from 2 to 2^32 - 1, with r = ceil(2^64 / d), the quotient of x is floor(r x / 2^64), since the
    error x (r d - 2^64) is below 2^64: Lemire, Kaser and Kurz, "Faster Remainder by Direct Computation", theorem 1.
    """
    bounded = one.intrinsic("llvm.umax", "i32", divisor, "1")
    wide = one.convert("zext", "i32", bounded, "i64")
    reciprocal = one.binary("add", "i64", one.binary("udiv", "i64", "-1", wide), "1")
    factors = one.convert("zext", "i32", dividend, "i128"), one.convert("zext", "i64", reciprocal, "i128")
    product = one.binary("lshr", "i128", one.binary("mul", "i128", *factors), "64")
    is_one = one.binary("icmp ule", "i32", divisor, "1")
    quotient = one.select(is_one, "i32", dividend, one.convert("trunc", "i128", product, "i32"))
    if op is h.BinaryOp.DIV:
        return quotient
    return one.binary("sub", "i32", dividend, one.binary("mul", "i32", quotient, bounded))


def _quotient(vectors: LaneVectors, dividend: str, divisor: str) -> str:
    """The quotient of unsigned numbers, for a divisor that is not zero.

    For a divisor d above 2^(n-1) and at most 2^n, with r = floor(2^32 (2^n - d) / d) + 1, the quotient of x is
    floor((r + 2^32) x / 2^(32 + n)): Granlund and Montgomery, "Division by Invariant Integers using Multiplication",
    figure 4.1.
    """
    one, vec, splat = vectors.one, vectors.vec, vectors.splat
    lesser = one.binary("sub", "i32", divisor, "1")
    zeros = one.intrinsic("llvm.ctlz", "i32", lesser, flags=("false",))
    bits = one.binary("sub", "i32", "32", zeros)
    wide = one.convert("zext", "i32", divisor, "i64")
    power = one.binary("shl", "i64", "1", one.convert("zext", "i32", bits, "i64"))
    upper = one.binary("shl", "i64", one.binary("sub", "i64", power, wide), "32")
    reciprocal = one.binary("add", "i64", one.binary("udiv", "i64", upper, wide), "1")
    factor = splat(one.convert("trunc", "i64", reciprocal, "i32"), "i32")
    first = one.intrinsic("llvm.umin", "i32", bits, "1")
    second = one.binary("sub", "i32", bits, first)
    product = _upper_half(vectors, dividend, factor)
    rest = vec.binary("lshr", "i32", vec.binary("sub", "i32", dividend, product), splat(first, "i32"))
    return vec.binary("lshr", "i32", vec.binary("add", "i32", product, rest), splat(second, "i32"))


def _upper_half(vectors: LaneVectors, left: str, right: str) -> str:
    """The upper 32 bits of products of unsigned numbers."""
    vec = vectors.vec
    wide = vec.binary("mul", "i64", *(vec.convert("zext", "i32", it, "i64") for it in (left, right)))
    upper = vec.binary("lshr", "i64", wide, vec.constant("i64", 32))
    return vec.convert("trunc", "i64", upper, "i32")


def _with_sign(vectors: LaneVectors, size: str, signed: str) -> str:
    """Numbers negated where others are negative."""
    vec = vectors.vec
    sign = vec.binary("ashr", "i32", signed, vec.constant("i32", 31))
    return vec.binary("sub", "i32", vec.binary("xor", "i32", size, sign), sign)


@dataclass(frozen=True, slots=True)
class ShortDivision:
    """The quotient of x by `divisor` is ((x >> before) * factor) >> after, in 32 bits."""

    divisor: int
    before: int
    factor: int
    after: int


def short_division(most: int, divisor: int) -> ShortDivision | None:
    """The division by a constant of unsigned 32-bit integers of which none is greater than `most`; None if a product
    does not fit, and for powers of two, of which none is needed.

    With 2^n + e = f d and 0 <= e < d, f x / 2^n exceeds x / d by x e / (d 2^n). If x e < 2^n, that is less than 1 / d,
    so that both have the same integer part.
    """
    if divisor <= 0 or divisor & (divisor - 1) == 0 or most >= 1 << _BITS:
        return None
    before = (divisor & -divisor).bit_length() - 1
    odd, rest = divisor >> before, most >> before
    for after in range(_BITS):
        factor = -(-(1 << after) // odd)
        if rest * factor >= 1 << _BITS:
            return None
        if rest * (factor * odd - (1 << after)) < 1 << after:
            return ShortDivision(divisor, before, factor, after)
    return None


def divide_shortly(vec: Ops, op: h.BinaryOp, dividend: str, by: ShortDivision) -> str:
    """The quotient or the remainder of vectors of u32."""

    def shifted(vector: str, bits: int) -> str:
        return vec.binary("lshr", "i32", vector, vec.constant("i32", bits)) if bits else vector

    product = vec.binary("mul", "i32", shifted(dividend, by.before), vec.constant("i32", by.factor))
    quotient = shifted(product, by.after)
    if op is h.BinaryOp.DIV:
        return quotient
    return vec.binary("sub", "i32", dividend, vec.binary("mul", "i32", quotient, vec.constant("i32", by.divisor)))
