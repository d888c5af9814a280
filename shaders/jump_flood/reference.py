import numpy as np
from numpy.typing import NDArray

Seeds = NDArray[np.int32]


def jump_flood(flood: np.void, seeds: Seeds) -> dict[str, Seeds]:
    height, width = seeds.shape
    reach = int(flood["reach"])
    y, x = np.mgrid[:height, :width]
    best, least = np.full(seeds.shape, -1, np.int32), np.full(seeds.shape, 2**31 - 1)
    for dy in (-reach, 0, reach):
        for dx in (-reach, 0, reach):
            inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
            seed = np.where(inside, seeds[(y + dy) % height, (x + dx) % width], -1)
            distance = (seed % width - x) ** 2 + (seed // width - y) ** 2
            nearer = (seed >= 0) & (distance < least)
            best[nearer], least[nearer] = seed[nearer], distance[nearer]
    return {"nearest": best}
