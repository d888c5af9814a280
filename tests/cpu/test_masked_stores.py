"""Stores of some lanes, on processors whose masked stores take as long as ten plain ones."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.target import current_target
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

HEAD = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>, 200>;
var<workgroup> own: array<atomic<u32>, 200>;
var<workgroup> tile: array<u32, 200>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) t: u32) {
    _ = &x; _ = &y; _ = &counts;
"""
SOME = "if x[id.x] % 3u != 0u { y[id.x] = x[id.x] * 5u; atomicAdd(&counts[id.x % 7u], 1u); }"
EVERY_SECOND = "y[2u * id.x + 1u] = x[id.x] + 1u;"
OWN = """for (var bin = t; bin < 200u; bin += 64u) { atomicStore(&own[bin], x[bin] % 4u); }
    workgroupBarrier();
    for (var bin = t; bin < 200u; bin += 64u) {
        let count = x[bin + id.x / 64u] % 5u;
        if count > 2u { atomicOPERATION(&own[bin], count); }
    }
    workgroupBarrier();
    for (var bin = t; bin < 200u; bin += 64u) { y[200u * (id.x / 64u) + bin] = atomicLoad(&own[bin]); }"""
TILE = """for (var at = t; at < 200u; at += 64u) { tile[at] = 7u * at; }
    workgroupBarrier();
    for (var row = 0u; row < 3u; row++) {
        for (var at = t; at < 33u; at += 64u) { if CONDITION { tile[PLACE] = x[id.x + row]; } }
    }
    workgroupBarrier();
    for (var at = t; at < 200u; at += 64u) { y[200u * (id.x / 64u) + at] = tile[at]; }"""
TILES = (
    TILE.replace("CONDITION", "true").replace("PLACE", "x[0] % 3u + row * 47u + at"),
    TILE.replace("CONDITION", "at > 2u").replace("PLACE", "x[0] % 3u + row * 40u + at - 3u"),
    TILE.replace("CONDITION", "x[id.x] % 3u != 0u").replace("PLACE", "x[0] % 3u + row * 43u + at"),
    TILE.replace("CONDITION", "at % 8u < 5u").replace("PLACE", "x[0] % 3u + 150u + at"),
)
"""What some lanes store to a tile, beside elements that stay as they were."""
OPERATIONS = ("Add", "Sub", "And", "Or", "Xor", "Min", "Max", "Exchange")
TARGETS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]


def kernel(body: str, tier: Tier = "gang") -> CompiledKernel:
    text = HEAD + body + "}"
    made = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
    return compile_entry(made, CpuOptions(tier=tier))


def results(compiled: CompiledKernel, elements: int) -> list[bytes]:
    """What three workgroups leave in the buffers, with this many elements of x and y."""
    data = np.random.default_rng(3).integers(0, 1000, elements, np.uint32)
    buffers = [data.view(np.uint8), np.zeros(4 * elements, np.uint8), np.zeros(800, np.uint8)]
    compiled.run(buffers, (3, 1, 1), workers=1)
    return [it.tobytes() for it in buffers]


@pytest.mark.parametrize("cpu_target", TARGETS, indirect=True)
@pytest.mark.parametrize("body", [SOME, EVERY_SECOND, *TILES, *(OWN.replace("OPERATION", it) for it in OPERATIONS)])
@pytest.mark.usefixtures("cpu_target")
def test_lanes_store_what_single_invocations_do(body: str) -> None:
    gang, lane = kernel(body), kernel(body, "lane")
    assert gang.tier == "gang"
    for elements in (1, 63, 150, 192, 385, 700):
        assert results(gang, elements) == results(lane, elements), elements


def set_masked_store(patch: pytest.MonkeyPatch, time: float) -> None:
    """Let a masked store take this time, where stores of all lanes as scalars take 1."""
    access = replace(costs_so_far().access, masked_store=time, stores=1.0)
    changed = replace(costs_so_far(), access=access)
    patch.setattr(llvm, "costs_so_far", lambda: changed)


@pytest.mark.parametrize("cpu_target", TARGETS, indirect=True)
@pytest.mark.parametrize(("time", "are_tested"), [(2.0, True), (0.1, False)])
@pytest.mark.usefixtures("cpu_target")
def test_masks_are_tested_where_masked_stores_are_slow(
    monkeypatch: pytest.MonkeyPatch, time: float, *, are_tested: bool
) -> None:
    """Then there is a store of a whole vector, too."""
    set_masked_store(monkeypatch, time)
    text = kernel(SOME).llvm(optimised=False)
    assert "call void @llvm.masked.store" in text
    assert bool(re.search(r"store <\d+ x i32> \S+, ptr \S+, align 4", text)) == are_tested


@pytest.mark.parametrize("cpu_target", TARGETS, indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_every_second_word_is_stored_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    set_masked_store(monkeypatch, 2.0)
    text = kernel(EVERY_SECOND).llvm(optimised=False)
    assert "masked.store" not in text
    assert text.count("store i32 ") == current_target().vector_bytes // 4


@pytest.mark.parametrize("cpu_target", TARGETS, indirect=True)
@pytest.mark.parametrize(("time", "are_kept"), [(2.0, True), (0.1, False)])
@pytest.mark.usefixtures("cpu_target")
def test_whole_vectors_are_stored_to_tiles(monkeypatch: pytest.MonkeyPatch, time: float, *, are_kept: bool) -> None:
    """Where masked stores are slow: in lanes that do not store, as they were."""
    set_masked_store(monkeypatch, time)
    text = kernel(TILES[0]).llvm(optimised=False)
    assert ("load volatile" in text) == are_kept


@pytest.mark.parametrize("operation", OPERATIONS[:-1])
def test_atomics_in_own_memory_need_no_masked_stores(operation: str) -> None:
    """The memory is not shared, and the elements of lanes that are not in the mask exist. An exchange has one."""

    def masked_stores(operation: str) -> int:
        return kernel(OWN.replace("OPERATION", operation)).llvm(optimised=False).count("call void @llvm.masked.store")

    assert masked_stores(operation) < masked_stores("Exchange")
