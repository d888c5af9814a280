import numpy as np
from numpy.typing import NDArray


def prefix_sum(values: NDArray[np.uint32]) -> dict[str, NDArray[np.uint32]]:
    return {"values": np.cumsum(values, dtype=np.uint32)}
