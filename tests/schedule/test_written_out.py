"""The order of the points of written-out levels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tinct import Nest
from tinct.ir.schedule.text import parse_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.structure import Loop, loops_in, structure_of
from tinct.transforms.schedule.written_out import Numbers, nested_loops, ordered_points

SIZES = {"h": 11, "w": 13}
IMAGE = np.random.default_rng(0).random((11, 13), np.float32)
WEIGHTS = np.random.default_rng(1).random((3, 3), np.float32)


def stencil(weight_first: bool = False) -> Nest:
    """Each element of an image with its neighbours, each of these times a number."""
    nest = Nest("weighted")
    y, x = nest.dim("h", name="y"), nest.dim("w", name="x")
    dy, dx = nest.dim(3, name="dy"), nest.dim(3, name="dx")
    u = nest.load("u", "f32", [y + dy - 1, x + dx - 1], boundary="clamp", extents=["h", "w"])
    w = nest.load("weights", "f32", [dy, dx])
    nest.store("v", nest.reduce("+", w * u if weight_first else u * w, on=[dy, dx]), [y, x])
    return nest


def points_of(nest: Nest, decisions: str, sizes: dict[str, int], outermost: str) -> tuple[list[str], list[Numbers]]:
    """The points of the written-out levels from one on: the dimensions of these, and the iterations."""
    decided = Decided(nest.ir, parse_decisions(decisions), sizes, reassociate=True)
    loop = next(it for it in loops_in(structure_of(decided)) if it.level.dimension == outermost)
    nested: list[Loop] = nested_loops(loop, decided)
    return [it.level.dimension for it in nested], ordered_points(nested, decided)


def test_rows_are_used_up_one_after_the_other() -> None:
    point = "y: workgroup * unrolled(6)\ndy: unrolled\ndx: loop\nx: workgroup\norder: dx.0, dy.0, y.1"
    names, points = points_of(stencil(), point, SIZES, "dy")
    assert names == ["dy", "y"]
    assert sorted(points) == list(product(range(3), range(6)))
    rows = [dy + y for dy, y in points]
    assert rows == sorted(rows)


def test_each_sum_keeps_its_order() -> None:
    """The same floats are added in the same order, so that results are the same bits."""
    levels = "y: workgroup * unrolled(6)\nx: workgroup * unrolled(2) * invocation(4)\ndx: {}\ndy: {}\norder: {}"
    plain = stencil().lower("", sizes=SIZES).run({"u": IMAGE, "weights": WEIGHTS}, device="interp")["v"]
    for weight_first in (False, True):
        for kinds, order in (
            (("unrolled", "loop"), "dy.0, dx.0, y.1, x.1"),
            (("unrolled", "unrolled"), "dy.0, dx.0, x.1, y.1"),
            (("loop", "unrolled"), "dx.0, dy.0, x.1, y.1"),
        ):
            kernel = stencil(weight_first).lower(levels.format(*kinds, order), sizes=SIZES, reassociate=True)
            found = kernel.run({"u": IMAGE, "weights": WEIGHTS}, device="interp")["v"]
            if order.startswith("dy"):
                assert np.array_equal(found, plain)
            assert np.allclose(found, plain, rtol=1e-6)


@pytest.mark.parametrize("order", ["k.1, i.1, j.1", "i.1, j.1, k.1", "i.1, k.1, j.1"])
def test_levels_that_share_no_subscript_stay_as_they_are(order: str) -> None:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    a, b = nest.load("a", "f32", [i, k]), nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", a * b, on=[k]), [i, j])
    point = f"i: workgroup * unrolled(3)\nj: workgroup * unrolled(2)\nk: loop * unrolled(4)\norder: k.0, {order}"
    _, points = points_of(nest, point, {"m": 12, "n": 12, "inner": 12}, order[0])
    assert points == sorted(points)


def test_weights_that_serve_many_outputs_are_not_loaded_apart() -> None:
    """Where each row of the window has several weights, all of them would be needed with each row of the image."""
    nest = Nest("convolved")
    o, y, dy = nest.dim("outputs", name="o"), nest.dim("h", name="y"), nest.dim(3, name="dy")
    image = nest.load("image", "f32", [y + dy], extents=[nest.size("h") + 2])
    weights = nest.load("weights", "f32", [o, dy])
    nest.store("result", nest.reduce("+", image * weights, on=[dy]), [o, y])
    point = "o: workgroup * unrolled(4)\ny: workgroup * unrolled(3)\ndy: unrolled\norder: dy.0, o.1, y.1"
    _, points = points_of(nest, point, {"outputs": 8, "h": 12}, "dy")
    assert points == sorted(points)
