import numpy as np
from numpy.typing import NDArray


def shadow(shadow_map: NDArray[np.float32], points: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
    height, width = shadow_map.shape
    distance = points[:, 2] - np.float32(0.0078125)
    # In texels, where the centre of the first is at 0.
    u = points[:, 0].astype(np.float64) * width - 0.5
    v = points[:, 1].astype(np.float64) * height - 0.5
    steps = (-1.25, 0, 1.25)
    samples = [_lit(shadow_map, distance, u + x, v + y) for y in steps for x in steps]
    return {"light": np.mean(samples, axis=0)}


def _lit(
    depths: NDArray[np.float32], distance: NDArray[np.float32], u: NDArray[np.float64], v: NDArray[np.float64]
) -> NDArray[np.float64]:
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    rows = np.clip([top, top + 1], 0, depths.shape[0] - 1)
    columns = np.clip([left, left + 1], 0, depths.shape[1] - 1)
    (one, two), (three, four) = (distance <= depths[rows[:, None], columns]).astype(np.float64)
    across, down = u - left, v - top
    return (1 - down) * ((1 - across) * one + across * two) + down * ((1 - across) * three + across * four)
