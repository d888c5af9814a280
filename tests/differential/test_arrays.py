"""Arrays too long for registers, as values: returned, chosen, copied, and kept across barriers."""

from __future__ import annotations

import numpy as np
import pytest

from .support import assert_agree, assert_order_free

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
var<workgroup> tile: array<u32, 8>;
struct Both { first: array<u32, 12>, second: u32 }
fn filled(x: u32) -> array<u32, 12> {
    var a: array<u32, 12>;
    for (var k = 0u; k < 12u; k++) { a[k] = x + k * k; }
    return a;
}
fn chosen(x: u32) -> array<u32, 12> {
    if (x % 3u == 0u) { return filled(x); }
    var b = filled(x * 2u);
    if (x % 3u == 1u) { b[x] = 77u; return b; }
    for (var k = 0u; k < x; k++) { b[k] += 1u; if (b[k] > 40u) { return b; } }
    return array<u32, 12>();
}
fn chosen_both(x: u32) -> Both {
    if (x > 4u) { return Both(filled(x), x); }
    return Both(array<u32, 12>(), 1u);
}
fn met(x: u32) -> array<u32, 12> {
    tile[x] = x;
    workgroupBarrier();
    let a = chosen(tile[7u - x]);
    workgroupBarrier();
    return a;
}
fn met_twice(x: u32) -> array<u32, 12> {
    tile[x] = x * 3u;
    workgroupBarrier();
    if (data[2] > 10u) { return chosen(tile[7u - x]); }
    workgroupBarrier();
    return filled(tile[0]);
}
fn ends_differently(x: u32) -> array<u32, 12> {
    tile[x] = x * 3u;
    workgroupBarrier();
    if (x > 3u) { return chosen(tile[7u - x]); }
    return filled(tile[0]);
}
"""

BODIES = {
    "returned": "let a = filled(i); out[i] = a[data[i] % 12u];",
    "chosen": "let a = chosen(i); let b = chosen(i + 1u); out[i] = a[data[i] % 12u] + 100u * b[i];",
    "chosen in a loop": "for (var t = 0u; t < 3u; t++) { let a = chosen(i + t); out[i] += a[t] * (t + data[i]); }",
    "in a struct": "let both = chosen_both(i); out[i] = both.first[data[i] % 12u] + both.second;",
    "copied": "var a = filled(i); let b = a; a[3] = data[1]; out[i] = a[3] + b[3] * 100u;",
    "a value across": """
        var a = filled(i);
        let b = a;
        a[i] = 5u;
        workgroupBarrier();
        out[i] = a[i] + b[data[i] % 12u] * 100u;""",
    "a chosen value across": "let b = chosen(i); workgroupBarrier(); out[i] = b[data[i] % 12u];",
    "a struct across": "let b = chosen_both(i); workgroupBarrier(); out[i] = b.first[data[i] % 12u] + b.second;",
    "from functions with barriers": "let a = met(i); let b = met(7u - i); out[i] = a[i] + 100u * b[data[i] % 12u];",
    "from a uniform return": "let a = met_twice(i); workgroupBarrier(); out[i] = a[data[i] % 12u];",
    "from returns that diverge": "let a = ends_differently(i); out[i] = a[data[i] % 12u];",
    "a variable after a return that diverges": """
        tile[i] = i;
        workgroupBarrier();
        if (tile[7u - i] > 4u) { return; }
        var a = filled(i);
        a[data[i] % 12u] += 3u;
        out[i] = a[i] + a[data[i] % 12u];""",
    "of other values": """
        let a = array<array<u32, 12>, 2>(filled(i), chosen(i));
        workgroupBarrier();
        let b = a[i % 2u];
        out[i] = b[data[i] % 12u] + a[1][2];""",
    "in a workgroup loop": """
        var sum = 0u;
        for (var t = 0u; t < 3u; t++) {
            let a = chosen(i + t);
            workgroupBarrier();
            sum += a[data[i] % 12u];
        }
        out[i] = sum;""",
}


def inputs() -> dict[str, np.ndarray]:
    data = np.random.default_rng(3).integers(0, 300, 8, dtype=np.uint32)
    return {"out": np.zeros(8, np.uint32), "data": data}


@pytest.mark.parametrize("name", BODIES)
def test_tiers_agree(name: str) -> None:
    wgsl = HEAD + f"@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{ {BODIES[name]} }}"
    assert_agree(wgsl, inputs())
    assert_order_free(wgsl, {name: array.tobytes() for name, array in inputs().items()}, (1, 1, 1))
