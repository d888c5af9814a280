from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]


def bfs_level(offsets: Words, sources: Words, states: NDArray[Any], level: Words) -> dict[str, NDArray[Any]]:
    is_frontier = (states["variant"] == 1) & (states["v1"] == level - 1)
    after = states.copy()
    after["v1"][states["variant"] == 0] = 0
    for vertex, (first, end) in enumerate(pairwise(offsets)):
        if states["variant"][vertex] == 0 and is_frontier[sources[first:end]].any():
            after["variant"][vertex], after["v1"][vertex] = 1, level
    return {"states_after": after, "found": np.asarray(np.count_nonzero(after["variant"] != states["variant"]))}
