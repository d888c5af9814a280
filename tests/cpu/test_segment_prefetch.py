"""Lanes that walk through segments of their own: sums over the rows of sparse matrices, in gangs and lane by lane."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
struct Element { column: u32, value: f32 }
struct Pair { first: vec2u, factor: f32, flag: u32 }
@group(0) @binding(0) var<storage> starts: array<u32>;
@group(0) @binding(1) var<storage> elements: array<Element>;
@group(0) @binding(2) var<storage> columns: array<u32>;
@group(0) @binding(3) var<storage> pairs: array<Pair>;
@group(0) @binding(4) var<storage> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
"""
WALKS = {
    "structures": """
        for (var i = starts[g]; i < starts[g + 1u]; i++) { let e = elements[i]; s = fma(e.value, x[e.column], s); }""",
    "early return": """
        if (g >= arrayLength(&y)) { return; }
        let end = starts[g + 1u]; var i = starts[g];
        loop { if (i >= end) { break; } let e = elements[i]; s += e.value * x[e.column]; continuing { i++; } }""",
    "two arrays": """
        let end = starts[g + 1u];
        for (var i = starts[g]; i < end; i++) { s += x[columns[i]] * elements[i].value; }""",
    "larger elements": """
        let end = starts[g + 1u];
        for (var i = starts[g]; i < end; i++) {
            let p = pairs[i]; if (p.flag % 3u == 0u) { continue; } s += p.factor * x[p.first.y] - x[p.first.x]; }""",
    "what comes after": """
        var i = starts[g]; let end = starts[g + 1u];
        for (; i < end; i++) { if (elements[i].column == 7u) { break; } s += elements[i].value; }
        s += f32(i) + x[i];""",
}
OTHERS = {
    "another array's end": "for (var i = starts[g]; i < columns[g]; i++) { s += elements[i].value; }",
    "not the next": "for (var i = starts[g]; i < starts[g + 2u]; i++) { s += elements[i].value; }",
    "two at a time": "for (var i = starts[g]; i < starts[g + 1u]; i += 2u) { s += elements[i].value; }",
    "in order": "for (var i = 0u; i < starts[g + 1u]; i++) { s += elements[i].value; }",
}


def compiled(body: str, tier: Tier) -> CompiledKernel:
    uses = "".join(f" _ = &{name};" for name in re.findall(r"> (\w+): array", HEAD))
    wgsl = f"""{HEAD}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let g = id.x; var s = 0.0;{uses}
    {body}
    y[g] = s;
}}"""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    return compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))


def result(kernel: CompiledKernel, starts: np.ndarray, elements: int) -> bytes:
    """All rows but the last, into which those out of range are written."""
    random = np.random.default_rng(1)
    made = np.zeros(elements, [("column", np.uint32), ("value", np.float32)])
    made["column"] = random.integers(0, 120, elements)
    made["value"] = random.integers(-9, 9, elements)
    pairs = np.zeros(elements, [("first", np.uint32, 2), ("factor", np.float32), ("flag", np.uint32)])
    pairs["first"] = random.integers(0, 120, (elements, 2))
    pairs["factor"], pairs["flag"] = random.integers(-9, 9, elements), random.integers(0, 9, elements)
    buffers = {
        "starts": starts.astype(np.uint32),
        "elements": made,
        "columns": made["column"].copy(),
        "pairs": pairs,
        "x": random.integers(0, 50, 100).astype(np.float32),
        "y": np.zeros(100, np.float32),
    }
    given = [np.frombuffer(buffers[slot.name].tobytes(), np.uint8).copy() for slot in kernel.slots]
    kernel.run(given, (2, 1, 1), workers=1)
    rows = next(it for it, slot in zip(given, kernel.slots, strict=True) if slot.name == "y")
    return rows[:-4].tobytes()


@pytest.mark.parametrize("name", [*WALKS, *OTHERS])
def test_gangs_agree_with_lanes(name: str) -> None:
    body = (WALKS | OTHERS)[name]
    gang, lane = compiled(body, "gang"), compiled(body, "lane")
    assert gang.tier == "gang"
    random = np.random.default_rng(2)
    uneven = np.concatenate([[0], np.cumsum(random.integers(0, 12, 100) * (random.random(100) < 0.7))])
    for starts in (np.arange(101) * 4, uneven, uneven[::-1], uneven[:40], random.integers(0, 400, 101), uneven[:1]):
        for elements in (500, 100, 1):
            assert result(gang, starts, elements) == result(lane, starts, elements)


@pytest.mark.parametrize("name", [*WALKS, *OTHERS])
def test_memory_is_asked_for_early_where_segments_are_adjacent(name: str) -> None:
    text = compiled((WALKS | OTHERS)[name], "gang").llvm(optimised=False)
    assert ("call void @llvm.prefetch" in text) == (name in WALKS)


def test_two_words_side_by_side_are_gathered_at_once() -> None:
    text = compiled(WALKS["structures"], "gang").llvm(optimised=False)
    assert re.search(r"call <\d+ x i64> @llvm.masked.gather", text)
    assert len(re.findall(r"call <\d+ x float> @llvm.masked.gather", text)) == 1, "that of x"
