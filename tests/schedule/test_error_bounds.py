"""What results of nests may be off: no less than what they are, and not much more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct import Nest
from tinct.ir.schedule.interp import run
from tinct.ir.schedule.nodes import Nest as NestNode
from tinct.ir.schedule.rules.declarations import MOST_STATEMENTS
from tinct.ir.schedule.verify import check
from tinct.nests import Value
from tinct.origins import core_of
from tinct.transforms.core.accuracy_bounds import BOUNDED, bound, steps
from tinct.transforms.schedule.error_bounds import error_bounds

from .random_nests import random_sample

Array = npt.NDArray[Any]
UNIT = 2.0**-23
X = np.float32([0.5, -1, 0.25, 0.75, -0.125, 0.999, 0.3, -0.7])


def bounds_of(
    nest: NestNode, arrays: dict[str, Array], sizes: dict[str, int], *, is_cpu: bool = False
) -> dict[str, Array]:
    """The bounds of the outputs that may be off."""
    found = error_bounds(nest, is_cpu=is_cpu, build=core_of)
    assert found is not None
    check(found.nest)
    results = run(found.nest, arrays, sizes)
    return {output: results[name] for output, name in found.outputs.items()}


def mapped(function: Callable[[Value], Value], x: Array = X, *, is_cpu: bool = False) -> Array | None:
    """The bounds of a function of each element; None if all results are exact."""
    nest = Nest("mapped")
    i = nest.dim("n")
    type = {"e": "f16", "f": "f32", "i": "i32"}[x.dtype.char]
    nest.store("y", function(nest.load("x", type, [i])), [i])
    return bounds_of(nest.ir, {"x": x}, {"n": x.size}, is_cpu=is_cpu).get("y")


def call(name: str, *others: float) -> Callable[[Value], Value]:
    return lambda x: x.nest.call(name, x, *others)


@pytest.mark.parametrize("type", ["f32", "f16"])
@pytest.mark.parametrize("name", sorted(BOUNDED))
def test_a_function_may_be_off_by_its_rule(name: str, type: str) -> None:
    """Its bound, or up to twice that, where it is a number of ULP."""
    others = [1.5] * (name in ("pow", "atan2"))
    x = (np.float32([0.1, 0.5, 0.75, 0.99]) + (name == "acosh")).astype({"f32": np.float32, "f16": np.float16}[type])
    found = mapped(call(name, *others), x)
    text = steps(type) + bound(name, type, 1 + len(others))
    result = tinct.load(f"fn f(x: f32) -> f32 {{ return {name}({', '.join(['x', *map(str, others)])}); }}").functions[
        "f"
    ]
    given = x.astype(np.float64)
    arguments = [given, *(np.full(x.size, it) for it in others), result(given)]
    rule = tinct.load(text).functions[f"off_{name}_{type}"](*arguments)
    assert found is not None
    assert (found >= 0.99 * rule).all()
    assert (found <= 2.01 * rule).all()


def test_the_cpu_is_off_by_less() -> None:
    on_any, on_cpu = (mapped(call("asin"), is_cpu=it) for it in (False, True))
    assert on_any is not None and on_any.min() >= 6.8e-5
    assert on_cpu is not None and on_cpu.max() <= 8 * UNIT


@pytest.mark.parametrize(
    "function",
    [
        lambda x: -x,
        *map(call, ("abs", "floor", "sign", "saturate", "f32", "copy", "i32", "quantizeToF16")),
        call("min", 0.1),
        call("clamp", 0.0, 1.0),
        lambda x: x.nest.call("select", x, 2.0, x > 0.5),
        lambda x: x.nest.call("f32", x.nest.call("i32", x)),
    ],
)
def test_what_is_not_rounded_is_exact(function: Callable[[Value], Value]) -> None:
    found = mapped(function)
    assert found is None or (found == 0).all()


def test_integers_become_floats_without_error_up_to_2_24() -> None:
    found = mapped(call("f32"), np.int32([5, -(2**24) + 1, 2**24 + 1]))
    assert found is not None
    assert found[:2].tolist() == [0, 0]
    assert 0 < found[2] <= 4


@pytest.mark.parametrize("type", [np.float32, np.float16])
def test_cancellation(type: type[np.floating[Any]]) -> None:
    """1000 is lost in part, and what stays is as far off as that."""
    x = X.astype(type)
    found = mapped(lambda x: (x + 1000.0) - 1000.0, x)
    off = np.abs((x + type(1000)) - type(1000) - x)
    assert found is not None
    assert (off <= found).all()
    assert off.max() > 0.05 * found.max()


def test_an_error_grows_with_the_slope() -> None:
    found = mapped(lambda x: x.nest.call("tan", x * 1.57079), np.float32([0.1, 0.99999]), is_cpu=True)
    assert found is not None
    assert found[0] < 1e-6
    assert found[1] > 1e4 * found[0]


def test_functions_of_several_operations() -> None:
    """Products in one rounding or two differ by what is allowed, also where the terms cancel."""
    x = np.float32([0.1, 0.3, 0.7, 0.9])
    found = mapped(lambda x: x.nest.call("fma", x, x, -(x * x)), x)
    rounded = np.abs(x.astype(np.float64) ** 2 - (x * x).astype(np.float64))
    assert found is not None
    assert (rounded <= found).all()
    assert found.max() < 24 * UNIT
    mixed = mapped(call("mix", 2.0, 0.5), x)
    assert mixed is not None and 0 < mixed.min() <= mixed.max() < 40 * UNIT


def test_sums_in_any_order() -> None:
    random = np.random.default_rng(3)
    x = (random.random((2, 400)) * np.logspace(0, 6, 400) * random.choice([-1, 1], 400)).astype(np.float32)
    nest = Nest("sums")
    i, j = nest.dim("n"), nest.dim("m")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[j]), [i])
    found = bounds_of(nest.ir, {"x": x}, {"n": 2, "m": 400})["y"]
    exact, worst = x.astype(np.float64).sum(axis=1), 0.0
    for _ in range(50):
        total = np.zeros(2, np.float32)
        for k in random.permutation(400):
            total += x[:, k]
        off = np.abs(total - exact)
        assert (off <= found).all()
        worst = max(worst, float((off / found).max()))
    assert worst > 0.002


def argmax_bounds(x: Array) -> Array:
    nest = Nest("places")
    i, j = nest.dim("n"), nest.dim("m")
    nest.store("place", nest.argmax(nest.load("x", "f32", [i, j]) * 3.0, j)[1], [i])
    return bounds_of(nest.ir, {"x": x}, {"n": x.shape[0], "m": x.shape[1]})["place"]


def test_a_place_is_uncertain_where_values_are_near() -> None:
    near = np.float32([[0.1, 0.7, np.nextafter(np.float32(0.7), 1), 0.2], [0.1, 0.7, 0.6, 0.2], [0.6, 0.6, 0.1, 0.7]])
    found = argmax_bounds(near)
    assert found[0] > 1e38
    assert found[1:].tolist() == [0, 0], "a tie that another value beats decides nothing"


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_of_what_is_rounded(operator: str) -> None:
    x = np.float32([0.2, 0.4, 0.1, 0.3])

    def function(x: Value) -> Value:
        return x.nest.call("select", x, 5.0, x.nest.call(operator, x * 3.0, 0.6))

    found = mapped(function, x)
    assert found is not None
    assert found.tolist() == [5 - x[0], 0, 0, 0]


def test_bools_and_integers_made_of_what_is_uncertain() -> None:
    def function(x: Value) -> Value:
        nest = x.nest
        whole = nest.call("i32", x * 10.0)  # 3, or 2
        other = nest.call("select", nest.call("min", whole, 2), whole + 5, nest.call("|", x * 3.0 > 2.0, x > 2.0))
        return nest.call("f32", other)

    found = mapped(function, np.float32([0.3, 0.35, 0.9]))
    assert found is not None
    assert found[0] > 1e38
    assert found[1] == 0
    assert found[2] > 1e38


def test_values_of_other_dimensions_and_maps() -> None:
    nest = Nest("softmax")
    i, j = nest.dim("n"), nest.dim("m")
    result, k = nest.softmax(nest.load("x", "f32", [i, j]), j)
    nest.store("y", result, [i, k])
    x = np.random.default_rng(0).random((3, 30), np.float32) * 20 - 10
    found = bounds_of(nest.ir, {"x": x}, {"n": 3, "m": 30}, is_cpu=True)["y"]
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    off = np.abs(nest.run({"x": x})["y"] - exact)
    assert (off <= found).all()
    assert (found <= 200 * UNIT * exact + 1e-30).all()


@pytest.mark.parametrize(("function", "most"), [("+", 1e-5), ("max", 2e-6), ("*", np.inf)])
def test_what_is_joined_to_elements(function: str, most: float) -> None:
    nest = Nest("joined")
    i = nest.dim("n")
    x = nest.load("x", "f32", [i])
    nest.scatter("y", x * 3.0, [nest.load("at", "i32", [i])], extents=[2], function=function)
    arrays = {"x": X, "at": np.int32([0, 1, 0, 1, 0, 1, 7, 0])}
    found = bounds_of(nest.ir, arrays, {"n": X.size})["y"]
    assert (found > UNIT / 2).all()
    assert (found <= most).all()
    assert nest.run(arrays)["y"].shape == found.shape


def test_an_element_at_a_place_that_may_be_another_one_may_be_any() -> None:
    """A number that is rounded to about 1 may be a little less; others are sure."""
    nest = Nest("picked")
    i = nest.dim("n")
    place = nest.call("i32", nest.load("at", "f32", [i]) * 3.0)
    sure = nest.call("i32", nest.load("at", "f32", [i]))
    nest.store("y", nest.gather("x", "f32", [place], extents=["m"]), [i])
    nest.store("z", nest.gather("x", "f32", [sure], extents=["m"]), [i])
    arrays = {"x": X, "at": np.float32([1 / 3, 0.5, 2.5])}
    found = bounds_of(nest.ir, arrays, {"n": 3, "m": X.size})
    assert found["y"][0] > 1e38
    assert not found["y"][1:].any()
    assert "z" not in found or not found["z"].any()


def test_what_is_not_a_number_has_no_bound() -> None:
    found = mapped(lambda x: x.nest.call("sqrt", x) * 2.0, np.float32([-1, 4]))
    assert found is not None
    assert np.isnan(found[0])
    assert 0 < found[1] < 1e-5


def test_long_nests_have_none() -> None:
    nest = Nest("long")
    i = nest.dim("n")
    value = nest.load("x", "f32", [i])
    for _ in range(MOST_STATEMENTS // 4):
        value = nest.call("exp", value)
    nest.store("y", value, [i])
    assert error_bounds(nest.ir, is_cpu=True, build=core_of) is None


@pytest.mark.parametrize("seed", range(1, 60, 2))
def test_bounds_of_random_nests_are_nests(seed: int) -> None:
    sample = random_sample(seed, "f32")
    found = error_bounds(sample.nest.ir, is_cpu=False, build=core_of)
    assert found is not None
    check(found.nest)
    assert set(found.outputs) <= {it.name for it in sample.nest.ir.arrays}


@pytest.mark.parametrize("is_cpu", [False, True])
def test_what_is_no_number_has_no_bound_wherever_it_goes(is_cpu: bool) -> None:
    """`max` of NaN and a number may be either."""
    x = np.float32([2, 0.5])
    found = mapped(lambda x: x.nest.call("max", x.nest.call("asin", x), 0.0), x, is_cpu=is_cpu)
    assert found is not None
    assert np.isnan(found[0])
    assert 0 < found[1] < 1e-2
    nest = Nest("joined")
    value = nest.call("asin", nest.load("x", "f32", [nest.dim("n")]))
    nest.scatter("y", value, [0], extents=[2], function="max")
    joined = bounds_of(nest.ir, {"x": x}, {"n": 2}, is_cpu=is_cpu)["y"]
    assert joined[0] > 1e38
    assert joined[1] == 0


def test_the_greatest_of_many_is_off_by_no_more_than_one_of_them() -> None:
    nest = Nest("greatest")
    i, j = nest.dim("n"), nest.dim("m")
    value = nest.load("x", "f32", [i, j]) * 3.0
    nest.store("y", nest.reduce("max", value, on=[j]), [i])
    x = np.random.default_rng(5).random((2, 500), np.float32)
    found = bounds_of(nest.ir, {"x": x}, {"n": 2, "m": 500})["y"]
    assert (found >= 0.5 * np.spacing(3 * x.max(axis=1))).all()
    assert (found <= 3 * UNIT).all()
