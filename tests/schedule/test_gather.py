"""Loads at computed places: rows of a table, neighbours that a list names, what lies between the pixels of an image."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tinct
from tinct import InputError, Nest, parse_nest
from tinct.ir.schedule.text import parse
from tinct.ir.schedule.verify import verify
from tinct.nests import Value

RNG = np.random.default_rng(0)
TABLE = RNG.integers(-99, 99, (7, 24)).astype(np.float32)
ROWS = np.uint32([0, 6, 3, 3, 7, 2**32 - 1, 5])
ARRAYS = {"table": TABLE, "rows": ROWS}
DEVICES = ("interp", "hercules", "cpu", "gpu")


def rows_of_table(boundary: str = "clamp") -> Nest:
    nest = Nest("rows_of_table")
    i, j = nest.dim("tokens"), nest.dim("width")
    row = nest.load("rows", "u32", [i])
    nest.store("y", nest.gather("table", "f32", [row, j], extents=["count", "width"], boundary=boundary), [i, j])
    return nest


CLAMPED = TABLE[np.minimum(ROWS, 6)]
"""The last two rows that are asked for are outside of the table."""

POINTS = (
    "",
    "i: workgroup\nj: loop * invocation(8)",
    "i: workgroup * unrolled(2)\nj: workgroup * invocation(16)",
    "i: workgroup * invocation(2)\nj: loop * invocation(2) * vector(4)",
    "i: loop * vector(2)\nj: workgroup * loop(5)\norder: j.1, i.0, i.1",
    "i: workgroup\nj: loop * invocation(8)\nkeep rows0 in storage",
    "i: workgroup\nj: loop * invocation(8)\nkeep table0 in storage",
)


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_a_table(device: str) -> None:
    assert rows_of_table().run(ARRAYS)["y"].tolist() == CLAMPED.tolist()
    for point in POINTS if device == "cpu" else POINTS[1:4]:
        kernel = rows_of_table().lower(point, sizes={"tokens": 7, "width": 24, "count": 7})
        assert kernel.run(ARRAYS, device=device)["y"].tolist() == CLAMPED.tolist(), point


def test_the_index_in_a_dimension_is_not_clamped() -> None:
    """It is inside of the table as that of a plain load would be."""
    for sizes in (None, {"tokens": 7, "width": 24, "count": 7}):
        assert rows_of_table().lower(POINTS[1], sizes=sizes).wgsl.partition("@compute")[2].count("min(") == 1


def test_an_element_outside_may_be_0() -> None:
    expected = np.where((ROWS < 7)[:, None], CLAMPED, 0)
    assert rows_of_table("zero").run(ARRAYS)["y"].tolist() == expected.tolist()
    for device in DEVICES:
        assert rows_of_table("zero").lower(POINTS[1]).run(ARRAYS, device=device)["y"].tolist() == expected.tolist()


@pytest.mark.parametrize("boundary", ["clamp", "zero"])
def test_subscripts_with_signs(boundary: str) -> None:
    """A negative one is before the array."""
    nest = Nest("picked")
    i = nest.dim("n")
    picked = nest.gather("x", "i32", [nest.load("at", "i32", [i]) - 1], extents=["m"], boundary=boundary)
    nest.store("y", picked, [i])
    x, at = np.int32([10, 20, 30]), np.int32([-(2**31), -5, 0, 1, 3, 4, 2**31 - 1])
    place = at - np.int32(1)
    expected = x[np.clip(place, 0, 2)]
    if boundary == "zero":
        expected = np.where((place >= 0) & (place < 3), expected, 0)
    assert nest.run({"x": x, "at": at})["y"].tolist() == expected.tolist()
    for device in DEVICES:
        found = nest.lower("i: workgroup * invocation(4)").run({"x": x, "at": at}, device=device)["y"]
        assert found.tolist() == expected.tolist()


def test_places_of_places() -> None:
    nest = Nest("twice")
    i = nest.dim("n")
    first = nest.gather("next", "u32", [nest.load("start", "u32", [i])], extents=["m"])
    nest.store("y", nest.gather("next", "u32", [first], extents=["m"]) + first, [i])
    following = np.uint32([3, 0, 1, 2])
    arrays = {"next": following, "start": np.uint32([0, 1, 2, 3, 4])}
    first_found = following[[0, 1, 2, 3, 3]]
    expected = (following[first_found] + first_found).tolist()
    assert nest.run(arrays)["y"].tolist() == expected
    assert nest.lower("i: workgroup * invocation(2)").run(arrays)["y"].tolist() == expected


def test_a_sparse_matrix_times_a_vector() -> None:
    """A sum of products with elements that the columns name, in any order."""
    nest = Nest("sparse")
    i, k = nest.dim("rows"), nest.dim("most", "k")
    x = nest.gather("x", "f32", [nest.load("columns", "u32", [i, k])], extents=["n"])
    nest.store("y", nest.reduce("+", nest.load("values", "f32", [i, k]) * x, on=[k]), [i])
    arrays = {
        "columns": RNG.integers(0, 50, (20, 9)).astype(np.uint32),
        "values": RNG.integers(-5, 5, (20, 9)).astype(np.float32),
        "x": RNG.integers(-5, 5, 50).astype(np.float32),
    }
    expected = (arrays["values"] * arrays["x"][arrays["columns"]]).sum(1).tolist()
    for point in ("", "i: workgroup * invocation(8)", "i: workgroup * unrolled(2)\nk: loop * tree(2) * invocation(4)"):
        assert nest.lower(point, reassociate=True).run(arrays)["y"].tolist() == expected


def test_an_array_that_is_also_loaded_as_vectors_is_bound_as_scalars() -> None:
    nest = Nest("both")
    i = nest.dim("n")
    x = nest.load("x", "f32", [i])
    nest.store("y", x + nest.gather("x", "f32", [nest.load("at", "u32", [i])], extents=["n"]), [i])
    kernel = nest.lower("i: workgroup * invocation(2) * vector(4)", sizes={"n": 16})
    x_array, at = np.arange(16, dtype=np.float32), RNG.permutation(16).astype(np.uint32)
    assert kernel.run({"x": x_array, "at": at})["y"].tolist() == (x_array + at).tolist()
    assert "x: array<f32>;" in kernel.wgsl
    assert "at: array<vec4u>;" in kernel.wgsl


def test_a_second_loop_loads_again_what_a_first_one_did() -> None:
    """A map of such a value, kept and not."""
    nest = Nest("centred")
    i, j, k = nest.dim("rows"), nest.dim("columns"), nest.dim("columns", "k")
    x = nest.gather("x", "f32", [nest.load("places", "u32", [j])], extents=["columns"]) * nest.load("w", "f32", [i])
    nest.store("y", nest.map(x, [(j, k)]) - nest.reduce("max", x, on=[j]), [i, k])
    arrays = {"x": np.float32([1, 5, 2]), "places": np.uint32([2, 0, 1]), "w": np.float32([1, 2])}
    x_array = arrays["x"][arrays["places"]] * arrays["w"][:, None]
    expected = (x_array - x_array.max(1, keepdims=True)).tolist()
    assert nest.run(arrays)["y"].tolist() == expected
    for kept in ("", "keep x0 in registers", "keep t in workgroup", "keep x0 in storage"):
        kernel = nest.lower(f"i: workgroup\n{kept}", sizes={"rows": 2, "columns": 3})
        assert kernel.run(arrays)["y"].tolist() == expected, kept


def test_its_text() -> None:
    nest = rows_of_table()
    assert "  table0: f32 = inst table at [rows0, at] clamp on [i, j]\n" in str(nest)
    assert parse_nest(str(nest)).ir == nest.ir
    assert parse_nest(str(nest)).run(ARRAYS)["y"].tolist() == CLAMPED.tolist()


def test_searches_find_decisions() -> None:
    """Inputs of a search that are places are inside of the table, but for some."""
    best = rows_of_table().tune({"tokens": 100, "width": 40, "count": 30}, seconds=0.5, renew=True)
    table, rows = RNG.random((30, 40), np.float32), RNG.integers(0, 30, 100).astype(np.uint32)
    assert best.run({"table": table, "rows": rows})["y"].tolist() == table[rows].tolist()


def test_empty_arrays() -> None:
    arrays = {"table": np.zeros((0, 24), np.float32), "rows": ROWS}
    with pytest.raises(InputError, match="a clamped load from 'table', which is empty"):
        rows_of_table().run(arrays)
    assert not rows_of_table("zero").lower(POINTS[1]).run(arrays)["y"].any()
    none = {"table": TABLE, "rows": ROWS[:0]}
    assert rows_of_table().lower(POINTS[1]).run(none)["y"].shape == (0, 24)


def gather(make: Callable[[Nest, Value], Value]) -> None:
    nest = Nest("wrong")
    i = nest.dim("n")
    nest.store("y", make(nest, nest.load("at", "u32", [i])), [i])
    nest.run({})


MISTAKES: dict[str, Callable[[Nest, Value], Value]] = {
    "computed subscripts may be outside of the array: boundary is clamp or zero": lambda nest, at: nest.gather(
        "x", "f32", [at], extents=["m"], boundary="inside"
    ),
    r"wrong.*test_gather.py:\d+: a subscript is i32 or u32, not f32 \[types\]": lambda nest, at: nest.gather(
        "x", "f32", [nest.call("f32", at)], extents=["m"]
    ),
    r"wrong.*test_gather.py:\d+: 1 subscripts for 2 extents \[subscripts\]": lambda nest, at: nest.gather(
        "x", "f32", [at], extents=["m", "n"]
    ),
    r"wrong.*test_gather.py:\d+: a number without subscripts has no computed ones": lambda nest, at: (
        nest.gather("x", "u32", [], extents=[]) + at
    ),
    "array 'at' was used before as another direction, type or extents": lambda nest, at: nest.gather(
        "at", "u32", [at], extents=["m"]
    ),
    "expected a whole number, a dimension, a size or a sum of these, not 0.5": lambda nest, _: nest.gather(
        "x",
        "f32",
        [0.5],  # type: ignore[list-item]
        extents=["m"],
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises(InputError, match=message):
        gather(MISTAKES[message])


def test_a_copy_of_what_is_loaded_at_computed_places_is_refused() -> None:
    with pytest.raises(InputError, match="table0"):
        rows_of_table().lower("i: workgroup\nj: loop * invocation(8)\nstage table0")


def test_a_text_with_a_boundary_that_computed_places_cannot_have() -> None:
    text = str(rows_of_table()).replace("clamp", "inside")
    assert [it.rule for it in verify(parse(text))] == ["boundaries"]
    with pytest.raises(InputError, match="computed subscripts may be outside of the array: clamp or zero"):
        tinct.parse_nest(text)
