from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]


def inclusive(values: Integers, width: int) -> dict[str, Integers]:
    sums = _running_sums(values, width)
    return {"sums": sums.ravel()[: len(values)], "block_sums": sums[:, -1]}


def exclusive(values: Integers, block: int) -> dict[str, Integers]:
    sums = _running_sums(values, block)
    before = np.pad(sums, ((0, 0), (1, 0)))[:, :-1]
    return {"sums": before.ravel()[: len(values)], "block_sums": sums[:, -1]}


def whole(values: NDArray[np.uint32]) -> dict[str, NDArray[np.uint32]]:
    """Sums of 30 bits over all blocks."""
    return {"sums": np.cumsum(values, dtype=np.uint32) & np.uint32(2**30 - 1)}


def _running_sums(values: Integers, block: int) -> Integers:
    """A row for each block, the last one padded with zeros; sums wrap around as WGSL's do."""
    padded = np.pad(values, (0, -len(values) % block))
    return np.cumsum(padded.reshape(-1, block), axis=1, dtype=values.dtype)
