import numpy as np
from numpy.typing import NDArray

BITS = 10


def morton(positions: NDArray[np.float32]) -> dict[str, NDArray[np.uint32]]:
    cells = np.clip(positions * 2**BITS, 0, 2**BITS - 1).astype(np.uint32)
    codes = np.zeros(len(positions), np.uint32)
    for bit in range(BITS):
        for place, axis in enumerate((2, 1, 0)):
            codes |= (cells[:, axis] >> bit & 1) << (3 * bit + place)
    return {"codes": codes}
