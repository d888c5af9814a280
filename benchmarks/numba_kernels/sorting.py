# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import prange

from .compiled import inline, kernel


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


@kernel
def bitonic_pairs(keys, width):
    for number in prange((len(keys) + width - 1) // width):
        block = np.full(width, 0x7FFFFFFF, np.int32)
        mine = keys[number * width : (number + 1) * width]
        block[: len(mine)] = mine
        run = 2
        while run <= width:
            reach = run // 2
            while reach > 0:
                for t in range(width // 2):
                    i = 2 * t - (t & (reach - 1))
                    if (block[i] > block[i + reach]) == (i & run == 0):
                        block[i], block[i + reach] = block[i + reach], block[i]
                reach //= 2
            run *= 2
        mine[:] = block[: len(mine)]


@kernel
def bitonic_records(records, width):
    for number in prange((len(records) + width - 1) // width):
        mine = records[number * width : (number + 1) * width]
        keys, values = np.full(width, 0xFFFFFFFF, np.uint32), np.zeros(width, np.uint32)
        for i in range(len(mine)):
            keys[i], values[i] = mine[i].key, mine[i].value
        run = 2
        while run <= width:
            reach = run // 2
            while reach > 0:
                for t in range(width // 2):
                    i = 2 * t - (t & (reach - 1))
                    if (keys[i] > keys[i + reach]) == (i & run == 0):
                        keys[i], keys[i + reach] = keys[i + reach], keys[i]
                        values[i], values[i + reach] = values[i + reach], values[i]
                reach //= 2
            run *= 2
        for i in range(len(mine)):
            mine[i].key, mine[i].value = keys[i], values[i]


@inline
def order(block, low, high):
    a, b = block[low], block[high]
    block[low] = min(a, b)
    block[high] = max(a, b)


@kernel
def odd_even_merge(keys):
    for number in prange((len(keys) + 511) // 512):
        block = np.full(512, 3.4028234e38, np.float32)
        mine = keys[number * 512 : (number + 1) * 512]
        block[: len(mine)] = mine
        size = 2
        while size <= 512:
            for run in range(0, 512, size):
                for i in range(run, run + size // 2):
                    order(block, i, i + size // 2)
            reach = size // 4
            while reach > 0:
                for run in range(0, 512, size):
                    for pair in range(run + reach, run + size - 2 * reach + 1, 2 * reach):
                        for i in range(pair, pair + reach):
                            order(block, i, i + reach)
                reach //= 2
            size *= 2
        mine[:] = block[: len(mine)]


@kernel
def radix_pass(shift, keys, sorted, digit_counts):
    for block in prange((len(keys) + 1023) // 1024):
        start, end = block * 1024, min(len(keys), (block + 1) * 1024)
        places = np.zeros(16, np.int64)
        for i in range(start, end):
            places[keys[i] >> shift & np.uint32(15)] += 1
        place = start
        for digit in range(16):
            count = places[digit]
            digit_counts[16 * block + digit] = count
            places[digit] = place
            place += count
        for i in range(start, end):
            digit = keys[i] >> shift & np.uint32(15)
            sorted[places[digit]] = keys[i]
            places[digit] += 1
