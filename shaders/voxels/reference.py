import numpy as np
from numpy.typing import NDArray


def voxels(heat: NDArray[np.float32], walls: NDArray[np.uint8]) -> dict[str, NDArray[np.float64]]:
    own = heat.astype(np.float64)
    values = np.pad(own, 1)
    blocked = np.pad(walls != 0, 1, constant_values=True)
    inside = (slice(1, -1),) * 3
    total = np.zeros_like(own)
    for axis in range(3):
        for step in (-1, 1):
            neighbour, wall = (np.roll(array, step, axis)[inside] for array in (values, blocked))
            total += np.where(wall, 0, neighbour - own)
    return {"after": np.where(walls != 0, own, own + 0.25 * total / 6)}
