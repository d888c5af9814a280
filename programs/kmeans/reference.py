from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def kmeans(points: Floats, centres: Floats) -> dict[str, NDArray[Any]]:
    offsets = points[:, None, :].astype(np.float64) - centres
    labels = np.argmin((offsets**2).sum(axis=2), axis=1)
    moved = centres.astype(np.float64)
    for label in np.unique(labels):
        moved[label] = points[labels == label].mean(axis=0, dtype=np.float64)
    return {"labels": labels, "new_centres": moved}
