"""Loops with a version of their blocks for when all turns stay in range: around every edge, gangs do what lanes do."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import tinct

HEAD = """
struct Sizes { count: u32, stride: u32, start: i32, end: i32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
"""
BODIES = {
    "rows and columns": "for (var k = 0u; k < sizes.count; k++) { v += a[g * sizes.stride + k] * b[k * 16u + l]; }",
    "only where it is guarded": """
        if g < sizes.stride { for (var k = 0u; k < sizes.count; k++) { v += a[k * 7u] * b[k + g]; } }""",
    "up to the limit": "for (var k = 1u; k <= sizes.count; k++) { v = v * 3u + a[k] + b[k * sizes.stride]; }",
    "the limit first": "for (var k = 0u; sizes.count > k; k++) { v = v * 3u + a[k + l] + b[sizes.stride * k]; }",
    "until, not while": "var k = 0u; loop { if k >= sizes.count { break; } v += a[k] ^ b[k + l]; k += 3u; }",
    "signed": "for (var k = 2; k < sizes.end; k++) { v = v * 5u + a[k] + b[k + i32(l)]; }",
    "signed from below": "for (var k = sizes.start; k < sizes.end; k++) { v = v * 5u + a[k] + b[k + i32(l)]; }",
    "signed from a constant below": "for (var k = -3; k < sizes.end; k++) { v = v * 5u + a[k] + b[k + i32(l)]; }",
    "sums that wrap round": """
        for (var k = 0u; k < sizes.count; k++) { v = v * 5u + a[k + 4294967290u] + b[k * 0x8000001u]; }""",
    "a jump": """
        for (var k = 0u; k < sizes.count; k++) { v += a[k] + b[k + g]; if v > 900u { break; } v += a[k + 1u]; }""",
    "a branch": """
        for (var k = 0u; k < sizes.count; k++) {
            if k % 3u == 1u { v += a[k + l] * b[k]; } else { v ^= a[l] + b[k + 2u]; } }""",
    "stores": "for (var k = 0u; k < sizes.count; k++) { out[g + 64u * (k % 3u)] = a[k] + b[k + l]; } v = out[g];",
    "the counter afterwards": """
        var k = 0u; for (; k < sizes.count; k++) { v += a[k] * b[k + l]; if v == 77u { break; } } v += k * 1000u;""",
    "one in another": """
        for (var j = 0u; j < sizes.stride; j++) {
            for (var k = 0u; k < sizes.count; k++) { v += a[j * 9u + k] * b[k + l]; } }""",
    "one in another that leaves out the first turn": """
        for (var j = 0u; j < sizes.stride; j++) {
            if j > 0u { for (var k = 0u; k < sizes.count; k++) { v += a[j * 9u - 9u + k + l] * b[k + l]; } } }""",
    "the counter of an inner loop afterwards": """
        for (var j = 0u; j < sizes.stride; j++) {
            var k = 0u; for (; k < sizes.count; k++) { v += a[k] * b[k]; }
            v ^= a[k] + b[k] * 5u; } """,
    "a limit that an outer loop changes": """
        for (var j = 0u; j < sizes.stride; j++) {
            for (var k = 0u; k < j * 9u; k++) {
                v += a[k + l] * b[k]; for (var m = 0u; m < k; m++) { v ^= b[m + j]; } } }""",
    "inner loops, one of which has a jump": """
        for (var j = 0u; j < sizes.count; j++) {
            for (var k = 0u; k < 5u; k++) { v += a[j + k] * b[j * 2u + k]; if v > 5000u { break; } }
            for (var k = 3u; k < sizes.stride; k++) { if (v + k) % 2u == 0u { v += a[k * j]; } else { v ^= b[k + l]; } }
        }""",
    "a counter that halves": """
        var k = 0u;
        while k < sizes.count {
            v += a[k] * b[k + l]; k = select(k + 1u, k / 2u + 5u, k == 6u); if v > 9000u { break; } }""",
}
SIZES = [
    (0, 0, 0, 0),
    (9, 3, -2, 9),
    (40, 1, 0, 40),
    (64, 4, 5, 64),
    (65, 5, -70, 65),
    (150, 2, 0, 150),
    (300, 11, 0, 300),
]


@cache
def kernel_of(body: str) -> tinct.Kernel:
    return tinct.load(f"""{HEAD}@compute @workgroup_size(16, 4)
        fn main(@builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) g: u32) {{
            let l = local.x; var v = g; {body} out[g] += v; }}""")["main"]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", BODIES)
def test_gangs_agree_with_the_interpreter(name: str, sizes: tuple[int, int, int, int]) -> None:
    kernel = kernel_of(BODIES[name])
    source = np.random.default_rng(5)
    type = np.dtype([("count", "u4"), ("stride", "u4"), ("start", "i4"), ("end", "i4")])
    buffers = {
        "sizes": np.array(sizes, type),
        "a": source.integers(0, 99, 200, np.uint32),
        "b": source.integers(0, 99, 150, np.uint32),
        "out": np.zeros(256, np.uint32),
    }
    assert kernel.shader.compilation("main", {}).cpu.tier == "gang"
    expected = kernel.run(buffers, workgroups=1, device="interp")["out"]
    np.testing.assert_array_equal(kernel.run(buffers, workgroups=1)["out"], expected)


def test_a_version_has_no_tests() -> None:
    text = f"""{HEAD}@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) g: u32) {{
        var v = 0u; {BODIES["only where it is guarded"]} out[g] = v; }}"""
    version = _untested_copy(tinct.load(text).compilation("main", {}).cpu.llvm(optimised=False))
    assert "load <" in version
    assert not re.search(r"icmp|masked", re.sub(r".*icmp ult i32.*", "", version))


def test_a_nest_of_loops_is_tested_once() -> None:
    text = f"""{HEAD}@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) g: u32) {{
        let l = g; var v = 0u; {BODIES["one in another"]} out[g] = v; }}"""
    code = tinct.load(text).compilation("main", {}).cpu.llvm(optimised=False)
    version = _untested_copy(code)
    assert version.count("\nloop.") == 2
    assert "masked.gather" not in version


def test_a_nest_whose_test_is_known_to_fail_is_tested_inside() -> None:
    """In the first turn of the outer loop, which the branch leaves out, the position would be negative."""
    name = "one in another that leaves out the first turn"
    text = f"""{HEAD}@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) g: u32) {{
        let l = g; var v = 0u; {BODIES[name]} out[g] = v; }}"""
    code = tinct.load(text).compilation("main", {}).cpu.llvm(optimised=False)
    before, outer, inner = code.partition("\nloop.")
    assert "\nin.range." not in before
    assert "\nin.range." in outer + inner
    version = _untested_copy(code)
    assert version.count("\nloop.") == 1
    assert "masked.gather" not in version


def test_sums_stay_in_their_copy_of_a_loop() -> None:
    """24 products and sums fit in the registers of AVX-512 if each sum is made right after its product."""
    rows, columns = range(8), range(3)
    sums = [f"s{i}{j}" for i in rows for j in columns]
    steps = [f"s{i}{j} += f32(a[{i}u * sizes.stride + k]) * y{j};" for i in rows for j in columns]
    loads = [f"let y{j} = f32(b[k * sizes.stride + l + {16 * j}u]);" for j in columns]
    text = f"""{HEAD}@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) l: u32) {{
        {"".join(f"var {it} = 0.0;" for it in sums)}
        for (var k = 0u; k < sizes.count; k++) {{ {"".join([*loads, *steps])} }}
        out[l] = u32({" + ".join(sums)}); }}"""
    code = tinct.load(text).compilation("main", {}).cpu.llvm()
    products = re.findall(r"(%[\w.]+) = fmul <", code)
    added = re.findall(r"fadd <.*> %[\w.]+, (%[\w.]+)", code)
    assert len(products) >= 48  # 24 in each copy
    assert set(products) <= set(added)


def _untested_copy(code: str) -> str:
    """What is between the labels of the two copies of a loop."""
    version = re.search(r"\nin\.range\.\d+:\n(.*?)\ntested\.\d+:\n", code, re.DOTALL)
    assert version is not None
    return version[1]
