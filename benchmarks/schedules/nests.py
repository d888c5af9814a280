"""Nests of loops as one writes them from Python."""

from __future__ import annotations

from typing import Final

from tinct import Nest
from tinct.nests.values import SumLike, Value

BINS: Final = 256
_RADIUS: Final = 8
"""Of the 17 weights along rows or columns."""


def total() -> Nest:
    nest = Nest("total")
    i = nest.dim("n")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i]), on=[i]), [])
    return nest


def row_sums() -> Nest:
    nest = Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[j]), [i])
    return nest


def column_sums() -> Nest:
    nest = Nest("column_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[i]), [j])
    return nest


def dot() -> Nest:
    nest = Nest("dot_product")
    i = nest.dim("n")
    nest.store("y", nest.reduce("+", nest.load("a", "f32", [i]) * nest.load("b", "f32", [i]), on=[i]), [])
    return nest


def matvec() -> Nest:
    nest = Nest("matvec")
    i, j = nest.dim("rows"), nest.dim("columns")
    product = nest.load("a", "f32", [i, j]) * nest.load("x", "f32", [j])
    nest.store("y", nest.reduce("+", product, on=[j]), [i])
    return nest


def product(type: str) -> Nest:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    terms = nest.load("a", type, [i, k]) * nest.load("b", type, [k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [i, j])
    return nest


def batched() -> Nest:
    nest = Nest("batched")
    g, i, j, k = nest.dim("batch", name="g"), nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    terms = nest.load("a", "f32", [g, i, k]) * nest.load("b", "f32", [g, k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [g, i, j])
    return nest


def convolution(width: int) -> Nest:
    """Over channels, without a border: the output is smaller by `width` - 1."""
    nest = Nest("convolved")
    o, y, x = nest.dim("outputs", name="o"), nest.dim("h", name="y"), nest.dim("w", name="x")
    c, dy, dx = nest.dim("inputs", name="c"), nest.dim(width, name="dy"), nest.dim(width, name="dx")
    h, w = nest.size("h"), nest.size("w")
    pixels = nest.load(
        "image", "f32", [c, y + dy, x + dx], extents=[nest.size("inputs"), h + (width - 1), w + (width - 1)]
    )
    weights = nest.load("weights", "f32", [o, c, dy, dx])
    nest.store("result", nest.reduce("+", pixels * weights, on=[c, dy, dx]), [o, y, x])
    return nest


def attention(scale: float) -> Nest:
    """Of one head: rows of v, weighted by the softmax of the products of rows of q and k, which the sum of the weights
    divides in the end.
    """
    nest = Nest("attention")
    i, e, j, d = nest.dim("queries"), nest.dim("width", "e"), nest.dim("keys", "j"), nest.dim("depth", "d")
    again, last = nest.dim("keys", "l"), nest.dim("keys", "m")
    products = nest.load("q", "f32", [i, d]) * nest.load("k", "f32", [j, d])
    score = nest.reduce("+", products, on=[d]) * scale
    weight = nest.call("exp", nest.map(score, [(j, again)]) - nest.reduce("max", score, on=[j]))
    weighted = nest.map(weight, [(again, last)]) * nest.load("v", "f32", [last, e])
    total = nest.reduce("+", weight, on=[again])
    nest.store("o", nest.reduce("+", weighted, on=[last]) / total, [i, e])
    return nest


def histogram() -> Nest:
    """Of 256 bins: numbers are counted by their lowest byte."""
    nest = Nest("histogram")
    i = nest.dim("n")
    nest.scatter("counts", 1, [nest.load("x", "u32", [i]) % BINS], extents=[BINS], type="u32")
    return nest


def product_of_halves() -> Nest:
    """Of f16, with sums of f32."""
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    a, b = nest.call("f32", nest.load("a", "f16", [i, k])), nest.call("f32", nest.load("b", "f16", [k, j]))
    nest.store("c", nest.call("f16", nest.reduce("+", a * b, on=[k])), [i, j])
    return nest


def transposed() -> Nest:
    nest = Nest("transposed")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.load("x", "f32", [i, j]), [j, i])
    return nest


def softmax() -> Nest:
    nest = Nest("softmax")
    i, j, k, m = nest.dim("rows"), nest.dim("columns"), nest.dim("columns"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    most = nest.reduce("max", x, on=[j])
    shifted = nest.call("exp", nest.map(x, [(j, k)]) - most)
    total = nest.reduce("+", shifted, on=[k])
    nest.store("y", nest.map(shifted, [(k, m)]) / total, [i, m])
    return nest


def layer_norm() -> Nest:
    """With the mean and the variance in one pass each."""
    nest = Nest("layer_norm")
    i, j, k, m = nest.dim("rows"), nest.dim("columns"), nest.dim("columns"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    count = nest.index(nest.size("columns"), "u32")
    mean = nest.reduce("+", x, on=[j]) / nest.call("f32", count)
    centred = nest.map(x, [(j, k)]) - mean
    variance = nest.reduce("+", centred * centred, on=[k]) / nest.call("f32", count)
    nest.store("y", nest.map(centred, [(k, m)]) * nest.call("inverseSqrt", variance + 1e-5), [i, m])
    return nest


def argmax() -> Nest:
    nest = Nest("argmax")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.argmax(nest.load("x", "f32", [i, j]), j)[1], [i])
    return nest


def stencil() -> Nest:
    """The mean of a point and its four neighbours; the nearest ones at the border."""
    nest = Nest("stencil")
    y, x = nest.dim("h", name="y"), nest.dim("w", name="x")
    extents = ["h", "w"]

    def at(dy: int, dx: int) -> Value:
        return nest.load("u", "f32", [y + dy, x + dx], boundary="clamp", extents=extents)

    nest.store("result", (at(0, 0) + at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1)) * 0.2, [y, x])
    return nest


def box() -> Nest:
    """The mean of 3 × 3 points; the nearest ones at the border."""
    nest = Nest("box")
    y, x = nest.dim("h", name="y"), nest.dim("w", name="x")
    points = [
        nest.load("u", "f32", [y + dy, x + dx], boundary="clamp", extents=["h", "w"])
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
    ]
    nest.store("result", sum(points[1:], points[0]) * (1 / 9), [y, x])
    return nest


def weighted_square(width: int) -> Nest:
    """A picture's points and those around them, with width × width weights; the nearest ones at the border."""
    nest = Nest("weighted")
    y, x = nest.dim("h", name="y"), nest.dim("w", name="x")
    dy, dx = nest.dim(width, name="dy"), nest.dim(width, name="dx")
    reach = width // 2
    points = nest.load("u", "f32", [y + dy - reach, x + dx - reach], boundary="clamp", extents=["h", "w"])
    nest.store("result", nest.reduce("+", points * nest.load("weights", "f32", [dy, dx]), on=[dy, dx]), [y, x])
    return nest


def weighted_line(axis: str) -> Nest:
    """A picture's points and 8 on both sides of them along an axis, with 17 weights; the nearest ones at the border."""
    nest = Nest("weighted_line")
    y, x, k = nest.dim("h", name="y"), nest.dim("w", name="x"), nest.dim(2 * _RADIUS + 1, name="k")
    place: list[SumLike] = [y, x + k - _RADIUS] if axis == "x" else [y + k - _RADIUS, x]
    points = nest.load("u", "f32", place, boundary="clamp", extents=["h", "w"])
    nest.store("result", nest.reduce("+", points * nest.load("weights", "f32", [k]), on=[k]), [y, x])
    return nest
