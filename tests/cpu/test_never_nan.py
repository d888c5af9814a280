"""Least and greatest values of which one operand is known to be no NaN."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.never_nan import is_never_nan
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import F32

KERNEL = """
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
    var best = START;
    for (var k = 0u; k < n; k++) {
        let v = x[g.x + k * 64u];
        BODY
    }
    out[g.x] = best;
}
"""
CASES = {
    "max": "best = max(best, v);",
    "min": "best = min(best, v);",
    "max, turned": "best = max(v, best);",
    "min, turned": "best = min(v, best);",
    "under a branch": "if k % 3u != 1u { best = min(best, v); }",
    "of two": "let w = max(abs(best), v); best = max(-w, select(v, w, best > 0.0));",
    "alternating": "let other = max(best, 0.0); best = select(max(v, other), min(other, v), k % 2u == 0u);",
}
ODD = np.array([np.nan, -0.0, 0.0, 1.5, -2.0, np.inf, -np.inf], np.float32)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("start", ["0.0", "-3.0", "x[g.x]", "bitcast<f32>(0x7fc00000u + g.x)"])
def test_answers_are_those_of_the_interpreter(name: str, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tinct.load(KERNEL.replace("BODY", CASES[name]).replace("START", start))["main"]
    x = np.array(list(itertools.product(ODD, repeat=3))[:320], np.float32).reshape(64, 15).T.ravel()
    given: dict[str, Any] = {"x": x, "n": np.uint32(15), "out": np.zeros(64, np.float32)}
    expected = kernel.run(given, threads=64, device="interp")["out"]
    bits = np.where(np.isnan(expected), np.float32(np.nan), expected).view(np.uint32)
    for tier, target in itertools.product(("gang", "baseline"), ("native", "x86-64-v3", "x86-64-v2")):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        monkeypatch.setenv("TINCT_CPU_TARGET", target)
        found = kernel.run(given, threads=64)["out"]
        found = np.where(np.isnan(found), np.float32(np.nan), found)
        np.testing.assert_array_equal(found.view(np.uint32), bits, err_msg=f"{tier}, {target}")


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize(("start", "is_number"), [("0.0", True), ("x[g.x]", False)])
def test_a_number_needs_no_test(name: str, start: str, is_number: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = tinct.load(KERNEL.replace("BODY", CASES[name]).replace("START", start))["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert ("fcmp uno" in text or "@llvm.x86.avx512.mask.fixupimm" in text) is not is_number


def test_what_loops_carry() -> None:
    start, region = h.Start(), h.Region([])
    unknown, zero = h.Parameter(0, label="v"), h.ConstantNode(h.ZeroConstant(F32))
    types: dict[h.Node, h.Type] = {unknown: F32}
    region.predecessors = [start, region]
    carried, sum = h.Phi(region, []), h.Phi(region, [])
    most = h.Intrinsic("max", F32, [carried, unknown])
    carried.values = [zero, h.Intrinsic("abs", F32, [most])]
    sum.values = [zero, h.Binary(h.BinaryOp.ADD, sum, unknown)]
    assert is_never_nan(carried, types)
    assert is_never_nan(most, types)
    assert not is_never_nan(sum, types)
    assert not is_never_nan(h.Intrinsic("max", F32, [sum, unknown]), types)
    carried.values[0] = unknown
    assert not is_never_nan(most, types)
