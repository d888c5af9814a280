"""Attention of one head: in one loop over the keys, in two, and as nests that are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tinct import InputError, Nest
from tinct.ir.schedule.nodes import Map

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal(it).astype(np.float32) for it in ((5, 8), (7, 8), (7, 6)))
INPUTS = {"q": Q, "k": K, "v": V}


def expected() -> npt.NDArray[Any]:
    scores = Q.astype(np.float64) @ K.T * 0.125
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ V


def scores() -> Nest:
    nest = Nest("scores")
    i, j, d = nest.dim("queries"), nest.dim("keys", "j"), nest.dim("depth", "d")
    products = nest.load("q", "f32", [i, d]) * nest.load("k", "f32", [j, d])
    nest.store("s", nest.reduce("+", products, on=[d]) * 0.125, [i, j])
    return nest


def in_one_loop() -> Nest:
    nest = Nest("attention")
    i, e, j, d = nest.dim("queries"), nest.dim("width", "e"), nest.dim("keys", "j"), nest.dim("depth", "d")
    products = nest.load("q", "f32", [i, d]) * nest.load("k", "f32", [j, d])
    score = nest.reduce("+", products, on=[d]) * 0.125
    nest.store("o", nest.softmax_sum(score, nest.load("v", "f32", [j, e]), j), [i, e])
    return nest


def in_two_loops() -> Nest:
    nest = Nest("attention")
    i, e, j, d = nest.dim("queries"), nest.dim("width", "e"), nest.dim("keys", "j"), nest.dim("depth", "d")
    products = nest.load("q", "f32", [i, d]) * nest.load("k", "f32", [j, d])
    weights, m = nest.softmax(nest.reduce("+", products, on=[d]) * 0.125, j)
    nest.store("o", nest.reduce("+", weights * nest.load("v", "f32", [m, e]), on=[m]), [i, e])
    return nest


def softmax() -> Nest:
    nest = Nest("softmax")
    i, j = nest.dim("rows"), nest.dim("columns", "j")
    weights, m = nest.softmax(nest.load("x", "f32", [i, j]), j)
    nest.store("w", weights, [i, m])
    return nest


def weighted() -> Nest:
    nest = Nest("weighted")
    i, e, m = nest.dim("rows"), nest.dim("width", "e"), nest.dim("inner", "m")
    nest.store("o", nest.reduce("+", nest.load("w", "f32", [i, m]) * nest.load("v", "f32", [m, e]), on=[m]), [i, e])
    return nest


POINTS = {
    in_one_loop: [
        "i: workgroup\ne: workgroup * unrolled(4)\norder: j.0, d.0, e.1",
        "i: workgroup * invocation(4)\ne: workgroup\nd: loop * tree(4)",
        "i: workgroup\ne: workgroup * invocation(8)\nd: loop * invocation(8)",
        "i: workgroup * unrolled(2)\ne: workgroup * invocation(4)\norder: j.0, d.0, i.1",
    ],
    in_two_loops: [
        "i: workgroup\ne: workgroup * unrolled(4)\norder: j.0, d.0, l.0, d_2.0, e.1",
        "i: workgroup\ne: workgroup * invocation(8)\nd: loop * invocation(8)\nd_2: loop * unrolled(4)",
        "i: workgroup\nj: loop * invocation(4)\nl: loop * invocation(4)\ne: workgroup",
        "i: workgroup\nj: partial * loop(2)\nl: partial * loop(4)\ne: workgroup * invocation(4)",
    ],
}


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_attention(device: str) -> None:
    for make, points in POINTS.items():
        nest = make()
        assert np.allclose(nest.run(INPUTS)["o"], expected(), rtol=1e-4, atol=1e-5)
        for point in points:
            found = nest.lower(point, reassociate=True).run(INPUTS, device=device)["o"]
            assert np.allclose(found, expected(), rtol=1e-4, atol=1e-5), point


def test_nests_that_are_joined() -> None:
    """The scores are computed twice, in loops of their own, since softmax goes through them twice."""
    nest = scores().then(softmax(), {"s": "x"}).then(weighted(), {"w": "w"})
    assert [it.name for it in nest.ir.dimensions if it.name.startswith("d")] == ["d", "d_2"]
    assert not any(isinstance(it, Map) for it in nest.ir.body)
    point = "i: workgroup\ne: workgroup * invocation(4)\nd_2: loop * tree(4)"
    for found in (nest.run(INPUTS), nest.run(INPUTS, decisions=point, reassociate=True, device="cpu")):
        assert np.allclose(found["o"], expected(), rtol=1e-4, atol=1e-5)


def test_what_is_computed_again_gives_the_same_bits() -> None:
    """A row less its greatest element, each element the sum of products: both computations are in the same order."""
    nest = Nest("less")
    i, j, d = nest.dim("n"), nest.dim("m", "j"), nest.dim("depth", "d")
    k = nest.dim("m", "k")
    value = nest.reduce("+", nest.load("a", "f32", [i, d]) * nest.load("b", "f32", [j, d]), on=[d])
    nest.store("y", nest.map(value, [(j, k)]) - nest.reduce("max", value, on=[j]), [i, k])
    found = nest.run({"a": Q, "b": K}, decisions="i: workgroup * invocation(4)", device="cpu")["y"]
    assert found.max(1).tolist() == [0.0] * 5
    assert np.array_equal(found, nest.run({"a": Q, "b": K})["y"])


def test_combines_are_computed_again() -> None:
    """The places of the greatest elements of planes, each place less the greatest of all."""
    nest = Nest("places")
    i, j, d = nest.dim("n"), nest.dim("m", "j"), nest.dim("depth", "d")
    k = nest.dim("m", "k")
    place = nest.argmax(nest.load("x", "f32", [i, j, d]), d)[1]
    nest.store("y", nest.reduce("max", place, on=[j]) - nest.map(place, [(j, k)]), [i, k])
    x = RNG.random((3, 4, 5), np.float32)
    places = x.argmax(2)
    for point in ("", "i: workgroup\nd: loop * invocation(4)\nd_2: loop * tree(2)"):
        found = nest.run({"x": x}, decisions=point, device="cpu", reassociate=True)["y"]
        assert found.tolist() == (places.max(1, keepdims=True) - places).tolist()


def test_a_sum_so_far_is_not_computed_again() -> None:
    nest = Nest("scan")
    j, k = nest.dim("n", "j"), nest.dim("n", "k")
    total = nest.fby(0.0, on=[j])
    total.next = total + nest.load("x", "f32", [j])
    nest.store("y", nest.map(total * 2.0, [(j, k)]), [k])
    with pytest.raises(InputError, match=r"needs 'acc' of other iterations, which is not kept in memory \[maps\]"):
        nest.lower()


def test_softmax_sum_is_of_floats() -> None:
    nest = Nest("wrong")
    j = nest.dim("n", "j")
    x = nest.load("x", "i32", [j])
    with pytest.raises(InputError, match="softmax_sum is of f32 or f16, and 'x0' is i32"):
        nest.softmax_sum(x, x, j)


@pytest.mark.parametrize("type", ["f16", "f32"])
def test_an_odd_number_of_halves(type: str) -> None:
    """Sums of products of halves, rounded in each step or once."""
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", "k")
    a, b = (nest.call(type, it) for it in (nest.load("a", "f16", [i, k]), nest.load("b", "f16", [k, j])))
    nest.store("c", nest.call("f16", nest.reduce("+", a * b, on=[k])), [i, j])
    one, other = (RNG.integers(-8, 9, it).astype(np.float16) for it in ((3, 5), (5, 7)))
    lowered = nest.lower("i: workgroup\nj: workgroup * invocation(4)\nk: loop * unrolled(2)")
    assert "enable f16;" in lowered.wgsl
    for device in ("interp", "cpu"):
        assert np.array_equal(lowered.run({"a": one, "b": other}, device=device)["c"], one @ other)
