"""Inputs for which no order of additions rounds, tolerances where there are none, and small sizes."""

from __future__ import annotations

import numpy as np
import pytest

from tinct import Nest, parse_nest
from tinct.compare import EXACT
from tinct.ir.schedule.interp import run
from tinct.tuning.trial_data import TrialData, small_sizes

from ..nests import EVERYTHING, ROW_SUMS, SOFTMAX


@pytest.mark.parametrize(("columns", "amplitude"), [(10, 1000), (2**20, 10), (2**23, 1), (2**25, None)])
def test_sums_stay_whole_numbers(columns: int, amplitude: int | None) -> None:
    assert TrialData(parse_nest(ROW_SUMS).ir, {"rows": 1, "columns": columns}).amplitude == amplitude


def test_products_of_sums() -> None:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    product = nest.load("a", "f16", [i, k]) * nest.load("b", "f16", [k, j])
    nest.store("c", nest.reduce("+", product, on=[k]), [i, j])
    assert TrialData(nest.ir, {"m": 1, "n": 1, "inner": 19}).amplitude == 10
    assert TrialData(nest.ir, {"m": 1, "n": 1, "inner": 4000}).amplitude is None


def test_maxima_do_not_grow() -> None:
    nest = Nest("most")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    nest.store("place", nest.argmax(x, j)[1], [i])
    nest.store("y", nest.reduce("max", x, on=[j]), [i])
    data = TrialData(nest.ir, {"rows": 3, "columns": 2**22})
    assert data.amplitude == 1000


def test_what_grows_by_factors_is_not_exact() -> None:
    nest = Nest("powers")
    i = nest.dim("n")
    power = nest.fby(1.0, on=[i])
    power.next = power * 2.0
    nest.store("y", nest.last(power, on=[i]), [])
    assert TrialData(nest.ir, {"n": 100}).amplitude is None


def test_computed_places_are_inside_but_for_some() -> None:
    """Those of `near` are no places alone: they are also stored."""
    nest = Nest("picked")
    i, j = nest.dim("n"), nest.dim("m")
    far, near = nest.load("far", "u32", [i]), nest.load("near", "u32", [j])
    nest.store("y", nest.gather("x", "f32", [far, near], extents=[1000, 5]), [i, j])
    nest.store("places", near, [j])
    inputs = TrialData(nest.ir, {"n": 4096, "m": 4096}).inputs
    assert 900 < inputs["far"].max() <= 1125
    assert 0 < np.mean(inputs["far"] >= 1000) < 0.2
    assert np.unique(inputs["far"]).size > 800
    assert inputs["near"].max() <= 1000
    assert run(nest.ir, TrialData(nest.ir, {"n": 2, "m": 2}).inputs, {"n": 2, "m": 2})["y"].shape == (2, 2)


def test_functions_have_a_tolerance() -> None:
    data = TrialData(parse_nest(SOFTMAX).ir, {"rows": 2, "columns": 1000})
    assert data.amplitude is None
    assert 1e-5 < data.tolerance("y").relative < 1e-3
    inputs = data.inputs["x"]
    assert inputs.min() >= -1
    assert inputs.max() <= 1
    assert np.unique(inputs).size > 1000


@pytest.mark.parametrize(("function", "least", "most"), [("asin", -1, 1), ("log", 0.25, 0.75), ("acosh", 1, 2)])
def test_results_are_numbers_if_they_can_be(function: str, least: float, most: float) -> None:
    """Sums of rows with a NaN would be NaN in all points, right or wrong."""
    nest = Nest("sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    value = nest.call(function, nest.load("x", "f32", [i, j]))
    nest.store("y", nest.reduce("+", value, on=[j]), [i])
    data = TrialData(nest.ir, {"rows": 2, "columns": 3000})
    x = data.inputs["x"]
    assert least <= x.min() < x.max() <= most
    assert x.max() - x.min() > 0.9 * (most - least)
    assert np.isfinite(run(nest.ir, data.inputs, data.sizes)["y"]).all()


def test_results_that_are_never_numbers() -> None:
    nest = Nest("roots")
    i = nest.dim("n")
    nest.store("y", nest.call("sqrt", -2.0 - nest.load("x", "f32", [i])), [i])
    assert np.abs(TrialData(nest.ir, {"n": 100}).inputs["x"]).max() <= 1


def test_sums_in_any_order_are_equal() -> None:
    data = TrialData(parse_nest(ROW_SUMS).ir, {"rows": 2, "columns": 100_000})
    x = data.inputs["x"]
    assert data.tolerance("sums") == EXACT
    forward, pairs = np.float32(0), x[0].reshape(-1, 2).sum(axis=1, dtype=np.float32)
    for value in x[0].tolist():
        forward = np.float32(forward + np.float32(value))
    assert forward == np.float32(pairs.sum(dtype=np.float32))


@pytest.mark.parametrize("text", [ROW_SUMS, SOFTMAX, EVERYTHING])
def test_small_sizes_can_be_evaluated(text: str) -> None:
    nest = parse_nest(text).ir
    rows = small_sizes(nest)
    assert any(set(it.values()) == {1} for it in rows)
    assert any(len({*it.values()}) > 1 for it in rows)
    for sizes in rows:
        data = TrialData(nest, sizes)
        assert run(nest, data.inputs, sizes).keys() == data.outputs.keys()


@pytest.mark.parametrize("width", [3, 7])
def test_nests_of_many_dimensions_are_checked_at_sizes_above_one(width: int) -> None:
    """Their points at larger odd sizes are more than an interpreter goes through."""
    nest = Nest("convolved")
    o, y, x = nest.dim("outputs", name="o"), nest.dim("h", name="y"), nest.dim("w", name="x")
    c, dy, dx = nest.dim("inputs", name="c"), nest.dim(width, name="dy"), nest.dim(width, name="dx")
    extents = [nest.size("inputs"), nest.size("h") + (width - 1), nest.size("w") + (width - 1)]
    image = nest.load("image", "f32", [c, y + dy, x + dx], extents=extents)
    weights = nest.load("weights", "f32", [o, c, dy, dx])
    nest.store("result", nest.reduce("+", image * weights, on=[c, dy, dx]), [o, y, x])
    assert any(min(it.values()) > 1 for it in small_sizes(nest.ir))
