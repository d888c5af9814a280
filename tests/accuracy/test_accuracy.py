"""A slice of the arguments of each function stays inside WGSL's rules and this project's own, closer ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .functions import FUNCTIONS, Function
from .measure import TYPES, judge, measure, results, unit

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, math.pi, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 1.17549421e-38,
    1.17549435e-38, -1.17549435e-38, 3.4028234e38, -3.4028234e38, 88.722839, 88.72284, -103.97208, -150.0, 128.0,
    127.99999, 89.41598, 89.41599, -87.33655, 1048576.0, 262143.97, 262144.0, 1e22, 16367173.0,
]  # fmt: skip
"""Limits, ends of domains, and where results overflow or vanish; 16367173 rad is next to a multiple of π/2."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slice(name: str) -> None:
    function = FUNCTIONS[name]
    for type in TYPES:
        worst = measure(function, type, every=9973, samples=1 << 20)
        assert not worst.violations, (type, worst)
        assert worst.ulp <= function.promised, (type, worst)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str) -> None:
    function = FUNCTIONS[name]
    for type, dtype in TYPES.items():
        with np.errstate(over="ignore"):
            values = np.unique(np.array(SPECIAL, np.float32)).astype(dtype)
        pairs = np.meshgrid(values, values) if function.arity == 2 else [values]
        arguments = tuple(np.concatenate([it.ravel(), -it.ravel()]) for it in pairs)
        got = results(function, type, arguments)
        worst = judge(function, type, arguments, got)
        assert not worst.violations, (type, worst)
        with np.errstate(all="ignore"):
            want = function.exact(*(it.astype(np.float64) for it in arguments))
        zero = (want == 0) & (got == 0)
        assert np.array_equal(np.signbit(got)[zero], np.signbit(want)[zero]), "a zero keeps its sign"


def test_pow_whose_logarithm_has_a_large_tail() -> None:
    """The second term of the logarithm's series, times y, is near ½ here."""
    x, y = np.array([0.7092965, 0.7406466], np.float32), np.array([121.177727, 249.99794], np.float32)
    function = FUNCTIONS["pow"]
    assert judge(function, "f32", (x, y), results(function, "f32", (x, y))).ulp <= function.promised


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"pow", "degrees", "radians", "inverseSqrt"}))
def test_reference(name: str) -> None:
    """NumPy's doubles are the C library's to a few units in a double's last place."""
    function: Function = FUNCTIONS[name]
    scalar = getattr(math, name)
    source = np.random.default_rng(1)
    columns = [source.uniform(-3, 3, 2000).astype(np.float32).astype(np.float64) for _ in range(function.arity)]
    rows = [row for row in zip(*(it.tolist() for it in columns), strict=True) if _has_value(scalar, row)]
    assert len(rows) > 500
    want = np.array([scalar(*row) for row in rows])
    got = function.exact(*(np.array(column) for column in zip(*rows, strict=True)))
    assert np.max(np.abs(got - want) / unit(want, np.dtype(np.float64))) <= 4


def _has_value(scalar: object, row: tuple[float, ...]) -> bool:
    assert callable(scalar)
    try:
        scalar(*row)
    except ValueError:
        return False
    return True
