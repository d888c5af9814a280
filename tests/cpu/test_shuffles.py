"""Shuffles by constants of which LLVM takes wrong elements."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu import CpuOptions, compile_entry
from tinct.backend.cpu.gangs.values.vectors import is_miscompiled
from tinct.backend.cpu.target import current_target

TREES = """
@group(0) @binding(0) var<storage, read> x: array<TYPE>;
@group(0) @binding(1) var<storage, read_write> found: array<TYPE>;
var<workgroup> first: array<TYPE, 16>;
var<workgroup> second: array<TYPE, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) lane: u32) {
    first[lane] = x[lane];
    second[lane] = x[lane + 16];
    workgroupBarrier();
    for (var half = 8u; half > 0u; half /= 2u) {
        if lane < half {
            first[lane] = CALL(first[lane], first[lane + half]);
            second[lane] = CALL(second[lane], second[lane + half]);
        }
        workgroupBarrier();
    }
    if lane == 0u { found[0] = first[0] - second[0]; }
}
"""


@pytest.mark.parametrize("level", [*available(), "native"])
@pytest.mark.parametrize("call", ["min", "max"])
@pytest.mark.parametrize("type", ["i32", "u32", "f32"])
def test_two_trees_over_a_workgroup(type: str, call: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In both, lanes 0 and 1 take what lanes 2 and 3 have, of which only lane 0 counts in the end."""
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    main = tinct.load(TREES.replace("TYPE", type).replace("CALL", call))["main"]
    for seed in range(6):
        x = np.random.default_rng(seed).integers(1, 999, 32).astype({"f32": "f4", "i32": "i4", "u32": "u4"}[type])
        expected = getattr(x.reshape(2, 16), call)(axis=1)
        found = main.run({"x": x, "found": x[:1]}, workgroups=1, device="cpu")["found"]
        assert found == expected[:1] - expected[1:]


def test_which_shuffles_are_hidden() -> None:
    rest = list(range(4, 16))
    assert is_miscompiled([2, 3, 2, 3, *rest])
    assert is_miscompiled([2, 3, 0, 1, *rest])
    assert is_miscompiled([2, 3, 2, 3, 14, 15, *rest[:10]])
    assert not is_miscompiled([0, 1, 2, 3, *rest])
    assert not is_miscompiled([lane ^ 2 for lane in range(16)])
    assert not is_miscompiled([2, 3, 0, 1, 2, 3, 0, 1, 10, 11, 8, 9, 10, 11, 8, 9])
    assert not is_miscompiled([0, 1, 0, 1, *rest])
    assert not is_miscompiled([3, 2, 2, 3, *rest])
    assert not is_miscompiled([4, 5, 2, 3, *rest])
    assert not is_miscompiled([2, 3, 2, 3, 5, 6, *rest[2:]])


def test_they_are_hidden_where_vectors_have_16_words() -> None:
    kernel = tinct.load(TREES.replace("TYPE", "i32").replace("CALL", "max"))["main"]
    text = compile_entry(kernel.shader.compilation("main", {}).hercules, CpuOptions("gang")).llvm(optimised=False)
    assert ("avx512.permvar.si.512" in text) == current_target().has_avx512
