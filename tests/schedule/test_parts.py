"""Reductions in parts: subgroups, and several values that a combine joins."""

from __future__ import annotations

import numpy as np
import pytest

from tinct import Nest, parse_nest

from .nests import ARGMAX

X = np.random.default_rng(0).integers(-9, 9, (3, 41)).astype(np.float32)
ARGMAX_POINTS = (
    "j: loop * tree(3)",
    "i: workgroup * invocation(2)\nj: loop * tree(2) * invocation(5)",
    "i: workgroup * unrolled(2)\nj: loop * subgroup(32)",
)


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_argmax_in_parts(device: str) -> None:
    """Ties go to the least index, whatever the order, and numbers that are not compared are never chosen."""
    x = X.copy()
    x[1, ::2] = np.nan
    expected = parse_nest(ARGMAX).run({"x": x})
    assert expected["places"].tolist() == np.nanargmax(x, 1).tolist()
    for decisions in ARGMAX_POINTS if device == "cpu" else ARGMAX_POINTS[2:]:
        results = parse_nest(ARGMAX).lower(decisions).run({"x": x}, device=device)
        assert {name: it.tolist() for name, it in results.items()} == {
            name: it.tolist() for name, it in expected.items()
        }, decisions


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_subgroups(device: str) -> None:
    """All functions that subgroups join, of numbers and of conditions, and a first value."""
    nest = Nest("functions")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "i32", [i, j])
    for number, function in enumerate(("+", "*", "min", "max", "&", "|", "^")):
        first = -4 if function == "+" else None
        nest.store(f"y{number}", nest.reduce(function, x, on=[j], first=first), [i])
    for number, function in enumerate(("&", "|")):
        value = nest.reduce(function, nest.call("<", x, 8), on=[j])
        nest.store(f"z{number}", nest.call("u32", value), [i])
    x_array = X.astype(np.int32)
    expected = {name: it.tolist() for name, it in nest.run({"x": x_array}).items()}
    for count in (16,) if device == "interp" else (2, 64):
        results = nest.lower(f"i: workgroup\nj: loop * subgroup({count})").run({"x": x_array}, device=device)
        assert {name: it.tolist() for name, it in results.items()} == expected
