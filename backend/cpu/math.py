"""Transcendental functions as helper functions in LLVM IR, on one lane or on a vector of lanes.

Each takes and returns doubles and is meant for arguments that are f32 or f16 values: its relative error is so far below
2^-24 that rounding to f32 gives almost always the nearest value, well inside WGSL's "Floating Point Accuracy". All are
free of branches except where an angle is so large that it needs a longer value of pi.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import factorial

from .llvm import FunctionText, Ops

_PI_2 = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
_2_PI = tuple(
    map(
        float.fromhex,
        ("0x1.45f306dc9c883p-1", "-0x1.6b01ec5417056p-55", "-0x1.6447e493ad4cep-109", "0x1.e21c820ff28b2p-163"),
    )
)
_LARGE_ANGLE = 2.0**30
_ROUNDING = 1.5 * 2.0**52
"""Added to a double, leaves its nearest integer in the low bits."""
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD

_EXP2 = [math.log(2) ** k / factorial(k) for k in range(12)]
_ATANH = [1 / (2 * k + 1) for k in range(10)]
_ATAN = [(-1) ** k / (2 * k + 1) for k in range(16)]
_SINH = [1 / factorial(2 * k + 1) for k in range(7)]
_SIN = [(-1) ** k / factorial(2 * k + 1) for k in range(8)]
_COS = [(-1) ** k / factorial(2 * k) for k in range(9)]


class Doubles:
    """Arithmetic on doubles, in the notation of this module."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops

    def c(self, value: float) -> str:
        """A constant."""
        return self.ops.constant("double", value)

    def add(self, a: str, b: str) -> str:
        """`a + b`."""
        return self.ops.binary("fadd", "double", a, b)

    def sub(self, a: str, b: str) -> str:
        """`a - b`."""
        return self.ops.binary("fsub", "double", a, b)

    def mul(self, a: str, b: str) -> str:
        """`a * b`."""
        return self.ops.binary("fmul", "double", a, b)

    def div(self, a: str, b: str) -> str:
        """`a / b`."""
        return self.ops.binary("fdiv", "double", a, b)

    def neg(self, a: str) -> str:
        """`-a`."""
        return self.ops.unary("fneg", "double", a)

    def call(self, name: str, *operands: str) -> str:
        """An LLVM intrinsic on doubles: `fma`, `rint`, `fabs`, …"""
        return self.ops.intrinsic(f"llvm.{name}", "double", *operands)

    def test(self, relation: str, a: str, b: str) -> str:
        """A comparison: `olt`, `oeq`, …"""
        return self.ops.binary(f"fcmp {relation}", "double", a, b)

    def select(self, condition: str, a: str, b: str) -> str:
        """`condition ? a : b`."""
        return self.ops.select(condition, "double", a, b)

    def bits(self, a: str) -> str:
        """The bit pattern, an i64."""
        return self.ops.convert("bitcast", "double", a, "i64")

    def of_bits(self, a: str) -> str:
        """The double of a bit pattern."""
        return self.ops.convert("bitcast", "i64", a, "double")

    def integer(self, instruction: str, a: str, b: int) -> str:
        """An operation on i64 with a constant."""
        return self.ops.binary(instruction, "i64", a, self.ops.constant("i64", b))

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """The polynomial with these coefficients, the constant first."""
        *others, last = coefficients
        result = self.c(last)
        for coefficient in reversed(others):
            result = self.call("fma", result, x, self.c(coefficient))
        return result


def define(name: str, ops: Ops) -> str:
    """The name of the helper function for the transcendental function `name`, written if it is new."""
    arity = 2 if name in _BINARY else 1
    full = f"wgsl.{name}.{ops.suffix('double')}"
    module, lanes = ops.out.module, ops.lanes

    def write() -> str:
        inner = FunctionText(module)
        inner.open("entry")
        d = Doubles(Ops(inner, lanes))
        result = _BINARY[name](d, "%x", "%y") if arity == 2 else _UNARY[name](d, "%x")
        type = d.ops.type("double")
        parameters = ", ".join(f"{type} %{it}" for it in "xy"[:arity])
        inner.do(f"ret {type} {result}")
        return f"define internal {type} @{full}({parameters}) nounwind willreturn memory(none) {{\n{inner.text()}\n}}\n"

    module.helper(full, write)
    return full


