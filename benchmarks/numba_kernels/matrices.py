# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np
from numba import prange

from .compiled import kernel


@kernel
def matmul_naive(a, b, c):
    m, k = a.shape
    for row in prange(m):
        c[row, :] = 0
        for i in range(k):
            factor = a[row, i]
            for column in range(c.shape[1]):
                c[row, column] += factor * b[i, column]


@kernel
def matmul_tiled(a, b, c):
    tile = 64
    m, k = a.shape
    n = c.shape[1]
    for chunk in prange((m + tile - 1) // tile):
        bottom = min(m, (chunk + 1) * tile)
        c[chunk * tile : bottom, :] = 0
        for left in range(0, n, tile):
            right = min(n, left + tile)
            for start in range(0, k, tile):
                for row in range(chunk * tile, bottom):
                    for i in range(start, min(k, start + tile)):
                        factor = a[row, i]
                        for column in range(left, right):
                            c[row, column] += factor * b[i, column]


@kernel
def transpose(matrix, transposed):
    rows, columns = matrix.shape
    tile = 16
    for chunk in prange((rows + tile - 1) // tile):
        for left in range(0, columns, tile):
            for column in range(left, min(columns, left + tile)):
                for row in range(chunk * tile, min(rows, (chunk + 1) * tile)):
                    transposed[column, row] = matrix[row, column]


@kernel
def softmax(scores, shares):
    for row in prange(len(scores)):
        greatest = scores[row, 0]
        for i in range(scores.shape[1]):
            greatest = max(greatest, scores[row, i])
        total = np.float32(0)
        for i in range(scores.shape[1]):
            shares[row, i] = math.exp(scores[row, i] - greatest)
            total += shares[row, i]
        for i in range(scores.shape[1]):
            shares[row, i] /= total


@kernel
def spmv(row_starts, elements, vector, product):
    for row in prange(len(product)):
        total = np.float32(0)
        for i in range(row_starts[row], row_starts[row + 1]):
            total += elements[i].value * vector[elements[i].column]
        product[row] = total


@kernel
def spmv_lanes(row_starts, columns, elements, vector, product):
    for row in prange(len(product)):
        total = np.float32(0)
        for i in range(row_starts[row], row_starts[row + 1]):
            total += elements[i] * vector[columns[i]]
        product[row] = total


matmul_flat_tiles = matmul_tiled
matmul_blocks = matmul_tiled


@kernel
def matmul_vec4(a, b, c):
    """Rows are given as vectors of four."""
    m, k4, _ = a.shape
    n4 = c.shape[1]
    for row in prange(m):
        c[row] = 0
        for i in range(4 * k4):
            factor = a[row, i // 4, i % 4]
            for column in range(n4):
                for lane in range(4):
                    c[row, column, lane] += factor * b[i, column, lane]


@kernel
def spmv_ell(columns, elements, vector, product):
    places, rows = columns.shape
    for row in prange(rows):
        total = np.float32(0)
        for place in range(places):
            column = columns[place, row]
            if column >= 0:
                total += elements[place, row] * vector[column]
        product[row] = total


@kernel
def fft(signal, spectrum):
    angles = np.arange(128) * (-2 * np.pi / 256)
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    for row in prange(len(signal)):
        re, im = np.empty(256, np.float32), np.empty(256, np.float32)
        for i in range(256):
            to = 0
            for bit in range(8):
                to |= (i >> bit & 1) << (7 - bit)
            re[to] = signal[row, i, 0]
            im[to] = signal[row, i, 1]
        span = 1
        while span < 256:
            for start in range(0, 256, 2 * span):
                for k in range(span):
                    upper, lower = start + k, start + k + span
                    c, s = cosines[k * (128 // span)], sines[k * (128 // span)]
                    x, y = re[lower] * c - im[lower] * s, re[lower] * s + im[lower] * c
                    re[lower], im[lower] = re[upper] - x, im[upper] - y
                    re[upper] += x
                    im[upper] += y
            span *= 2
        for i in range(256):
            spectrum[row, i, 0] = re[i]
            spectrum[row, i, 1] = im[i]


@kernel
def attention(q, k, v, attended):
    scale = np.float32(1 / np.sqrt(32))
    queries, keys = q.reshape(len(q), 32), k.reshape(len(k), 32)
    values, results = v.reshape(len(v), 32), attended.reshape(len(q), 32)
    for row in prange(len(queries)):
        sums, scores = np.zeros(32, np.float32), np.empty(32, np.float32)
        greatest, total = np.float32(-3.4028234e38), np.float32(0)
        for start in range(0, len(keys), 32):
            rows = min(32, len(keys) - start)
            most = greatest
            for j in range(rows):
                score = np.float32(0)
                for d in range(32):
                    score += queries[row, d] * keys[start + j, d]
                scores[j] = score * scale
                most = max(most, scores[j])
            correction = np.float32(math.exp(greatest - most))
            greatest = most
            total *= correction
            for d in range(32):
                sums[d] *= correction
            for j in range(rows):
                weight = np.float32(math.exp(scores[j] - greatest))
                total += weight
                for d in range(32):
                    sums[d] += weight * values[start + j, d]
        for d in range(32):
            results[row, d] = sums[d] / total


@kernel
def matmul_bytes(m, words, n, a, b, c):
    for row in prange(m):
        c[row, :] = 0
        for i in range(words):
            for shift in (0, 8, 16, 24):
                left = np.int32(np.int8((a[row, i] >> np.uint32(shift)) & np.uint32(255)))
                for column in range(n):
                    c[row, column] += left * np.int32(np.int8((b[i, column] >> np.uint32(shift)) & np.uint32(255)))
