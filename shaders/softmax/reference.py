import numpy as np
from numpy.typing import NDArray


def softmax(scores: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True).astype(np.float64))
    return {"shares": weights / weights.sum(axis=1, keepdims=True)}