def is_transcendental(name: str) -> bool:
    """Whether `define` knows the function."""
    return name in _UNARY or name in _BINARY


# Exponentials and logarithms


def _exp2(d: Doubles, x: str) -> str:
    """2^n · 2^f with |f| ≤ ½. Arguments are cut to ±200, which f32 cannot tell from the limits."""
    x = d.select(d.test("olt", x, d.c(-200.0)), d.c(-200.0), x)
    x = d.select(d.test("ogt", x, d.c(200.0)), d.c(200.0), x)
    shifted = d.add(x, d.c(_ROUNDING))
    fraction = d.sub(x, d.sub(shifted, d.c(_ROUNDING)))
    exponent = d.integer("shl", d.integer("add", d.bits(shifted), 1023), 52)
    return d.mul(d.polynomial(fraction, _EXP2), d.of_bits(exponent))


def _exp(d: Doubles, x: str) -> str:
    return _exp2(d, d.mul(x, d.c(math.log2(math.e))))


def _atanh_series(d: Doubles, t: str) -> str:
    """The inverse hyperbolic tangent for |t| ≤ 0.1716."""
    return d.mul(t, d.polynomial(d.mul(t, t), _ATANH))


def _log_parts(d: Doubles, x: str) -> tuple[str, str]:
    """E and ln m with x = m · 2^e, m between √½ and √2, for positive normal doubles."""
    bits = d.integer("sub", d.bits(x), _SQRT_HALF_BITS)
    exponent = d.ops.convert("sitofp", "i64", d.integer("ashr", bits, 52), "double")
    mantissa = d.of_bits(d.integer("add", d.integer("and", bits, (1 << 52) - 1), _SQRT_HALF_BITS))
    t = d.div(d.sub(mantissa, d.c(1.0)), d.add(mantissa, d.c(1.0)))
    return exponent, d.mul(d.c(2.0), _atanh_series(d, t))


def _log_limits(d: Doubles, x: str, result: str) -> str:
    """The logarithm's value at and beyond the ends of its domain."""
    outside = d.select(d.test("oeq", x, d.c(0.0)), d.c(-math.inf), d.c(math.nan))
    result = d.select(d.test("ogt", x, d.c(0.0)), result, outside)
    return d.select(d.test("oeq", x, d.c(math.inf)), x, result)


def _log(d: Doubles, x: str) -> str:
    exponent, fraction = _log_parts(d, x)
    return _log_limits(d, x, d.call("fma", exponent, d.c(math.log(2)), fraction))


def _log2(d: Doubles, x: str) -> str:
    exponent, fraction = _log_parts(d, x)
    return _log_limits(d, x, d.call("fma", fraction, d.c(math.log2(math.e)), exponent))


def _pow(d: Doubles, x: str, y: str) -> str:
    """exp2(y · log2 x), where the exceptions of IEEE 754 hold for x^0 and 1^y, and a negative x gives NaN."""
    result = _exp2(d, d.mul(y, _log2(d, x)))
    is_one = d.ops.binary("or", "i1", d.test("oeq", y, d.c(0.0)), d.test("oeq", x, d.c(1.0)))
    result = d.select(is_one, d.c(1.0), result)
    return d.select(d.test("olt", x, d.c(0.0)), d.c(math.nan), result)


def _log1p(d: Doubles, t: str) -> str:
    """ln(1 + t) for t ≥ 0, precise near 0."""
    small = d.mul(d.c(2.0), _atanh_series(d, d.div(t, d.add(t, d.c(2.0)))))
    return d.select(d.test("olt", t, d.c(0.4)), small, _log(d, d.add(t, d.c(1.0))))


# Hyperbolic functions


