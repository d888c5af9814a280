"""Workgroups of one invocation are the threads of gangs, where there are more than a few."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import analysed, gangs
from tinct.backend.cpu.gangs import workgroups_of_one
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.target import current_target

from .levels import available

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
var<workgroup> tile: array<u32, 8>;
"""
BODIES = {
    "an element": "out[w.x] = data[w.x] * 3u + w.y;",
    "two ways to say the number": "out[w.x + id.y * 100u] = data[id.x] + groups.x;",
    "a tile": """var sum = w.y;
        for (var i = 0u; i < 25u; i++) { sum = (sum + data[w.x * 25u + i]) / 3u; out[w.x * 25u + i] = sum; }""",
    "a loop of its own": """var n = data[w.x];
        while n > 1u { n = select(n / 2u, n * 3u + 1u, n % 2u == 1u); out[w.x]++; if out[w.x] > 30u { break; } }""",
    "memory of the workgroup": """for (var i = 0u; i < 8u; i++) { tile[(i * 3u) % 8u] += data[w.x + i]; }
        workgroupBarrier(); out[w.x * 3u] = tile[w.x % 8u] + tile[7];""",
    "the greatest": "if atomicMax(&count, data[w.x]) > 10000u { out[w.x] = 1u; }",
    "some return": "if data[w.x] % 3u == 0u { return; } out[w.x] = w.x;",
}
PRIVATE = "atomicAdd(&count, data[w.x]);"
OWN_ATOMICS = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
var<workgroup> own: array<atomic<u32>, 4>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) w: vec3u, @builtin(local_invocation_index) t: u32) {
    let x = data[w.x];
    var sum = 0u;
    atomicStore(&own[t], x);
    atomicStore(&own[x % 3u + 1u], w.x);
    workgroupBarrier();
    for (var n = 0u; n < 5u; n++) {
        let at = PLACE;
        if CONDITION {
            sum = sum * 3u + atomicAdd(&own[at], x + n);
            sum = sum * 3u + atomicSub(&own[at], n);
            sum = sum * 3u + atomicMax(&own[at], x * n);
            sum = sum * 3u + atomicMin(&own[at], 1000u + w.x);
            sum = sum * 3u + atomicAnd(&own[at], 0xfffffdu);
            sum = sum * 3u + atomicOr(&own[at], w.x);
            sum = sum * 3u + atomicXor(&own[at], x);
            sum = sum * 3u + atomicExchange(&own[at], sum % 1000u);
            let found = atomicCompareExchangeWeak(&own[at], 70u, x);
            sum = sum * 3u + select(found.old_value, 7u, found.exchanged && found.old_value != 70u);
            atomicAdd(&own[at], 1u);
        }
    }
    out[w.x] = sum + atomicLoad(&own[t]) + 5u * atomicLoad(&own[x % 4u]);
}
"""
WORKGROUPS = [(1, 1, 1), (32, 1, 1), (33, 1, 1), (70, 1, 1), (40, 3, 2), (3, 50, 1)]


def kernel(body: str, size: str = "1") -> tinct.Kernel:
    return tinct.load(f"""{HEAD}
