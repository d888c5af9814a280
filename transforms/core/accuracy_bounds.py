"""How far WGSL lets the results of its float functions be off, as WGSL functions.

The bounds are those of "Accuracy of Concrete Floating Point Expressions". An error that is inherited from an expression
is that of its steps, to first order: products and sums are within 1 ULP, quotients within 2.5, and so square roots
within 4.5. Where the rules give no bound, a greater one than they give nearby, or one without use, these are taken:

- of sin, cos and tan beyond pi, the bound that they have up to pi;
- where a step's argument is 0 at the end of a domain, as in asin(1), that of an argument of one ULP of 1;
- of asinh, the bound of the argument without its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from string import Template
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Precision:
    """The numbers in which the bounds for f32 and f16 differ.

    `bits` are those after a float's first, and `least` and `most` its extreme magnitudes, without subnormal ones. `exp`
    is the constant part of the exponentials' bound in ULP and `arc` the arcs' bound in ULP; `log` is the absolute bound
    of logarithms from 0.5 to 2, and `wave`, `asin` and `acos` are those of the sine and the cosine, and of these two.
    """

    bits: int
    least: str
    most: str
    exp: int
    arc: int
    log: str
    wave: str
    asin: str
    acos: str


PRECISIONS: Final[Mapping[str, Precision]] = MappingProxyType(
    {
        "f32": Precision(23, "0x1p-126f", "0x1.fffffep127f", 3, 4096, "0x1p-21f", "0x1p-11f", "6.81e-5f", "6.77e-5f"),
        "f16": Precision(10, "0x1p-14f", "65504f", 1, 5, "0x1p-7f", "0x1p-7f", "3.91e-3f", "3.91e-3f"),
    }
)

_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "exp": "exp_off_$type(x, r)",
        "exp2": "exp_off_$type(x, r)",
        "log": "log_off_$type(x, r)",
        "log2": "log_off_$type(x, r)",
        "sin": "$wave",
        "cos": "$wave",
        "tan": "$wave * (1 + abs(r)) * sqrt(1 + r * r) + 2.5 * ulp_$type(r)",
        "asin": "max($asin, chord_off_$type(x) + $arc * ulp_$type(r))",
        "acos": "max($acos, chord_off_$type(x) + $arc * ulp_$type(r))",
        "atan": "$arc * ulp_$type(r)",
        "atan2": "$arc * ulp_$type(r)",
        "sinh": "hyperbola_off_$type(x) + ulp_$type(r)",
        "cosh": "hyperbola_off_$type(x) + ulp_$type(r)",
        "tanh": "max(1e-5, ratio_off_$type(min(abs(x), 40)) + 2.5 * ulp_$type(r))",
        "asinh": "area_off_$type(abs(x), 1, r)",
        "acosh": "area_off_$type(x, -1, r)",
        "atanh": "0.5 * (log_off_$type(exp(2 * r), 2 * r) + 4.5 * ulp_$type(1)) + ulp_$type(r)",
        "inverseSqrt": "2 * ulp_$type(r)",
        "degrees": "2 * ulp_$type(r)",
        "radians": "2 * ulp_$type(r)",
        "pow": "power_off_$type(x, y, r)",
    }
)
"""The bound of each function: its arguments are x and, of some, y, and its result is r."""

_ULP: Final = """
fn ulp_$type(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(clamp(abs(value), $least, $most)) & 0x7f800000u) * 0x1p-${bits}f;
}
"""
_ROUGH_ULP: Final = """
fn ulp_$type(value: f32) -> f32 { return clamp(abs(value), $least, $most) * 0x1p-${bits}f; }
"""
_STEPS: Final = """
// No exponential of more than 150 is finite.
fn exp_off_$type(x: f32, r: f32) -> f32 { return ($exp + 2 * min(abs(x), 150)) * ulp_$type(r); }

fn log_off_$type(x: f32, r: f32) -> f32 { return select(3 * ulp_$type(r), $log, (x >= 0.5) & (x <= 2)); }

// Of sqrt(x * x + c).
fn root_off_$type(x: f32, c: f32, root: f32) -> f32 {
    return (ulp_$type(x * x) + ulp_$type(x * x + c)) / (2 * root) + 4.5 * ulp_$type(root);
}

// Of the angle of x and sqrt(1 - x * x), which changes by |x| where the root changes by 1.
fn chord_off_$type(x: f32) -> f32 { return abs(x) * root_off_$type(x, -1, sqrt(max(1 - x * x, ulp_$type(1)))); }

// Of (exp(x) + exp(-x)) * 0.5 without the sum's rounding.
fn hyperbola_off_$type(x: f32) -> f32 { return 0.5 * (exp_off_$type(x, exp(x)) + exp_off_$type(x, exp(-x))); }

// Of sinh(x) / cosh(x) without the quotient's rounding.
fn ratio_off_$type(x: f32) -> f32 {
    return (hyperbola_off_$type(x) + ulp_$type(cosh(x))) * (1 + tanh(x)) / cosh(x);
}

// Of log(x + sqrt(x * x + c)). Relative errors do not change beyond 2^60.
fn area_off_$type(given: f32, c: f32, r: f32) -> f32 {
    let x = min(given, 0x1p60);
    let root = sqrt(max(x * x + c, ulp_$type(1)));
    let sum = x + root;
    return (root_off_$type(x, c, root) + ulp_$type(sum)) / sum + log_off_$type(sum, r);
}

// Of exp2(y * log2(x)).
fn power_off_$type(x: f32, y: f32, r: f32) -> f32 {
    let exponent = y * log2(x);
    let off = abs(y) * log_off_$type(x, log2(x)) + ulp_$type(exponent);
    return abs(r) * 0.6931472 * off + exp_off_$type(exponent, r);
}
"""

BOUNDED: Final = frozenset(_BOUNDS)
"""The functions that have bounds here: all that the CPU approximates."""


def steps(type: str, *, is_rough: bool = False) -> str:
    """The functions that those of `bound` call, for results of f32 or f16. None has branches; rough ones do without
    the bits of floats, and take up to twice a ULP for one.
    """
    return _filled((_ROUGH_ULP if is_rough else _ULP) + _STEPS, type)


def bound(function: str, type: str, arity: int) -> str:
    """A function named `off_FUNCTION_TYPE`, of the function's arguments and its result, all as f32: how far a result of
    f32 or f16 may be off.
    """
    parameters = "".join(f"{it}: f32, " for it in "xy"[:arity])
    return f"fn off_{function}_{type}({parameters}r: f32) -> f32 {{ return {_filled(_BOUNDS[function], type)}; }}\n"


def _filled(text: str, type: str) -> str:
    return Template(text).substitute({"type": type, **asdict(PRECISIONS[type])})
