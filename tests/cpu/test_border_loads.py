"""Loads from buffers at positions that are clamped for some lanes, at all sizes around that of a vector: the
interpreter's answers, on all levels of the processor.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.memory.windows import windows_pay
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.target import current_target

KERNEL = """
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<uniform> n: i32;
@group(0) @binding(2) var<storage, read_write> found: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
    let last = i32(arrayLength(&x)) - 1;
    let i = i32(g.x) + n;
    found[g.x] = x[POSITION];
}
"""
POSITIONS = {
    "clamp": "clamp(i, 0, last)",
    "min and max": "max(0, min(i, last))",
    "an upper end": "min(g.x, 40u)",
    "select": "select(i, last, i > last)",
    "a remainder": "u32(i + 1000) % arrayLength(&x)",
    "by itself": "i",
}


@pytest.mark.parametrize("name", POSITIONS)
def test_answers(name: str) -> None:
    kernel = tinct.load(KERNEL.replace("POSITION", POSITIONS[name]))["main"]
    for size in (1, 3, 8, 15, 16, 17, 31, 100, 128):
        x = np.arange(1, size + 1, dtype=np.float32)
        for begin in (0, -3, -20, 5, 90, -(2**31), 2**31 - 40):
            buffers = {"x": x, "n": np.int32(begin), "found": np.zeros(128, np.float32)}
            found, expected = (kernel.run(buffers, workgroups=2, device=it)["found"] for it in ("cpu", "interp"))
            np.testing.assert_array_equal(found, expected, err_msg=f"{size} elements from {begin} on")


def test_clamped_words_are_picked_from_a_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (current_target().has_avx2 and windows_pay(costs_so_far().access)):
        pytest.skip("gathers take no longer here")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = tinct.load(KERNEL.replace("POSITION", POSITIONS["clamp"]))["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert re.search(r"call .*@llvm\.x86\.avx\w*\.(vpermi2var|permd)", text)
