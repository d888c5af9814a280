"""Values that branches change for some lanes: machine code of gangs against the interpreter, for all levels."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.cpu.test_targets import available

import tinct

COUNT = 192
BODIES = {
    "one side changes": "if v > 5u { a += v; b ^= a; }",
    "the other side changes": "if v > 5u { c += 1u; } else { a += v; }",
    "both sides change": "if v > 5u { a += v; } else { a -= 3u; b += a; }",
    "a way out of one side": "if v > 5u { a += v; if v == 9u { continue; } b += a; }",
    "a way around": "if v == t { continue; } if v > 5u { a += v; } if v > 2u { b += v; }",
    "what the other side computed": "let d = v * 3u; a += d; if v > 5u { a = b + d; } else { b = d; }",
    "a branch that all lanes take": "if n == 3u { if v > 5u { a += v; } } else { b += v; }",
    "branches in a branch": "if v > 3u { if v < 9u { a += v; } else { b += 7u; } c ^= a; }",
    "a loop on one side": "if v > 5u { for (var k = 0u; k < v % 4u; k++) { a += k ^ b; } b += a; }",
    "ways of a switch": "switch v % 4u { case 0u: { a += v; } case 1u: { b += v; } default: { c += a; } }",
    "ways around in a loop with a test": "if v % 3u == 0u || v % 5u == t % 5u { continue; } a += v; b += a; c += b;",
}
KERNEL = """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> sums: array<vec3u>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let t = id.x % 12u;
    var a = 1u;
    var b = id.x;
    var c = 2u;
    for (var i = 0u; i < n; i++) {
        let v = values[(id.x + i * 5u) % 192u];
        BODY
    }
    if id.x < 180u { sums[id.x] = vec3u(a, b, c); }
}
"""


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("n", [3, 7])
def test_lanes_keep_what_they_do_not_change(body: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(9).integers(0, 12, COUNT).astype(np.uint32)
    buffers = {"values": values, "n": np.uint32(n), "sums": np.zeros((COUNT, 3), np.uint32)}
    text = KERNEL.replace("BODY", BODIES[body])
    expected = tinct.load(text)["main"].run(buffers, threads=COUNT, device="interp")["sums"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = tinct.load(text)["main"].run(buffers, threads=COUNT, device="cpu")["sums"]
        np.testing.assert_array_equal(found, expected, err_msg=level)


def test_a_change_is_one_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that leave an iteration early keep their sums: each sum has one `select`, not one inside another."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    text = KERNEL.replace("BODY", "if v == t { continue; } if v > 5u { a += v; b ^= a * 3u; }")
    code = tinct.load(text).compilation("main", {}).cpu.llvm()
    choices = re.findall(r"= select <\d+ x i1> \S+, <\d+ x i32>", code)
    sums, versions = 2, 2
    assert len(choices) <= sums * versions
