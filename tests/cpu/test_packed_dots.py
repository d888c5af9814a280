"""Inner products of packed bytes, in vectors of all sizes and as scalars."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.target import LEVELS, compiling_for, current_target
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


def kernel(tier: Tier, text: str = SHADER) -> CompiledKernel:
    made = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
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


SUMS = """
@group(0) @binding(0) var<storage> x: array<u32, 4160>;
@group(0) @binding(1) var<storage, read_write> y: array<array<u32, 6>, 64>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    var signed = -5i;
    var unsigned = 0xffffff00u;
    for (var k = 0u; k < 64u; k++) {
        signed += dot4I8Packed(x[k], x[id.x * 64u + k]);
        unsigned = dot4U8Packed(x[id.x * 64u + k], x[k]) + unsigned;
    }
    let both = dot4I8Packed(x[id.x], x[id.x + 1u]) + dot4I8Packed(x[id.x + 2u], x[7]);
    let less = dot4U8Packed(x[id.x], x[9]) - dot4U8Packed(x[id.x], x[id.x + 3u]);
    let alone = dot4U8Packed(x[id.x * 3u], x[id.x * 5u]);
    y[id.x] = array(bitcast<u32>(signed), unsigned, bitcast<u32>(both), less, alone,
        bitcast<u32>(7i - dot4I8Packed(x[id.x], x[id.x * 9u])));
}
"""


@pytest.mark.parametrize("target", ["native", *LEVELS])
@pytest.mark.parametrize("tier", ["gang", "lane"])
def test_sums_with_products_of_bytes(tier: Tier, target: str) -> None:
    words = np.random.default_rng(6).choice(np.array(BYTES, np.uint8), (4160, 4)).view(np.uint32)
    used = {"x": words.reshape(-1), "y": np.zeros((64, 6), np.uint32)}
    expected = tinct.load(SUMS)["main"].run(used, workgroups=1, device="interp")["y"]
    with compiling_for(target):
        compiled = kernel(tier, SUMS)
        compiled.run([it.view(np.uint8).reshape(-1) for it in used.values()], (1, 1, 1), workers=1)
        has_products = "vpdpbusd" in compiled.llvm(optimised=False)
        assert has_products == (tier == "gang" and current_target().has_byte_products)
    np.testing.assert_array_equal(used["y"], expected)
