from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]


def pcg_hash(n: int, seed: int, rounds: int) -> dict[str, NDArray[Any]]:
    hashes = np.arange(n, dtype=np.uint32) + np.uint32(seed)
    for _ in range(rounds):
        hashes = _pcg(hashes)
    return {"hashes": hashes, "unit_floats": (np.uint32(0x3F800000) | hashes >> 9).view(np.float32) - np.float32(1)}


def _pcg(words: Words) -> Words:
    state = words * np.uint32(747796405) + np.uint32(2891336453)
    word = ((state >> ((state >> 28) + np.uint32(4))) ^ state) * np.uint32(277803737)
    return (word >> 22) ^ word
