from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Floats = NDArray[np.float32]
TILES_OF_POINTS = 1024


def assign(pixels: Words, colours: Floats, totals: Words) -> dict[str, Words]:
    rgb = np.stack([pixels & 255, pixels >> 8 & 255, pixels >> 16 & 255], axis=1)
    distances = [((rgb - colour[:3].astype(np.float64)) ** 2).sum(axis=1) for colour in colours]
    labels = np.argmin(distances, axis=0).astype(np.uint32)
    counted = np.column_stack([rgb, np.ones_like(pixels)])
    return {"labels": labels, "totals": totals + _sums(counted, labels, len(colours)).astype(np.uint32)}


def update(points: Floats, labels: Words) -> dict[str, NDArray[np.float64]]:
    parts = range(0, len(points), TILES_OF_POINTS)
    tiles = [(points[i : i + TILES_OF_POINTS], labels[i : i + TILES_OF_POINTS]) for i in parts]
    return {"partial_sums": np.concatenate([_sums(tile, its, 16).ravel() for tile, its in tiles])}


def _sums(rows: NDArray[Any], labels: Words, clusters: int) -> NDArray[np.float64]:
    """The sum of each cluster's rows."""
    return np.stack([np.bincount(labels, column, minlength=clusters)[:clusters] for column in rows.T], axis=1)
