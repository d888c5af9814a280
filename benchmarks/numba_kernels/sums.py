# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import get_num_threads, prange

from .compiled import kernel


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
def reduce_halving(values, block_sums, block):
    for number in prange(len(block_sums)):
        total = np.float32(0)
        for i in range(number * block, min(len(values), (number + 1) * block)):
            total += values[i]
        block_sums[number] = total


@kernel
def reduce_interleaved(values, block_sums):
    for number in prange(len(block_sums)):
        total = np.uint32(0)
        for i in range(number * 256, min(len(values), (number + 1) * 256)):
            total += values[i]
        block_sums[number] = total


@kernel
def reduce_ring(values, extremes, scaled):
    for number in prange(len(extremes)):
        start, end = number * 128, min(len(values), (number + 1) * 128)
        least = greatest = values[start]
        for i in range(start, end):
            least = min(least, values[i])
            greatest = max(greatest, values[i])
        extremes[number, 0] = least
        extremes[number, 1] = greatest
        for i in range(start, end):
            scaled[i] = np.float32(0) if least == greatest else (values[i] - least) / (greatest - least)


@kernel
def reduce_strided(x, y, partial_products):
    groups = len(partial_products)
    for group in prange(groups):
        total = np.float32(0)
        for start in range(group * 256, len(x), groups * 256):
            for i in range(start, min(len(x), start + 256)):
                total += x[i] * y[i]
        partial_products[group] = total


@kernel
def histogram_coalesced(keys, counts):
    threads = get_num_threads()
    mine = np.zeros((threads, 256), np.uint32)
    for thread in prange(threads):
        for i in range(len(keys) * thread // threads, len(keys) * (thread + 1) // threads):
            mine[thread, keys[i] >> np.uint32(24)] += 1
    for thread in range(threads):
        for bin in range(256):
            counts[bin] += mine[thread, bin]


@kernel
def histogram_blocked(samples, histogram):
    threads = get_num_threads()
    mine = np.zeros((threads, 128), np.uint32)
    for thread in prange(threads):
        for i in range(len(samples) * thread // threads, len(samples) * (thread + 1) // threads):
            bin = min(max(samples[i] * np.float32(128), np.float32(0)), np.float32(127))
            mine[thread, np.int64(bin)] += 1
    for thread in range(threads):
        for bin in range(128):
            histogram[bin] += mine[thread, bin]


@kernel
def histogram_bytes(length, text, frequencies):
    threads = get_num_threads()
    mine = np.zeros((threads, 256), np.uint32)
    letters = text.view(np.uint8)
    for thread in prange(threads):
        for i in range(np.int64(length) * thread // threads, np.int64(length) * (thread + 1) // threads):
            mine[thread, letters[i]] += 1
    for thread in range(threads):
        for bin in range(256):
            frequencies[bin] += mine[thread, bin]


@kernel
def histogram_rgb(pixels, counts):
    threads = get_num_threads()
    mine = np.zeros((threads, 768), np.uint32)
    flat = pixels.reshape(-1)
    for thread in prange(threads):
        for i in range(len(flat) * thread // threads, len(flat) * (thread + 1) // threads):
            pixel = flat[i]
            for channel in range(3):
                mine[thread, 256 * channel + (pixel >> np.uint32(8 * channel) & np.uint32(255))] += 1
    for thread in range(threads):
        for bin in range(768):
            counts[bin] += mine[thread, bin]


scan_raking = scan_hillis_steele
scan_sklansky = scan_hillis_steele
scan_kogge_stone = scan_hillis_steele
scan_blelloch_pairs = scan_blelloch


@kernel
def scan_lookback(values, sums):
    threads = get_num_threads()
    part_sums = np.zeros(threads, np.uint32)
    for thread in prange(threads):
        total = np.uint32(0)
        for i in range(len(values) * thread // threads, len(values) * (thread + 1) // threads):
            total += values[i]
        part_sums[thread] = total
    for thread in prange(threads):
        total = np.uint32(0)
        for part in range(thread):
            total += part_sums[part]
        for i in range(len(values) * thread // threads, len(values) * (thread + 1) // threads):
            total += values[i]
            sums[i] = total & np.uint32(0x3FFFFFFF)


compact_scan = compact


@kernel
def compact_ballot(nearest, farthest, depth, visible, counts):
    for block in prange(len(counts)):
        found = 0
        for i in range(block * 256, min(len(depth), (block + 1) * 256)):
            if depth[i] > nearest and depth[i] < farthest:
                visible[block * 256 + found] = i
                found += 1
        counts[block] = found