def _sinh_cosh(d: Doubles, x: str) -> tuple[str, str]:
    magnitude = d.call("fabs", x)
    e = _exp(d, magnitude)
    inverse = d.div(d.c(1.0), e)
    far = d.mul(d.sub(e, inverse), d.c(0.5))
    near = d.mul(magnitude, d.polynomial(d.mul(x, x), _SINH))
    sinh = d.select(d.test("olt", magnitude, d.c(0.6)), near, far)
    return d.call("copysign", sinh, x), d.mul(d.add(e, inverse), d.c(0.5))


def _sinh(d: Doubles, x: str) -> str:
    return _sinh_cosh(d, x)[0]


def _cosh(d: Doubles, x: str) -> str:
    return _sinh_cosh(d, x)[1]


def _tanh(d: Doubles, x: str) -> str:
    bound = d.call("copysign", d.c(20.0), x)
    sinh, cosh = _sinh_cosh(d, d.select(d.test("ogt", d.call("fabs", x), d.c(20.0)), bound, x))
    return d.div(sinh, cosh)


def _asinh(d: Doubles, x: str) -> str:
    magnitude, square = d.call("fabs", x), d.mul(x, x)
    root = d.call("sqrt", d.add(square, d.c(1.0)))
    t = d.add(magnitude, d.div(square, d.add(root, d.c(1.0))))
    result = d.call("copysign", _log1p(d, t), x)
    return d.select(d.test("oeq", magnitude, d.c(math.inf)), x, result)


def _acosh(d: Doubles, x: str) -> str:
    above = d.sub(x, d.c(1.0))
    t = d.add(above, d.call("sqrt", d.mul(above, d.add(x, d.c(1.0)))))
    return d.select(d.test("olt", x, d.c(1.0)), d.c(math.nan), _log1p(d, t))


def _atanh(d: Doubles, x: str) -> str:
    magnitude = d.call("fabs", x)
    ratio = d.div(d.add(d.c(1.0), magnitude), d.sub(d.c(1.0), magnitude))
    far = d.mul(d.c(0.5), _log(d, ratio))
    near = _atanh_series(d, magnitude)
    return d.call("copysign", d.select(d.test("olt", magnitude, d.c(0.17)), near, far), x)


# Trigonometric functions


def _reduce_angle(d: Doubles, x: str) -> tuple[str, str]:
    """N and r with x = n · π/2 + r, |r| ≤ π/4: the low bits of n as an i64, and r."""
    out = d.ops.out
    is_large = d.test("ogt", d.call("fabs", x), d.c(_LARGE_ANGLE))
    n, r = _reduce_small(d, x)
    before, slow, done = out.current, out.fresh_block("large"), out.fresh_block("reduced")
    out.do(f"br i1 {_any(d.ops, is_large)}, label %{slow}, label %{done}")
    out.open(slow)
    large_n, large_r = _reduce_large(d, x)
    large_n = d.ops.select(is_large, "i64", large_n, n)
    large_r = d.select(is_large, large_r, r)
    out.do(f"br label %{done}")
    out.open(done)
    ways_of_n, ways_of_r = [(n, before), (large_n, slow)], [(r, before), (large_r, slow)]
    return out.phi(d.ops.type("i64"), lambda: ways_of_n), out.phi(d.ops.type("double"), lambda: ways_of_r)


def _any(ops: Ops, condition: str) -> str:
    """Whether the condition holds on any lane."""
    if ops.lanes == 1:
        return condition
    name = f"llvm.vector.reduce.or.v{ops.lanes}i1"
    ops.out.module.declare(f"i1 @{name}({ops.type('i1')})")
    return ops.out.value(f"call i1 @{name}({ops.type('i1')} {condition})")


def _reduce_small(d: Doubles, x: str) -> tuple[str, str]:
    """Cody and Waite's reduction; the first step is exact for f32 arguments up to 2^50."""
    shifted = d.add(d.mul(x, d.c(_2_PI[0])), d.c(_ROUNDING))
    n = d.neg(d.sub(shifted, d.c(_ROUNDING)))
    r = x
    for part in _PI_2:
        r = d.call("fma", n, d.c(part), r)
    return d.bits(shifted), r


