"""Lanes that walk along rows of their own: windows of rows, loaded at once and transposed, give the same elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.gangs import budgets
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

HEAD = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
"""
WALKS = {
    "rows of a known length": "for (var j = 0u; j < n; j++) { sum = sum * 3u + x[i * 37u + j]; }",
    "rows of any length": "for (var j = 0u; j < n; j++) { sum = sum * 3u + x[i * n + j]; }",
    "a window that slides and stops at the ends": """for (var j = -9; j < i32(n); j++) {
        sum = sum * 3u + x[i * 41u + u32(clamp(j, 0, 29))]; sum -= x[i * 41u + u32(max(j - 5, 0))]; }""",
    "a sum of several numbers": """for (var k = 0u; k < n; k += n / 5u) { for (var j = 0u; j < n / 5u; j++) {
        sum = sum * 3u + x[j + (i * 29u + 5u) + k]; } }""",
    "a row for each turn of a loop around": """for (var k = 0u; k < n / 8u; k++) { let row = (i * 7u + k * k) * 11u;
        for (var j = 0u; j < n; j++) { sum = sum * 3u + x[row + j]; } }""",
    "some lanes in some turns": """for (var j = 0u; j < n; j++) {
        if (i * j) % 5u != 1u { sum = sum * 3u + x[i * 33u + j]; } }""",
    "lanes that stop early": "for (var j = 0u; j < n + i; j++) { sum = sum * 3u + x[i * 33u + j]; }",
    "positions that wrap round": "for (var j = 0u; j < n; j++) { sum = sum * 3u + x[i * 33u + j - 20u]; }",
    "distances that come from a buffer": """let row = x[i] * 13u;
        for (var j = 3u; j < n; j++) { sum = sum * 3u + x[row + j]; }""",
    "a counter of each lane": """var at = i * 33u + 2u;
        for (var j = 1u; j < n; j++) { sum = sum * 3u + x[at]; at++; }""",
    "down": "for (var j = n; j > 0u; j--) { sum = sum * 3u + x[i * 33u + j]; }",
    "every third": "for (var j = 0u; j < n; j += 3u) { sum = sum * 3u + x[i * 33u + j]; }",
}
APART = {
    "a counter that some turns leave as it is": """var at = i * 33u; for (var j = 0u; j < n; j++) {
        sum = sum * 3u + x[at]; if (j & 3u) == 1u { at++; } }""",
    "columns": "for (var j = 0u; j < n; j++) { sum = sum * 3u + x[j * 50u + i]; }",
    "few turns": "for (var j = 0u; j < 3u; j++) { sum = sum * 3u + x[i * n + j]; }",
    "a row that changes": "for (var j = 0u; j < n; j++) { sum = sum * 3u + x[(i ^ (j >> 2u)) * 33u + j]; }",
}


TYPES = {
    "array<u32, 37>": ("x[i][j]", "x[i][j - 20u]", "x[i / 2u][j >> 2u]", "x[(i * 5u) % 60u][j * 2u]"),
    "struct": ("x[i].words[j]", "x[i].words[max(j, 3u) - 3u]", "x[i].inner[1][j]"),
}
"""Elements of arrays with arrays of their own: their type, and words of them, also past their ends."""
FIXED = {
    "array<u32, 37>": ("x[i ^ (j & 1u)][j]", "x[j][i]"),
    "struct": ("x[i].inner[j & 1u][j >> 1u]", "x[i].tag + j"),
}
"""Where not one position alone changes from turn to turn in an element that stays."""
STRUCT = "struct Item { tag: u32, words: array<u32, 21>, inner: array<array<u32, 9>, 2> }"


def typed(type: str, word: str) -> tuple[str, str]:
    """A head of a shader and a body with the sum of words in a loop."""
    head = HEAD.replace("x: array<u32>", f"x: array<{type.replace('struct', 'Item')}>") + STRUCT
    return f"for (var j = 0u; j < n; j++) {{ sum = sum * 3u + {word}; }}", head


def kernel(body: str, head: str = HEAD, *, tier: Tier = "gang") -> CompiledKernel:
    main = "@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u)"
    text = f"{head}{main} {{ let i = id.x; let n = arrayLength(&y) - 27u; var sum = 0u; {body} y[i] = sum; }}"
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"), CpuOptions(tier))


def results(compiled: CompiledKernel, elements: int) -> bytes:
    x, y = np.random.default_rng(1).integers(0, 90, elements, np.uint32), np.zeros(70, np.uint32)
    compiled.run([x.view(np.uint8), y.view(np.uint8)], (3, 1, 1), workers=1)
    return y.tobytes()


@pytest.fixture
def windows_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all machines."""
    changed = replace(costs_so_far(), access=replace(costs_so_far().access, gather=9.0, loads=9.0, shuffle=0.1))
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)


def has_windows(compiled: CompiledKernel, lanes: int) -> bool:
    return f"alloca [{lanes} x [{lanes} x i32]]" in compiled.llvm(optimised=False)


@pytest.mark.usefixtures("windows_pay")
@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", [*WALKS, *APART])
def test_elements_are_the_same(name: str, target: str) -> None:
    """In arrays of which the last lanes' rows have few elements, or none."""
    body = (WALKS | APART)[name]
    expected = kernel(body, tier="lane")
    with compiling_for(target):
        found = kernel(body)
        for elements in (1, 16, 700, 1500, 5000):
            assert results(found, elements) == results(expected, elements), elements


@pytest.mark.usefixtures("windows_pay")
@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("type", TYPES)
def test_elements_with_arrays_of_their_own(type: str, target: str) -> None:
    for word in (*TYPES[type], *FIXED[type]):
        expected = kernel(*typed(type, word), tier="lane")
        with compiling_for(target):
            found = kernel(*typed(type, word))
            assert has_windows(found, 8 if target == "x86-64-v3" else 16) == (word in TYPES[type]), word
            for elements in (40, 80, 1480, 2200, 5000):
                assert results(found, elements) == results(expected, elements), (word, elements)


@pytest.mark.usefixtures("windows_pay")
def test_windows_are_for_rows() -> None:
    with compiling_for("x86-64-v3"):
        assert all(has_windows(kernel(it), 8) for it in WALKS.values())
        assert not any(has_windows(kernel(it), 8) for it in APART.values())


@pytest.mark.usefixtures("windows_pay")
def test_code_that_is_long_already_gets_no_more_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some loads have windows, and all give the same elements."""
    loads = "".join(f"sum = sum * 3u + x[i * 37u + j + {it}u];" for it in range(40))
    body = f"for (var j = 0u; j < n; j++) {{ {loads} }}"
    expected = kernel(body, tier="lane")
    with compiling_for("x86-64-v3"):
        every = kernel(body).llvm(optimised=False)
        monkeypatch.setattr(budgets, "RICH", 2000)
        found = kernel(body)
        some = found.llvm(optimised=False)
        for elements in (1, 700, 5000):
            assert results(found, elements) == results(expected, elements), elements
    windows = [it.count("alloca [8 x [8 x i32]]") for it in (some, every)]
    assert 0 < windows[0] < windows[1] / 2
    assert some.count("\n") < every.count("\n") / 2


def test_cheap_gathers_need_no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(costs_so_far(), access=replace(costs_so_far().access, gather=1.0, shuffle=0.5))
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)
    with compiling_for("x86-64-v3"):
        assert not has_windows(kernel(WALKS["rows of any length"]), 8)
