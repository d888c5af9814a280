import numpy as np
from numpy.typing import NDArray


def floyd_warshall(distances: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    for k in range(len(distances)):
        distances = np.minimum(distances, distances[:, k, None] + distances[None, k, :])
    return {"distances": distances}
