import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]


def histogram(words: Words, counts: Words) -> dict[str, Words]:
    found = np.bincount(words.view(np.uint8), minlength=256)
    return {"counts": counts + found.astype(np.uint32)}
