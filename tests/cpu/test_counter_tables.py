"""Lanes that count in several tables of one binding."""

from __future__ import annotations

import numpy as np
import pytest

import tinct

KERNEL = """
@group(0) @binding(0) var<storage> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>SIZE>;
@group(0) @binding(2) var<storage, read_write> others: array<atomic<i32>, 100>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
    let word = words[g.x % arrayLength(&words)];
    atomicAdd(&others[word % 7u], i32(word));
    BODY
}
"""
COUNTED = {
    "remainders": "atomicAdd(&counts[word % 50u], 1u);",
    "bytes": "atomicAdd(&counts[word & 255u], word); atomicSub(&counts[extractBits(word, 8u, 8u)], 2u);",
    "some lanes": "if word % 3u == 0u { atomicAdd(&counts[min(word, 60u)], 1u); }",
    "side by side": "atomicAdd(&counts[g.x & 31u], 1u); atomicAdd(&counts[word >> 27u], 1u);",
    "one counter": "atomicAdd(&counts[word % 20u], 1u); atomicAdd(&counts[3], word);",
    "clamped": "atomicAdd(&counts[word % 1000u], 1u);",
}
OTHERS = {
    "any element": "atomicAdd(&counts[word], 1u);",
    "others than sums": "atomicOr(&counts[word % 50u], word);",
    "old values": "let old = atomicAdd(&counts[word % 50u], 1u); atomicAdd(&others[90], i32(old));",
    "loaded": "atomicAdd(&counts[word % 50u], 1u); atomicAdd(&others[90], i32(atomicLoad(&counts[0])));",
}
SIZES = {"": (300, 64, 5, 1), ", 50": (50,), ", 64": (64,)}


def kernel(body: str, size: str) -> tinct.Kernel:
    return tinct.load(KERNEL.replace("SIZE", size).replace("BODY", body))["main"]


def answer(kernel: tinct.Kernel, device: str, length: int) -> list[np.ndarray]:
    words = np.random.default_rng(6).integers(0, 1 << 32, 90).astype(np.uint32)
    words[20:60] = words[20]
    buffers = {
        "words": words,
        "counts": np.arange(length, dtype=np.uint32),
        "others": np.arange(100, dtype=np.int32),
    }
    result = kernel.run(buffers, workgroups=3, device=device)
    return [result["counts"], result["others"]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*COUNTED, "any element", "others than sums"])
@pytest.mark.parametrize("level", ["", "x86-64-v3"])
def test_answers(name: str, size: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    it = kernel((COUNTED | OTHERS)[name], size)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    if level:
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
    for length in SIZES[size]:
        for found, expected in zip(answer(it, "cpu", length), answer(it, "interp", length), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [*COUNTED, *OTHERS])
def test_tables_are_used_for_few_counters(name: str) -> None:
    text = kernel((COUNTED | OTHERS)[name], "").shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert ("%tables1" in text) == (name in COUNTED)
    assert "%tables2" in text
