"""Edges of a picture, after Canny: a graph that is built node by node; a stream finds the edges of many frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
GROWTH = 4
"""How many pixels a strong edge grows along weak ones."""
WEAK, STRONG = 1, 2

Arrays = dict[str, npt.NDArray[Any]]


def build() -> tinct.Graph:
    graph = tinct.Graph("canny")

    def node(name: str, written: str) -> Any:
        added = graph.node(SHADER[name], threads=("size.width", "size.height"))
        graph.bind_input("size", added["size"])
        graph.bind_input(zeros("len(picture)"), added[written])
        return added

    blur, sobel = node("blur", "blurred"), node("sobel", "gradients")
    thin, mark = node("thin", "strengths"), node("mark", "marks")
    graph.bind_input("picture", blur["picture"])
    graph.bind_input("limits", mark["limits"])
    graph.edge(blur["blurred"], sobel["smooth_picture"])
    graph.edge(sobel["gradients"], thin["slopes"])
    graph.edge(thin["strengths"], mark["thinned"])
    edges = mark["marks"]
    for _ in range(GROWTH):
        grow = node("grow", "grown")
        graph.edge(edges, grow["edges"])
        edges = grow["grown"]
    graph.bind_output(edges, "edges")
    return graph


GRAPH = build()


def inputs(random: np.random.Generator) -> dict[str, Any]:
    """A bright disc and a slope, with noise; whole numbers, so that all sums are exact."""
    y, x = np.mgrid[:24, :40]
    picture = 80 * ((x - 20) ** 2 + (y - 11) ** 2 < 70) + 2 * x + random.integers(0, 20, x.shape)
    size = {"width": picture.shape[1], "height": picture.shape[0]}
    return {"picture": picture.astype(np.float32), "size": size, "limits": {"low": 60, "high": 160}}


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    grid, values = tuple(given["size"].values()), given | {"picture": given["picture"].ravel()}

    def step(name: str, written: str, **read: tinct.Buffer) -> tinct.Buffer:
        buffers = values | read | {written: (None, values["picture"].size)}
        return session.run(SHADER[name], buffers, threads=grid, extra="ignore")[written]

    blurred = step("blur", "blurred")
    slopes = step("sobel", "gradients", smooth_picture=blurred)
    thinned = step("thin", "strengths", slopes=slopes)
    edges = step("mark", "marks", thinned=thinned)
    for _ in range(GROWTH):
        edges = step("grow", "grown", edges=edges)
    return {"edges": edges}


def edges_of(
    frames: Iterable[npt.NDArray[np.float32]], *, size: Any, limits: Any, device: str = "cpu"
) -> Iterator[Any]:
    """The edges of each frame, in order, as flat arrays; several frames are under way at once."""
    for outputs in GRAPH.map(frames, inputs={"size": size, "limits": limits}, device=device):
        yield outputs["edges"]


def reference(given: dict[str, Any]) -> Arrays:
    blurred = sum(
        (2 - abs(x)) * (2 - abs(y)) * moved(given["picture"], x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)
    ) / np.float32(16)
    right, left = (sum((2 - abs(y)) * moved(blurred, x, y) for y in (-1, 0, 1)) for x in (1, -1))
    below, above = (sum((2 - abs(x)) * moved(blurred, x, y) for x in (-1, 0, 1)) for y in (1, -1))
    across, down = right - left, below - above
    strength = abs(across) + abs(down)
    is_top = np.zeros(strength.shape, bool)
    for (x, y), pixels in directions(across, down):
        is_top |= pixels & (strength >= moved(strength, x, y)) & (strength >= moved(strength, -x, -y))
    thinned = np.where(is_top, strength, 0)
    marks = np.where(thinned >= given["limits"]["high"], STRONG, np.where(thinned >= given["limits"]["low"], WEAK, 0))
    for _ in range(GROWTH):
        strongest = np.max([moved(marks, x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)], axis=0)
        marks = np.where(marks == WEAK, strongest, marks)
    return {"edges": marks.astype(np.uint32)}


def moved(array: npt.NDArray[Any], x: int, y: int) -> npt.NDArray[Any]:
    """What each pixel's neighbour at (x, y) holds."""
    height, width = array.shape
    return np.pad(array, 1, mode="edge")[1 + y : 1 + y + height, 1 + x : 1 + x + width]


def directions(across: npt.NDArray[Any], down: npt.NDArray[Any]) -> list[tuple[tuple[int, int], npt.NDArray[Any]]]:
    """The neighbours along the gradient, and the pixels that they are for."""
    is_flat = abs(across) >= 2 * abs(down)
    is_steep = ~is_flat & (abs(down) >= 2 * abs(across))
    rises = ~is_flat & ~is_steep & (across * down > 0)
    return [((1, 0), is_flat), ((0, 1), is_steep), ((1, 1), rises), ((1, -1), ~is_flat & ~is_steep & ~rises)]


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    moving = [np.roll(data["picture"], step, axis=1) for step in range(3)]
    for frame, marks in zip(moving, edges_of(moving, size=data["size"], limits=data["limits"]), strict=True):
        np.testing.assert_array_equal(marks.reshape(frame.shape), reference(data | {"picture": frame})["edges"])
        print("\n".join("".join(" .#"[mark] for mark in row) for row in marks.reshape(frame.shape)))
