"""Subgroup operations in control flow that is not uniform: the active invocations take part."""

from __future__ import annotations

import pytest

import tinct
from tinct.backend.gpu import shared_device
from tinct.ir.builtins import SUBGROUP_SIZE

HEAD = """enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn sum(i: u32) -> u32 { return subgroupAdd(i); }
fn some(i: u32) -> u32 { if i % 4 == 3 { return 0; } return subgroupAdd(1u); }
"""

STATEMENTS = (
    "if i % 3 == 1 { r = sum(i); } else { r = sum(i + 1); }",
    "if i % 3 == 1 { r = subgroupAdd(1u); } r += subgroupAdd(1u) * 100;",
    "for (var j = 0u; j < i; j++) { r += subgroupAdd(1u) * (j + 1); } r += subgroupAdd(1u);",
    "for (var j = 0u; j < 3; j++) { if i % 3 == j { continue; } r += subgroupBallot(true).x * (j + 1); }",
    "if i == 5 { return; } r = subgroupBallot(i % 2 == 0).x;",
    "r = some(i) * 10 + subgroupAdd(1u);",
    "switch i % 3 { case 0: { r = subgroupInclusiveAdd(i); } case 1: { r = subgroupMax(i); } default: { r = 1; } }"
    " r += subgroupMin(i) * 100;",
    "loop { if i % 4 == r { break; } r++; out[16 + i] += subgroupAdd(r); continuing { break if r > 5; } }",
    "if i > 2 { if subgroupElect() { r = 7; } r += subgroupBroadcastFirst(i) * 10; }",
)


def _answers(device: str) -> list[list[int]]:
    """One entry point for each statement."""
    entries = [
        f"@compute @workgroup_size(16) fn f{number}(@builtin(local_invocation_index) i: u32) "
        f"{{ var r = 0u; {statement} out[i] = r; }}\n"
        for number, statement in enumerate(STATEMENTS)
    ]
    shader = tinct.load(HEAD + "".join(entries))
    runs = [shader[f"f{it}"].run({"out": (None, 32)}, workgroups=1, device=device) for it in range(len(STATEMENTS))]
    return [run["out"].tolist() for run in runs]


def test_active_invocations() -> None:
    answers = _answers("interp")
    lanes = range(16)
    assert answers[1][:16] == [
        800 + (0 if i % 3 != 1 else sum(k % 3 == 1 for k in lanes if k // 8 == i // 8)) for i in lanes
    ]
    assert answers[4][:16] == [0 if i == 5 else 0b01010101 for i in lanes]
    assert answers[5][:16] == [(0 if i % 4 == 3 else 60) + 8 for i in lanes]


@pytest.mark.usefixtures("needs_gpu")
def test_the_gpu_agrees() -> None:
    if shared_device().subgroup_size != SUBGROUP_SIZE:
        pytest.skip("subgroups there have another size")
    assert _answers("gpu") == _answers("interp")


@pytest.mark.parametrize("device", ["hercules", "cpu"])
def test_the_cpu_agrees(device: str) -> None:
    assert _answers(device) == _answers("interp")
