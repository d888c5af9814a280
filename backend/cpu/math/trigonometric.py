"""Trigonometric functions in f32, of angles of any size.

Angles are reduced by W. J. Cody and W. Waite's method ("Software Manual for the Elementary Functions", 1980), and, if a
lane's angle is so large that it needs a longer value of π, by that of M. Payne and R. Hanek ("Radian Reduction for
Trigonometric Functions", 1983).
"""

from __future__ import annotations

from ..llvm import Ops
from .coefficients import COS, PI_2_PARTS, SIN, TAN
from .reals import Reals

_LARGE_ANGLE = 2.0**18
"""Up to this angle the rounding of x · 2/π moves the remainder outside ±π/4 by at most 0.01."""
_PI_2 = float.fromhex("0x1.921fb54442d18p+0")
_2_PI = tuple(
    map(
        float.fromhex,
        ("0x1.45f306dc9c883p-1", "-0x1.6b01ec5417056p-55", "-0x1.6447e493ad4cep-109", "0x1.e21c820ff28b2p-163"),
    )
)


def _reduce(r: Reals, a: str) -> tuple[str, str]:
    """The pair n and f with a = n π/2 + f and |f| ≤ 0.8, for a ≥ 0; n is the low bits of an integer, as an i32."""
    out = r.ops.out
    is_large = r.test("oge", a, r.c(_LARGE_ANGLE))
    n, f = _reduce_small(r, a)
    before, slow, done = out.current, out.fresh_block("large"), out.fresh_block("reduced")
    out.do(f"br i1 {_any(r.ops, is_large)}, label %{slow}, label %{done}")
    out.open(slow)
    large_n, large_f = _reduce_large(r.ops, a)
    large_n = r.ops.select(is_large, "i32", large_n, n)
    large_f = r.select(is_large, large_f, f)
    after = out.current
    out.do(f"br label %{done}")
    out.open(done)
    ways_of_n, ways_of_f = [(n, before), (large_n, after)], [(f, before), (large_f, after)]
    return out.phi(r.ops.type("i32"), lambda: ways_of_n), out.phi(r.ops.type("float"), lambda: ways_of_f)


def _any(ops: Ops, condition: str) -> str:
    """Whether the condition holds on any lane."""
    if ops.lanes == 1:
        return condition
    name = f"llvm.vector.reduce.or.v{ops.lanes}i1"
    ops.out.module.declare(f"i1 @{name}({ops.type('i1')})")
    return ops.out.value(f"call i1 @{name}({ops.type('i1')} {condition})")


def _reduce_small(r: Reals, a: str) -> tuple[str, str]:
    """The first two steps are exact but for the last's rounding, and the third adds what the sum of two leaves."""
    shifted = r.multiply_add(a, r.c(_2_PI[0]), r.c(r.rounding))
    n = r.sub(shifted, r.c(r.rounding))
    f = a
    for part in PI_2_PARTS:
        f = r.exact_fma(n, r.c(-part), f)
    return r.bits(shifted), f


def _reduce_large(ops: Ops, a: str) -> tuple[str, str]:
    """In doubles: multiples of 4 leave the products with the parts of 2/π, exactly."""
    d = Reals(ops, "double")
    x = ops.convert("fpext", "float", a, "double")
    total = d.c(0.0)
    for part in _2_PI:
        high = d.mul(x, d.c(part))
        low = d.exact_fma(x, d.c(part), d.neg(high))
        for term in (high, low):
            quarters = d.call("rint", d.mul(term, d.c(0.25)))
            total = d.add(total, d.exact_fma(quarters, d.c(-4.0), term))
    shifted = d.add(total, d.c(d.rounding))
    fraction = d.sub(total, d.sub(shifted, d.c(d.rounding)))
    n = ops.convert("trunc", "i64", d.bits(shifted), "i32")
    return n, ops.convert("fptrunc", "double", d.mul(fraction, d.c(_PI_2)), "float")


def _odd_polynomial(r: Reals, f: str, square: str, coefficients: tuple[float, ...]) -> str:
    """`f + f³ P(f²)`."""
    return r.multiply_add(r.mul(f, square), r.polynomial(square, coefficients), f)


def _sin_or_cos(r: Reals, f: str, odd: str) -> str:
    """The cosine of f if the flag `odd` is set, else the sine."""
    square = r.mul(f, f)
    return r.select(odd, r.polynomial(square, COS), _odd_polynomial(r, f, square, SIN))


def _bit(r: Reals, n: str, index: int) -> str:
    return r.ops.convert("trunc", "i32", r.integer("lshr", n, index), "i1")


def sin(r: Reals, x: str) -> str:
    """The sine of an angle."""
    n, f = _reduce(r, r.call("fabs", x))
    value = r.flip_sign(_sin_or_cos(r, f, _bit(r, n, 0)), r.integer("lshr", n, 1))
    return _times_sign(r, value, x)


def cos(r: Reals, x: str) -> str:
    """The cosine of an angle: the sine of the angle plus π/2."""
    n, f = _reduce(r, r.call("fabs", x))
    n = r.integer("add", n, 1)
    return r.flip_sign(_sin_or_cos(r, f, _bit(r, n, 0)), r.integer("lshr", n, 1))


def tan(r: Reals, x: str) -> str:
    """The tangent of an angle; adding π/2 to an angle negates and inverts the tangent."""
    n, f = _reduce(r, r.call("fabs", x))
    tangent = _odd_polynomial(r, f, r.mul(f, f), TAN)
    odd = _bit(r, n, 0)
    value = r.div(r.select(odd, r.c(-1.0), tangent), r.select(odd, tangent, r.c(1.0)))
    return _times_sign(r, value, x)


def _times_sign(r: Reals, value: str, x: str) -> str:
    """The value, negated where x is negative."""
    return r.flip_sign(value, r.integer("lshr", r.bits(x), 31))
