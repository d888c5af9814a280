from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
BOUNCES = 4
NEAREST = 1e-3
FARTHEST = 1e30


class Generator:
    """A random number generator for each pixel; draws advance those of the pixels asked for."""

    def __init__(self, pixels: int, seed: int) -> None:
        self.states = np.arange(pixels, dtype=np.uint32) * np.uint32(9781) + np.uint32(seed)

    def draw(self, pixels: NDArray[np.intp]) -> Doubles:
        state = self.states[pixels] * np.uint32(747796405) + np.uint32(2891336453)
        self.states[pixels] = state
        word = (state >> (state >> np.uint32(28)) + np.uint32(4) ^ state) * np.uint32(277803737)
        return ((word >> np.uint32(22) ^ word) >> np.uint32(8)) / 2.0**24

    def in_unit_ball(self, pixels: NDArray[np.intp]) -> Doubles:
        points = np.empty((len(pixels), 3))
        left = np.arange(len(pixels))
        while len(left):
            points[left] = np.stack([2 * self.draw(pixels[left]) - 1 for _ in range(3)], axis=1)
            left = left[_dot(points[left], points[left]) > 1]
        return points


def path_trace(camera: np.void, spheres: NDArray[Any]) -> dict[str, Doubles]:
    width, height = (int(extent) for extent in camera["size"])
    random = Generator(width * height, int(camera["seed"]))
    everywhere = np.arange(width * height)
    corner = np.column_stack([everywhere % width, everywhere // width])
    colour = np.zeros((width * height, 3))
    for _ in range(camera["samples"]):
        jitter = np.column_stack([random.draw(everywhere), random.draw(everywhere)])
        at = (2 * (corner + jitter) - [width, height]) / height
        direction = _normalized(np.column_stack([at[:, 0], -at[:, 1], np.full(len(at), camera["zoom"])]))
        colour += _trace(spheres, np.tile(camera["position"].astype(np.float64), (len(at), 1)), direction, random)
    image = np.column_stack([colour / camera["samples"], np.ones(width * height)])
    return {"image": image.reshape(height, width, 4)}


def _trace(spheres: NDArray[Any], origin: Doubles, direction: Doubles, random: Generator) -> Doubles:
    seen, light = np.zeros_like(origin), np.ones_like(origin)
    paths = np.arange(len(origin))
    for _ in range(BOUNCES):
        distance, hit = _nearest(spheres, origin, direction)
        in_sky = distance == FARTHEST
        seen[paths[in_sky]] = light[in_sky] * _sky(direction[in_sky])
        paths, light, hit = paths[~in_sky], light[~in_sky], hit[~in_sky]
        origin = (origin + distance[:, None] * direction)[~in_sky]
        normal = (origin - spheres["centre"][hit]) / spheres["radius"][hit, None]
        normal *= np.where(_dot(normal, direction[~in_sky]) > 0, -1, 1)[:, None]
        light = light * spheres["colour"][hit, :3]
        direction = _normalized(normal + 0.9 * random.in_unit_ball(paths))
    return seen


def _nearest(spheres: NDArray[Any], origin: Doubles, direction: Doubles) -> tuple[Doubles, NDArray[np.intp]]:
    nearest, hit = np.full(len(origin), FARTHEST), np.zeros(len(origin), np.intp)
    for number, sphere in enumerate(spheres):
        to_centre = sphere["centre"] - origin
        along = _dot(to_centre, direction)
        half_chord = np.sqrt(along**2 - _dot(to_centre, to_centre) + sphere["radius"].astype(np.float64) ** 2)
        entry, exit_ = along - half_chord, along + half_chord
        distance = np.where(entry > NEAREST, entry, np.where(exit_ > NEAREST, exit_, FARTHEST))
        closer = distance < nearest
        nearest[closer], hit[closer] = distance[closer], number
    return nearest, hit


def _sky(direction: Doubles) -> Doubles:
    share = 0.5 * direction[:, 1:2] + 0.5
    return 1 - share + share * np.array([0.5, 0.7, 1.0])


def _dot(a: Doubles, b: Doubles) -> Doubles:
    return np.einsum("ij,ij->i", a, b)


def _normalized(vectors: Doubles) -> Doubles:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
