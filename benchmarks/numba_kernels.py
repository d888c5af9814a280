"""Kernels as a Numba user writes them: loops, the outermost in parallel, no fastmath.

Parameters name buffers, sizes, constants or fields of uniform structures.
"""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np
from numba import get_num_threads, njit, prange

kernel = njit(parallel=True, fastmath=False, error_model="numpy")
inline = njit(fastmath=False, error_model="numpy")


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
def reduce(values, partial_sums):
    for block in prange(len(partial_sums)):
        total = np.float32(0)
        for i in range(block * 512, min(len(values), (block + 1) * 512)):
            total += values[i]
        partial_sums[block] = total


@kernel
def histogram_local(words, counts):
    threads = get_num_threads()
    mine = np.zeros((threads, 256), np.uint32)
    for thread in prange(threads):
        for i in range(len(words) * thread // threads, len(words) * (thread + 1) // threads):
            word = words[i]
            for byte in range(4):
                mine[thread, word >> np.uint32(8 * byte) & np.uint32(0xFF)] += 1
    for thread in range(threads):
        for bin in range(256):
            counts[bin] += mine[thread, bin]


histogram_global = histogram_local


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
def transpose(matrix, transposed):
    rows, columns = matrix.shape
    tile = 16
    for chunk in prange((rows + tile - 1) // tile):
        for left in range(0, columns, tile):
            for column in range(left, min(columns, left + tile)):
                for row in range(chunk * tile, min(rows, (chunk + 1) * tile)):
                    transposed[column, row] = matrix[row, column]


@kernel
def nbody(bodies, velocities, moved, time_step, softening_squared):
    for i in prange(len(bodies)):
        ax = ay = az = np.float32(0)
        for j in range(len(bodies)):
            x, y, z = bodies[j, 0] - bodies[i, 0], bodies[j, 1] - bodies[i, 1], bodies[j, 2] - bodies[i, 2]
            squared = x * x + y * y + z * z + softening_squared
            strength = bodies[j, 3] / (squared * np.sqrt(squared))
            ax += strength * x
            ay += strength * y
            az += strength * z
        velocities[i, 0] += time_step * ax
        velocities[i, 1] += time_step * ay
        velocities[i, 2] += time_step * az
        velocities[i, 3] = 0
        for axis in range(3):
            moved[i, axis] = bodies[i, axis] + time_step * velocities[i, axis]
        moved[i, 3] = bodies[i, 3]


@kernel
def scan_hillis_steele(values, sums, block_sums, width):
    for block in prange(len(block_sums)):
        total = np.uint32(0)
        for i in range(block * width, min(len(values), (block + 1) * width)):
            total += values[i]
            sums[i] = total
        block_sums[block] = total


@kernel
def scan_blelloch(values, sums, block_sums, block):
    for number in prange(len(block_sums)):
        total = np.int32(0)
        for i in range(number * block, min(len(values), (number + 1) * block)):
            sums[i] = total
            total += values[i]
        block_sums[number] = total


@kernel
def bitonic_step(keys, block, reach):
    for i in prange(len(keys)):
        partner = i ^ reach
        if i < partner < len(keys):
            lower, upper = keys[i], keys[partner]
            if (lower > upper) == (i & block == 0):
                keys[i], keys[partner] = upper, lower


@kernel
def bitonic_sort(keys, width):
    for number in prange((len(keys) + width - 1) // width):
        block = np.full(width, 0xFFFFFFFF, np.uint32)
        mine = keys[number * width : (number + 1) * width]
        block[: len(mine)] = mine
        run = 2
        while run <= width:
            reach = run // 2
            while reach > 0:
                for i in range(width):
                    partner = i ^ reach
                    if partner > i and (block[i] > block[partner]) == (i & run == 0):
                        block[i], block[partner] = block[partner], block[i]
                reach //= 2
            run *= 2
        mine[:] = block[: len(mine)]


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
def compact(threshold, values, count, kept):
    threads = get_num_threads()
    found = np.zeros(threads + 1, np.int64)
    for thread in prange(threads):
        for i in range(len(values) * thread // threads, len(values) * (thread + 1) // threads):
            found[thread + 1] += values[i] > threshold
    places = np.cumsum(found)
    for thread in prange(threads):
        place = places[thread]
        for i in range(len(values) * thread // threads, len(values) * (thread + 1) // threads):
            if values[i] > threshold:
                kept[place].index = i
                kept[place].value = values[i]
                place += 1
    count[()] = places[-1]


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
