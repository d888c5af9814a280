"""Tables of constants at positions that are known in part: vectors of constants, the same elements everywhere."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu.target import compiling_for

KERNEL = """
const FLAT = array<f32, 24>(WORDS);
const NESTED = array<array<u32, 6>, 5>(ROWS);
const ZEROS = array<array<u32, 3>, 4>();
@group(0) @binding(0) var<storage> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> found: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> tile: array<array<f32, 8>, 8>;
@compute @workgroup_size(8, 8) fn main(
    @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) t: u32
) {
    let u = local.x;
    let v = local.y;
    tile[v][u] = given[t] + f32(n);
    workgroupBarrier();
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { sum += tile[v][i] + TABLE; }
    workgroupBarrier();
    tile[u][v] = sum;
    workgroupBarrier();
    for (var i = 0u; i < 5u; i++) { sum += tile[i][u] * TABLE; }
    found[t] = sum;
}
"""
TABLES = {
    "at a thread": "FLAT[u * 3u]",
    "past the end": "FLAT[t]",
    "at a thread and a counter": "FLAT[u * 2u + i]",
    "before the beginning": "FLAT[u + i - 3u]",
    "with a number from outside": "FLAT[u + n + i]",
    "signed": "FLAT[i32(u) + i32(i) - 2]",
    "rows by threads": "f32(NESTED[v][i])",
    "rows by a counter": "f32(NESTED[i][u])",
    "rows by threads, a number from outside": "f32(NESTED[v][i - n])",
    "zeros": "f32(ZEROS[v][i])",
}
DATA = {"at a thread times a counter": "FLAT[u * i]", "both positions move": "f32(NESTED[n + i][i + n])"}
COMMON = {
    "at a counter": "FLAT[i]",
    "at a number from outside": "FLAT[n]",
    "at both": "FLAT[i + n] + f32(NESTED[i][n])",
    "beside a thread's": "FLAT[i + 2u] * FLAT[u + i]",
}
"""Elements that all lanes have in common."""


def shader(name: str) -> str:
    words = ", ".join(str(round(0.25 * it * it - 3, 2)) for it in range(24))
    rows = ", ".join(f"array<u32, 6>({', '.join(f'{7 * row + it}u' for it in range(6))})" for row in range(5))
    text = KERNEL.replace("WORDS", words).replace("ROWS", rows)
    return text.replace("TABLE", (TABLES | DATA | COMMON)[name])


@pytest.mark.parametrize("name", [*TABLES, *DATA, *COMMON])
def test_elements_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, given = tinct.load(shader(name))["main"], np.arange(64, dtype=np.float32)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for n in (0, 1, 3, 2000, (1 << 32) - 2):
        buffers = {"given": given, "found": np.zeros(64, np.float32), "n": np.uint32(n)}
        expected = kernel.run(buffers, workgroups=1, device="interp")["found"]
        for level in available():
            monkeypatch.setenv("TINCT_CPU_TARGET", level)
            found = kernel.run(buffers, workgroups=1, device="cpu")["found"]
            np.testing.assert_array_equal(found, expected, err_msg=f"{n}, {level}")


@pytest.mark.parametrize("name", [it for it in TABLES if "outside" not in it and it != "past the end"])
def test_no_table_is_gathered_from(name: str) -> None:
    with compiling_for("x86-64-v4"):
        text = tinct.load(shader(name)).compilation("main", {}).cpu.llvm(optimised=True)
    assert re.search(r"ptr @constant\d+, <16 x", text) is None
