from typing import Any

import numpy as np
from numpy.typing import NDArray


def advance(particles: NDArray[Any], seconds: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    moves = particles["f3"]
    momenta = particles["f1"][moves].astype(np.float64) * particles["f2"][moves, None]
    particles["f0"][moves] += particles["f1"][moves] * seconds
    return {"particles": particles, "momentum": momenta.sum(axis=0)}
