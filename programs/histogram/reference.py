import numpy as np
from numpy.typing import NDArray


def histogram(keys: NDArray[np.uint32], bins: int) -> dict[str, NDArray[np.int64]]:
    return {"counts": np.bincount(keys[keys < bins], minlength=bins)}
