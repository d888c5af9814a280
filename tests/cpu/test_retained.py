"""Values used after loops that lanes leave one by one: the interpreter's answers on all levels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct

COUNT = 192
FRAME = """
@group(0) @binding(0) var<storage> limits: array<u32>;
@group(0) @binding(1) var<storage> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec2f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= 180u { return; }
    var a = f32(id.x);
    var b = 1.0;
    let most = limits[id.x];
    BODY
    sums[id.x] = vec2f(a, b);
}
"""
LOOPS = {
    "plain": "for (var i = 0u; i < most; i++) { a += values[i]; b = a; }",
    "continue first": "for (var i = 0u; i < most; i++) { if values[i] < 0.0 { continue; } a += values[i]; b -= a; }",
    "continue last": "for (var i = 0u; i < most; i++) { a += values[i]; if values[i] < 1.0 { continue; } b += 1.0; }",
    "break": "for (var i = 0u; i < most; i++) { a += values[i]; if a > 40.0 { break; } b += values[i] * a; }",
    "break after a choice": """for (var i = 0u; i < most; i++) {
        if values[i] > 0.0 { a += values[i]; b += 1.0; }
        if a > 60.0 { break; }
    }""",
    "choices in choices": """for (var i = 0u; i < most; i++) {
        if values[i] > 0.0 { if values[i] > 2.0 { a += 1.0; } else { b += values[i]; } } else { a -= values[i]; }
        if (i & 1u) == 0u { b += 0.5; }
    }""",
    "inner loop": """for (var i = 0u; i < most; i++) {
        for (var j = i; j < limits[i]; j++) { if values[j] < 0.0 { continue; } a += values[j]; b += 1.0; }
        if b > 30.0 { break; }
    }""",
    "inner loop in a branch": """for (var i = 0u; i < most; i++) {
        if values[i] > 0.0 { for (var j = i; j < most; j++) { if values[j] > 2.0 { break; } a += values[j]; } b += a; }
    }""",
    "inner loop's value after both": """var last = 0.0;
    for (var i = 0u; i < most; i++) {
        var own = 0.0;
        for (var j = i; j < limits[i]; j++) { if values[j] < 0.0 { continue; } own += values[j]; }
        last = own;
        if own > 9.0 { break; }
        a += own;
    }
    b = last;""",
    "backwards": "for (var i = most; i > 0u; i--) { if values[i] < 0.0 { continue; } a += values[i]; b = f32(i); }",
    "by threes": """for (var i = id.x % 3u; i < most; i += 3u) {
        if values[i] < 0.0 { continue; }
        a += values[i];
        b += a;
    }""",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("level", available())
def test_answers(loop: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, random = FRAME.replace("BODY", LOOPS[loop]), np.random.default_rng(9)
    buffers: dict[str, np.ndarray] = {
        "limits": random.integers(0, 24, COUNT).astype(np.uint32),
        "values": random.integers(-4, 5, 64).astype(np.float32),
        "sums": np.zeros((COUNT, 2), np.float32),
    }
    expected = tinct.load(text)["main"].run(buffers, threads=COUNT, device="interp")["sums"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    found = tinct.load(text)["main"].run(buffers, threads=COUNT, device="cpu")["sums"]
    np.testing.assert_array_equal(found, expected)
