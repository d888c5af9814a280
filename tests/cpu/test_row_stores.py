"""Lanes that store along rows of their own: vectors that are kept, and stored as parts of rows, give the same bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.options import Tier
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

HEAD = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
"""
ROWS = {
    "rows of any length": "for (var j = 0u; j < n; j++) { sum = sum * 3u + j; y[i * n + j] = sum; }",
    "rows that overlap": "for (var j = 0u; j < n; j++) { let at = i * (n - 3u) + j; y[at] = at * 7u; }",
    "a sum of several numbers": """for (var k = 0u; k < n; k += 3u) { for (var j = 0u; j < n; j++) {
        sum = sum * 3u + j; y[j + (i * 97u + 5u) + k] = sum; } }""",
    "a row that some turns skip": """for (var j = 0u; j < n; j++) {
        if j % 29u > 2u { sum = sum * 3u + j; y[i * 41u + j] = sum; } }""",
    "some lanes in some turns": """for (var j = 0u; j < n; j++) {
        if (i * j) % 5u != 1u { sum = sum * 3u + j; y[i * 41u + j] = sum; } }""",
    "again and again the same elements": "for (var j = 0u; j < n; j++) { y[i * 41u + j % 21u] = sum; sum += j; }",
    "positions that wrap round": "for (var j = 0u; j < n; j++) { sum = sum * 3u + j; y[i * 41u + j - 20u] = sum; }",
    "down": "for (var j = n; j > 0u; j--) { sum = sum * 3u + j; y[i * 41u + j] = sum; }",
    "every third": "for (var j = 0u; j < n; j += 3u) { sum = sum * 3u + j; y[i * 41u + j] = sum; }",
    "a counter of each lane": "var at = i * 41u; for (var j = 2u; j < n; j++) { y[at] = sum; sum += j; at++; }",
    "floats": "for (var j = 0u; j < n; j++) { sum += j; y[i * 41u + j] = bitcast<u32>(f32(sum)); }",
}
APART = {
    "columns": "for (var j = 0u; j < n; j++) { y[j * 128u + i] = j * 3u; }",
    "few turns": "for (var j = 0u; j < 3u; j++) { y[i * 41u + j] = j * 3u; }",
    "two stores": "for (var j = 0u; j < n; j++) { y[i * 41u + j] = j; if j > 5u { y[i * 41u + j - 5u] = j * 2u; } }",
    "lanes that stop early": "for (var j = 0u; j < n + i % 7u; j++) { y[i * 64u + j] = j * 3u; }",
}


def kernel(body: str, tier: Tier = "gang") -> CompiledKernel:
    main = "@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u)"
    text = f"{HEAD}{main} {{ let i = id.x; let n = x[0]; var sum = x[1] + i; {body} }}"
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"), CpuOptions(tier))


def results(compiled: CompiledKernel, turns: int, elements: int) -> bytes:
    x, y = np.array([turns, 5], np.uint32), np.full(elements, 99, np.uint32)
    compiled.run([x.view(np.uint8), y.view(np.uint8)], (3, 1, 1), workers=1)
    return y.tobytes()


@pytest.fixture
def windows_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all machines."""
    changed = replace(costs_so_far(), access=replace(costs_so_far().access, scatter=9.0, stores=9.0, shuffle=0.1))
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)


def has_windows(compiled: CompiledKernel) -> bool:
    return "@scatter.rows" in compiled.llvm(optimised=False)


@pytest.mark.usefixtures("windows_pay")
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", [*ROWS, *APART])
def test_elements_are_the_same(name: str, target: str) -> None:
    """For loops that end within a window, and in arrays that do not have all rows, which elements outside are left."""
    body = (ROWS | APART)[name]
    expected = kernel(body, "lane")
    with compiling_for(target):
        found = kernel(body)
        for turns in (0, 1, 15, 16, 17, 40):
            assert results(found, turns, 20000) == results(expected, turns, 20000), turns


@pytest.mark.usefixtures("windows_pay")
@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_only_elements_inside_are_stored(target: str) -> None:
    """Without clamped positions, which races decide: all lanes but the last ones have their rows in the array."""
    body = "for (var j = 0u; j < n; j++) { if i * 41u + j < arrayLength(&y) { y[i * 41u + j] = i ^ j; } }"
    expected = kernel(body, "lane")
    with compiling_for(target):
        found = kernel(body)
        for elements in (1, 40, 41 * 16 - 3, 41 * 16, 2000):
            assert results(found, 40, elements) == results(expected, 40, elements), elements


@pytest.mark.usefixtures("windows_pay")
def test_windows_are_for_rows() -> None:
    with compiling_for("x86-64-v3"):
        assert all(has_windows(kernel(it)) for it in ROWS.values())
        assert not any(has_windows(kernel(it)) for it in APART.values())


def test_cheap_scatters_need_no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(costs_so_far(), access=replace(costs_so_far().access, scatter=1.0, shuffle=0.5))
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)
    with compiling_for("x86-64-v3"):
        assert not has_windows(kernel(ROWS["rows of any length"]))
