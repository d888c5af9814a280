from typing import Any

import numpy as np
from numpy.typing import NDArray

Particles = NDArray[Any]
SWIRLING, SPARK = 1, 2


def particles(world: np.void, particles: Particles) -> dict[str, Particles]:
    kind = particles["kind"]
    dead = (kind > SPARK) | ((kind == SPARK) & (particles["age"] >= world["lifetime"]))
    velocity = particles["velocity"].astype(np.float64)
    velocity[kind == SWIRLING] = velocity[kind == SWIRLING] @ world["swirl"]
    velocity[kind == SPARK] += world["time_step"] * world["gravity"]
    position = particles["position"] + world["time_step"] * velocity

    outside = np.abs(position) - world["half_size"]
    bounced = outside > 0
    particles["position"] = np.where(bounced, position - 2 * outside * np.sign(position), position)
    particles["velocity"] = np.where(bounced, -world["restitution"] * velocity, velocity)
    particles["bounces"] += bounced.sum(axis=1, dtype=np.uint32)
    particles["age"] += world["time_step"]
    particles[dead] = 0
    return {"particles": particles}
