"""Vectors of integers divided by one number: exact at the ends of the range and beside multiples, on all targets."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.target import LEVELS, compiling_for, current_target
from tinct.base.errors import InputError

KERNEL = """
@group(0) @binding(0) var<uniform> divisor: TYPE;
@group(0) @binding(1) var<storage> given: array<TYPE>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<TYPE>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = given[id.x];
    found[id.x] = vec2<TYPE>(x / divisor, x % divisor);
}
"""
ENDS = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}


def numbers(type: str, divisor: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The ends of the range, numbers around multiples of the divisor, and random ones."""
    least, most = ENDS[type]
    random = np.random.default_rng(1).integers(least, most, 512, endpoint=True)
    multiples = random[:200] // (divisor or 1) * divisor
    ends = [it + step for it in (least, 0, most) for step in range(-2, 3)]
    found = np.concatenate([random, multiples - 1, multiples, multiples + 1, np.array(ends)])
    return np.clip(found, least, most)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("type", ENDS)
def test_quotients_and_remainders_are_exact(type: str, level: str) -> None:
    kernel = tinct.load(KERNEL.replace("TYPE", type))["main"]
    least, most = ENDS[type]
    divisors = [0, 1, 2, 3, 7, 641, 65535, 65536, 65537, most // 2, most // 2 + 1, most - 1, most]
    divisors += [] if least == 0 else [-1, -2, -3, -65537, least, least + 1]
    with compiling_for(level):
        try:
            current_target()
        except InputError as error:
            pytest.skip(str(error))
        for divisor in divisors:
            given = numbers(type, divisor).astype(type.replace("u32", "uint32").replace("i32", "int32"))
            buffers = {"divisor": divisor, "given": given, "found": np.zeros((len(given), 2), given.dtype)}
            expected = kernel.run(buffers, threads=len(given), device="interp")["found"]
            found = kernel.run(buffers, threads=len(given), device="cpu")["found"]
            np.testing.assert_array_equal(found, expected, err_msg=f"divided by {divisor}")
