from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def tilt_shift(picture: list[NDArray[np.uint8]], focus: NDArray[Any], width: int, height: int) -> dict[str, Doubles]:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    level = np.minimum(float(focus["strength"]) * np.abs(y - float(focus["row"])), len(picture) - 1)
    finer = np.floor(level).astype(int)
    samples = np.array([_bilinear(it / 255, (x + 0.5) / width, (y + 0.5) / height) for it in picture])
    rows, columns = np.indices(level.shape)
    near, far = (samples[it, rows, columns] for it in (finer, np.minimum(finer + 1, len(picture) - 1)))
    return {"blurred": near + (level - finer)[..., None] * (far - near)}


def _bilinear(texels: Doubles, u: Doubles, v: Doubles) -> Doubles:
    # In texels, where the centre of the first is at 0.
    x, y = u * texels.shape[1] - 0.5, v * texels.shape[0] - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    rows = np.clip([top, top + 1], 0, texels.shape[0] - 1)
    columns = np.clip([left, left + 1], 0, texels.shape[1] - 1)
    (one, two), (three, four) = texels[rows[:, None], columns]
    across, down = (x - left)[..., None], (y - top)[..., None]
    return (1 - down) * ((1 - across) * one + across * two) + down * ((1 - across) * three + across * four)
