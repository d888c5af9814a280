import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def saxpy(n: int, params: np.void, x: Floats, y: Floats) -> dict[str, Doubles]:
    result = y.astype(np.float64)
    result[:n] += float(params["a"]) * x[:n].astype(np.float64)
    return {"y": result}
