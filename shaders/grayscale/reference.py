from typing import Any

import numpy as np
from numpy.typing import NDArray


def grayscale(pixels: NDArray[np.uint32], range: NDArray[Any]) -> dict[str, NDArray[Any]]:
    channels = pixels.view(np.uint8).reshape(-1, 4).astype(np.uint32)
    grey = channels[:, :3] @ np.array([77, 150, 29], np.uint32) >> 8
    range["darkest"], range["brightest"] = grey.min(), grey.max()
    return {"grey_pixels": grey * np.uint32(0x010101) | channels[:, 3] << 24, "range": range}
