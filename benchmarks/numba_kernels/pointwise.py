# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np
from numba import prange

from .compiled import inline, kernel


@kernel
def saxpy(a, x, y):
    for i in prange(len(x)):
        y[i] = a * x[i] + y[i]


@kernel
def vec4_math(x, exponent, exp_x, sin_x, sqrt_x, pow_x):
    for i in prange(len(x)):
        for c in range(4):
            v = x[i, c]
            exp_x[i, c] = math.exp(v)
            sin_x[i, c] = math.sin(v)
            sqrt_x[i, c] = math.sqrt(abs(v))
            pow_x[i, c] = (abs(v) + np.float32(0.5)) ** exponent


@inline
def escape_time(cx, cy, limit):
    x = y = np.float32(0)
    steps = 0
    while steps < limit and x * x + y * y <= np.float32(4):
        x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
        steps += 1
    return steps


@inline
def colour(steps, limit):
    if steps == limit:
        return 0xFF000000
    return 0xFF000000 | (255 - min(255, 4 * steps)) << 16 | 5 * steps % 256 << 8 | min(255, 8 * steps)


@kernel
def mandelbrot(centre, pixel, limit, escapes, picture):
    height, width = escapes.shape
    half = np.float32(0.5)
    for row in prange(height):
        cy = centre[1] + pixel * (np.float32(row) + half - half * np.float32(height))
        for column in range(width):
            cx = centre[0] + pixel * (np.float32(column) + half - half * np.float32(width))
            steps = escape_time(cx, cy, limit)
            escapes[row, column] = steps
            picture[row, column] = colour(steps, limit)


@inline
def pcg(number):
    state = np.uint32(number * np.uint32(747796405) + np.uint32(2891336453))
    word = np.uint32((state >> ((state >> np.uint32(28)) + np.uint32(4)) ^ state) * np.uint32(277803737))
    return np.uint32(word >> np.uint32(22) ^ word)


@kernel
def pcg_hash(seed, rounds, hashes, unit_floats):
    for i in prange(len(hashes)):
        number = np.uint32(i + seed)
        for _ in range(rounds):
            number = pcg(number)
        hashes[i] = number
        unit_floats[i] = np.float32(number >> np.uint32(9)) * np.float32(2.0**-23)


@kernel
def collatz(starts, lengths):
    largest = np.uint32((0xFFFFFFFF - 1) // 3)
    for i in prange(len(starts)):
        number = starts[i]
        steps = 0
        while number > np.uint32(1):
            if number & np.uint32(1) == 0:
                number >>= np.uint32(1)
            elif number > largest:
                steps = -1
                break
            else:
                number = np.uint32(np.uint32(3) * number + np.uint32(1))
            steps += 1
        lengths[i] = steps


@kernel
def grayscale(pixels, grey_pixels, range):
    darkest, brightest = range["darkest"][()], range["brightest"][()]
    for i in prange(len(pixels)):
        pixel = pixels[i]
        red, green = pixel & np.uint32(0xFF), pixel >> np.uint32(8) & np.uint32(0xFF)
        blue = pixel >> np.uint32(16) & np.uint32(0xFF)
        grey = np.uint32(red * np.uint32(77) + green * np.uint32(150) + blue * np.uint32(29)) >> np.uint32(8)
        grey_pixels[i] = grey * np.uint32(0x010101) | pixel & np.uint32(0xFF000000)
        darkest = min(darkest, grey)
        brightest = max(brightest, grey)
    range["darkest"][()] = darkest
    range["brightest"][()] = brightest


@inline
def expand_bits(value):
    v = np.uint32(value * np.uint32(0x00010001)) & np.uint32(0xFF0000FF)
    v = np.uint32(v * np.uint32(0x00000101)) & np.uint32(0x0F00F00F)
    v = np.uint32(v * np.uint32(0x00000011)) & np.uint32(0xC30C30C3)
    return np.uint32(v * np.uint32(0x00000005)) & np.uint32(0x49249249)


@kernel
def morton(positions, codes):
    for i in prange(len(codes)):
        code = np.uint32(0)
        for axis in range(3):
            cell = min(max(positions[i, axis] * np.float32(1024), np.float32(0)), np.float32(1023))
            code |= np.uint32(expand_bits(np.uint32(cell)) << np.uint32(2 - axis))
        codes[i] = code
