from typing import Any

import numpy as np
from numpy.typing import NDArray


def turn(picture: NDArray[np.uint8], motion: NDArray[Any], width: int, height: int) -> dict[str, NDArray[np.float64]]:
    rows, columns = picture.shape[:2]
    cosine, sine = motion["axis"].astype(np.float64)
    x, y = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
    # In texels, where the centre of the first is at 0.
    u, v = cosine * x - sine * y + columns / 2 - 0.5, sine * x + cosine * y + rows / 2 - 0.5
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    columns_of = np.array([left, left + 1]) % (2 * columns)
    mirrored = np.minimum(columns_of, 2 * columns - 1 - columns_of)
    repeated = np.array([top, top + 1]) % rows
    texels = picture[repeated[:, None], mirrored] / 255
    (one, two), (three, four) = texels
    across, down = (u - left)[..., None], (v - top)[..., None]
    return {"turned": (1 - down) * ((1 - across) * one + across * two) + down * ((1 - across) * three + across * four)}
