"""Every kernel of shaders/ as it stands, run by wgpu, against its numpy reference."""

from __future__ import annotations

from pathlib import Path

import pytest
import tinct
from tinct.backend.gpu import BufferBinding, GpuDevice, default_device
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.cases import Case, load_cases
from tinct.compare import compare
from tinct.ir.types import BindingPoint
from tinct.reflection import BindingInfo

SHADERS = Path(__file__).parents[2] / "shaders"
KERNELS = load_cases(SHADERS)
CASES = [pytest.param(case, id=f"{case.kernel}-{case.name}") for kernel in KERNELS for case in kernel.cases]


@pytest.fixture(scope="module")
def device() -> GpuDevice:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    return default_device()


@pytest.mark.parametrize("case", CASES)
def test_wgpu_agrees_with_the_reference(case: Case, device: GpuDevice) -> None:
    kernel = tinct.load(case.kernel_path).kernel(case.entry)
    inputs = case.inputs({info.name: info.dtype for info in kernel.bindings if info.dtype is not None})
    packed = pack_buffers(kernel.bindings, inputs)
    bindings = [binding(info, packed) for info in kernel.bindings]
    constants = {key: float(value) for key, value in case.constants.items()}
    size = kernel.workgroup_size(case.constants)
    result = device.run(
        case.kernel_path.read_text(), kernel.info.name, bindings, dispatch(case, size), constants, timeout=20
    )
    for (group, number), data in result.outputs.items():
        packed[BindingPoint(group, number)][:] = data
    outputs = unpack_buffers(kernel.bindings, packed, inputs)
    expected = case.expected(inputs)
    assert expected is not None
    assert expected.keys() == case.outputs.keys()
    for name, tolerance in case.outputs.items():
        verdict = compare(expected[name], outputs[name], tolerance)
        assert verdict.agrees, f"{name}: {verdict}"


def binding(info: BindingInfo, packed: dict[BindingPoint, bytearray]) -> BufferBinding:
    kind = "uniform" if info.space == "uniform" else "storage" if info.is_written else "read-only-storage"
    return BufferBinding(info.group, info.binding, kind, packed[info.point])


def dispatch(case: Case, workgroup_size: tuple[int, int, int]) -> tuple[int, int, int]:
    if case.workgroups is not None:
        return case.workgroups
    assert case.threads is not None
    x, y, z = (-(-threads // size) for threads, size in zip(case.threads, workgroup_size, strict=True))
    return x, y, z


def test_there_are_kernels_of_every_kind() -> None:
    assert len(KERNELS) >= 18
    assert all(kernel.path.read_text().isascii() or kernel.name == "particles" for kernel in KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_kernel_has_small_cases_and_one_that_does_not_divide(kernel) -> None:
    assert any(case.interp for case in kernel.cases), "no case for the interpreter"
    assert any(case.threads == (1, 1, 1) or "one" in case.name or "1x1" in case.name for case in kernel.cases)
    assert all(case.reference is not None for case in kernel.cases)
