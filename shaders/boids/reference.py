from typing import Any

import numpy as np
from numpy.typing import NDArray

Boids = NDArray[Any]
Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
CHUNK = 512
"""Boids at a time, whose pairs are in memory."""


def boids_all(rules: np.void, boids: Boids) -> dict[str, Boids]:
    position, velocity = boids["position"].astype(np.float64), boids["velocity"].astype(np.float64)
    steered = np.empty_like(velocity)
    for start in range(0, len(boids), CHUNK):
        mine = slice(start, start + CHUNK)
        offset = position[None] - position[mine, None]
        squared = _squared(offset)
        squared[np.arange(len(squared)), np.arange(start, start + len(squared))] = np.inf
        in_sight, too_close, near = (squared < rules[name] ** 2 for name in ("sight", "closest", "near"))
        cohesion = _mean(in_sight, offset) * rules["cohesion"]
        away = -_sum(too_close, offset) * rules["separation"]
        heading = _mean(near, np.broadcast_to(velocity, offset.shape)) * rules["alignment"]
        steered[mine] = velocity[mine] + cohesion + away + heading
    speed = np.linalg.norm(steered, axis=1, keepdims=True)
    steered = np.where(speed > rules["top_speed"], steered * (rules["top_speed"] / speed), steered)
    return {"moved": _boids(boids, position + steered * rules["time_step"], steered)}


def boids_grid(flock: np.void, boids: Boids, cells: NDArray[np.int32], starts: NDArray[np.uint32]) -> dict[str, Boids]:
    across, down = (int(count) for count in flock["grid"])
    velocity = boids["velocity"].astype(np.float64)
    position = boids["position"] + flock["cell"] * np.column_stack([cells % across, cells // across])
    steered = np.empty_like(velocity)
    for cell in range(across * down):
        y, x = divmod(cell, across)
        block = np.arange(across * down).reshape(down, across)[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]
        others = np.concatenate([np.arange(starts[there], starts[there + 1]) for there in block.ravel()])
        mine = np.arange(starts[cell], starts[cell + 1])
        offset = position[others][None] - position[mine][:, None]
        squared = np.where(others == mine[:, None], np.inf, _squared(offset))
        seen, too_close = squared < flock["sight"] ** 2, squared < flock["closest"] ** 2
        relative = velocity[others][None] - velocity[mine][:, None]
        steered[mine] = velocity[mine] - flock["separation"] * _sum(seen & too_close, offset)
        steered[mine] += flock["cohesion"] * _mean(seen, offset) + flock["alignment"] * _mean(seen, relative)
    return {"moved": _boids(boids, boids["position"] + flock["time_step"] * steered, steered)}


def _squared(offset: Doubles) -> Doubles:
    return np.einsum("ijk,ijk->ij", offset, offset)


def _sum(chosen: Mask, vectors: Doubles) -> Doubles:
    """The sum of each row's chosen vectors."""
    return np.einsum("ij,ijk->ik", chosen, vectors)


def _mean(chosen: Mask, vectors: Doubles) -> Doubles:
    """The mean of each row's chosen vectors, zero where there are none."""
    return _sum(chosen, vectors) / np.maximum(chosen.sum(axis=1), 1)[:, None]


def _boids(like: Boids, position: Doubles, velocity: Doubles) -> Boids:
    moved = np.empty(like.shape, [("position", np.float64, 2), ("velocity", np.float64, 2)])
    moved["position"], moved["velocity"] = position, velocity
    return moved
