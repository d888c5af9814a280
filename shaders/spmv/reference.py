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


def ell(columns: NDArray[np.int32], elements: NDArray[np.float32], vector: NDArray[np.float32]) -> dict[str, Any]:
    """Arrays of the shape (places, rows)."""
    products = elements.astype(np.float64) * vector[columns]
    return {"product": np.where(columns >= 0, products, 0).sum(axis=0)}


def csr(
    row_starts: NDArray[np.uint32],
    columns: NDArray[np.uint32],
    elements: NDArray[np.float32],
    vector: NDArray[np.float32],
) -> dict[str, NDArray[np.float64]]:
    sums = np.concatenate([[0.0], np.cumsum(elements.astype(np.float64) * vector[columns])])
    return {"product": sums[row_starts[1:]] - sums[row_starts[:-1]]}
