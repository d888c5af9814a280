"""Stores that lanes under a mask make side by side: the same memory as the interpreter's, wherever the lanes write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct
from tinct.backend.cpu.gangs.memory.compressed import compressing_pays
from tinct.backend.cpu.machine import costs_so_far

COUNT = 256
ONE_COUNTER = """
struct Kept { index: u32, value: f32 }
@group(0) @binding(0) var<storage> values: array<f32>;
@group(0) @binding(1) var<uniform> least: f32;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<Kept>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if values[id.x] > least {
        let at = atomicAdd(&count, 1u);
        if at < arrayLength(&kept) { kept[at] = Kept(id.x, values[id.x]); }
    }
}
"""
SCANNED = """
@group(0) @binding(0) var<storage> places: array<u32>;
@group(0) @binding(1) var<storage> values: array<f32>;
@group(0) @binding(2) var<uniform> least: f32;
@group(0) @binding(3) var<storage, read_write> words: array<u32>;
@group(0) @binding(4) var<storage, read_write> triples: array<array<f32, 3>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let value = values[id.x];
    if value <= least { return; }
    let at = places[id.x];
    words[at] = bitcast<u32>(value);
    triples[at][2] = value;
    triples[at][0] = f32(id.x);
    triples[at][1] = value * 2.0;
}
"""


@pytest.fixture(params=available())
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", request.param)
    return request.param


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(3).uniform(0, 1, COUNT).astype(np.float32)


@pytest.mark.parametrize(("least", "room"), [(0.5, COUNT), (0.5, 100), (0.0, COUNT), (0.9, COUNT), (2.0, COUNT)])
def test_a_list_with_one_counter(level: str, values: np.ndarray, least: float, room: int) -> None:
    kept = np.zeros(room, [("index", np.uint32), ("value", np.float32)])
    buffers = {"values": values, "least": np.float32(least), "count": np.uint32(0), "kept": kept}
    found = tinct.load(ONE_COUNTER)["main"].run(buffers, threads=COUNT, device="cpu")
    is_kept = values > np.float32(least)
    assert found["count"] == is_kept.sum()
    filled = found["kept"][: min(is_kept.sum(), room)]
    np.testing.assert_array_equal(filled["value"], values[filled["index"]])
    assert is_kept[filled["index"]].all()
    assert len(set(filled["index"])) == len(filled)


@pytest.mark.parametrize("order", ["in a row", "gaps", "backwards", "past the end"])
def test_places_from_memory(level: str, values: np.ndarray, order: str) -> None:
    rank = np.cumsum(values > np.float32(0.4)) - 1
    places = {"in a row": rank + 5, "gaps": 2 * rank, "backwards": 300 - rank, "past the end": rank + 480}[order]
    buffers = {
        "places": places.astype(np.uint32),
        "values": values,
        "least": np.float32(0.4),
        "words": np.zeros(512, np.uint32),
        "triples": np.zeros((512, 3), np.float32),
    }
    kernel = tinct.load(SCANNED)["main"]
    expected = kernel.run(buffers, threads=COUNT, device="interp")
    found = kernel.run(buffers, threads=COUNT, device="cpu")
    last = 511 if order == "past the end" else 512  # several lanes write to the last element
    for name in ("words", "triples"):
        np.testing.assert_array_equal(found[name][:last], expected[name][:last])


@pytest.mark.parametrize(
    ("target", "instruction"), [("x86-64-v3", "avx2.permd"), ("x86-64-v4", "vector.compress.v16f32")]
)
def test_lanes_are_moved_together(target: str, instruction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if target not in available():
        pytest.skip(f"this machine has no {target}")
    monkeypatch.setenv("TINCT_CPU_TARGET", target)
    assert instruction in tinct.load(SCANNED).compilation("main", {}).cpu.llvm(optimised=False)


def test_compressing_pays_where_scatters_are_slow() -> None:
    costs = costs_so_far().access
    assert compressing_pays(replace(costs, scatter=6.6, shuffle=0.5))
    assert not compressing_pays(replace(costs, scatter=2.0, shuffle=0.5))
