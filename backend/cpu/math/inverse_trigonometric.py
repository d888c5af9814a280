"""Inverse trigonometric functions in f32."""

from __future__ import annotations

import math

from .coefficients import ASIN, ATAN, PI_2_PARTS, PI_PARTS
from .reals import Reals


def _asin_parts(r: Reals, x: str) -> tuple[str, str]:
    """A flag, whether a = |x| exceeds ½; and asin a, or where it does, asin √((1 - a) / 2), half of acos a."""
    a = r.call("fabs", x)
    is_steep = r.test("ogt", a, r.c(0.5))
    half_rest = r.multiply_add(a, r.c(-0.5), r.c(0.5))
    square = r.select(is_steep, half_rest, r.mul(a, a))
    s = r.select(is_steep, r.call("sqrt", half_rest), a)
    return is_steep, r.multiply_add(r.mul(s, square), r.polynomial(square, ASIN), s)


def asin(r: Reals, x: str) -> str:
    """The angle between ±π/2 whose sine is x; NaN outside of ±1."""
    is_steep, angle = _asin_parts(r, x)
    high, low = PI_2_PARTS[:2]
    steep = r.sub(r.c(high), r.sub(r.add(angle, angle), r.c(low)))
    return r.with_sign(r.select(is_steep, steep, angle), x)


def acos(r: Reals, x: str) -> str:
    """The angle between 0 and π whose cosine is x; NaN outside of ±1."""
    is_near_end, angle = _asin_parts(r, x)
    is_left = r.test("olt", x, r.c(0.0))
    angle = r.select(is_near_end, r.add(angle, angle), angle)
    is_upright = r.ops.binary("xor", "i1", is_near_end, r.ops.constant("i1", 1))
    return _from_axis(r, is_upright, is_left, angle)


def _from_axis(r: Reals, is_upright: str, is_left: str, angle: str) -> str:
    """The angle of a direction in the upper half plane, given that to the nearest axis, which is upright or not."""
    axis = [
        r.select(is_upright, r.c(quarter), r.select(is_left, r.c(half), r.c(0.0)))
        for quarter, half in zip(PI_2_PARTS, PI_PARTS, strict=False)
    ]
    is_before = r.ops.binary("xor", "i1", is_upright, is_left)
    return r.add(axis[0], r.add(axis[1], r.select(is_before, r.neg(angle), angle)))


def atan(r: Reals, x: str) -> str:
    """The angle between ±π/2 whose tangent is x."""
    a = r.call("fabs", x)
    is_steep = r.test("ogt", a, r.c(1.0))
    t = r.div(r.select(is_steep, r.c(-1.0), a), r.select(is_steep, a, r.c(1.0)))
    base = [r.select(is_steep, r.c(part), r.c(0.0)) for part in PI_2_PARTS[:2]]
    return r.with_sign(r.add(base[0], r.add(base[1], _atan_series(r, t))), x)


def _atan_series(r: Reals, t: str) -> str:
    """The inverse tangent for |t| ≤ 1."""
    square = r.mul(t, t)
    return r.multiply_add(r.mul(t, square), r.polynomial(square, ATAN), t)


def atan2(r: Reals, y: str, x: str) -> str:
    """The angle of the point (x, y), from that of its mirror image in the first octant."""
    ax, ay = r.call("fabs", x), r.call("fabs", y)
    infinite = r.c(math.inf)
    both = r.ops.binary("and", "i1", r.test("oeq", ax, infinite), r.test("oeq", ay, infinite))
    is_steep = r.test("ogt", ay, ax)
    near, far = r.select(is_steep, ax, ay), r.select(is_steep, ay, ax)
    is_origin = r.test("oeq", r.add(near, far), r.c(0.0))
    t = r.select(is_origin, r.c(0.0), r.div(near, far))
    t = r.select(both, r.c(1.0), t)
    angle = _atan_series(r, t)
    is_left = r.integer("icmp slt", r.bits(x), 0)
    return r.with_sign(_from_axis(r, is_steep, is_left, angle), y)
