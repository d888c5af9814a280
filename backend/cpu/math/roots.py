"""Inverse roots in f32."""

from __future__ import annotations

from . import avx512
from .reals import Reals


def inverse_sqrt(r: Reals, x: str) -> str:
    """`1 / √x`: the processor's estimate and a step of Newton's method; on other processors a square root and a
    division.

    At 0 and infinity the estimate is exact, but the step gives NaN.
    """
    if not r.ops.out.module.target.has_avx512:
        return r.div(r.c(1.0), r.call("sqrt", x))
    estimate = avx512.inverse_sqrt_estimate(r.ops, x)
    rest = r.multiply_add(r.neg(r.mul(x, estimate)), estimate, r.c(1.0))
    result = r.multiply_add(r.mul(estimate, r.c(0.5)), rest, estimate)
    return r.select(r.test("ord", rest, rest), result, estimate)
