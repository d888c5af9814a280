"""The two-dimensional Fourier transform for processors: columns, then rows, without transposing the matrix.

Width and height are powers of two from 256 to 2048. The example `fft` has kernels for GPUs, and for all powers of two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
make_factors, columns, rows = (SHADER[name] for name in ("make_factors", "columns", "rows"))

LONG_SPAN = 256
"""How many numbers are joined after two passes, which is how many factors the second pass has."""
WORKGROUPS = 16
"""Workgroups that share the columns: at least as many as there are cores."""
BETWEEN = WORKGROUPS * 4 * 16
"""Numbers between the passes for each row: two halves, each of 16 complex numbers, for each workgroup."""
ACCURACY = {"rtol": 0, "atol": 2e-6}
"""Of the spectrum of a signal whose norm is 1: the errors of the factors, and a rounding error in each pass."""


def factors_of(length: Any) -> Any:
    """The factors of the passes of transforms of `length` numbers, in a graph."""
    count = length + LONG_SPAN
    return make_factors({"length": length, "factors": zeros(count)}, threads=count)["factors"]


@tinct.graph
def fft2(signal, width, height):
    buffers = {
        "task": {"width": width, "height": height},
        "pass_factors": factors_of(height),
        "signal": signal,
        "spectrum": zeros(width * height),
        "between": zeros(height * BETWEEN),
    }
    down = columns(buffers, workgroups=WORKGROUPS)["spectrum"]
    buffers = {
        "task": {"width": width, "height": height},
        "pass_factors": factors_of(width),
        "signal": down,
        "spectrum": zeros(width * height),
    }
    return {"spectrum": rows(buffers, workgroups=height)["spectrum"]}


GRAPH = fft2


def as_pairs(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Complex numbers as pairs of real and imaginary part, which are WGSL's `vec2f`."""
    return numbers.astype(np.complex64)[..., None].view(np.float32)


def random_signal(random: np.random.Generator, height: int, width: int) -> dict[str, Any]:
    """A signal whose norm is 1, as inputs of the graph."""
    signal = random.standard_normal((height, width)) + 1j * random.standard_normal((height, width))
    return {"signal": as_pairs(signal / np.linalg.norm(signal)), "width": width, "height": height}


def inputs(random: np.random.Generator) -> dict[str, Any]:
    return random_signal(random, 256, 512)


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
    task = {"task": {"width": width, "height": height}}
    down, across = (
        session.run(make_factors, {"length": it, "factors": (None, it + LONG_SPAN)}, threads=it + LONG_SPAN)["factors"]
        for it in (height, width)
    )
    buffers = {"pass_factors": down, "signal": signal, "spectrum": rooms[0], "between": (None, height * BETWEEN)}
    session.run(columns, task | buffers, workgroups=WORKGROUPS)
    buffers = {"pass_factors": across, "signal": rooms[0], "spectrum": rooms[1]}
    session.run(rows, task | buffers, workgroups=height)
    return rooms[1]


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    found = GRAPH.run(data)["spectrum"].ravel()
    np.testing.assert_allclose(found, reference(data)["spectrum"].ravel(), **ACCURACY)
    print("largest error:", abs(found - reference(data)["spectrum"].ravel()).max())
