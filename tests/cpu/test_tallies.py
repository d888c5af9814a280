"""Workgroup memory that only counts for a binding: it is found in many spellings, and nothing else is taken for it."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.layout import binding_layout
from tinct.backend.cpu.tallies import with_direct_counts
from tinct.ir.hercules import nodes as h

HEAD = """
@group(0) @binding(0) var<storage> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> n: u32;
"""
OWN = "var<workgroup> own: array<atomic<u32>, 40>;"
MAIN = """
@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) t: u32) { _ = n;"""
COUNT = "if g.x < arrayLength(&words) { atomicAdd(&own[words[g.x] % 40u], 1u); }"
TAKE = "let c = atomicLoad(&own[i]);"
ADD = "atomicAdd(&counts[i], c);"


def spelled(*body: str, width: str = "16") -> str:
    """A kernel with barriers between these parts."""
    return HEAD + OWN + MAIN.replace("WIDTH", width) + "\nworkgroupBarrier();\n".join(body) + "}"


def each(*body: str, end: int = 40) -> str:
    """A loop of 16 invocations over all elements."""
    return f"for (var i = t; i < {end}u; i += 16u) {{ {' '.join(body)} }}"


CLEAR = each("atomicStore(&own[i], 0u);")
MERGE = each(TAKE, ADD)
TALLIES = {
    "plain": spelled(COUNT, MERGE),
    "cleared": spelled(CLEAR, COUNT, MERGE),
    "cleared by one branch": spelled("if t < 40u { atomicStore(&own[t], 0u); }", COUNT, MERGE),
    "merged by one branch": spelled(COUNT, f"let i = t; if i < 40u {{ {TAKE} {ADD} }}", width="64"),
    "guarded": spelled(COUNT, each(TAKE, f"if c > 0u {{ {ADD} }}")),
    "guarded, turned round": spelled(COUNT, each(TAKE, f"if 1u <= c {{ {ADD} }}")),
    "guarded, continued": spelled(COUNT, each(TAKE, "if c == 0u { continue; }", ADD)),
    "one invocation merges": spelled(COUNT, f"if t == 0u {{ for (var i = 0u; i < 40u; i++) {{ {TAKE} {ADD} }} }}"),
    "from the end": spelled(
        COUNT, f"for (var k = 0u; k < 3u; k++) {{ let i = 39u - t * 3u - k; if i < 40u {{ {TAKE} {ADD} }} }}"
    ),
    "moved": spelled(COUNT, each(TAKE, "atomicAdd(&counts[i + 7u], c);")),
    "any element": spelled("atomicAdd(&own[words[g.x]], 3u); atomicSub(&own[g.x], 1u);", MERGE),
    "in a loop around barriers": spelled(
        "for (var r = 0u; r < n; r++) { atomicAdd(&own[(words[g.x] + r) % 40u], 1u); workgroupBarrier(); }", MERGE
    ),
    "rows": spelled(COUNT, MERGE, width="4, 4"),
    "or": spelled("atomicOr(&own[g.x % 40u], words[g.x]);", each(TAKE, "atomicOr(&counts[i], c);")),
    "max": spelled("atomicMax(&own[g.x % 40u], words[g.x]);", each(TAKE, "atomicMax(&counts[i], c);")),
}
OTHERS = {
    "an element is left out": spelled(COUNT, each(TAKE, ADD, end=39)),
    "an element is added twice": spelled(
        COUNT, each("atomicAdd(&counts[i % 40u], atomicLoad(&own[i % 40u]));", end=48)
    ),
    "elements change places": spelled(COUNT, each(TAKE, "atomicAdd(&counts[39u - i], c);")),
    "small counts are left out": spelled(COUNT, each(TAKE, f"if c > 1u {{ {ADD} }}")),
    "a zero ends the loop": spelled(COUNT, each(TAKE, "if c == 0u { break; }", ADD)),
    "a zero is seen": spelled(
        COUNT, each(TAKE, f"var at = 50u; if c > 0u {{ {ADD} at = 51u; }} atomicAdd(&counts[at], 1u);")
    ),
    "counts are doubled": spelled(COUNT, each(TAKE, "atomicAdd(&counts[i], 2u * c);")),
    "subtracted": spelled(COUNT, each(TAKE, "atomicSub(&counts[i], c);")),
    "only some workgroups": spelled(COUNT, f"if n > 5u {{ {MERGE} }}"),
    "merged in a loop": spelled(COUNT, f"for (var r = 0u; r < 2u; r++) {{ {MERGE} workgroupBarrier(); }}"),
    "counted after the merge": spelled(COUNT, MERGE, "atomicAdd(&own[t], 1u);", MERGE),
    "cleared again": spelled(COUNT, "atomicStore(&own[t], 0u);", COUNT, MERGE),
    "cleared in a loop": spelled(
        f"for (var r = 0u; r < n; r++) {{ {CLEAR} workgroupBarrier(); {COUNT} workgroupBarrier(); }}",
        MERGE,
    ),
    "begins with ones": spelled("atomicStore(&own[t], 1u);", COUNT, MERGE),
    "old values are used": spelled(
        "if atomicAdd(&own[words[g.x] % 40u], 1u) == 0u { atomicAdd(&counts[60], 1u); }", MERGE
    ),
    "looked at before": spelled(COUNT, "if t == 1u { atomicAdd(&counts[60], atomicLoad(&own[3])); }", MERGE),
    "the binding is read": spelled(
        COUNT, MERGE, "if t == 0u && atomicLoad(&counts[61]) > 99u { atomicStore(&counts[62], 1u); }"
    ),
    "the binding is counted in before": spelled(f"atomicAdd(&counts[50], 1u); {COUNT}", MERGE),
    "other operations": spelled("atomicMax(&own[words[g.x] % 40u], t);", MERGE),
    "zero changes least numbers": spelled(
        "atomicMin(&own[words[g.x] % 40u], t);", each(TAKE, "atomicMin(&counts[i], c);")
    ),
    "a place for each workgroup": spelled(COUNT, each(TAKE, "atomicAdd(&counts[i + g.x / 16u], c);")),
}


def is_direct(text: str) -> bool:
    """Whether the kernel has no tally left."""
    entry = tinct.load(text).compilation("main", {}).hercules
    types = entry.function.parameter_types
    bindings = {it.parameter: binding_layout(it.type, types[it.parameter]) for it in entry.bindings}
    nodes = with_direct_counts(entry.function, bindings).nodes
    return not any(isinstance(it, h.Atomic) and it.op is h.AtomicOp.LOAD for it in nodes)


def answer(kernel: tinct.Kernel, device: str, length: int) -> np.ndarray:
    words = np.random.default_rng(4).integers(0, 1 << 32, 100).astype(np.uint32)
    buffers = {"words": words, "counts": np.arange(length, dtype=np.uint32), "n": np.uint32(3)}
    return kernel.run(buffers, workgroups=5, device=device)["counts"]


@pytest.mark.parametrize("name", [*TALLIES, *OTHERS])
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tinct.load((TALLIES | OTHERS)[name])["main"]
    expected = {length: answer(kernel, "interp", length) for length in (70, 30, 1)}
    for tier in ("gang", "lane"):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        for length, counts in expected.items():
            np.testing.assert_array_equal(answer(kernel, "cpu", length), counts, err_msg=tier)


@pytest.mark.parametrize("name", TALLIES)
def test_tallies_are_found(name: str) -> None:
    assert is_direct(TALLIES[name])


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_else_is_a_tally(name: str) -> None:
    assert not is_direct(OTHERS[name])
