"""Filters that round as those of GPUs do, in the place of the interpreter's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from tinct.blending import Blending
from tinct.ir.core import interp_sampling
from tinct.ir.scalars import round_f32

Rounding = Callable[[float], float]
"""To a whole number."""

STEP = 2.0**-8
H200 = Blending(place=STEP, product=STEP / 2)
"""What `measured_on` finds on an NVIDIA H200: places and levels of detail, and each product of weights, are rounded to
the nearest multiple of 2^-8.
"""


def half_up(value: float) -> float:
    return math.floor(value + 0.5)


def simulate(
    monkeypatch: pytest.MonkeyPatch, rounding: Rounding, step: float, products: Rounding | None = None
) -> None:
    """Let the interpreter round places and levels to multiples of a step, and products of weights, too."""
    axis, level = interp_sampling._axis, interp_sampling._Sampling.level_of_detail

    def rounded_axis(u: float, count: int, mode: str, half: float) -> tuple[int, float]:
        index, fraction = axis(u, count, mode, half)
        place = rounding((index + fraction) / step) * step
        return math.floor(place), place - math.floor(place)

    monkeypatch.setattr(interp_sampling, "_axis", rounded_axis)
    monkeypatch.setattr(interp_sampling._Sampling, "level_of_detail", lambda call: rounding(level(call) / step) * step)
    if products is not None:
        simulate_weights(monkeypatch, products, step)


def simulate_h200(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter filter as an NVIDIA H200."""
    simulate(monkeypatch, half_up, STEP, half_up)


def simulate_weights(monkeypatch: pytest.MonkeyPatch, rounding: Rounding, step: float) -> None:
    """Let the interpreter split the share of a level along x, each part along y, and each of these along z, so that one
    part is rounded to a multiple of a step, and the other what is left.

    With `half_up` this is what an NVIDIA H200 does along x and y. Which part is rounded shows only half way between two
    multiples: along the last axis the first part of all but the last.
    """

    def rounded(value: float) -> float:
        return rounding(value / step) * step

    def weights(share: float, fractions: Sequence[float]) -> list[float]:
        *others, last = fractions
        parts = [share]
        for fraction in others:
            second = [rounded(it * fraction) for it in parts]
            parts = [*(it - other for it, other in zip(parts, second, strict=True)), *second]
        first = [rounded(it * (1 - last)) for it in parts[:-1]]
        first.append(parts[-1] - rounded(parts[-1] * last))
        return [*first, *(it - other for it, other in zip(parts, first, strict=True))]

    def linear(call: interp_sampling._Sampling, level: int) -> tuple[float, ...]:
        places, share = call.places(level, 0.5), _share(call, level)
        texels = interp_sampling._footprint(call, level, [index for index, _ in places])
        of_texels = weights(share, [fraction for _, fraction in places])
        sums = [sum(w * it for w, it in zip(of_texels, values, strict=True)) for values in zip(*texels, strict=True)]
        return tuple(round_f32(it / share) for it in sums)  # the caller multiplies by the share

    monkeypatch.setattr(interp_sampling, "_linear", linear)


def _share(call: interp_sampling._Sampling, level: int) -> float:
    """The share of a level in a sample that it is looked at for."""
    sampler = call.sampler
    if sampler.mipmap_filter == "nearest":
        return 1.0
    lod = min(max(call.level_of_detail(), sampler.lod_min_clamp), sampler.lod_max_clamp)
    return 1 - abs(min(lod, call.extent.count - 1) - level)
