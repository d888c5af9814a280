"""The two-dimensional Fourier transform of a matrix whose sizes are powers of two, any of them in one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import maximum, minimum, zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
make_roots, columns, transpose = (SHADER[name] for name in ("make_roots", "columns", "transpose"))

TILE = 16
ACCURACY = {"rtol": 0, "atol": 2e-6}
"""Of the spectrum of a signal whose norm is 1: the errors of the roots of unity, and a rounding error in each pass."""


def radices(length: Any) -> tuple[Any, Any, Any]:
    """Three factors of a power of two: 8 or less where three of them are enough, then 16, and the last is the rest."""
    first = minimum(length, maximum(8, minimum(16, length // 128)))
    rest = length // first
    second = minimum(rest, maximum(8, minimum(16, rest // 16)))
    return first, second, rest // second


@tinct.graph
def transform_columns(signal, width, height):
    """Transforms each column, and transposes the result."""
    roots = make_roots({"n": height, "roots": zeros(height)}, threads=height)["roots"]
    span = 1
    for radix in radices(height):
        butterflies = height // radix
        step = {
            "width": width,
            "radix": radix,
            "span": span,
            "butterflies": butterflies,
            "roots_apart": butterflies // span,
        }
        buffers = {"step": step, "unit_roots": roots, "signal": signal, "spectrum": zeros(width * height)}
        signal = columns(buffers, threads=(width, butterflies))["spectrum"]
        span = span * radix
    size = {"width": width, "height": height}
    buffers = {"size": size, "matrix": signal, "transposed": zeros(width * height)}
    return {"spectrum": transpose(buffers, workgroups=(width.ceil_div(TILE), height.ceil_div(TILE)))["transposed"]}


@tinct.graph
def fft2(signal, width, height):
    down = transform_columns({"signal": signal, "width": width, "height": height})["spectrum"]
    return {"spectrum": transform_columns({"signal": down, "width": height, "height": width})["spectrum"]}


GRAPH = fft2


def as_pairs(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Complex numbers as pairs of real and imaginary part, which are WGSL's `vec2f`."""
    return numbers.astype(np.complex64)[..., None].view(np.float32)


def inputs(random: np.random.Generator) -> dict[str, Any]:
    height, width = 32, 256
    signal = random.standard_normal((height, width)) + 1j * random.standard_normal((height, width))
    return {"signal": as_pairs(signal / np.linalg.norm(signal)), "width": width, "height": height}


def reference(given: dict[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
    return {"spectrum": as_pairs(np.fft.fft2(given["signal"].view(np.complex64)[..., 0]))}


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    signal = session.buffer(given["signal"])
    rooms = [session.empty(np.float32, signal.shape), signal]
    return {"spectrum": transform_in(session, signal, rooms, (given["width"], given["height"]))}


def transform_in(
    session: tinct.Session, signal: tinct.Buffer, rooms: list[tinct.Buffer], size: tuple[int, int]
) -> tinct.Buffer:
    """The spectrum of a signal of (width, height), in the second of two buffers of that size, written in turn."""
    width, height = size
    goal, other = rooms
    for _axis in range(2):
        roots = session.run(make_roots, {"n": height, "roots": (None, height)}, threads=height)["roots"]
        span = 1
        for radix in whole_radices(height):
            butterflies = height // radix
            step = {"width": width, "radix": radix, "span": span, "butterflies": butterflies}
            buffers = {"step": step | {"roots_apart": butterflies // span}, "unit_roots": roots}
            session.run(columns, buffers | {"signal": signal, "spectrum": goal}, threads=(width, butterflies))
            signal, goal, other = goal, other, goal
            span *= radix
        buffers = {"size": {"width": width, "height": height}, "matrix": signal, "transposed": goal}
        session.run(transpose, buffers, workgroups=(-(-width // TILE), -(-height // TILE)))
        signal, goal, other = goal, other, goal
        width, height = height, width
    return signal


def whole_radices(length: int) -> tuple[int, int, int]:
    """`radices` of a number."""
    first = min(length, max(8, min(16, length // 128)))
    second = min(length // first, max(8, min(16, length // first // 16)))
    return first, second, length // first // second


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    found = GRAPH.run(data)["spectrum"].ravel()
    np.testing.assert_allclose(found, reference(data)["spectrum"].ravel(), **ACCURACY)
    print("largest error:", abs(found - reference(data)["spectrum"].ravel()).max())
