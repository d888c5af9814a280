"""The masks of optimised modules, widened: what the text becomes, and that code for AVX2 has no half-width masks."""

from __future__ import annotations

import re

import llvmlite.binding
import pytest
from tests.cpu.test_targets import available

import tinct
from tinct.backend.cpu.wide_masks import with_wide_masks

LOOP = """define void @f(<8 x i32> %x, ptr %p) {
entry:
  %some = icmp ne <8 x i32> %x, zeroinitializer
  br label %loop

loop:                                             ; preds = %loop, %entry
  %live = phi <8 x i1> [ %some, %entry ], [ %next, %loop ], [ <i1 true, i1 false>, %other ]
  %n = phi i32 [ 0, %entry ], [ 1, %loop ]
  %less = icmp ult <8 x i32> %x, %x
  %next = and <8 x i1> %live, %less
  br i1 true, label %loop, label %done

done:                                             ; preds = %loop
  call void @g(<8 x i1> %next)
  ret void
}
"""
WIDENED = """define void @f(<8 x i32> %x, ptr %p) {
entry:
  %some = icmp ne <8 x i32> %x, zeroinitializer
  %mask.between.1 = sext <8 x i1> %some to <8 x i32>
  br label %loop

loop:                                             ; preds = %loop, %entry
  %wide.live = phi <8 x i32> [ %mask.between.1, %entry ], [ %wide.next, %loop ], [ <i32 -1, i32 0>, %other ]
  %n = phi i32 [ 0, %entry ], [ 1, %loop ]
  %live = icmp slt <8 x i32> %wide.live, zeroinitializer
  %less = icmp ult <8 x i32> %x, %x
  %next = and <8 x i1> %live, %less
  %wide.next = sext <8 x i1> %next to <8 x i32>
  br i1 true, label %loop, label %done

done:                                             ; preds = %loop
  %mask.between.2 = icmp slt <8 x i32> %wide.next, zeroinitializer
  call void @g(<8 x i1> %mask.between.2)
  ret void
}
"""
SWITCH = """define void @f(<8 x i32> %x, i32 %n) {
entry:
  %some = icmp ne <8 x i32> %x, zeroinitializer
  switch i32 %n, label %other [
    i32 1, label %both
    i32 2, label %both
  ]

other:                                            ; preds = %entry
  br label %both

both:                                             ; preds = %other, %entry, %entry
  %mask = phi <8 x i1> [ zeroinitializer, %other ], [ %some, %entry ], [ %some, %entry ]
  call void @g(<8 x i1> %mask)
  ret void
}

declare void @g(<8 x i1>)
"""
NUMBERED = """define void @f(<8 x i32> %x, ptr %p) {
  %1 = icmp ne <8 x i32> %x, zeroinitializer
  br label %2

2:                                                ; preds = %2, %0
  %3 = phi <8 x i1> [ %1, %0 ], [ %6, %2 ]
  %4 = phi i32 [ 0, %0 ], [ 1, %2 ]
  %5 = icmp ult <8 x i32> %x, %x
  %6 = and <8 x i1> %3, %5
  %7 = icmp eq i32 %4, 0
  br i1 %7, label %2, label %8

8:                                                ; preds = %2
  call void @g(<8 x i1> %6)
  ret void
}

declare void @g(<8 x i1>)
"""
DIVERGENT = """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    var v = values[id.x];
    var n = 0u;
    while v > 1u { if v % 2u == 0u { v /= 2u; } else { v = 3u * v + 1u; } n++; }
    steps[id.x] = n;
}
"""


def without_blanks(text: str) -> list[str]:
    return [it for it in text.splitlines() if it]


def test_masks_between_blocks_are_widened() -> None:
    assert without_blanks(with_wide_masks(LOOP)) == without_blanks(WIDENED)


def test_other_modules_stay() -> None:
    other = LOOP.replace("<8 x i1>", "<4 x i1>")
    assert with_wide_masks(other) is other
    lines = ["define void @f(<8 x i1> %x) {", "entry:", "  %both = and <8 x i1> %x, %x", "  ret void", "}"]
    within = "\n".join(lines)
    assert with_wide_masks(within) is within


def test_code_has_no_narrow_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    if "x86-64-v3" not in available():
        pytest.skip("this machine has no x86-64-v3")
    monkeypatch.setenv("TINCT_CPU_TARGET", "x86-64-v3")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    code = tinct.load(DIVERGENT).compilation("main", {}).cpu.assembly()
    assert "vblendvps" in code
    assert "vpackssdw" not in code


@pytest.mark.parametrize("text", [SWITCH, NUMBERED])
def test_llvm_reads_what_is_written(text: str) -> None:
    """Ways from one block to a Phi have one value, and values without names are in the order of their numbers."""
    changed = with_wide_masks(text)
    assert re.search(r"%wide\S+ = phi", changed)
    llvmlite.binding.parse_assembly(changed).verify()
