"""Of tests of sums that differ by a constant, one is made; all positions around it are still tested."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.analysis.strongest import ImpliedTests

TEXT = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<uniform> sizes: vec4u;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_id) local: vec3u) {
    let x = local.x; var v = 0u;
    for (var y = 0u; y < sizes.x; y++) { SUM }
    out[x] = v;
}
"""


def test_upper_bounds() -> None:
    tests = ImpliedTests()
    tests.made("add", "%x", "3", "%x3")
    tests.made("add", "%x3", "4", "%x7")
    for name, left in ("%t0", "%x"), ("%t3", "%x3"), ("%t7", "%x7"), ("%other", "%y"):
        tests.compared("ult", left, "%n", name)
    assert tests.strongest(["%t3", "%t7", "%t0", "%other"]) == ["%t7", "%other"]


def test_lower_bounds_and_products() -> None:
    tests = ImpliedTests()
    tests.made("sub", "%y", "1", "%above")
    tests.made("mul", "%above", "100", "%row")
    tests.made("mul", "%y", "100", "%own")
    tests.made("add", "%x", "%own", "%here")
    tests.made("add", "%row", "%x", "%there")
    for name, left in ("%t0", "%here"), ("%t1", "%there"):
        tests.compared("sge", left, "0", name)
    assert tests.strongest(["%t0", "%t1"]) == ["%t1"]


def test_other_limits_orders_and_far_constants_stay() -> None:
    tests = ImpliedTests()
    tests.made("add", "%x", "4294967295", "%far")
    tests.compared("ult", "%x", "%n", "%a")
    tests.compared("ult", "%x", "%m", "%b")
    tests.compared("ule", "%x", "%n", "%c")
    tests.compared("ult", "%far", "%n", "%d")
    assert tests.strongest(["%a", "%b", "%c", "%d", "%unknown"]) == ["%a", "%b", "%c", "%d", "%unknown"]


def test_neighbours_share_a_test() -> None:
    text = TEXT.replace("SUM", "".join(f"v = v * 3u + a[y * sizes.y + x + {it}u];" for it in range(20)))
    code = tinct.load(text).compilation("main", {}).cpu.llvm(optimised=True)
    tests = re.findall(r"= icmp (?:samesign )?ul[te] i64", code)
    assert 0 < len(tests) < 20 + 12  # the copy with tests has one for each access


@pytest.mark.parametrize("length", [1, 15, 64, 70, 85, 86, 200])
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("offsets", [(0, 1, 2, 19), (19, 0, 7), (3, 4294967295, 1), (2147483648, 2147483647, 5)])
def test_gangs_agree_with_the_interpreter(length: int, rows: int, offsets: tuple[int, ...]) -> None:
    terms = [f"v = v * 3u + a[y * sizes.y + x + {it}u];" for it in offsets]
    kernel = tinct.load(TEXT.replace("SUM", "".join(terms)))["main"]
    buffers = {
        "a": np.random.default_rng(7).integers(0, 99, length, np.uint32),
        "sizes": np.array([rows, 13, 0, 0], np.uint32),
        "out": np.zeros(16, np.uint32),
    }
    expected = kernel.run(buffers, workgroups=1, device="interp")["out"]
    np.testing.assert_array_equal(kernel.run(buffers, workgroups=1, device="cpu")["out"], expected)
