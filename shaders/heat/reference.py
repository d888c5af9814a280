from typing import Any

import numpy as np
from numpy.typing import NDArray


def heat(grid: Any, before: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    """Temperatures have the shape (nz, ny, nx)."""
    old = before.astype(np.float64)
    new = old.copy()
    if min(old.shape) > 2:
        middle = old[1:-1, 1:-1, 1:-1]
        sides = old[1:-1, 1:-1, :-2] + old[1:-1, 1:-1, 2:] + old[1:-1, :-2, 1:-1] + old[1:-1, 2:, 1:-1]
        sides += old[:-2, 1:-1, 1:-1] + old[2:, 1:-1, 1:-1]
        new[1:-1, 1:-1, 1:-1] = middle + float(grid["rate"]) * (sides - 6 * middle)
    return {"after": new}
