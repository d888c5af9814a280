"""Positions that never wrap: elements a constant apart are loaded from one address, with the interpreter's answers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.analysis.bounds import never_wraps
from tinct.backend.cpu.target import current_target
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import U32

from .levels import available

ROWS = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> rows: array<u32, 768>;
override threads: u32 = 64;
@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) t: u32) {
    for (var k = t; k < 768u; k += threads) { rows[k] = x[k]; }
    workgroupBarrier();
    let part = x[0] PART;
    y[id.x] = rows[part + t] + 3u * rows[part + 64u + t] + 5u * rows[part + 128u + t] + 7u * rows[part + 192u + t];
}
"""
PARTS = {"in range": "% 3u * 256u", "past the end": "% 5u * 256u", "wraps": "* 4294967040u"}


@pytest.mark.parametrize("level", available())
@pytest.mark.parametrize("part", PARTS)
def test_answers(part: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    kernel = tinct.load(ROWS.replace("PART", PARTS[part]))["main"]
    for first in range(6):
        x = np.arange(first, first + 768, dtype=np.uint32)
        found, expected = (
            kernel.run({"x": x, "y": np.zeros(64, np.uint32)}, threads=64, device=device)["y"]
            for device in ("cpu", "interp")
        )
        np.testing.assert_array_equal(found, expected, str(first))


def test_rows_share_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is a constant number of bytes behind the first, where one gang runs all invocations."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    target = current_target()
    threads = target.vector_bytes // (1 if target.has_avx512 else 2)  # four vectors or, with few registers, two
    shader = tinct.load(ROWS.replace("PART", PARTS["in range"]))
    code = shader.compilation("main", {"threads": threads}).cpu.llvm(optimised=True)
    for row in (1, 2, 3):
        assert re.search(rf"getelementptr [a-z ]*i8, ptr %\S+, i64 {256 * row}\b", code), f"row {row}"


@pytest.mark.parametrize(
    ("op", "other", "is_safe"),
    [
        (h.BinaryOp.ADD, 0xFFFFFF00, True),
        (h.BinaryOp.ADD, 0xFFFFFF01, False),
        (h.BinaryOp.MUL, 0x1010101, True),
        (h.BinaryOp.MUL, 0x1010102, False),
        (h.BinaryOp.SUB, 0, False),
    ],
)
def test_limits(op: h.BinaryOp, other: int, is_safe: bool) -> None:
    """Of a number of at most 255 and a constant."""
    number, most, constant = h.Parameter(0), *(h.ConstantNode(h.IntegerConstant(U32, it)) for it in (255, other))
    byte = h.Binary(h.BinaryOp.AND, number, most)
    node = h.Binary(op, byte, constant)
    assert never_wraps(node, dict.fromkeys((number, most, constant, byte, node), U32)) == is_safe
