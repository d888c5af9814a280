from typing import Any

import numpy as np
from numpy.typing import NDArray


def areas(shapes: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    x, y = (shapes["v2"][name].astype(np.float64) for name in ("f0", "f1"))
    ab, ac = (np.stack([x[:, i] - x[:, 0], y[:, i] - y[:, 0]]) for i in (1, 2))
    of_kinds = [
        np.pi * shapes["v0"].astype(np.float64) ** 2,
        shapes["v1"]["f0"].astype(np.float64) * shapes["v1"]["f1"],
        np.abs(ab[0] * ac[1] - ab[1] * ac[0]) / 2,
    ]
    return {"areas": np.choose(shapes["variant"], of_kinds)}
