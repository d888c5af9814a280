from typing import Any

import numpy as np
from numpy.typing import NDArray


def dot(a: NDArray[np.float32], b: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    terms = a.astype(np.float64) * b
    return {"sum": np.asarray(terms.sum()), "largest": np.abs(terms).max(initial=0.0)}
