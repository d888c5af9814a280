"""Every kernel of shaders/ as it stands, run by wgpu, against its numpy reference."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tinct.backend.gpu import GpuDevice, shared_device
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.cases import Case, KernelCases, load_cases
from tinct.compare import compare
from tinct.compared_dispatch import ComparedDispatch
from tinct.frontend import load_program
from tinct.gpu import gpu_binding
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.ir.wgsl.program import FunctionInfo, Program
from tinct.kernel import BufferValue
from tinct.reflection import reflect_bindings, reflect_entry_point
from tinct.shader import load

KERNELS = load_cases(Path(__file__).parents[2] / "shaders")
CASES = [pytest.param(case, id=f"{case.kernel}-{case.name}") for kernel in KERNELS for case in kernel.cases]


@pytest.fixture(scope="module")
def device() -> GpuDevice:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    return shared_device()


@pytest.mark.parametrize("case", CASES)
def test_wgpu_agrees_with_the_reference(case: Case, device: GpuDevice) -> None:
    program = program_of(case.kernel_path)
    if "f16" in program.enables and "shader-f16" not in device.adapter().features:
        pytest.skip("the adapter has no f16")
    infos = reflect_bindings(program)
    inputs = case.inputs_of(infos)
    packed = pack_buffers(infos, {**inputs, **case.samplers})
    result = device.run(
        case.kernel_path.read_text(),
        entry_of(case, program).name,
        [gpu_binding(info, bytes(packed[info.point])) for info in infos],
        workgroups_of(case, program),
        case.constants,
        timeout=20,
    )
    for (group, number), data in result.outputs.items():
        packed[BindingPoint(group, number)][:] = data
    outputs = unpack_buffers(infos, packed, inputs)
    expected = case.expected(inputs)
    assert expected is not None
    assert expected.keys() == case.outputs.keys()
    for name, tolerance in case.outputs.items():
        if case.samplers:
            values: dict[str, BufferValue] = {**inputs, **case.samplers}
            kernel = load(case.kernel_path).kernel(case.entry)
            dispatch = ComparedDispatch(kernel, values, case.workgroups, case.threads, case.constants)
            verdict = dispatch.compare(name, expected[name], outputs[name], tolerance, "gpu")
        else:
            verdict = compare(expected[name], outputs[name], tolerance)
        assert verdict.agrees, f"{name}: {verdict}"


@cache
def program_of(path: Path) -> Program:
    return load_program(Source.from_file(path))


def entry_of(case: Case, program: Program) -> FunctionInfo:
    """The entry point that the case names, or the only one."""
    (entry,) = (entry for entry in program.entry_points if case.entry in (None, entry.name))
    return entry


def workgroups_of(case: Case, program: Program) -> tuple[int, int, int]:
    if case.workgroups is not None:
        return case.workgroups
    constants = {**override_defaults(program), **case.constants}
    entry = reflect_entry_point(program, entry_of(case, program))
    sizes = [constants[s] if isinstance(s, str) else s for s in entry.workgroup_size]
    x, y, z = (-(-threads // size) for threads, size in zip(case.threads, (*sizes, 1, 1)[:3], strict=True))
    return x, y, z


def override_defaults(program: Program) -> dict[str, int]:
    overrides = [variable for variable in program.variables if variable.kind == "override"]
    return {o.name: program.facts.expressions[o.initializer].constant.value for o in overrides}


def test_there_are_enough_kernels() -> None:
    assert len(KERNELS) >= 18


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_cases_cover_the_edges(kernel: KernelCases) -> None:
    """Something for the interpreter, one element, and a reference for everything."""
    assert any(case.interp for case in kernel.cases)
    assert any(1 in case.sizes.values() for case in kernel.cases)
    assert all(case.reference is not None for case in kernel.cases)
