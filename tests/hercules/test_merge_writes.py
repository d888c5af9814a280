"""Writes of one element on all paths become one write after them."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.ir.hercules.nodes import Write

HEAD = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x; if i >= arrayLength(&x) { return; } let c = x[i];
"""
MERGED = {
    "a switch": "switch c % 4u { case 1u: { r[i] = 7u; } case 2u, 3u: { r[i] = c * 3u; } default: { r[i] = 1u; } }",
    "branches in a row": "if c > 50u { r[i] = c; } else if c > 20u { r[i] = 2u * c; } else { r[i] = 0u; }",
    "nested": """if c > 50u { if c > 70u { r[i] = 1u; } else { r[i] = c; } } else { r[i] = x[c % arrayLength(&x)]; }""",
    "another spelling of the place": "if (c & 1u) == 1u { r[i] = 5u; } else { let p = &r[id.x]; *p = c; }",
}
APART = {
    "twice on one path": "if c > 50u { r[i] = 1u; r[i] = c; } else { r[i] = 4u; }",
    "nothing on one path": "if c > 50u { r[i] = 1u; } else if c > 20u { r[i] = 2u; }",
    "different places": "if c > 50u { r[i] = 1u; } else { r[c] = 2u; }",
}


def writes(body: str) -> int:
    """How many writes are left of those that the kernel has."""
    entry = tinct.load(HEAD + body + "}")["main"].compilation().hercules
    return sum(isinstance(it, Write) for it in entry.function.nodes)


@pytest.mark.parametrize("name", MERGED)
def test_one_write_is_left(name: str) -> None:
    assert writes(MERGED[name]) == 1


@pytest.mark.parametrize("name", APART)
def test_writes_that_stay(name: str) -> None:
    assert writes(APART[name]) > 1


@pytest.mark.parametrize("name", MERGED | APART)
@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
def test_answers(name: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    kernel = tinct.load(HEAD + (MERGED | APART)[name] + "}")["main"]
    for count in (1, 15, 16, 77):
        x = np.random.default_rng(count).integers(0, 77, count).astype(np.uint32)
        if name == "different places":
            x = np.arange(count, dtype=np.uint32)  # no two invocations write to one
        given = {"x": x, "r": np.full(count, 9, np.uint32)}
        found, expected = (kernel.run(given, threads=count, device=it)["r"] for it in ("cpu", "interp"))
        assert np.array_equal(found, expected)
