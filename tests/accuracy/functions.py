"""The functions that are measured: their values in double precision and what WGSL allows.

The reference is NumPy's function in double precision on arguments that are f32 or f16 values. NumPy documents its
errors as below 4 units of a double's last place, so that a measured error is off by no more than 4 * 2^-29 of an f32's;
`test_reference` compares it with the C library's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Doubles: TypeAlias = npt.NDArray[np.float64]
Array: TypeAlias = npt.NDArray[Any]
Allowed: TypeAlias = Callable[[Doubles, Doubles, Doubles], Doubles]
"""The greatest absolute error, of: the (last) argument, the exact result, the unit in its last place."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What WGSL's "Accuracy of Concrete Floating Point Expressions" says of a function in one type, in words and as a
    bound. Where it says nothing, outside an interval, the bound is infinite.
    """

    text: str
    allowed: Allowed


def _ulps(count: float) -> Rule:
    return Rule(f"{count:g} ULP", lambda x, want, unit: count * unit)


def _inherited(formula: str) -> Rule:
    """Any formula with an exponential, logarithm, division or angle is allowed 3 ULP at the least: its last step is."""
    return Rule(f"that of `{formula}`", lambda x, want, unit: 3 * unit)


def _scaled(formula: str) -> Rule:
    """A product of rounded numbers: half a unit for the constant, half for the result."""
    return Rule(f"that of `{formula}`", lambda x, want, unit: unit)


def _power(ulps: int) -> Rule:
    """What exp2 is allowed for its argument, the logarithm of the result; the error of log2 would come on top."""

    def allowed(x: Doubles, want: Doubles, unit: Doubles) -> Doubles:
        with np.errstate(all="ignore"):
            return (ulps + 2 * np.minimum(np.abs(np.log2(want)), 150)) * unit

    return Rule("that of `exp2(y * log2(x))`", allowed)


def _tan() -> Rule:
    """Inherited from a sine and a cosine that have a bound from -π to π only."""
    rule = _inherited("sin(x) / cos(x)")
    inside = f"{rule.text} for x in [-3.142, 3.142]"
    return Rule(inside, lambda x, want, unit: np.where(np.abs(x) <= np.pi, rule.allowed(x, want, unit), np.inf))


def _tanh() -> Rule:
    inherited = _inherited("sinh(x) / cosh(x)")
    text = f"1e-5 absolute or {inherited.text}"
    return Rule(text, lambda x, want, unit: np.maximum(1e-5, inherited.allowed(x, want, unit)))


def _absolute(bound: float, text: str, low: float = -np.inf, high: float = np.inf) -> Rule:
    where = "" if low == -np.inf else f" for x in [{low:.4g}, {high:.4g}]"
    return Rule(f"{text} absolute{where}", lambda x, want, unit: np.where((low <= x) & (x <= high), bound, np.inf))


def _exponential(ulps: int) -> Rule:
    return Rule(f"{ulps} + 2 abs(x) ULP", lambda x, want, unit: (ulps + 2 * np.abs(x)) * unit)


def _logarithm(bound: float, text: str) -> Rule:
    return Rule(
        f"{text} absolute for x in [0.5, 2], else 3 ULP",
        lambda x, want, unit: np.where((x >= 0.5) & (x <= 2), bound, 3 * unit),
    )


@dataclass(frozen=True, slots=True)
class Function:
    """A builtin function: its value in doubles, the rules, and the most ULP that this project promises everywhere."""

    name: str
    exact: Callable[..., Doubles]
    f32: Rule
    f16: Rule
    promised: float
    arity: int = 1
    ranges: tuple[tuple[float, float], ...] = ()
    """For functions of two arguments: where most samples are taken from."""

    def rule(self, dtype: np.dtype[Any]) -> Rule:
        """The rule for a type."""
        return self.f32 if dtype == np.float32 else self.f16


def _same(name: str, exact: Callable[..., Doubles], rule: Rule, promised: float) -> Function:
    return Function(name, exact, rule, rule, promised)


_SIN32, _SIN16 = (_absolute(2.0**-e, f"2^-{e}", -np.pi, np.pi) for e in (11, 7))
_LOG32, _LOG16 = _logarithm(2.0**-21, "2^-21"), _logarithm(2.0**-7, "2^-7")

FUNCTIONS: dict[str, Function] = {
    it.name: it
    for it in (
        Function("exp", np.exp, _exponential(3), _exponential(1), 1.5),
        Function("exp2", np.exp2, _exponential(3), _exponential(1), 1.5),
        Function("log", np.log, _LOG32, _LOG16, 1.5),
        Function("log2", np.log2, _LOG32, _LOG16, 1.5),
        Function("sin", np.sin, _SIN32, _SIN16, 2),
        Function("cos", np.cos, _SIN32, _SIN16, 2),
        _same("tan", np.tan, _tan(), 3.5),
        Function("asin", np.arcsin, _absolute(6.81e-5, "6.81e-5"), _absolute(3.91e-3, "3.91e-3"), 2.5),
        Function("acos", np.arccos, _absolute(6.77e-5, "6.77e-5"), _absolute(3.91e-3, "3.91e-3"), 2.5),
        Function("atan", np.arctan, _ulps(4096), _ulps(5), 2),
        _same("sinh", np.sinh, _inherited("(exp(x) - exp(-x)) * 0.5"), 2.6),
        _same("cosh", np.cosh, _inherited("(exp(x) + exp(-x)) * 0.5"), 2.6),
        _same("tanh", np.tanh, _tanh(), 2),
        _same("asinh", np.arcsinh, _inherited("log(x + sqrt(x * x + 1.0))"), 2.5),
        _same("acosh", np.arccosh, _inherited("log(x + sqrt(x * x - 1.0))"), 2.5),
        _same("atanh", np.arctanh, _inherited("log((1.0 + x) / (1.0 - x)) * 0.5"), 2.5),
        _same("sqrt", np.sqrt, _inherited("1.0 / inverseSqrt(x)"), 0.5),
        _same("inverseSqrt", lambda x: 1 / np.sqrt(x), _ulps(2), 1.5),
        _same("degrees", lambda x: x * (180 / np.pi), _scaled("x * 57.295779513082322865"), 1),
        _same("radians", lambda x: x * (np.pi / 180), _scaled("x * 0.017453292519943295474"), 1),
        Function(
            "pow",
            lambda x, y: np.where(x < 0, np.nan, np.power(np.abs(x), y)),
            _power(3),
            _power(1),
            3.5,
            2,
            ((0, 20), (-30, 30)),
        ),
        Function("atan2", np.arctan2, _ulps(4096), _ulps(5), 2.5, 2, ((-10, 10), (-10, 10))),
    )
}
