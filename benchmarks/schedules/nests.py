"""Nests that are tuned, with what NumPy does for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tinct import Nest

Array = npt.NDArray[Any]
_BINS = 256
Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """A nest at sizes. `numpy` computes its only output; `operations` counts additions and products."""

    name: str
    nest: Nest
    sizes: Sizes
    quick: Sizes
    numpy: Callable[..., Array]
    operations: Callable[[Sizes], int] = lambda _: 0


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


def attention() -> Nest:
    """Of one head: rows of v, weighted by the softmax of the products of rows of q and k."""
    nest = Nest("attention")
    i, e, j, d = nest.dim("queries"), nest.dim("width", "e"), nest.dim("keys", "j"), nest.dim("depth", "d")
    products = nest.load("q", "f32", [i, d]) * nest.load("k", "f32", [j, d])
    score = nest.reduce("+", products, on=[d]) * 0.125
    nest.store("o", nest.softmax_sum(score, nest.load("v", "f32", [j, e]), j), [i, e])
    return nest


def histogram() -> Nest:
    """Of 256 bins; numbers past the last one are not counted."""
    nest = Nest("histogram")
    i = nest.dim("n")
    nest.scatter("counts", 1, [nest.load("x", "u32", [i])], extents=[_BINS], type="u32")
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

    def at(dy: int, dx: int) -> Any:
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


def _total(x: Array) -> Array:
    return np.asarray(x.sum())


def _row_sums(x: Array) -> Array:
    return np.asarray(x.sum(axis=1))


def _column_sums(x: Array) -> Array:
    return np.asarray(x.sum(axis=0))


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(a @ b)


def _product_in_floats(a: Array, b: Array) -> Array:
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)


def _transposed(x: Array) -> Array:
    return np.ascontiguousarray(x.T)


def _argmax(x: Array) -> Array:
    return x.argmax(axis=1).astype(np.uint32)


def _convolve(image: Array, weights: Array) -> Array:
    width = weights.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(image, (width, width), axis=(1, 2))
    return np.tensordot(weights, windows, axes=([1, 2, 3], [0, 3, 4]))


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _layer_norm(x: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5))


def _stencil(u: Array) -> Array:
    p = np.pad(u, 1, mode="edge")
    return (u + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) * np.float32(0.2)


def _box(u: Array) -> Array:
    h, w = u.shape
    p = np.pad(u, 1, mode="edge")
    shifted = [p[dy : dy + h, dx : dx + w] for dy in range(3) for dx in range(3)]
    return np.asarray(sum(shifted[1:], shifted[0]) * np.float32(1 / 9))


def _attention(q: Array, k: Array, v: Array) -> Array:
    return np.asarray(_softmax(q @ k.T * np.float32(0.125)) @ v)


def _histogram(x: Array) -> Array:
    return np.bincount(x, minlength=_BINS)[:_BINS].astype(np.uint32)


def _of(*names: str) -> Callable[[Sizes], int]:
    """Twice the product of sizes: a multiplication and an addition for each."""

    def count(sizes: Sizes) -> int:
        found = 2
        for name in names:
            found *= sizes[name]
        return found

    return count


def _scores(sizes: Sizes) -> int:
    return _of("queries", "keys", "depth")(sizes) + _of("queries", "keys", "width")(sizes)


def _square(size: int) -> Sizes:
    return {"m": size, "n": size, "inner": size}


def _rows(rows: int, columns: int) -> Sizes:
    return {"rows": rows, "columns": columns}


def _products_of_halves() -> list[Problem]:
    count = _of("m", "n", "inner")
    odd, quick = {"m": 1000, "n": 777, "inner": 333}, _square(17)
    found = [
        Problem("product 512 of f16", product("f16"), _square(512), quick, np.matmul, count),
        Problem("product 1000×777×333 of f16", product("f16"), odd, quick, np.matmul, count),
    ]
    for name, sizes in (("512", _square(512)), ("2048", _square(2048)), ("1000×777×333", odd)):
        full = f"product {name} of f16 in f32"
        found.append(Problem(full, product_of_halves(), sizes, quick, _product_in_floats, count))
    return found


_IMAGE = {"outputs": 16, "inputs": 16, "h": 254, "w": 254}
_SMALL_IMAGE = {"outputs": 3, "inputs": 2, "h": 9, "w": 17}


def problems() -> list[Problem]:
    """All of them, at full and at quick sizes."""
    wide, quick = _rows(4096, 4096), _rows(64, 100)
    found = [
        Problem("sum", total(), {"n": 1 << 24}, {"n": 5000}, _total),
        Problem("row sums", row_sums(), wide, quick, _row_sums),
        Problem("column sums", column_sums(), wide, quick, _column_sums),
        Problem("dot", dot(), {"n": 1 << 24}, {"n": 5000}, _dot),
        Problem("matrix-vector", matvec(), wide, quick, _dot, _of("rows", "columns")),
    ]
    for size in (512, 1024, 2048):
        name = f"product {size}"
        found.append(Problem(name, product("f32"), _square(size), _square(33), np.matmul, _of("m", "n", "inner")))
    odd = {"m": 1000, "n": 777, "inner": 333}
    found += [
        Problem("product 1000×777×333", product("f32"), odd, _square(17), np.matmul, _of("m", "n", "inner")),
        *_products_of_halves(),
        Problem(
            "batched products",
            batched(),
            {"batch": 1024, "m": 32, "n": 32, "inner": 32},
            {"batch": 3, "m": 5, "n": 6, "inner": 7},
            np.matmul,
            _of("batch", "m", "n", "inner"),
        ),
    ]
    for width in (3, 7):

        def count(sizes: Sizes, width: int = width) -> int:
            return _of("outputs", "inputs", "h", "w")(sizes) * width * width

        found.append(
            Problem(f"convolution {width}×{width}", convolution(width), _IMAGE, _SMALL_IMAGE, _convolve, count)
        )
    long = _rows(4096, 1024)
    return [
        *found,
        Problem("transpose", transposed(), wide, quick, _transposed),
        Problem("softmax", softmax(), long, quick, _softmax),
        Problem("layer norm", layer_norm(), long, quick, _layer_norm),
        Problem("argmax", argmax(), wide, quick, _argmax),
        Problem("histogram", histogram(), {"n": 1 << 24}, {"n": 5000}, _histogram),
        Problem(
            "attention",
            attention(),
            {"queries": 1024, "width": 64, "keys": 1024, "depth": 64},
            {"queries": 9, "width": 8, "keys": 17, "depth": 8},
            _attention,
            _scores,
        ),
        Problem("5-point stencil", stencil(), {"h": 4096, "w": 4096}, {"h": 40, "w": 50}, _stencil),
        Problem("3×3 stencil", box(), {"h": 4096, "w": 4096}, {"h": 40, "w": 50}, _box),
    ]
