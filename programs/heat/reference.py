import numpy as np
from numpy.typing import NDArray


def heat(initial: NDArray[np.float32], rate: NDArray[np.float32], steps: int) -> dict[str, NDArray[np.float64]]:
    now = initial.astype(np.float64)
    for _ in range(steps):
        now[1:-1] += float(rate) * (now[:-2] + now[2:] - 2 * now[1:-1])
    return {"temperatures": now}
