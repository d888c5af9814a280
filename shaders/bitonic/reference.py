from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Keys = NDArray[np.uint32]


def step(keys: Floats, block: int, reach: int) -> dict[str, Floats]:
    i = np.arange(len(keys))
    partner = i ^ reach
    lower = i[(partner > i) & (partner < len(keys))]
    upper = lower ^ reach
    swap = (keys[lower] > keys[upper]) == ((lower & block) == 0)
    lower, upper = lower[swap], upper[swap]
    keys[lower], keys[upper] = keys[upper], keys[lower]
    return {"keys": keys}


def sort_blocks(keys: Keys, width: int) -> dict[str, Keys]:
    return {"keys": np.concatenate([np.sort(keys[i : i + width]) for i in range(0, len(keys), width)])}


def sort_records(records: NDArray[Any], width: int) -> dict[str, NDArray[Any]]:
    blocks = [records[i : i + width] for i in range(0, len(records), width)]
    return {"records": np.concatenate([it[np.argsort(it["key"])] for it in blocks])}
