import numpy as np
from numpy.typing import NDArray

RADIUS = 3


def bilateral(params: np.void, image: NDArray[np.float32], width: int, height: int) -> dict[str, NDArray[np.float64]]:
    padded = np.pad(image.astype(np.float64), RADIUS, mode="edge")
    weights, total = np.zeros((height, width)), np.zeros((height, width))
    for y in range(2 * RADIUS + 1):
        for x in range(2 * RADIUS + 1):
            window = padded[y : y + height, x : x + width]
            distance = (x - RADIUS) ** 2 + (y - RADIUS) ** 2
            weight = np.exp(-distance * params["nearness"] - (window - image) ** 2 * params["likeness"])
            weights += weight
            total += weight * window
    return {"filtered": total / weights}
