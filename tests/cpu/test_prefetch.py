"""Loops whose iterations load far apart prefetch what later iterations load."""

from __future__ import annotations

import numpy as np
import pytest

import tinct

COLUMNS = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0.0;
    for (var row = 0u; row < ROWS; row++) { sum += x[PLACE]; }
    y[id.x] = sum;
}
"""
SECOND_CACHE = "i32 0, i32 2, i32 1)"


def text(place: str, rows: str = "100u") -> str:
    return COLUMNS.replace("PLACE", place).replace("ROWS", rows)


@pytest.mark.parametrize(
    ("place", "is_far"),
    [
        ("row * 1024u + id.x", True),
        ("(99u - row) * 1024u + id.x", True),
        ("row * 256u + id.x", False),
        ("row * arrayLength(&y) + id.x", False),
    ],
)
def test_rows_far_apart_are_prefetched(place: str, is_far: bool) -> None:
    code = tinct.load(text(place)).compilation("main", {}).cpu.llvm(optimised=False)
    assert (SECOND_CACHE in code) == is_far


@pytest.mark.parametrize(("rows", "is_far"), [("64u", False), ("65u", True), ("arrayLength(&y)", True)])
def test_short_loops_do_not_prefetch_what_lies_behind_them(rows: str, is_far: bool) -> None:
    code = tinct.load(text("row * 1024u + id.x", rows)).compilation("main", {}).cpu.llvm(optimised=False)
    assert (SECOND_CACHE in code) == is_far


def test_loops_downwards_prefetch_downwards() -> None:
    code = tinct.load(text("(99u - row) * 1024u + id.x")).compilation("main", {}).cpu.llvm(optimised=False)
    assert f"i64 {-32 * 4096}" in code


def test_results_are_those_of_the_interpreter() -> None:
    x = np.random.default_rng(0).random(128 * 1024, np.float32)
    buffers = {"x": x, "y": np.zeros(128, np.float32)}
    kernel = tinct.load(text("row * 1024u + id.x"))["main"]
    found, expected = (kernel.run(buffers, workgroups=2, device=it)["y"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
