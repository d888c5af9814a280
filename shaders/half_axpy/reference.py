import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.float16]


def half_axpy(a: Halves, x: Halves, y: Halves) -> dict[str, NDArray[np.float64]]:
    return {"y": a.astype(np.float64) * x + y}
