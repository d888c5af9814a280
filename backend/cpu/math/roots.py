"""Roots in f32."""

from __future__ import annotations

import math

from .reals import Reals

_LEAST_NORMAL = 2.0**-126
_FIRST_GUESS = 0x5F375A86
"""C. Lomont, "Fast Inverse Square Root", 2003: from half the bits, to 3.5 % of the inverse root."""


def inverse_sqrt(r: Reals, x: str) -> str:
    """`1 / √x`: two steps of Householder's method of the third order, without division or root."""
    is_small = r.test("olt", x, r.c(_LEAST_NORMAL))
    normal = r.select(is_small, r.mul(x, r.c(2.0**24)), x)
    halved = r.integer("lshr", r.bits(normal), 1)
    y = r.of_bits(r.ops.binary("sub", "i32", r.ops.constant("i32", _FIRST_GUESS), halved))
    for _ in range(2):
        rest = r.multiply_add(r.neg(r.mul(normal, y)), y, r.c(1.0))
        y = r.multiply_add(r.mul(y, rest), r.multiply_add(rest, r.c(0.375), r.c(0.5)), y)
    y = r.select(is_small, r.mul(y, r.c(2.0**12)), y)
    is_zero = r.test("oeq", x, r.c(0.0))
    outside = r.select(is_zero, r.with_sign(r.c(math.inf), x), r.c(math.nan))
    outside = r.select(r.test("oeq", x, r.c(math.inf)), r.c(0.0), outside)
    is_inside = r.ops.binary("and", "i1", r.test("ogt", x, r.c(0.0)), r.test("olt", x, r.c(math.inf)))
    return r.select(is_inside, y, outside)
