"""Loads and stores at thread numbers with flipped bits, of words and of records: the interpreter's answers, on all
targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.target import LEVELS, compiling_for, current_target
from tinct.base.errors import InputError


@dataclass(frozen=True)
class Record:
    """An element `it` of workgroup memory: its type, the part of it that is used, and expressions of WGSL for it from
    the words `w`, the words of it, a number of the part, and what is written to the part.
    """

    declared: str
    part: str
    made: str
    words: str
    number: str
    written: str


RECORDS = {
    "word": Record("alias Item = u32;", "", "w.x", "vec4u(it, 0, 0, 0)", "it", "it * 3u + t"),
    "pair": Record(
        "struct Item { key: u32, weight: f32 }",
        "",
        "Item(w.x, f32(w.y))",
        "vec4u(it.key, bitcast<u32>(it.weight), 0, 0)",
        "it.key + u32(it.weight)",
        "Item(it.key * 3u + t, f32(t))",
    ),
    "vector": Record("alias Item = vec4u;", "", "w", "it", "it.x + it.w", "it.yxwz + vec4u(t)"),
    "member": Record(
        "struct Item { key: u32, other: u32, more: u32 }",
        ".more",
        "Item(w.x, w.y, w.z)",
        "vec4u(it.key, it.other, it.more, 0)",
        "it",
        "it + t",
    ),
    "flag": Record("alias Item = bool;", "", "w.x % 3u == 1u", "vec4u(u32(it))", "u32(it)", "(t & 4u) != 0u"),
}
LOOPS = {
    "thread": "{ let i = t; BODY }",
    "strides": "for (var i = t; i < 128u; i += 64u) { BODY }",
    "offset": "for (var b = 0u; b < 2u; b++) { let i = 64u * b + t; BODY }",
}
KERNEL = """
DECLARED
@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read_write> items: array<vec4u, SIZE>;
@group(0) @binding(2) var<storage, read_write> seen: array<u32, 128>;
var<workgroup> own: array<Item, SIZE>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    for (var i = t; i < SIZEu; i += 64u) { let w = items[i]; own[i] = MADE; }
    for (var j = 1u; j < n; j = 2u * j + 1u) {
        workgroupBarrier();
        LOOP
    }
    workgroupBarrier();
    for (var i = t; i < SIZEu; i += 64u) { let it = own[i]; items[i] = WORDS; }
}
"""
BODY = """
    let other = i ^ j;
    if other > i && other < SIZEu {
        let it = own[other]PART;
        seen[i] = seen[i] * 31u + (NUMBER);
        own[other]PART = WRITTEN;
    }
"""


def kernel(record: Record, loop: str, size: int) -> tinct.Kernel:
    text = KERNEL.replace("LOOP", loop.replace("BODY", BODY))
    text = text.replace("DECLARED", record.declared).replace("MADE", record.made).replace("WORDS", record.words)
    text = text.replace("PART", record.part).replace("NUMBER", record.number).replace("WRITTEN", record.written)
    return tinct.load(text.replace("SIZE", str(size)))["main"]


def runs(level: str) -> bool:
    """Whether this machine runs the code of a level."""
    with compiling_for(level):
        try:
            current_target()
        except InputError:
            return False
    return True


CASES = [
    *((record, "strides", size) for record in RECORDS for size in (128, 100)),
    ("pair", "thread", 128),
    ("pair", "offset", 128),
]


@pytest.mark.parametrize(("record", "loop", "size"), CASES)
def test_flipped_bits(record: str, loop: str, size: int) -> None:
    made = kernel(RECORDS[record], LOOPS[loop], size)
    items = np.random.default_rng(7).integers(0, 1 << 20, (size, 4), dtype=np.uint32)
    buffers = {"n": 128, "items": items, "seen": np.zeros(128, np.uint32)}
    expected = made.run(buffers, workgroups=1, device="interp")
    for level in filter(runs, LEVELS):
        with compiling_for(level):
            found = made.run(buffers, workgroups=1, device="cpu")
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, err_msg=f"{name} for {level}")
