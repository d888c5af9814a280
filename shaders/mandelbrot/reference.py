import numpy as np
from numpy.typing import NDArray


def mandelbrot(width: int, height: int, limit: int, view: np.void) -> dict[str, NDArray[np.uint32]]:
    escapes = _escape_times(width, height, limit, view)
    red = np.minimum(255, 8 * escapes)
    green = 5 * escapes % 256
    blue = 255 - np.minimum(255, 4 * escapes)
    picture = np.where(escapes == limit, 0, blue << 16 | green << 8 | red) | 0xFF000000
    return {"escapes": escapes.astype(np.uint32), "picture": picture.astype(np.uint32)}


def _escape_times(width: int, height: int, limit: int, view: np.void) -> NDArray[np.int64]:
    size = np.array([width, height], np.float32)
    rows, columns = np.indices((height, width)).astype(np.float32)
    x0, y0 = (
        view["centre"][axis] + view["pixel"] * (index + np.float32(0.5) - np.float32(0.5) * size[axis])
        for axis, index in ((0, columns), (1, rows))
    )
    x, y = np.zeros_like(x0), np.zeros_like(y0)
    escapes = np.zeros((height, width), np.int64)
    for _ in range(limit):
        inside = x * x + y * y <= 4
        escapes += inside
        x, y = np.where(inside, x * x - y * y + x0, x), np.where(inside, 2 * x * y + y0, y)
    return escapes
