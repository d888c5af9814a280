"""Products fused with sums: only where a caller asks for it, and only by the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import CpuOptions
from tinct.backend.cpu.target import current_target
from tinct.base.errors import InputError

KERNEL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> rest: array<f32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
    let square = x[id.x] * x[id.x];
    rest[id.x] = square - 1.0;
}
"""
FUSED = ("vfm", "vfnm", "fmla", "fmls", "fmadd", "fmsub")
SHADERS = Path(__file__).parents[2] / "shaders"
X = np.float32([1 + 2**-12 + 2**-20] * 16)
ROUNDED_TWICE = np.float32(X * X) - np.float32(1)
ROUNDED_ONCE = np.float32(X.astype(np.float64) ** 2 - 1)


def test_roundings_differ() -> None:
    assert ROUNDED_TWICE[0] != ROUNDED_ONCE[0]


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_every_operation_rounds_unless_asked(device: str) -> None:
    outputs = tinct.load(KERNEL)["main"].run({"x": X, "rest": np.zeros_like(X)}, threads=16, device=device)
    np.testing.assert_array_equal(outputs["rest"], ROUNDED_TWICE)


def test_contraction_rounds_once_where_the_machine_can() -> None:
    kernel = tinct.load(KERNEL)["main"]
    buffers = {"x": X, "rest": np.zeros_like(X)}
    contracted = kernel.run(buffers, threads=16, contract=True)["rest"]
    assembly = kernel.shader.compilation("main", {}).machine_code.code(CpuOptions(contract=True)).assembly()
    can_fuse = any(name in assembly for name in FUSED)
    np.testing.assert_array_equal(contracted, ROUNDED_ONCE if can_fuse else ROUNDED_TWICE)
    np.testing.assert_array_equal(kernel.run(buffers, threads=16)["rest"], ROUNDED_TWICE, "as if never asked for")


def test_only_the_program_s_own_sums_are_fused() -> None:
    compilation = tinct.load(KERNEL.replace("square - 1.0", "exp(square) - 1.0")).compilation("main", {})
    plain, contracted = (
        it.llvm(optimised=False) for it in (compilation.cpu, compilation.machine_code.code(CpuOptions(contract=True)))
    )
    assert contracted == plain


@pytest.mark.parametrize("name", ["matmul_naive", "matmul_tiled", "nbody"])
def test_sums_of_products_in_loops_are_fused(name: str) -> None:
    (path,) = SHADERS.glob(f"*/{name}.wgsl")
    assembly = tinct.load(path).compilation("main", {}).machine_code.code(CpuOptions(contract=True)).assembly()
    can_fuse = current_target().has_fma
    assert any(it in assembly for it in FUSED) == can_fuse


@pytest.mark.parametrize(
    ("expression", "exact"),
    [
        ("x[id.x] * x[id.x] + 1.0", lambda x: x * x + 1),
        ("1.0 - x[id.x] * x[id.x]", lambda x: 1 - x * x),
        ("x[id.x] * 3.0 - x[id.x] * x[id.x]", lambda x: np.float64(np.float32(x * 3)) - x * x),
    ],
)
def test_each_form_rounds_once(expression: str, exact: Callable[[np.ndarray], np.ndarray]) -> None:
    kernel = tinct.load(KERNEL.replace("square - 1.0", f"select(square, {expression}, id.x < 99u)"))["main"]
    contracted = kernel.run({"x": X, "rest": np.zeros_like(X)}, threads=16, contract=True)["rest"]
    if current_target().has_fma:
        np.testing.assert_array_equal(contracted, exact(X.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("device", ["interp", "hercules", "gpu"])
def test_only_the_cpu_can_be_asked(device: str) -> None:
    with pytest.raises(InputError, match=f"contract is for the device 'cpu', not '{device}'"):
        tinct.load(KERNEL)["main"].run({"x": X, "rest": X}, threads=16, device=device, contract=True)
