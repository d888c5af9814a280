"""Inner products of packed bytes, in vectors of all sizes and as scalars."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

SHADER = """
@group(0) @binding(0) var<storage> x: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2i>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let words = x[id.x];
    y[id.x] = vec2i(dot4I8Packed(words.x, words.y), i32(dot4U8Packed(words.x, words.y)));
}
"""
BYTES = (0, 1, 127, 128, 255)


def kernel(tier: Tier) -> CompiledKernel:
    made = translate(build(load_program(Source("test.wgsl", SHADER.encode()))), "main")
    return compile_entry(made, CpuOptions(tier))


@pytest.mark.parametrize(("target", "paired"), [("x86-64-v2", "sse2"), ("x86-64-v3", "avx2"), ("x86-64-v4", "avx512")])
@pytest.mark.parametrize("tier", ["gang", "lane"])
def test_products_of_bytes(tier: Tier, target: str, paired: str) -> None:
    given = np.random.default_rng(2).choice(np.array(BYTES, np.uint8), (4096, 2, 4))
    found = np.zeros((4096, 2), np.int32)
    with compiling_for(target):
        compiled = kernel(tier)
        compiled.run([given.reshape(-1), found.view(np.uint8).reshape(-1)], (64, 1, 1), workers=1)
        assert (f"llvm.x86.{paired}.pmadd" in compiled.llvm(optimised=False)) == (tier == "gang")
    for number, dtype in enumerate((np.int8, np.uint8)):
        left, right = (given[:, it].view(dtype).astype(np.int32) for it in (0, 1))
        assert found[:, number].tolist() == (left * right).sum(axis=1).tolist()
