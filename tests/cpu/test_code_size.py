"""Loops are unrolled up to an amount of code, so that the time of compiling stays in proportion to the kernel."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu.device import CompiledKernel, compile_entry
from tinct.backend.cpu.gangs import budgets
from tinct.backend.cpu.llvm import FunctionText, ModuleText
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.to_hercules import translate

NEST = """
    for (var x = 0u; x < 8u; x++) {
        var s = 0.0;
        for (var i = 0u; i < 7u; i++) {
            for (var k = 0u; k < 7u; k++) { s += a[(g.x + i) * 40u + x + k] * w[i * 7u + k]; }
        }
        b[(g.x * 8u + x) * NESTSu + NUMBERu] = s;
    }
"""


def compiled(text: str) -> CompiledKernel:
    return compile_entry(translate(build(load_program(Source.from_text(text))), "main"))


def kernel(nests: int) -> CompiledKernel:
    """Weighted sums of 7 times 7 elements, in loops of 8 turns, one after another."""
    body = "".join(NEST.replace("NESTS", str(nests)).replace("NUMBER", str(it)) for it in range(nests))
    text = f"""
@group(0) @binding(0) var<storage> a: array<f32>;
@group(0) @binding(1) var<storage> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {{{body}}}"""
    return compiled(text)


def test_loops_are_unrolled_until_that_is_too_much_code() -> None:
    out = FunctionText(ModuleText())
    out.open("entry")
    for _ in range(100):
        out.do("")
    assert out.unrolled_loop(0, 3, 5000)
    assert out.size == 300, "three copies"
    assert out.unrolled_loop(0, 10, 5000), "of a loop inside of which is the other"
    assert out.size == 3000
    assert not out.unrolled_loop(0, 2, 5000)
    assert out.size == 3000, "it stays a loop"
    assert out.unrolled_loop(2900, 2, 5000), "a smaller one"


def test_of_many_nests_some_stay_loops() -> None:
    """Twelve of them have megabytes of code when all are unrolled."""

    def count(nests: int) -> int:
        return len(re.findall(r"br i1 .*, !llvm\.loop", kernel(nests).llvm(optimised=False)))

    assert 0 < count(12) < 12 * count(1)


def test_code_of_many_blocks_goes_through_no_passes_for_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kernel(1).llvm(optimised=True)
    monkeypatch.setattr(budgets, "BLOCKS", 1)
    large = kernel(1).llvm(optimised=True)
    assert large.count("fmul") < before.count("fmul"), "loops are unrolled before only"
    answers_stay(1)


@pytest.mark.parametrize("nests", [1, 12])
def test_answers_stay(nests: int) -> None:
    answers_stay(nests)


def answers_stay(nests: int) -> None:
    made = kernel(nests)
    rng = np.random.default_rng(0)
    a, w = rng.random((70, 40), np.float32), rng.random((7, 7), np.float32)
    b = np.zeros((64, 8, nests), np.float32)
    made.run([a, w, b], (1, 1, 1), workers=1)
    expected = np.lib.stride_tricks.sliding_window_view(a, (7, 7))[:64, :8]
    np.testing.assert_allclose(b, np.repeat((expected * w).sum((2, 3))[..., None], nests, 2), rtol=1e-5)


def sums_of_rows(rows: int) -> CompiledKernel:
    """A workgroup adds up one row after another, and joins what its threads have by halves."""
    halves = "".join(f"if l.x < {it}u {{ parts[l.x] += parts[l.x + {it}u]; }} workgroupBarrier();" for it in (4, 2, 1))
    text = f"""
@group(0) @binding(0) var<storage> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
var<workgroup> parts: array<f32, 8>;
@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) w: vec3u, @builtin(local_invocation_id) l: vec3u) {{
    for (var row = 0u; row < {rows}u; row++) {{
        var sum = 0.0;
        for (var k = 0u; k < 30u; k++) {{ sum += a[(w.x * {rows}u + row) * 240u + k * 8u + l.x]; }}
        parts[l.x] = sum;
        workgroupBarrier();
        {halves}
        if l.x == 0u {{ b[w.x * {rows}u + row] = parts[0]; }}
        workgroupBarrier();
    }}
}}"""
    return compiled(text)


def test_loops_whose_counters_decide_nothing_stay_loops() -> None:
    """Where rows lie depends on the workgroup, too."""
    few, many = (sums_of_rows(it).llvm(optimised=True).count(" fadd ") for it in (2, 12))
    assert few == many
    a, b = np.arange(3 * 12 * 240, dtype=np.float32) % 7, np.zeros(3 * 12, np.float32)
    sums_of_rows(12).run([a, b], (3, 1, 1))
    assert np.array_equal(b, a.reshape(-1, 240).sum(axis=1))
