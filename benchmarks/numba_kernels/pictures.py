# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np
from numba import prange

from .compiled import kernel


@kernel
def blur(source, blurred):
    height, width = source.shape
    for y in prange(height):
        above, below = source[max(y - 1, 0)], source[min(y + 1, height - 1)]
        here = source[y]
        for x in range(width):
            left, right = max(x - 1, 0), min(x + 1, width - 1)
            sides = (above[x] + below[x] + here[left] + here[right]) * np.float32(0.125)
            corners = (above[left] + above[right] + below[left] + below[right]) * np.float32(0.0625)
            blurred[y, x] = here[x] * np.float32(0.25) + sides + corners


@kernel
def life(cells, next_cells):
    height, width = cells.shape
    for y in prange(height):
        above, here, below = cells[y - 1], cells[y], cells[(y + 1) % height]
        for x in range(width):
            left, right = x - 1 if x > 0 else width - 1, x + 1 if x + 1 < width else 0
            count = above[left] + above[x] + above[right] + here[left]
            count += here[right] + below[left] + below[x] + below[right]
            next_cells[y, x] = count == 3 or (count == 2 and here[x] == 1)


@kernel
def convolve_rows(weights, source, result):
    height, width = source.shape
    for y in prange(height):
        for x in range(width):
            total = np.float32(0)
            for i in range(17):
                total += weights[i] * source[y, min(max(x + i - 8, 0), width - 1)]
            result[y, x] = total


@kernel
def convolve_columns(weights, source, result):
    height, width = source.shape
    for y in prange(height):
        result[y, :] = 0
        for i in range(17):
            row = source[min(max(y + i - 8, 0), height - 1)]
            for x in range(width):
                result[y, x] += weights[i] * row[x]


@kernel
def bilateral(nearness, likeness, image, filtered):
    height, width = image.shape
    for y in prange(height):
        for x in range(width):
            weights = total = np.float32(0)
            for dy in range(-3, 4):
                for dx in range(-3, 4):
                    value = image[min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)]
                    difference = value - image[y, x]
                    distance = np.float32(dx * dx + dy * dy)
                    weight = np.float32(math.exp(-(distance * nearness + difference * difference * likeness)))
                    weights += weight
                    total += weight * value
            filtered[y, x] = total / weights


@kernel
def jump_flood(reach, seeds, nearest):
    height, width = seeds.shape
    for y in prange(height):
        for x in range(width):
            best, least = -1, 0x7FFFFFFF
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    v, u = y + dy * np.int64(reach), x + dx * np.int64(reach)
                    if 0 <= u < width and 0 <= v < height:
                        seed = seeds[v, u]
                        if seed >= 0:
                            across, down = seed % width - x, seed // width - y
                            distance = across * across + down * down
                            if distance < least:
                                best, least = seed, distance
            nearest[y, x] = best


@kernel
def heat(rate, before, after):
    nz, ny, nx = before.shape
    for row in prange(nz * ny):
        z, y = row // ny, row % ny
        if y == 0 or z == 0 or y == ny - 1 or z == nz - 1:
            after[z, y] = before[z, y]
        else:
            after[z, y, 0], after[z, y, nx - 1] = before[z, y, 0], before[z, y, nx - 1]
            for x in range(1, nx - 1):
                middle = before[z, y, x]
                across = before[z, y, x - 1] + before[z, y, x + 1]
                total = across + before[z, y - 1, x] + before[z, y + 1, x] + before[z - 1, y, x] + before[z + 1, y, x]
                after[z, y, x] = middle + rate * (total - np.float32(6) * middle)


@kernel
def blur_rows(source, blurred, radius):
    height, width = source.shape
    for y in prange(height):
        for shift in (0, 8, 16, 24):
            total = np.int64((source[y, 0] >> shift) & 255) * (radius + 1)
            for x in range(1, radius + 1):
                total += (source[y, min(x, width - 1)] >> shift) & 255
            for x in range(width):
                mean = np.uint32(total // (2 * radius + 1)) << np.uint32(shift)
                blurred[y, x] = mean if shift == 0 else blurred[y, x] | mean
                total += np.int64((source[y, min(x + radius + 1, width - 1)] >> shift) & 255)
                total -= np.int64((source[y, max(x - radius, 0)] >> shift) & 255)
