"""Elements of a part of an array that each invocation has: loaded together, with the interpreter's answers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct

FRAME = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
struct Parts { before: u32, items: array<i32, 300> }
var<workgroup> parts: Parts;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) t: u32) {
    for (var k = t; k < 300u; k += 64u) { parts.items[k] = i32(x[k] * 3u); }
    workgroupBarrier();
    BODY
}
"""
BODIES = {
    "four items": "let i = 4u * id.x; y[id.x] = x[i] + 10u * x[i + 1u] + 100u * x[i + 2u] + 1000u * x[i + 3u];",
    "shifted": "let i = id.x << 1u; y[id.x] = x[i | 1u] * 7u + x[i] + x[i + 1u] * 3u;",
    "signed": "let i = 3 * i32(id.x) + 2; y[id.x] = x[i - 2] + 10u * x[i - 1] + 100u * x[i];",
    "some of five": "let i = id.x * 5u; y[id.x] = x[i + 4u] + 10u * x[i + 1u];",
    "below zero": "let i = 2u * id.x; y[id.x] = x[i - 2u] + 10u * x[i - 1u] + 100u * x[i];",
    "past the end": "let i = 4u * id.x + 300u; y[id.x] = x[i] + 10u * x[i + 1u] + 100u * x[i + 3u];",
    "under a condition": "let i = 2u * id.x; if (id.x % 3u) > 0u { y[id.x] = x[i] + 10u * x[i + 1u]; }",
    "two strips": "let i = 2u * id.x; y[id.x] = x[i] + 10u * x[i + 1u] + 100u * x[i + 64u] + 1000u * x[i + 65u];",
    "in a loop": "for (var k = 0u; k < 40u; k += 20u) { let i = 2u * id.x + k; y[id.x] += x[i] + 9u * x[i + 1u]; }",
    "one decides the other": "let i = 2u * id.x; y[id.x] = x[i] + 10u * x[i + 1u] + x[(i + 1u) + (x[i] & 0u)];",
    "workgroup memory": """let i = 4u * t;
        let p = &parts.items;
        y[id.x] = u32((*p)[i + 3u] + 10 * (*p)[i] + 100 * (*p)[i + 2u] - 3 * (*p)[i + 1u]);""",
    "written between": """let i = 2u * id.x;
        y[i + 1u] = y[i] + 1u;
        y[i] = y[i + 1u] + x[i] + 10u * x[i + 1u];""",
}


def answer(body: str, elements: int, device: str) -> np.ndarray:
    x = np.random.default_rng(elements).integers(0, 1000, elements, np.uint32)
    kernel = tinct.load(FRAME.replace("BODY", BODIES[body]))["main"]
    found: np.ndarray = kernel.run({"x": x, "y": np.zeros(260, np.uint32)}, threads=128, device=device)["y"]
    return found


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("level", available())
def test_answers(body: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    for elements in (1, 63, 250, 511, 600, 2000):
        np.testing.assert_array_equal(answer(body, elements, "cpu"), answer(body, elements, "interp"), str(elements))


def test_nothing_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    bodies = BODIES["workgroup memory"], "y[id.x] = u32(parts.items[t]);"
    codes = [tinct.load(FRAME.replace("BODY", it)).compilation("main", {}).cpu.llvm(optimised=False) for it in bodies]
    gathers = [len(re.findall(r"call .*@llvm.masked.gather", it)) for it in codes]
    assert gathers[0] == gathers[1], "only the loop that fills workgroup memory gathers, where it may be out of range"
