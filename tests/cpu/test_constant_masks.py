"""Masks of which some lanes are known: a sorting network whose threads decide by branches which way they sort."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu.target import compiling_for

SORT = """
@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
var<workgroup> s: array<u32, 128>;
@compute @workgroup_size(128) fn main(
    @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32
) {
    s[i] = keys[id.x];
    workgroupBarrier();
    for (var k = 2u; k <= 128u; k <<= 1u) {
        for (var j = k >> 1u; j > 0u; j >>= 1u) {
            let other = i ^ j;
            if other > i {
                let a = s[i];
                let b = s[other];
                let rises = (i & k) == 0u;
                if (rises && a > b) || (!rises && a < b) { s[i] = b; s[other] = a; }
            }
            workgroupBarrier();
        }
    }
    keys[id.x] = s[i];
}
"""


def test_keys_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    keys = np.random.default_rng(1).integers(0, 1 << 32, (5, 128), np.uint32)
    keys[3] = np.arange(128, 0, -1)
    keys[4] = keys[4] % 7
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = tinct.load(SORT)["main"].run({"keys": keys.reshape(-1)}, workgroups=5)["keys"]
        np.testing.assert_array_equal(found.reshape(5, 128), np.sort(keys, axis=1), err_msg=level)


def test_constant_masks_are_hidden() -> None:
    """LLVM would make shuffles of bits of them."""
    with compiling_for("x86-64-v4"):
        assert 'asm "", "=r,0"(i16' in tinct.load(SORT).compilation("main", {}).cpu.llvm(optimised=True)
