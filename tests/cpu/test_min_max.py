"""min and max of floats in gangs: a NaN loses against a number, and of two zeros the first is the result, in vectors
of all sizes.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct

TEXT = """
@group(0) @binding(0) var<storage> left: array<f32>;
@group(0) @binding(1) var<storage> right: array<f32>;
@group(0) @binding(2) var<storage, read_write> least: array<f32>;
@group(0) @binding(3) var<storage, read_write> greatest: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&least) {
        least[id.x] = min(left[id.x], right[id.x]);
        greatest[id.x] = max(left[id.x], right[id.x]);
    }
}
"""
NUMBERS = np.array([0.0, -0.0, 1.0, -1.0, 1.5, -2.0, np.inf, -np.inf, 1e-40, -1e-40, 3.4e38], np.float32)
NANS = np.array([0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFBFFFFF], np.uint32)  # quiet ones, signalling ones
VALUES = np.concatenate([NUMBERS.view(np.uint32), NANS])


def answer(device: str) -> dict[str, np.ndarray]:
    left, right = np.array(list(product(VALUES, VALUES)), np.uint32).T.copy().view(np.float32)
    results = {"least": np.zeros(left.size, np.float32), "greatest": np.zeros(left.size, np.float32)}
    return tinct.load(TEXT)["main"].run({"left": left, "right": right, **results}, threads=left.size, device=device)


@pytest.mark.parametrize("name", ["least", "greatest"])
def test_bits_are_those_of_the_interpreter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer("interp")[name]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = answer("cpu")[name]
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=level)
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(found.view(np.uint32)[is_number], expected.view(np.uint32)[is_number], level)
