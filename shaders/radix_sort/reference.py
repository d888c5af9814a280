import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
BLOCK = 1024


def radix_pass(shift: int, keys: Words) -> dict[str, Words]:
    blocks = [keys[start : start + BLOCK] for start in range(0, len(keys), BLOCK)]
    digits = [block >> shift & 15 for block in blocks]
    orders = [np.argsort(digit, kind="stable") for digit in digits]
    return {
        "sorted": np.concatenate([block[order] for block, order in zip(blocks, orders, strict=True)]),
        "digit_counts": np.concatenate([np.bincount(digit, minlength=16).astype(np.uint32) for digit in digits]),
    }
