import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]


def mandelbrot(
    height: int, width: int, centre_x: Float, centre_y: Float, size: Float, limit: NDArray[np.uint32]
) -> dict[str, NDArray[np.uint32]]:
    half = np.float32(0.5)
    c_y = centre_y + (np.arange(height, dtype=np.float32) / np.float32(height) - half) * size
    c_x = centre_x + (np.arange(width, dtype=np.float32) / np.float32(width) - half) * size
    c_y, c_x = np.meshgrid(c_y, c_x, indexing="ij")
    x, y, steps = np.zeros_like(c_x), np.zeros_like(c_y), np.zeros(c_x.shape, np.uint32)
    for _ in range(int(limit)):
        near = x * x + y * y <= 4
        x, y = np.where(near, x * x - y * y + c_x, x), np.where(near, 2 * (x * y) + c_y, y)
        steps += near
    shade = np.where(steps < limit, np.minimum(steps, 255), 0)
    return {"picture": (shade * 0x010101 | 0xFF000000).astype(np.uint32)}