@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) w: vec3u, @builtin(num_workgroups) groups: vec3u) {{ {body} }}""")["main"]


@pytest.mark.parametrize("level", available())
@pytest.mark.parametrize("condition", ["true", "x % 3u != n % 2u"])
@pytest.mark.parametrize("place", ["t", "x % 4u", "(x + n) % 4u", "n % 4u"])
def test_each_has_atomics_of_its_own(place: str, condition: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in workgroup memory are of one lane each, wherever they lie."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    monkeypatch.setattr(gangs, "gang_time", lambda *_: 1.0)  # else few processors gather them
    found = tinct.load(OWN_ATOMICS.replace("PLACE", place).replace("CONDITION", condition))["main"]
    data = np.random.default_rng(5).integers(0, 97, 100, np.uint32)
    for count in (3, 16, 70, 100):
        buffers = {"out": np.zeros(100, np.uint32), "data": data}
        answers = [found.run(buffers, workgroups=count, device=it)["out"] for it in ("cpu", "interp")]
        np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("name", BODIES)
def test_answers_are_the_interpreters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    found = kernel(BODIES[name])
    buffers = {
        "out": np.zeros(2000, np.uint32),
        "data": np.random.default_rng(3).integers(0, 97, 1500, np.uint32),
        "count": np.uint32(0),
    }
    used = {it.name: buffers[it.name] for it in found.bindings}
    assert found.shader.compilation("main", {}).cpu.tier == "gang"
    for workgroups in WORKGROUPS:
        if name == "a loop of its own" or "w.y" in BODIES[name]:
            workgroups = (workgroups[0], 1, 1)  # each element is for one workgroup
        expected = found.run(used, workgroups=workgroups, device="interp")
        for output, array in found.run(used, workgroups=workgroups).items():
            np.testing.assert_array_equal(array, expected[output], f"{output}, {workgroups}")


LOOP = "for (var i = 0u; i < 25u; i++) { BODY }"
ROW = "w.x * 25u + i"
KEPT_APART = {
    "a running sum": f"sum += data[{ROW}]; out[{ROW}] = sum;",
    "a running sum, in another order": "let at = i + 25u * w.x; out[at] = sum + data[at]; sum += data[at];",
    "a scaled row": f"out[{ROW}] = data[{ROW}] << 1u;",
}
GATHERED = {
    "a row of costly values": f"sum = ((sum ^ data[{ROW}]) * 31u + 7u) * (sum + 5u); out[{ROW}] = sum;",
    "few stores of sums": f"for (var j = 0u; j < 30u; j++) {{ sum = (sum ^ j) * 31u; }} out[{ROW}] = sum;",
    "a column": "sum += data[w.x + i * 40u]; out[i * 40u + w.x] = sum;",
    "a column by strides": "var at = w.x; while at < 1000u { sum += data[at]; out[at] = sum; at += 40u; }",
    "a short row": "for (var k = 0u; k < 2u; k++) { out[w.x * 2u + k] = data[w.x * 2u + k] + i; }",
}


@pytest.fixture
def costs_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane's load or store takes as long as an operation on a vector; gathers, scatters and masks save nothing."""
    known, lanes = costs_so_far(), current_target().vector_bytes // 4
    each = 0.25 * lanes
    access = replace(known.access, gather=each, loads=each, scatter=each, stores=each, shuffle=0.25, masked_store=0.5)
    monkeypatch.setattr(analysed, "costs_so_far", lambda: replace(known, access=access))


def tier(body: str) -> str:
    return kernel(f"var sum = 0u; {LOOP.replace('BODY', body)}").shader.compilation("main", {}).cpu.tier


@pytest.mark.usefixtures("costs_are_known")
@pytest.mark.parametrize("name", KEPT_APART)
def test_cheap_values_in_rows_of_their_own_stay_apart(name: str) -> None:
    assert tier(KEPT_APART[name]) == "lane"


@pytest.mark.usefixtures("costs_are_known")
@pytest.mark.parametrize("name", GATHERED)
def test_others_with_stores_in_loops_are_gathered(name: str) -> None:
    assert tier(GATHERED[name]) == "gang"


def most_apart(body: str) -> int:
    """The most workgroups that run one after another."""
    compilation = kernel(body).shader.compilation("main", {})
    text = compilation.cpu.llvm(optimised=False)
    found = re.search(r"%are.few = icmp ule i64 %workgroups, (\d+)", text)
    assert found is not None
    return int(found[1])


@pytest.mark.usefixtures("costs_are_known")
def test_few_workgroups_run_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = current_target().vector_bytes // 4
    monkeypatch.setattr(analysed, "available_processors", lambda: 6)
    assert most_apart("out[w.x] = (data[w.x] * 3u + 7u) * (w.x + 5u);") < 12, "a gang takes as long as one lane"
    assert most_apart(BODIES["a loop of its own"]) == 6 * lanes // 2, "lanes leave the loop one by one"


def is_grouped(body: str, size: str = "1") -> bool:
    return workgroups_of_one(kernel(body, size).shader.compilation("main", {}).hercules.function) is not None


def test_workgroups_of_one_invocation_are_gathered() -> None:
    assert all(map(is_grouped, BODIES.values()))


def test_others_stay_apart() -> None:
    assert not is_grouped(BODIES["an element"], "4")
    assert not is_grouped("out[w.y] = data[w.y];")


def test_what_workers_have_copies_of_is_not_shared_by_two_functions() -> None:
    assert kernel(PRIVATE).shader.compilation("main", {}).cpu.tier_reason == "the workgroups have one invocation"
