"""Divisions of vectors by one number for all lanes: products with its reciprocal, of which loops need only one."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from ...llvm import constant_text
from .vectors import LaneVectors


def divide_by_scalar(vectors: LaneVectors, op: h.BinaryOp, type: h.Integer, lhs: str, rhs: str) -> str:
    """A quotient or remainder of 32-bit integers as `data.binary` gives it, from a vector and a scalar.

    (x + 1/2) / y is at least 1/2y away from a whole number. A double of its size, made by two roundings, is off by less
    than 2^-20 / y, so that its whole part is that of x / y. For negative numbers, 1/2 is subtracted.
    """
    one, vec = vectors.one, vectors.vec
    bad = minus_one = one.binary("icmp eq", "i32", rhs, "0")
    if type.signed:
        minus_one = one.binary("icmp eq", "i32", rhs, "-1")
        bad = one.binary("or", "i1", bad, minus_one)
    divisor = one.select(bad, "i32", "1", rhs)
    quotient = _quotient(vectors, type, lhs, divisor)
    if op is h.BinaryOp.REM:
        product = vec.binary("mul", "i32", quotient, vectors.splat(divisor, "i32"))
        return vec.binary("sub", "i32", lhs, product)
    if not type.signed:
        return quotient
    negated = vec.binary("sub", "i32", vec.constant("i32", 0), quotient)
    return vec.select(vectors.splat(minus_one, "i1"), "i32", negated, quotient)


def _quotient(vectors: LaneVectors, type: h.Integer, lhs: str, divisor: str) -> str:
    """The quotient, for a divisor that is not zero; nor -1, if it is signed."""
    one, vec, sign = vectors.one, vectors.vec, "s" if type.signed else "u"
    number = one.convert(f"{sign}itofp", "i32", divisor, "double")
    reciprocal = vectors.splat(one.binary("fdiv", "double", constant_text("double", 1.0), number), "double")
    x, half = vec.convert(f"{sign}itofp", "i32", lhs, "double"), vec.constant("double", 0.5)
    if type.signed:
        half = vec.intrinsic("llvm.copysign", "double", half, x)
    product = vec.binary("fmul", "double", vec.binary("fadd", "double", x, half), reciprocal)
    return vec.convert(f"fpto{sign}i", "double", product, "i32")
