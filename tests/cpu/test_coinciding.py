"""Loads from lists that lanes walk over, each its own or several the same: the interpreter's answers on all levels."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct

LISTS, COUNT = 24, 192
TEXT = """
struct Thing { place: vec2f, kind: u32, weight: i32 }
@group(0) @binding(0) var<storage> lists: array<u32>;
@group(0) @binding(1) var<storage> starts: array<u32>;
@group(0) @binding(2) var<storage> things: array<Thing>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= 180u { return; }
    var sum = vec4f(0.0, 0.0, 0.0, 1.0);
    for (var l = lists[id.x]; l < lists[id.x] + 3u; l++) {
        for (var i = starts[l]; i < starts[l + 1u]; i++) {
            let far = dot(things[i].place, things[i].place);
            if far > 40.0 + f32(id.x % 9u) { continue; }
            sum += vec4f(far, f32(id.x), 0.0, 1.0);
            if f32(things[i].kind) > f32(things[i].weight) * 5.0 { sum.z += things[i].place.y; }
        }
    }
    sums[id.x] = sum;
}
"""
THREADS, RANDOM = np.arange(COUNT), np.random.default_rng(6).integers(0, LISTS - 3, COUNT)
ORDERS: dict[str, np.ndarray] = {
    "one list": np.full(COUNT, 5),
    "a list for each sixteen lanes": THREADS // 16,
    "sorted": np.sort(RANDOM),
    "any": RANDOM,
    "past the end": THREADS // 8,
}


CHAINED = TEXT.replace("i < starts[l + 1u]; i++", "i < arrayLength(&things); i = next(i)").replace(
    "@compute", "fn next(i: u32) -> u32 { return i + 1u + u32(things[i].weight & 7); }\n@compute"
)
"""Each element says which one is next."""


@pytest.mark.parametrize("text", [TEXT, CHAINED], ids=["counted", "chained"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("level", available())
def test_answers(text: str, order: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    things: np.ndarray = np.zeros(LISTS * 5, [("place", np.float32, 2), ("kind", np.uint32), ("weight", np.int32)])
    things["place"] = random.integers(-9, 9, (len(things), 2))
    things["kind"], things["weight"] = random.integers(0, 99, len(things)), random.integers(-9, 9, len(things))
    starts = np.sort(random.integers(0, len(things), LISTS + 1))
    if order == "past the end":
        starts[-4:] += 9
    buffers: dict[str, np.ndarray] = {
        "lists": ORDERS[order].astype(np.uint32),
        "starts": starts.astype(np.uint32),
        "things": things,
        "sums": np.zeros((COUNT, 4), np.float32),
    }
    expected = tinct.load(text)["main"].run(buffers, threads=COUNT, device="interp")["sums"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    found = tinct.load(text)["main"].run(buffers, threads=COUNT, device="cpu")["sums"]
    np.testing.assert_array_equal(found, expected)


def test_one_load_for_all_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters are tested before the loop; in a chain, the load of the place is tested."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    codes = [tinct.load(it).compilation("main", {}).cpu.llvm(optimised=False) for it in (TEXT, CHAINED)]
    assert [it.count("\ntesting.") for it in codes] == [0, 1]
    assert re.search(r"= phi i32 \[ %v\d+, %entry", codes[0])
