"""A radix sort: eight times a graph of three kernels, one for each digit of four bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
count, scan, scatter = (SHADER[name] for name in ("count", "scan", "scatter"))

BLOCK = 256
RADIX = 16
DIGIT_BITS = 4


@tinct.graph
def sort_by_digit(keys, shift):
    blocks = keys.length.ceil_div(BLOCK)
    room = zeros(blocks * RADIX)
    counted = count({"keys": keys, "shift": shift, "counts": room}, workgroups=blocks)
    scanned = scan({"sums": counted["counts"]}, workgroups=1)
    buffers = {"keys": keys, "shift": shift, "starts": scanned["sums"], "sorted": zeros(keys.length)}
    return {"sorted": scatter(buffers, workgroups=blocks)["sorted"]}


@tinct.graph
def radix_sort(keys):
    for shift in range(0, 32, DIGIT_BITS):
        keys = sort_by_digit({"keys": keys, "shift": shift})["sorted"]
    return {"sorted": keys}


GRAPH = radix_sort


def inputs(random: np.random.Generator) -> dict[str, npt.NDArray[np.uint32]]:
    return {"keys": random.integers(0, 1 << 32, 600, np.uint32)}


def in_order(session: tinct.Session, given: dict[str, npt.NDArray[np.uint32]]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    keys = session.buffer(given["keys"])
    return {"sorted": sort_in(session, keys, [session.empty(np.uint32, keys.shape), keys])}


def sort_in(session: tinct.Session, keys: tinct.Buffer, rooms: list[tinct.Buffer]) -> tinct.Buffer:
    """The sorted keys, in the second of two buffers of that size, which are written in turn."""
    blocks = -(-keys.shape[0] // BLOCK)
    for turn, shift in enumerate(range(0, 32, DIGIT_BITS)):
        buffers: dict[str, Any] = {"keys": keys, "shift": shift}
        counted = session.run(count, buffers | {"counts": (None, blocks * RADIX)}, workgroups=blocks)
        session.run(scan, {"sums": counted["counts"]}, workgroups=1)
        buffers |= {"starts": counted["counts"], "sorted": rooms[turn % 2]}
        session.run(scatter, buffers, workgroups=blocks)
        keys = rooms[turn % 2]
    return keys


def reference(given: dict[str, npt.NDArray[np.uint32]]) -> dict[str, npt.NDArray[np.uint32]]:
    return {"sorted": np.sort(given["keys"])}


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    np.testing.assert_array_equal(GRAPH.run(data)["sorted"], reference(data)["sorted"])
    print(f"sorted {len(data['keys'])} keys")
