from typing import Any

import numpy as np
from numpy.typing import NDArray


def compact(threshold: NDArray[np.float32], values: NDArray[np.float32], kept: NDArray[Any]) -> dict[str, NDArray[Any]]:
    (indices,) = np.nonzero(values > threshold)
    kept["index"][: len(indices)] = indices
    kept["value"][: len(indices)] = values[indices]
    return {"count": np.array(len(indices), np.uint32), "kept": kept}
