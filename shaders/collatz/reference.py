import numpy as np
from numpy.typing import NDArray

LARGEST = (2**32 - 2) // 3


def collatz(starts: NDArray[np.uint32]) -> dict[str, NDArray[np.int32]]:
    return {"lengths": np.array([_length(int(start)) for start in starts], np.int32)}


def _length(n: int) -> int:
    steps = 0
    while n > 1:
        if n % 2 and n > LARGEST:
            return -1
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps
