import numpy as np
from numpy.typing import NDArray

Bodies = NDArray[np.float32]


def nbody(params: np.void, bodies: Bodies, velocities: Bodies) -> dict[str, NDArray[np.float64]]:
    position, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    way = position[None] - position[:, None]
    strength = mass / ((way**2).sum(axis=2) + params["softening_squared"]) ** 1.5
    velocity = velocities[:, :3] + params["time_step"] * (strength[..., None] * way).sum(axis=1)
    moved = position + params["time_step"] * velocity
    return {
        "velocities": np.column_stack([velocity, np.zeros(len(bodies))]),
        "moved": np.column_stack([moved, mass]),
    }
