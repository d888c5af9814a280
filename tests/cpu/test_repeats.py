"""Threads that run loops together around exchanges in workgroup memory: the interpreter's answers in several spellings,
and one code for gangs that differ in constants alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu.gangs.analysis.live import Knowledge
from tinct.backend.cpu.gangs.choice import states
from tinct.backend.cpu.gangs.choice.repeats import repeated_gangs
from tinct.backend.cpu.storage import StoragePlan

HEAD = """
struct Item { key: u32, value: u32 }
struct Deep { inner: Item, more: array<u32, 2> }
@group(0) @binding(0) var<storage, read_write> data: array<Item>;
"""
KERNEL = (
    HEAD
    + """
var<workgroup> own: array<TYPE, 512>;
@compute @workgroup_size(128) fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) group: vec3u) {
    for (var i = t; i < 512u; i += 128u) {
        let one = data[group.x * 512u + i];
        own[i] = FROM;
    }
    for (var run = 2u; run <= 512u; run *= 2u) {
        for (var reach = run / 2u; reach > 0u; reach /= 2u) {
            workgroupBarrier();
STEP
        }
    }
    workgroupBarrier();
    for (var i = t; i < 512u; i += 128u) {
        let one = own[i];
        data[group.x * 512u + i] = Item(TO);
    }
}
"""
)
SWAP = "own[i] = b; own[partner] = a;"
PARTNERS = """
            for (var i = t; i < 512u; i += 128u) {
                let partner = i ^ reach;
                if partner > i {
                    let a = own[i];
                    let b = own[partner];
                    if ((i & run) == 0u) == (KEY(a) > KEY(b)) && KEY(a) != KEY(b) { SWAP }
                }
            }"""
PAIRS = """
            for (var turn = 0u; turn < 2u; turn++) {
                let pair = t + 128u * turn;
                let i = 2u * pair - (pair & (reach - 1u));
                let partner = i + reach;
                let a = own[i];
                let b = own[partner];
                let is_after = KEY(a) > KEY(b);
                if (i & run) == 0u { if is_after { SWAP } } else if KEY(a) < KEY(b) { SWAP }
            }"""
SPELLINGS = {
    "structures": ("Item", "one", "one.key, one.value", PARTNERS, "{}.key"),
    "vectors": ("vec2u", "vec2u(one.key, one.value)", "one.x, one.y", PARTNERS, "{}.x"),
    "deep": ("Deep", "Deep(one, array(1u, 2u))", "one.inner.key, one.inner.value", PARTNERS, "{}.inner.key"),
    "pairs": ("Item", "one", "one.key, one.value", PAIRS, "{}.key"),
    "pairs of vectors": ("vec2u", "vec2u(one.key, one.value)", "one.x, one.y", PAIRS, "{}.x"),
    "ties": ("Item", "one", "one.key, one.value", PARTNERS, "({0}.key % 64u * 4096u + {0}.value)"),
}


def kernel(name: str) -> str:
    type, loaded, stored, step, key = SPELLINGS[name]
    for one in ("a", "b"):
        step = step.replace(f"KEY({one})", key.format(one))
    text = KERNEL.replace("STEP", step.replace("SWAP", SWAP))
    return text.replace("TYPE", type).replace("FROM", loaded).replace("TO", stored)


def answer(text: str, device: str) -> np.ndarray:
    random = np.random.default_rng(4)
    data = np.zeros(1024, np.dtype([("key", "u4"), ("value", "u4")]))
    data["key"] = random.integers(0, 1 << 32, 1024, np.uint32)
    data["value"] = random.permutation(1024)
    return tinct.load(text)["main"].run({"data": data}, workgroups=2, device=device)["data"]


@pytest.mark.parametrize("name", SPELLINGS)
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(kernel(name), "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        np.testing.assert_array_equal(answer(kernel(name), "cpu"), expected, err_msg=level)


@pytest.mark.parametrize("name", SPELLINGS)
def test_steps_have_code_of_their_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of gangs for most steps, without gathers and scatters."""
    monkeypatch.setenv("TINCT_CPU_TARGET", "x86-64-v3")
    code = tinct.load(kernel(name)).compilation("main", {}).cpu.llvm(optimised=False)
    states = code[code.index("switch i64") :]
    states = states[: states.index("\njoin")]
    assert "llvm.masked" not in states
    assert states.count("\ngangs.") >= 6


REGULAR = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> own: array<u32, 2048>;
@compute @workgroup_size(256) fn main(@builtin(local_invocation_index) t: u32) {
    for (var i = t; i < 1024u; i += 256u) { own[i] = data[i]; }
    var before = 0u;
    for (var reach = 1u; reach < 1024u; reach *= 2u) {
        workgroupBarrier();
        let after = 1024u - before;
        for (var i = t; i < 1024u; i += 256u) {
            var sum = own[before + i];
            if i >= reach { sum += own[before + i - reach]; }
            own[after + i] = sum;
        }
        before = after;
    }
    workgroupBarrier();
    for (var i = t; i < 1024u; i += 256u) { data[i] = own[before + i]; }
}
"""


def test_regular_steps_with_loops_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have code of their own as well, since nothing else makes their positions and ways known."""
    data = np.random.default_rng(6).integers(0, 1 << 16, 1024, np.uint32)
    kernel = tinct.load(REGULAR)["main"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = kernel.run({"data": data}, workgroups=1)["data"]
        np.testing.assert_array_equal(found, np.cumsum(data, dtype=np.uint32), err_msg=level)
    monkeypatch.setenv("TINCT_CPU_TARGET", "x86-64-v3")
    assert "switch i64" in tinct.load(REGULAR).compilation("main", {}).cpu.llvm(optimised=False)


@pytest.mark.parametrize(("turns", "count"), [(4, 10), (900, 0)])
def test_what_is_evaluated_for_all_states_is_bounded(turns: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten states of a counter, of each of which few or many turns would be executed at compile time. The gangs around
    that loop have ten states, and one each.
    """
    text = f"""
        @group(0) @binding(0) var<storage, read_write> found: array<f32>;
        var<workgroup> tile: array<f32, 1024>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {{
            for (var i = 0u; i < 16u; i++) {{ tile[i * 64u + t] = f32(i * t); }}
            for (var k = 0u; k < 10u; k++) {{
                workgroupBarrier();
                var sum = 0f;
                for (var r = 0u; r < {turns}u; r++) {{ sum += tile[((k * 7u + r) % 16u * 64u + (t ^ k)) % 1024u]; }}
                workgroupBarrier();
                tile[k * 64u + t] = sum % 64;
            }}
            found[t] = tile[t * 9u];
        }}
    """
    evaluated: list[int] = []

    def repeats(known: Knowledge, plan: StoragePlan, lanes: int, threads: int) -> list[range]:
        evaluated.append(known.values.threads)
        return repeated_gangs(known, plan, lanes, threads)

    monkeypatch.setattr(states, "repeated_gangs", repeats)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = tinct.load(text)["main"]
    buffers = {"found": np.zeros(64, np.float32)}
    found, expected = (kernel.run(buffers, workgroups=1, device=it)["found"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
    assert len(evaluated) == 10 + 1 + 1 + count
