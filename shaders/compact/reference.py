from typing import Any

import numpy as np
from numpy.typing import NDArray


def compact(threshold: NDArray[np.float32], values: NDArray[np.float32], kept: NDArray[Any]) -> dict[str, NDArray[Any]]:
    (indices,) = np.nonzero(values > threshold)
    kept["index"][: len(indices)] = indices
    kept["value"][: len(indices)] = values[indices]
    return {"count": np.array(len(indices), np.uint32), "kept": kept}


def compact_ballot(
    depths: dict[str, np.float32], depth: NDArray[np.float32], visible: NDArray[np.uint32]
) -> dict[str, NDArray[np.uint32]]:
    is_kept = (depth > depths["nearest"]) & (depth < depths["farthest"])
    starts = range(0, len(depth), 256)
    for start in starts:
        (kept,) = np.nonzero(is_kept[start : start + 256])
        visible[start : start + len(kept)] = start + kept
    return {"visible": visible, "counts": np.array([is_kept[it : it + 256].sum() for it in starts], np.uint32)}
