"""Factors that all lanes share, in AVX-512: each product loads its own."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import CpuOptions

BLOCK = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(16) fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) t: u32) {
    var sums = vec4f();
    for (var k = 0u; k < 100u; k++) {
        let upper = a[group.x * 200u + k];
        let lower = a[group.x * 200u + 100u + k];
        let left = b[k * 32u + t];
        let right = b[k * 32u + t + 16u];
        sums += vec4f(upper * left, upper * right, lower * left, lower * right);
    }
    c[group.x * 64u + t] = sums.x;
    c[group.x * 64u + t + 16u] = sums.y;
    c[group.x * 64u + t + 32u] = sums.z;
    c[group.x * 64u + t + 48u] = sums.w;
}
"""


def products(*, contract: bool) -> str:
    """The machine code from the first product on."""
    code = tinct.load(BLOCK).compilation("main", {}).machine_code.code(CpuOptions(contract=contract)).assembly()
    return code[code.index("vfmadd" if contract else "vmulps") :]


@pytest.mark.parametrize("cpu_target", ["x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_a_factor_is_an_operand_in_memory_of_each_product() -> None:
    code = products(contract=False)
    assert code.count("{1to16}") >= 4
    assert "vbroadcastss" not in code


@pytest.mark.parametrize("cpu_target", ["x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_fused_operations_share_a_factor() -> None:
    assert "{1to16}" not in products(contract=True)


@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_results_are_those_of_the_interpreter() -> None:
    random = np.random.default_rng(0)
    a, b = random.random(600, np.float32), random.random(3200, np.float32)
    buffers = {"a": a, "b": b, "c": np.zeros(192, np.float32)}
    kernel = tinct.load(BLOCK)["main"]
    expected = kernel.run(buffers, workgroups=3, device="interp")["c"]
    np.testing.assert_array_equal(kernel.run(buffers, workgroups=3, device="cpu")["c"], expected)
