import numpy as np
from numpy.typing import NDArray


def softmax(x: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    if not x.size:
        return {"shares": x.astype(np.float64)}
    weights = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"shares": weights / weights.sum(axis=1, keepdims=True)}
