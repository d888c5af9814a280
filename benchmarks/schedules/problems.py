"""The nests at sizes, each with what it is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import Final, Literal

import numpy as np

from tinct import Nest

from . import nests, references
from .references import Array

Sizes = Mapping[str, int]
Limit = Literal["", "copy", "fma"]
"""What a share is measured of: the bandwidth of a copy, or the machine's fused multiply-adds."""
Scale = Literal["quick", "full", "large"]
"""Sizes to see that all works, those of the bars, and larger ones for GPUs that are no software."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A nest at sizes. `numpy` computes its only output; `operations` counts additions and products.

    `limit` is what bounds its speed at best. `rounding` says whether the CPU rounds products and sums apart, fuses
    them, or is measured in both ways. `large` are the sizes on a GPU that is no software: what is smaller is in its
    caches, or done before it is warm.
    """

    name: str
    nest: Nest
    sizes: Sizes
    quick: Sizes
    numpy: Callable[..., Array]
    operations: Callable[[Sizes], int] = lambda _: 0
    limit: Limit = ""
    rounding: tuple[Literal["exact", "contracted"], ...] = ("exact",)
    large: Sizes | None = None

    def sizes_for(self, scale: Scale) -> Sizes:
        """Those to measure at."""
        if scale == "quick":
            return self.quick
        return self.sizes if scale == "full" or self.large is None else self.large

    def traffic(self) -> int:
        """The bytes of all inputs and of the output, at full sizes."""
        from tinct.tuning.trial_data import TrialData

        data = TrialData(self.nest.ir, self.sizes)
        return sum(it.nbytes for it in (*data.inputs.values(), *data.outputs.values()))


def _of(*names: str, each: int = 2) -> Callable[[Sizes], int]:
    """The product of sizes, times the operations for each: a multiplication and an addition."""
    return lambda sizes: each * prod(sizes[name] for name in names)


def _scores(sizes: Sizes) -> int:
    return _of("queries", "keys", "depth")(sizes) + _of("queries", "keys", "width")(sizes)


def _square(size: int) -> Sizes:
    return {"m": size, "n": size, "inner": size}


def _rows(rows: int, columns: int) -> Sizes:
    return {"rows": rows, "columns": columns}


_BOTH: Final = ("exact", "contracted")
_FUSED: Final = ("contracted",)
_WIDE, _LONG, _FEW = _rows(4096, 4096), _rows(4096, 1024), _rows(64, 100)
_HUGE, _MANY = _rows(16384, 16384), _rows(1 << 18, 1024)
_ODD: Final = {"m": 1000, "n": 777, "inner": 333}
_PICTURE: Final = {"h": 4096, "w": 4096}
_SMALL_PICTURE: Final = {"h": 40, "w": 50}
_IMAGE: Final = {"outputs": 16, "inputs": 16, "h": 254, "w": 254}
_SMALL_IMAGE: Final = {"outputs": 3, "inputs": 2, "h": 9, "w": 17}
_COUNT: Final = _of("m", "n", "inner")


def problems() -> list[Problem]:
    """All of them, at full and at quick sizes."""
    return [*_sums(), *_products(), *_convolutions(), *_of_rows(), *_attentions(), *_pictures()]


def _sums() -> list[Problem]:
    long, short, huge = {"n": 1 << 24}, {"n": 5000}, {"n": 1 << 28}
    return [
        Problem("sum", nests.total(), long, short, references.total, limit="copy", large=huge),
        Problem("row sums", nests.row_sums(), _WIDE, _FEW, references.row_sums, limit="copy", large=_HUGE),
        Problem("column sums", nests.column_sums(), _WIDE, _FEW, references.column_sums, limit="copy", large=_HUGE),
        Problem("dot", nests.dot(), long, short, references.dot, limit="copy", large=huge),
        Problem(
            "matrix-vector",
            nests.matvec(),
            _WIDE,
            _FEW,
            references.dot,
            _of("rows", "columns"),
            "copy",
            large=_HUGE,
        ),
        Problem("histogram", nests.histogram(), long, short, references.histogram),
    ]


def _products() -> list[Problem]:
    sizes = {"512": _square(512), "1024": _square(1024), "2048": _square(2048), "1000×777×333": _ODD}
    found = [
        Problem(f"product {name}", nests.product("f32"), it, _square(33), np.matmul, _COUNT, "fma", _BOTH)
        for name, it in sizes.items()
    ]
    for name in ("512", "1000×777×333"):
        it = Problem(f"product {name} of f16", nests.product("f16"), sizes[name], _square(17), np.matmul, _COUNT)
        found.append(it)
    for name in ("512", "2048", "1000×777×333"):
        nest, numpy = nests.product_of_halves(), references.product_in_floats
        full = f"product {name} of f16 in f32"
        found.append(Problem(full, nest, sizes[name], _square(17), numpy, _COUNT, rounding=_FUSED))
    batch = {"batch": 1024, "m": 32, "n": 32, "inner": 32}
    small = {"batch": 3, "m": 5, "n": 6, "inner": 7}
    count = _of("batch", "m", "n", "inner")
    found.append(Problem("batched products", nests.batched(), batch, small, np.matmul, count, "fma", _BOTH))
    return found


def _convolutions() -> list[Problem]:
    return [
        Problem(
            f"convolution {width}×{width}",
            nests.convolution(width),
            _IMAGE,
            _SMALL_IMAGE,
            references.convolve,
            _of("outputs", "inputs", "h", "w", each=2 * width * width),
            "fma",
            _BOTH,
        )
        for width in (3, 7)
    ]


def _of_rows() -> list[Problem]:
    return [
        Problem("transpose", nests.transposed(), _WIDE, _FEW, references.transposed, limit="copy", large=_HUGE),
        Problem("softmax", nests.softmax(), _LONG, _FEW, references.softmax, limit="copy", large=_MANY),
        Problem("layer norm", nests.layer_norm(), _LONG, _FEW, references.layer_norm, limit="copy", large=_MANY),
        Problem("argmax", nests.argmax(), _WIDE, _FEW, references.argmax, limit="copy", large=_HUGE),
    ]


def _attentions() -> list[Problem]:
    found: list[Problem] = []
    for name, depth in (("attention", 64), ("attention, 32 wide", 32)):
        sizes = {"queries": 1024, "width": depth, "keys": 1024, "depth": depth}
        small = {"queries": 9, "width": 8, "keys": 17, "depth": 8}
        scale = 1 / sqrt(depth)
        numpy = references.attention(scale)
        found.append(Problem(name, nests.attention(scale), sizes, small, numpy, _scores, rounding=_FUSED))
    return found


def _pictures() -> list[Problem]:
    picture = partial(Problem, sizes=_PICTURE, quick=_SMALL_PICTURE)
    half = {"h": 2048, "w": 2048}
    square, line = references.weighted_square, references.weighted_line
    return [
        picture("5-point stencil", nests.stencil(), numpy=references.stencil, limit="copy"),
        picture("3×3 stencil", nests.box(), numpy=references.box, limit="copy"),
        Problem(
            "7×7 stencil",
            nests.weighted_square(7),
            half,
            _SMALL_PICTURE,
            square,
            _of("h", "w", each=2 * 49),
            "fma",
            _BOTH,
        ),
        Problem("17 weights along rows", nests.weighted_line("x"), half, _SMALL_PICTURE, line(1)),
        Problem("17 weights along columns", nests.weighted_line("y"), half, _SMALL_PICTURE, line(0)),
    ]
