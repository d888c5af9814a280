import numpy as np
from numpy.typing import NDArray


def sharpen(picture: NDArray[np.uint8], strength: float) -> dict[str, NDArray[np.uint8]]:
    """The weights are powers of two and the sums exact in double precision, so that only the last step rounds."""
    height, width, _ = picture.shape
    padded = np.pad(picture[..., :3].astype(np.float64), ((1, 1), (1, 1), (0, 0)), mode="edge")
    weights = np.outer([1, 2, 1], [1, 2, 1]) / 16
    blurred = sum(weights[y, x] * padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
    sharp = picture.copy()
    own = picture[..., :3].astype(np.float64)
    sharp[..., :3] = np.floor(np.clip(own + strength * (own - blurred), 0, 255) + 0.5)
    return {"sharp": sharp}
