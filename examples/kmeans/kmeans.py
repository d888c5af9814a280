"""The palette of 16 colours that fits a picture: a graph is one step of k-means, repeated until no label changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
assign, update = SHADER["assign"], SHADER["update"]

K = 16
FRACTION = 16
"""Colours of the palette are in parts of this of a brightness."""

Arrays = dict[str, npt.NDArray[Any]]


@tinct.graph
def kmeans(pixels, palette, labels):
    """One step, for pictures of up to a million pixels. `converged` is 1 if no label has changed."""
    assigned = assign(
        {"pixels": pixels, "palette": palette, "labels": labels, "totals": zeros(), "changes": zeros()},
        threads=pixels.length,
    )
    updated = update(
        {
            "label_totals": assigned["totals"],
            "label_changes": assigned["changes"],
            "means": palette,
            "converged": zeros(),
        },
        workgroups=1,
    )
    return {"labels": assigned["labels"], "palette": updated["means"], "converged": updated["converged"]}


GRAPH = kmeans


def started(pixels: npt.NDArray[np.uint32]) -> dict[str, Any]:
    """The inputs of the first step: the palette has pixels of equal distances."""
    channels = colours(pixels[:: max(len(pixels) // K, 1)][:K])
    return {"pixels": pixels, "palette": channels * FRACTION, "labels": np.full(len(pixels), K, np.uint32)}


def colours(pixels: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Red, green and blue of each pixel."""
    return pixels[:, None] >> np.array([0, 8, 16], np.uint32) & np.uint32(0xFF)


def inputs(random: np.random.Generator) -> dict[str, Any]:
    """Noisy pixels around nine colours."""
    centres = random.integers(20, 236, (9, 3))
    channels = centres[random.integers(0, 9, 1000)] + random.integers(-20, 21, (1000, 3))
    return started((channels @ [1, 1 << 8, 1 << 16]).astype(np.uint32))


def reference(given: dict[str, Any]) -> Arrays:
    """One step."""
    channels, palette = colours(given["pixels"]).astype(np.int64), given["palette"].astype(np.int64)
    distances = ((channels[:, None] * FRACTION - palette) ** 2).sum(2)
    labels = distances.argmin(1)
    means = palette.copy()
    for k in np.unique(labels):
        own = channels[labels == k]
        means[k] = (own.sum(0) * FRACTION + len(own) // 2) // len(own)
    is_same = np.array_equal(labels, given["labels"])
    return {"labels": labels.astype(np.uint32), "palette": means.astype(np.uint32), "converged": np.uint32(is_same)}


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as two dispatches in a session."""
    labels = session.buffer(given["labels"])
    palette = session.buffer(given["palette"], SHADER.bindings["palette"])
    buffers = {"pixels": given["pixels"], "palette": palette, "labels": labels, "totals": None, "changes": None}
    assigned = session.run(assign, buffers, threads=len(given["pixels"]))
    buffers = {"label_totals": assigned["totals"], "label_changes": assigned["changes"]}
    updated = session.run(update, buffers | {"means": palette, "converged": None}, workgroups=1)
    return {"labels": labels, "palette": palette, "converged": updated["converged"]}


if __name__ == "__main__":
    result = GRAPH.run_timed(inputs(np.random.default_rng(0)), until="converged", repeat=1000)
    print(f"{result.executions} steps, palette:")
    for red, green, blue in result.outputs["palette"] / FRACTION:
        print(f"\x1b[48;2;{red:.0f};{green:.0f};{blue:.0f}m  ", end="")
    print("\x1b[0m")
