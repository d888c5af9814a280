import numpy as np
from numpy.typing import NDArray


def blur(source: NDArray[np.float32], width: int, height: int) -> dict[str, NDArray[np.float64]]:
    padded = np.pad(source.astype(np.float64), 1, mode="edge")
    weights = np.outer([1, 2, 1], [1, 2, 1]) / 16
    windows = (weights[y, x] * padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
    return {"blurred": np.sum(list(windows), axis=0)}


def blur_rows(source: NDArray[np.uint32], width: int, height: int, radius: int) -> dict[str, NDArray[np.uint32]]:
    channels = source.view(np.uint8).reshape(height, width, 4).astype(np.int64)
    padded: NDArray[np.int64] = np.pad(channels, ((0, 0), (radius + 1, radius), (0, 0)), mode="edge")
    ends: NDArray[np.int64] = np.cumsum(padded, axis=1)
    means: NDArray[np.int64] = (ends[:, 2 * radius + 1 :] - ends[:, :width]) // (2 * radius + 1)
    return {"blurred": means.astype(np.uint8).view(np.uint32).reshape(height, width)}
