import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BLOCK = 512


def sort_blocks(keys: Floats) -> dict[str, Floats]:
    return {"keys": np.concatenate([np.sort(keys[i : i + BLOCK]) for i in range(0, len(keys), BLOCK)])}
