import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
RADIUS = 8


def rows(weights: Floats, source: Floats) -> dict[str, NDArray[np.float64]]:
    return {"result": _along_rows(weights, source)}


def columns(weights: Floats, source: Floats) -> dict[str, NDArray[np.float64]]:
    return {"result": _along_rows(weights, source.T).T}


def _along_rows(weights: Floats, source: Floats) -> NDArray[np.float64]:
    padded = np.pad(source.astype(np.float64), ((0, 0), (RADIUS, RADIUS)), mode="edge")
    width = source.shape[1]
    return np.sum([weight * padded[:, i : i + width] for i, weight in enumerate(weights)], axis=0)
