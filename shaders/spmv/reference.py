import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray


def spmv(
    row_starts: NDArray[np.uint32], elements: NDArray[Any], vector: NDArray[np.float32]
) -> dict[str, NDArray[np.float64]]:
    products = elements["value"].astype(np.float64) * vector[elements["column"]]
    spans = itertools.pairwise(row_starts)
    return {"product": np.array([products[start:end].sum() for start, end in spans])}
