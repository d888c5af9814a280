"""Gathers of scalars that are smaller than a word: they come out of the words that they are in, up to the last one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, compile_entry
from tinct.backend.cpu.target import LEVELS
from tinct.ir.source import Source
from tinct.shader import Shader

KERNEL = """
enable f16;
struct Three { first: f16, second: f16, third: f16 }
@group(0) @binding(0) var<storage> index: array<u32>;
@group(0) @binding(1) var<storage> halves: array<f16>;
@group(0) @binding(2) var<storage> threes: array<Three>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
var<workgroup> few: array<f16, 37>;
var<workgroup> flags: array<bool, 61>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
    if (t < 37u) { few[t] = f16(t); }
    if (t < 61u) { flags[t] = t % 5u < 2u; }
    workgroupBarrier();
    let i = index[g.x];
    var found = vec4f(-1.0);
    if (i % 3u != 1u) {
        found = vec4f(f32(halves[i]), f32(threes[i].second), f32(few[i % 37u]), f32(flags[i % 61u]));
    }
    out[g.x] = found;
}
"""
COUNT = 250
"""The elements of each array: bindings end with the last one's last word."""
LEVELS_OF_WORDS = ("x86-64-v3", "x86-64-v4")
"""Those whose processors gather words."""


def compiled() -> CompiledKernel:
    kernel = Shader(Source.from_text(KERNEL))["main"]
    return compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules)


@pytest.mark.parametrize("cpu_target", LEVELS, indirect=True)
def test_small_scalars_are_gathered(cpu_target: str) -> None:
    rng = np.random.default_rng(0)
    index = np.concatenate([rng.integers(0, COUNT, 126), [COUNT - 1, 0]]).astype(np.uint32)
    halves = rng.integers(-99, 99, COUNT).astype(np.float16)
    threes = rng.integers(-99, 99, (COUNT, 3)).astype(np.float16)
    out = np.zeros((128, 4), np.float32)
    compiled().run([index, halves, threes, out], (2, 1, 1), workers=1)
    columns = halves[index], threes[index, 1], index % 37, index % 61 % 5 < 2
    expected = np.where((index % 3 != 1)[:, None], np.stack(columns, 1), -1)
    np.testing.assert_array_equal(out, expected, err_msg=cpu_target)


@pytest.mark.parametrize("cpu_target", LEVELS, indirect=True)
def test_processors_with_gathers_gather_words(cpu_target: str) -> None:
    """LLVM makes a branch and a load for each lane of a gather of smaller scalars."""
    names = re.findall(r"call [^@]*@llvm\.masked\.gather\.v\d+(\w+)\.", compiled().llvm(optimised=False))
    has_small = not {"f16", "i8"}.isdisjoint(names)
    assert has_small == (cpu_target not in LEVELS_OF_WORDS), str(names)
