"""What NumPy does for each nest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .nests import BINS

Array = npt.NDArray[Any]


def total(x: Array) -> Array:
    return np.asarray(x.sum())


def row_sums(x: Array) -> Array:
    return np.asarray(x.sum(axis=1))


def column_sums(x: Array) -> Array:
    return np.asarray(x.sum(axis=0))


def dot(a: Array, b: Array) -> Array:
    return np.asarray(a @ b)


def product_in_floats(a: Array, b: Array) -> Array:
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)


def transposed(x: Array) -> Array:
    return np.ascontiguousarray(x.T)


def argmax(x: Array) -> Array:
    return np.asarray(x.argmax(axis=1).astype(np.uint32))


def convolve(image: Array, weights: Array) -> Array:
    width = weights.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(image, (width, width), axis=(1, 2))
    return np.asarray(np.tensordot(weights, windows, axes=([1, 2, 3], [0, 3, 4])))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def layer_norm(x: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5)))


def stencil(u: Array) -> Array:
    p = np.pad(u, 1, mode="edge")
    return np.asarray((u + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) * np.float32(0.2))


def box(u: Array) -> Array:
    h, w = u.shape
    p = np.pad(u, 1, mode="edge")
    shifted = [p[dy : dy + h, dx : dx + w] for dy in range(3) for dx in range(3)]
    return np.asarray(sum(shifted[1:], shifted[0]) * np.float32(1 / 9))


def attention(scale: float) -> Callable[..., Array]:
    """Of one head."""

    def compute(q: Array, k: Array, v: Array) -> Array:
        return np.asarray(softmax(q @ k.T * np.float32(scale)) @ v)

    return compute


def histogram(x: Array) -> Array:
    return np.bincount(x % BINS, minlength=BINS).astype(np.uint32)


def binomial(u: Array) -> Array:
    """3 × 3 points with the weights of `shaders/blur`; the nearest ones at the border."""
    return weighted_square(u, np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16)


def weighted_square(u: Array, weights: Array) -> Array:
    reach = len(weights) // 2
    p = np.pad(u, reach, mode="edge")
    h, w = u.shape
    found = np.zeros_like(u)
    for (dy, dx), weight in np.ndenumerate(weights):
        found += weight * p[dy : dy + h, dx : dx + w]
    return found


def weighted_line(axis: int) -> Callable[..., Array]:
    """17 weights along an axis; the nearest points at the border."""

    def compute(u: Array, weights: Array) -> Array:
        reach = len(weights) // 2
        p = np.pad(u, [(reach, reach) if it == axis else (0, 0) for it in range(2)], mode="edge")
        parts = (p[k : k + len(u)] if axis == 0 else p[:, k : k + u.shape[1]] for k in range(len(weights)))
        found = np.zeros_like(u)
        for weight, part in zip(weights, parts, strict=True):
            found += weight * part
        return found

    return compute
