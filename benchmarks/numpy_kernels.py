"""Kernels in NumPy's own operations. Parameters name buffers, sizes, constants or fields of uniform structures.

Only kernels that read naturally so are here. They write into the buffers given, with as few temporaries as that allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
REDUCE_BLOCK = 512


def saxpy(a: np.float32, x: Array, y: Array) -> None:
    y += a * x


def vec4_math(x: Array, exponent: np.float32, exp_x: Array, sin_x: Array, sqrt_x: Array, pow_x: Array) -> None:
    np.exp(x, out=exp_x)
    np.sin(x, out=sin_x)
    size = np.abs(x)
    np.sqrt(size, out=sqrt_x)
    size += np.float32(0.5)
    np.power(size, exponent, out=pow_x)


def matmul_naive(a: Array, b: Array, c: Array) -> None:
    np.matmul(a, b, out=c)


matmul_tiled = matmul_naive


def matmul_vec4(a: Array, b: Array, c: Array) -> None:
    rows, columns = (matrix.reshape(len(matrix), -1) for matrix in (a, b))
    np.matmul(rows, columns, out=c.reshape(len(c), -1))


matmul_flat_tiles = matmul_naive
matmul_blocks = matmul_naive


def reduce(values: Array, partial_sums: Array) -> None:
    np.add.reduceat(values, np.arange(0, len(values), REDUCE_BLOCK), out=partial_sums)


def reduce_halving(values: Array, block_sums: Array, block: int) -> None:
    np.add.reduceat(values, np.arange(0, len(values), block), out=block_sums)


def reduce_interleaved(values: Array, block_sums: Array) -> None:
    np.add.reduceat(values, np.arange(0, len(values), 256), out=block_sums)


def histogram_coalesced(keys: Array, counts: Array) -> None:
    counts += np.bincount(keys.view(np.uint8)[3::4], minlength=256).astype(np.uint32)


def histogram_blocked(samples: Array, histogram: Array) -> None:
    bins = np.clip(samples * np.float32(128), 0, 127).astype(np.uint8)
    histogram += np.bincount(bins, minlength=128).astype(np.uint32)


def histogram_bytes(length: np.uint32, text: Array, frequencies: Array) -> None:
    frequencies += np.bincount(text.view(np.uint8)[:length], minlength=256).astype(np.uint32)


def histogram_global(words: Array, counts: Array) -> None:
    counts += np.bincount(words.view(np.uint8), minlength=256).astype(np.uint32)


histogram_local = histogram_global


def blur(source: Array, blurred: Array) -> None:
    padded = np.pad(source, 1, mode="edge")
    column = padded[:-2] + padded[2:]
    column += 2 * padded[1:-1]
    np.add(column[:, :-2], column[:, 2:], out=blurred)
    blurred += 2 * column[:, 1:-1]
    blurred *= np.float32(1 / 16)


def life(cells: Array, next_cells: Array) -> None:
    padded = np.pad(cells, 1, mode="wrap")
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    total = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    next_cells[...] = (total == 3) | ((total == 4) & (cells == 1))


def transpose(matrix: Array, transposed: Array) -> None:
    np.copyto(transposed, matrix.T)


def scan_hillis_steele(values: Array, sums: Array, block_sums: Array, width: int) -> None:
    _block_sums(values, sums, block_sums, width)


def scan_blelloch(values: Array, sums: Array, block_sums: Array, block: int) -> None:
    _block_sums(values, sums, block_sums, block)
    sums -= values


scan_raking = scan_hillis_steele
scan_sklansky = scan_hillis_steele
scan_kogge_stone = scan_hillis_steele
scan_blelloch_pairs = scan_blelloch


def scan_lookback(values: Array, sums: Array) -> None:
    np.cumsum(values, out=sums)
    sums &= np.uint32(0x3FFFFFFF)


def _block_sums(values: Array, sums: Array, block_sums: Array, block: int) -> None:
    whole = len(values) // block * block
    np.cumsum(values[:whole].reshape(-1, block), axis=1, out=sums[:whole].reshape(-1, block))
    np.cumsum(values[whole:], out=sums[whole:])
    block_sums[: whole // block] = sums[block - 1 : whole : block]
    block_sums[whole // block :] = sums[-1:]


def bitonic_step(keys: Array, block: int, reach: int) -> None:
    runs = keys[: len(keys) // (2 * reach) * 2 * reach].reshape(-1, 2, reach)
    descends = (np.arange(len(runs)) * 2 * reach & block != 0)[:, None]
    low = np.minimum(runs[:, 0], runs[:, 1])
    high = np.maximum(runs[:, 0], runs[:, 1])
    runs[:, 0] = np.where(descends, high, low)
    runs[:, 1] = np.where(descends, low, high)
    _last_pairs(keys, block, reach, runs.size)


def _last_pairs(keys: Array, block: int, reach: int, start: int) -> None:
    """The pairs of a run that is cut off by the end."""
    upper = keys[start + reach :]
    lower = keys[start : start + len(upper)]
    swap = (lower > upper) == (start & block == 0)
    lower[swap], upper[swap] = upper[swap], lower[swap]


def bitonic_sort(keys: Array, width: int) -> None:
    whole = len(keys) // width * width
    keys[:whole].reshape(-1, width).sort(axis=1)
    keys[whole:].sort()


bitonic_pairs = bitonic_sort


def odd_even_merge(keys: Array) -> None:
    bitonic_sort(keys, 512)


def pcg_hash(n: int, seed: np.uint32, rounds: np.uint32, hashes: Array, unit_floats: Array) -> None:
    words = np.arange(n, dtype=np.uint32) + np.uint32(seed)
    for _ in range(int(rounds)):
        words *= np.uint32(747796405)
        words += np.uint32(2891336453)
        words ^= words >> ((words >> np.uint32(28)) + np.uint32(4))
        words *= np.uint32(277803737)
        words ^= words >> np.uint32(22)
    hashes[...] = words
    np.subtract((np.uint32(0x3F800000) | words >> np.uint32(9)).view(np.float32), np.float32(1), out=unit_floats)


def compact(threshold: np.float32, values: Array, count: Array, kept: Array) -> None:
    (indices,) = np.nonzero(values > threshold)
    kept["index"][: len(indices)] = indices
    kept["value"][: len(indices)] = values[indices]
    count[...] = len(indices)


compact_scan = compact


def grayscale(pixels: Array, grey_pixels: Array, range: Array) -> None:
    channels = pixels.view(np.uint8).reshape(-1, 4)
    grey = channels[:, 0] * np.uint32(77) + channels[:, 1] * np.uint32(150) + channels[:, 2] * np.uint32(29) >> 8
    np.multiply(grey, np.uint32(0x010101), out=grey_pixels)
    grey_pixels |= pixels & np.uint32(0xFF000000)
    range["darkest"], range["brightest"] = grey.min(), grey.max()


def half_axpy(a: Array, x: Array, y: Array) -> None:
    y += a * x


def softmax(scores: Array, shares: Array) -> None:
    np.subtract(scores, scores.max(axis=1, keepdims=True), out=shares)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)


def spmv(row_starts: Array, elements: Array, vector: Array, product: Array) -> None:
    products = elements["value"] * vector[elements["column"]]
    np.add.reduceat(products, row_starts[:-1], out=product)


def spmv_ell(columns: Array, elements: Array, vector: Array, product: Array) -> None:
    products = elements * vector[columns]
    np.sum(products, axis=0, where=columns >= 0, out=product)


def fft(signal: Array, spectrum: Array) -> None:
    transformed = np.fft.fft(signal.view(np.complex64)[..., 0], axis=1)
    spectrum.view(np.complex64)[..., 0] = transformed


def attention(q: Array, k: Array, v: Array, attended: Array) -> None:
    queries, keys, values = (rows.reshape(len(rows), -1) for rows in (q, k, v))
    weights = queries @ (keys.T * np.float32(keys.shape[1] ** -0.5))
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    np.matmul(weights, values, out=attended.reshape(len(q), -1))


def convolve_rows(weights: Array, source: Array, result: Array) -> None:
    padded = np.pad(source, ((0, 0), (8, 8)), mode="edge")
    result[...] = 0
    for i, weight in enumerate(weights):
        result += weight * padded[:, i : i + source.shape[1]]


def convolve_columns(weights: Array, source: Array, result: Array) -> None:
    convolve_rows(weights, source.T, result.T)
