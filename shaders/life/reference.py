import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.uint32]


def life(cells: Cells) -> dict[str, Cells]:
    ways = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
    count = np.sum([np.roll(cells, way, axis=(0, 1)) for way in ways], axis=0)
    return {"next_cells": ((count == 3) | ((count == 2) & (cells == 1))).astype(np.uint32)}
