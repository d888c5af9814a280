"""Zeros before and after the bits of integers, in gangs for every level of the processor."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct

TEXT = """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> unsigned: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> signed: array<vec4i>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let u = values[id.x];
    let i = bitcast<i32>(u);
    unsigned[id.x] = vec4u(countLeadingZeros(u), countTrailingZeros(u), firstLeadingBit(u), firstTrailingBit(u));
    signed[id.x] = vec4i(countLeadingZeros(i), countTrailingZeros(i), firstLeadingBit(i), firstTrailingBit(i));
}
"""


def numbers() -> np.ndarray:
    """Each power of two, its neighbours, all bits from it on, and random numbers of each length."""
    powers = np.uint64(1) << np.arange(33, dtype=np.uint64)
    random = np.random.default_rng(8).integers(0, 1 << 32, 320, dtype=np.uint64)
    lengths = np.arange(320, dtype=np.uint64) % np.uint64(32)
    one, end = np.uint64(1), np.uint64(1 << 32)
    found = np.concatenate([powers, powers - one, powers + one, end - powers, random >> lengths])
    padded = np.zeros(-(-len(found) // 64) * 64, np.uint64)
    padded[: len(found)] = found
    return padded.astype(np.uint32)


@pytest.mark.parametrize("level", available())
def test_counts(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = numbers()
    zeros = {"unsigned": np.zeros((len(values), 4), np.uint32), "signed": np.zeros((len(values), 4), np.int32)}
    buffers = {"values": values, **zeros}
    expected = tinct.load(TEXT)["main"].run(buffers, threads=len(values), device="interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    found = tinct.load(TEXT)["main"].run(buffers, threads=len(values), device="cpu")
    for name in zeros:
        np.testing.assert_array_equal(found[name], expected[name])
    in_python = [32 - int(it).bit_length() for it in values]
    np.testing.assert_array_equal(found["unsigned"][:, 0], in_python)