def _reduce_large(d: Doubles, x: str) -> tuple[str, str]:
    """Payne and Hanek's idea with doubles: multiples of 4 leave the products with the parts of 2/π, exactly."""
    total = d.c(0.0)
    for part in _2_PI:
        high = d.mul(x, d.c(part))
        low = d.call("fma", x, d.c(part), d.neg(high))
        for term in (high, low):
            quarters = d.call("rint", d.mul(term, d.c(0.25)))
            total = d.add(total, d.call("fma", quarters, d.c(-4.0), term))
    shifted = d.add(total, d.c(_ROUNDING))
    fraction = d.sub(total, d.sub(shifted, d.c(_ROUNDING)))
    return d.bits(shifted), d.mul(fraction, d.c(_PI_2[0]))


def _sin_cos(d: Doubles, x: str) -> tuple[str, str]:
    """The sine and cosine of an angle."""
    n, r = _reduce_angle(d, x)
    square = d.mul(r, r)
    sin, cos = d.mul(r, d.polynomial(square, _SIN)), d.polynomial(square, _COS)
    is_odd = d.ops.convert("trunc", "i64", n, "i1")
    first, second = d.select(is_odd, cos, sin), d.select(is_odd, sin, cos)
    is_tiny = d.test("olt", d.call("fabs", x), d.c(2.0**-30))
    signed = d.select(is_tiny, x, _flip_sign(d, first, n))  # a zero keeps its sign
    return signed, _flip_sign(d, second, d.integer("add", n, 1))


def _flip_sign(d: Doubles, value: str, n: str) -> str:
    """The value, negated if bit 1 of n is set."""
    sign = d.integer("shl", d.integer("lshr", n, 1), 63)
    return d.of_bits(d.ops.binary("xor", "i64", d.bits(value), sign))


def _sin(d: Doubles, x: str) -> str:
    return _sin_cos(d, x)[0]


def _cos(d: Doubles, x: str) -> str:
    return _sin_cos(d, x)[1]


def _tan(d: Doubles, x: str) -> str:
    return d.div(*_sin_cos(d, x))


def _atan2(d: Doubles, y: str, x: str) -> str:
    """The angle of the point (x, y): that of a point in the first octant, moved to its place."""
    ax, ay = d.call("fabs", x), d.call("fabs", y)
    both = d.ops.binary("and", "i1", d.test("oeq", ax, d.c(math.inf)), d.test("oeq", ay, d.c(math.inf)))
    ax, ay = d.select(both, d.c(1.0), ax), d.select(both, d.c(1.0), ay)
    is_steep = d.test("ogt", ay, ax)
    near, far = d.select(is_steep, ax, ay), d.select(is_steep, ay, ax)
    far = d.select(d.test("oeq", far, d.c(0.0)), d.c(1.0), far)
    is_wide = d.test("ogt", near, d.mul(far, d.c(math.tan(math.pi / 8))))
    top, bottom = d.select(is_wide, d.sub(near, far), near), d.select(is_wide, d.add(near, far), far)
    t = d.div(top, bottom)
    angle = d.mul(t, d.polynomial(d.mul(t, t), _ATAN))
    angle = d.add(angle, d.select(is_wide, d.c(math.pi / 4), d.c(0.0)))
    angle = d.select(is_steep, d.sub(d.c(math.pi / 2), angle), angle)
    is_left = d.integer("icmp slt", d.bits(x), 0)
    angle = d.select(is_left, d.sub(d.c(math.pi), angle), angle)
    return d.call("copysign", angle, y)


def _atan(d: Doubles, x: str) -> str:
    return _atan2(d, x, d.c(1.0))


def _complement(d: Doubles, x: str) -> str:
    """√(1 - x²)."""
    return d.call("sqrt", d.sub(d.c(1.0), d.mul(x, x)))


def _asin(d: Doubles, x: str) -> str:
    return _atan2(d, x, _complement(d, x))


def _acos(d: Doubles, x: str) -> str:
    return _atan2(d, _complement(d, x), x)


_UNARY: dict[str, Callable[[Doubles, str], str]] = {
    "exp": _exp,
    "exp2": _exp2,
    "log": _log,
    "log2": _log2,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
}
_BINARY: dict[str, Callable[[Doubles, str, str], str]] = {"pow": _pow, "atan2": _atan2}
