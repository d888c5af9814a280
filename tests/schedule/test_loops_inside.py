"""Loops inside of the one that carries values: each of their iterations goes on with values of its own."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tinct import Nest
from tinct.nests import Dim

X = np.random.default_rng(0).integers(-8, 8, (13, 22)).astype(np.float32)
SIZES = {"rows": 13, "columns": 22}


def columns() -> tuple[Nest, Dim, Dim]:
    nest = Nest("by_column")
    return nest, nest.dim("rows", name="i"), nest.dim("columns", name="j")


def sums() -> Nest:
    nest, i, j = columns()
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[i]), [j])
    return nest


def from_computed() -> Nest:
    """Sums that begin with another number in each column."""
    nest, i, j = columns()
    x = nest.load("x", "f32", [i, j])
    acc = nest.fby(nest.load("x", "f32", [0, j]) * 2, on=[i])
    acc.next = acc + x
    nest.store("y", nest.last(acc, on=[i]), [j])
    return nest


def scan() -> Nest:
    """Each sum so far, and the last one."""
    nest, i, j = columns()
    acc = nest.fby(0.0, on=[i])
    acc.next = acc * 0.5 + nest.load("x", "f32", [i, j])
    nest.store("y", acc * 2.0, [i, j])
    nest.store("end", nest.last(acc, on=[i]), [j])
    return nest


def last_values() -> Nest:
    """Of each column what the last row gives, beside the places of the greatest elements."""
    nest, i, j = columns()
    x = nest.load("x", "f32", [i, j])
    nest.store("y", nest.last(x * 3.0, on=[i]), [j])
    greatest, place = nest.argmax(x, i)
    nest.store("greatest", greatest, [j])
    nest.store("places", place, [j])
    return nest


def normed() -> Nest:
    """A second loop over the rows, which needs the sums at its begin, and one over the columns after it."""
    nest, i, j = columns()
    k = nest.dim("rows", name="k")
    x = nest.load("x", "f32", [i, j])
    total = nest.reduce("+", x, on=[i])
    nest.store("y", nest.reduce("max", nest.map(x, [(i, k)]) - total, on=[k]), [j])
    return nest


NESTS: dict[str, Callable[[], Nest]] = {
    "sums": sums,
    "from computed": from_computed,
    "scan": scan,
    "last values": last_values,
    "normed": normed,
}
IN_ORDER = {
    "loops": "order: i.0, j.0",
    "written out inside": "i: loop * unrolled(2)\nj: loop * unrolled(4)\norder: i.0, j.0, i.1, j.1",
    "invocations": "j: workgroup * loop(3) * unrolled(2) * invocation(4)\norder: i.0, j.1, j.2",
    "carried around and inside": "i: loop * loop(3)\nj: loop * invocation(4)\norder: i.0, j.0, i.1",
    "written out around": "i: loop * unrolled(2)\nj: loop * loop(4)\norder: i.0, i.1, j.0, j.1",
    "two loops": "j: workgroup * loop(3) * loop(2)\norder: i.0, j.1, j.2",
    "vectors": "j: loop * loop(2) * vector(4)\norder: i.0, j.0, j.1, j.2",
    "vectors of three": "j: loop * vector(3)\norder: i.0, j.0, j.1",
    "peeled": "i: loop * unrolled(4)\nj: loop * invocation(4)\norder: i.0, j.0, i.1\npeel i, j",
}
IN_PARTS = {
    "a tree": "i: loop * tree(4)\nj: loop * unrolled(2)\norder: i.0, j.0, j.1, i.1",
    "a tree around": "i: loop * tree(4)\nj: loop * invocation(4)\norder: i.0, i.1, j.0",
    "vectors": "i: loop * vector(2)\nj: loop\norder: i.0, j.0, i.1",
    "invocations": "i: loop * invocation(4)\nj: workgroup * loop(4) * invocation(2)\norder: i.0, j.1",
    "subgroups": "i: loop * subgroup(8)\nj: workgroup * loop(4)\norder: i.0, j.1",
    "partial": "i: partial * loop(3)\nj: loop * invocation(4)\norder: i.1, i_part.0, j.0",
}


def with_second_loop(nest: Nest, point: str) -> str:
    """The point, with the loop that a nest has beside the first one."""
    return point.replace("order: ", "order: k.0, ") if any(it.name == "k" for it in nest.ir.dimensions) else point


def assert_agrees(nest: Nest, point: str, device: str) -> None:
    kernel = nest.lower(with_second_loop(nest, point), sizes=SIZES, reassociate=True)
    expected = nest.run({"x": X})
    found = kernel.run({"x": X}, device=device)
    for name, array in expected.items():
        assert np.allclose(found[name], array, rtol=1e-6, atol=1e-6), (name, point)


@pytest.mark.parametrize("point", IN_ORDER.values(), ids=IN_ORDER.keys())
@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS.keys())
def test_in_order(nest: Callable[[], Nest], point: str) -> None:
    assert_agrees(nest(), point, "cpu")


@pytest.mark.parametrize("point", IN_PARTS.values(), ids=IN_PARTS.keys())
def test_in_parts(point: str) -> None:
    assert_agrees(sums(), point, "cpu")


@pytest.mark.parametrize("device", ["interp", "gpu"])
def test_devices(device: str) -> None:
    for point in (IN_ORDER["invocations"], IN_PARTS["partial"], IN_PARTS["invocations"]):
        assert_agrees(sums(), point, device)


def test_elements_are_in_variables_in_the_innermost_loop() -> None:
    wgsl = sums().lower("i: loop * unrolled(2)\nj: loop\norder: i.0, j.0, i.1", sizes=SIZES).wgsl
    assert "var acc_each: array<f32, 22>;" in wgsl
    body = wgsl.partition("for (var i_0")[2]
    assert len(re.findall(r"acc = acc_each\[", body)) == 1
    assert len(re.findall(r"acc_each\[\w+\] = acc;", body)) == 1
    assert body.count("acc += ") == 2


def test_nothing_is_joined_twice() -> None:
    """One part of each workgroup is stored as it is: no loop copies it to itself."""
    point = "i: partial * loop(3)\nj: loop\norder: i.1, i_part.0, j.0"
    first = sums().lower(point, sizes=SIZES, reassociate=True).wgsl.partition("fn by_column_2")[0]
    assert first.count("for (") == 4  # first values; rows, and columns inside; stores


def test_no_rows() -> None:
    nest = sums()
    for sizes in ({"rows": 0, "columns": 3}, {"rows": 3, "columns": 0}):
        kernel = nest.lower("order: i.0, j.0", sizes=sizes)
        x = np.ones((sizes["rows"], sizes["columns"]), np.float32)
        assert kernel.run({"x": x}, sizes=sizes)["y"].tolist() == [0] * sizes["columns"]


def test_product_with_sums_of_a_tile_in_an_array() -> None:
    """A part of the products' dimension is gone through for a whole tile before the next part."""
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    a, b = nest.load("a", "f32", [i, k]), nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", a * b, on=[k]), [i, j])
    point = """
        i: workgroup * loop(3) * unrolled(2)
        j: workgroup * loop(2) * invocation(4)
        k: loop * loop(4)
        order: k.0, j.1, i.1, k.1, i.2
        stage b0 at k.0
    """
    one, other = X[:, :11].copy(), X[:11].copy()
    kernel = nest.lower(point, sizes={"m": 13, "n": 22, "inner": 11})
    assert np.array_equal(kernel.run({"a": one, "b": other}, device="cpu")["c"], one @ other)
