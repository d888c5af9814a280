"""The ratios that are demanded of the nests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from statistics import geometric_mean, median
from typing import Final

from ..graphs.measuring import Bar
from .measuring import NUMPY, Row

_OF_COPY: Final = {
    "sum": 1.1,
    "row sums": 1.1,
    "argmax": 1.1,
    "column sums": 0.85,
    "softmax": 0.85,
    "5-point stencil": 0.85,
    "3×3 stencil": 0.85,
}
_OF_FMA: Final = {"7×7 stencil": 0.85, "convolution 3×3": 0.85, "convolution 7×7": 0.85}
_OF_NUMPY: Final = {
    ("product 1024", True): 1.0,
    ("product 1024", False): 0.9,
    ("product 2048", True): 1.0,
    ("product 2048", False): 0.9,
    ("product 1000×777×333", True): 1.1,
    ("softmax", False): 8.0,
    ("5-point stencil", False): 8.0,
    ("3×3 stencil", False): 8.0,
    ("7×7 stencil", True): 8.0,
}
_FUSED_BY_NUMPY: Final = (
    "product 512",
    "product 1000×777×333",
    "batched products",
    "convolution 3×3",
    "convolution 7×7",
    "7×7 stencil",
)
"""Nests that are measured in both ways to round; NumPy's speed is demanded where ours fuses, too."""
_OF_GPU_COPY: Final = ("sum", "row sums", "column sums", "dot", "matrix-vector", "argmax")
_GPU_SHARE: Final = 0.9
"""Reductions, and the share of its copies' bandwidth that a GPU which is no software reaches in them."""
_CPU_MEAN, _CPU_LEAST, _GPU_MEAN = 1.3, 1.0, 3.0
_COMPILING, _LONGEST_COMPILING = 0.23, 3.2
"""Seconds of compiling a candidate, by median and at most."""


def bars_of(row: Row) -> Iterator[Bar]:
    """The bars of one nest at full size. NumPy's speed is demanded of the faster of both ways to round."""
    if row.scale == "large" and row.name in _OF_GPU_COPY and (share := row.share("copy")) is not None:
        yield Bar(f"{row.title}: share of the copy's bandwidth", share, "at least", _GPU_SHARE)
    if row.device != "cpu":
        return
    if row.name in _OF_COPY and (share := row.share("copy")) is not None:
        yield Bar(f"{row.title}: share of the copy's bandwidth", share, "at least", _OF_COPY[row.name])
    if row.contract and row.name in _OF_FMA and (share := row.share("fma")) is not None:
        yield Bar(f"{row.title}: share of fused multiply-adds", share, "at least", _OF_FMA[row.name])
    wanted = _OF_NUMPY.get((row.name, row.contract))
    if wanted is None and (row.contract or row.name not in _FUSED_BY_NUMPY):
        wanted = 1.0
    if wanted is not None:
        yield Bar(f"{row.title}: speed relative to NumPy", row.seconds[NUMPY] / row.ours, "at least", wanted)
    by_hand = row.hand_written
    if by_hand is not None:
        yield Bar(f"{row.title}: speed relative to shaders/", by_hand / row.ours, "at least", _CPU_LEAST)


def bars_of_all(rows: Sequence[Row]) -> Iterator[Bar]:
    """Those of the geometric mean, over the nests for which `shaders/` has a kernel: not of a GPU in hardware. Those of
    compiling candidates for the CPU.
    """
    ratios = [
        it.hand_written / it.ours
        for it in rows
        if it.hand_written is not None and isfinite(it.ours) and it.scale != "large"
    ]
    if ratios:
        wanted = _CPU_MEAN if rows[0].device == "cpu" else _GPU_MEAN
        what = f"geometric mean of the speed relative to shaders/, {len(ratios)} nests"
        yield Bar(what, geometric_mean(ratios), "at least", wanted)
    compiling = [seconds for it in rows for seconds in it.compiling]
    if compiling:
        failed = sum(it.attempts["failed"] for it in rows)
        what = f"seconds of compiling a candidate, of {len(compiling)}, beside {failed} that failed"
        yield Bar(f"{what}, by median", median(compiling), "at most", _COMPILING)
        yield Bar(f"{what}, at most", max(compiling), "at most", _LONGEST_COMPILING)
