"""References that stay quick and small at benchmark sizes; the other cases use those beside the shaders."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
CHUNK = 256
LARGEST = (2**32 - 2) // 3


def nbody(params: Any, bodies: Floats, velocities: Floats) -> dict[str, NDArray[np.float64]]:
    position, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    acceleration = np.empty_like(position)
    for start in range(0, len(bodies), CHUNK):
        way = position[None] - position[start : start + CHUNK, None]
        strength = mass / ((way**2).sum(axis=2) + params["softening_squared"]) ** 1.5
        acceleration[start : start + CHUNK] = np.einsum("ij,ijk->ik", strength, way)
    velocity = velocities[:, :3] + params["time_step"] * acceleration
    moved = position + params["time_step"] * velocity
    return {
        "velocities": np.column_stack([velocity, np.zeros(len(bodies))]),
        "moved": np.column_stack([moved, mass]),
    }


def collatz(starts: NDArray[np.uint32]) -> dict[str, NDArray[np.int32]]:
    lengths = np.zeros(len(starts), np.int32)
    active = np.flatnonzero(starts > 1)
    values = starts[active].astype(np.uint64)
    while len(active):
        odd = values % 2 == 1
        given_up = odd & (values > LARGEST)
        lengths[active] = np.where(given_up, -1, lengths[active] + 1)
        values = np.where(odd, 3 * values + 1, values // 2)
        going = (values > 1) & ~given_up
        active, values = active[going], values[going]
    return {"lengths": lengths}
