"""Workgroup arrays of structures become an array for each member, if positions are not loaded from memory."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.ir.hercules.nodes import ConstantNode, Node, Phi, Read, Reduce, Write
from tinct.ir.hercules.versions import is_version_projection

HEAD = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
struct Item { key: u32, value: u32 }
struct Pair { item: Item, weight: vec2u }
struct Short { words: array<u32, 3> }
struct Block { items: array<Item, 64>, limit: u32 }
struct Counted { count: atomic<u32>, value: u32 }
var<workgroup> items: array<Item, 64>;
var<workgroup> pairs: array<Pair, 64>;
var<workgroup> shorts: array<Short, 64>;
var<workgroup> vectors: array<vec2u, 64>;
var<workgroup> rows: array<array<vec2u, 8>, 8>;
var<workgroup> block: Block;
var<workgroup> counted: array<Counted, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
"""
SPLIT = {
    "structures": """items[t] = Item(x[t], t); workgroupBarrier();
        let other = items[63u - t]; r[t] = other.key * 3u + other.value;""",
    "members": """items[t].key = x[t]; workgroupBarrier();
        items[(t + 1u) % 64u].value = items[t].key; workgroupBarrier(); r[t] = items[t].value;""",
    "structures in structures": """pairs[t] = Pair(Item(x[t], 1u), vec2u(t, 5u)); workgroupBarrier();
        let pair = pairs[t ^ 5u]; r[t] = pair.item.key + pair.item.value * pair.weight.x + pair.weight.y;""",
    "short arrays": """shorts[t].words[0] = x[t]; shorts[t].words[2] = t; workgroupBarrier();
        r[t] = shorts[t / 2u].words[0] + shorts[t ^ 1u].words[2];""",
    "vectors": """vectors[t] = vec2u(x[t], t); workgroupBarrier(); let v = vectors[t ^ 7u]; r[t] = v.x - v.y;""",
    "rows of vectors": """rows[t / 8u][t % 8u] = vec2u(x[t], t); workgroupBarrier();
        let v = rows[t % 8u][t / 8u]; r[t] = v.x - v.y;""",
    "a structure with an array": """block.items[t] = Item(x[t], t); if t == 3u { block.limit = x[9]; }
        workgroupBarrier(); r[t] = min(block.items[t ^ 3u].key, block.limit) + block.items[0].value;""",
    "in loops and branches": """
        for (var i = t; i < 64u; i += 32u) { if x[i] > 9u { items[i] = Item(x[i], i); } }
        for (var j = 1u; j < 64u; j *= 2u) {
            workgroupBarrier(); let a = items[t]; let b = items[t ^ j]; workgroupBarrier();
            if a.key < b.key { items[t] = b; }
        }
        r[t] = items[t].key ^ items[t].value;""",
}
WHOLE = {
    "loaded positions": """items[t] = Item(x[t], t); workgroupBarrier(); r[t] = items[x[t] % 64u].value;""",
    "positions by way of a loop": """var at = t; items[t] = Item(x[t] % 64u, t); workgroupBarrier();
        for (var i = 0u; i < 5u; i++) { at = items[at].key; } r[t] = items[at].value;""",
    "components that are computed": """vectors[t][t % 2u] = x[t]; workgroupBarrier();
        r[t] = vectors[t ^ 1u][t / 32u];""",
    "atomic members": """atomicAdd(&counted[t / 4u].count, x[t]); counted[t].value = t; workgroupBarrier();
        r[t] = atomicLoad(&counted[t].count) + counted[t ^ 1u].value;""",
}


def depths(body: str) -> set[int]:
    """The numbers of indices of the Reads of workgroup memory."""
    entry = tinct.load(HEAD + body + "}")["main"].compilation().hercules
    reads = [it for it in entry.function.nodes if isinstance(it, Read) and not is_version_projection(it)]
    return {len(it.indices) for it in reads if isinstance(source(it.collection), ConstantNode)}


def source(node: Node) -> Node:
    """What the first version of a storage was."""
    while isinstance(node, (Phi, Reduce, Write)):
        node = node.collection if isinstance(node, Write) else node.values[0] if isinstance(node, Phi) else node.init
    return node


@pytest.mark.parametrize("name", SPLIT)
def test_members_have_arrays(name: str) -> None:
    assert depths(SPLIT[name]) == ({2} if name == "rows of vectors" else {1})


@pytest.mark.parametrize("name", WHOLE)
def test_elements_that_stay_whole(name: str) -> None:
    assert 2 in depths(WHOLE[name]) or name == "atomic members"


@pytest.mark.parametrize("name", SPLIT | WHOLE)
@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
def test_answers(name: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    kernel = tinct.load(HEAD + (SPLIT | WHOLE)[name] + "}")["main"]
    given = {"x": np.random.default_rng(3).integers(0, 77, 64).astype(np.uint32), "r": np.zeros(64, np.uint32)}
    found, expected = (kernel.run(given, workgroups=1, device=it)["r"] for it in ("cpu", "interp"))
    assert np.array_equal(found, expected)
    assert np.array_equal(kernel.run(given, workgroups=1, device="hercules")["r"], expected)
