import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def transpose(matrix: Floats) -> dict[str, Floats]:
    return {"transposed": matrix.T}
