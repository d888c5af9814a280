"""The kernels of shaders/ in sessions: sequences of dispatches give what `Kernel.run` gives one by one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import shared_device
from tinct.cases import Case, load_cases
from tinct.compare import compare

from .conftest import skip_without_gpu

ROOT = Path(__file__).parents[2]
KERNELS = load_cases(ROOT / "shaders")


def first_case(cases: tuple[Case, ...]) -> Case:
    """The case that is neither trivial nor slow: the last that an interpreter can run."""
    return [case for case in cases if case.interp][-1]


CASES = [pytest.param(first_case(it.cases), id=it.name) for it in KERNELS]
SEQUENCES = ("cpu", "cpu", "cpu"), ("gpu", "gpu", "gpu"), ("cpu", "gpu", "interp"), ("gpu", "hercules", "cpu")


@cache
def shader_of(path: Path) -> tinct.Shader:
    """The shader, which is compiled once for all tests."""
    return tinct.load(path)


@pytest.mark.parametrize("devices", SEQUENCES, ids="-".join)
@pytest.mark.parametrize("case", CASES)
def test_a_sequence_gives_what_kernel_run_gives(case: Case, devices: tuple[str, ...]) -> None:
    shader = shader_of(case.kernel_path)
    kernel = shader.kernel(case.entry)
    for device in devices:
        skip_without_gpu(device)
    if "gpu" in devices and "f16" in shader.program.enables and "shader-f16" not in shared_device().adapter().features:
        pytest.skip("the adapter has no f16")
    if any(tolerance.multiset for tolerance in case.outputs.values()):
        devices = devices[:1]  # what is appended past the capacity depends on the order
    inputs = case.inputs_of(kernel.bindings)
    options = {"threads": case.threads, "workgroups": case.workgroups, "constants": case.constants}
    given = {**inputs, **case.samplers}
    one_by_one = dict(given)
    with tinct.Session() as session:
        # what is only read is given as an array each time, or stays in a buffer
        large = {name for name, it in inputs.items() if isinstance(it, np.ndarray) and it.nbytes > 1000}
        kept = large | {it.name for it in kernel.bindings if it.is_written}
        values = {
            it.name: session.buffer(inputs[it.name], it) if it.name in kept else given[it.name]
            for it in kernel.bindings
        }
        for device in devices:
            session.run(kernel, values, device=device, **options)
            one_by_one |= kernel.run(one_by_one, device=device, **options)
        for info in kernel.bindings:
            if info.name in case.outputs:
                found = values[info.name].numpy()
                verdict = compare(one_by_one[info.name], found, case.outputs[info.name])
                assert verdict.agrees, f"{info.name}: {verdict}"
                assert found.shape == one_by_one[info.name].shape
            elif not info.is_written and info.name in kept:
                np.testing.assert_array_equal(values[info.name].numpy(), inputs[info.name])


@pytest.mark.parametrize("case", CASES)
def test_one_dispatch_agrees_with_the_reference(case: Case) -> None:
    kernel = shader_of(case.kernel_path).kernel(case.entry)
    inputs = case.inputs_of(kernel.bindings)
    expected = case.expected(inputs)
    assert expected is not None
    given = {**inputs, **case.samplers}
    with tinct.Session() as session:
        values = {
            it.name: session.buffer(inputs[it.name], it) if it.is_written else given[it.name] for it in kernel.bindings
        }
        session.run(kernel, values, threads=case.threads, workgroups=case.workgroups, constants=case.constants)
        for name, tolerance in case.outputs.items():
            verdict = compare(expected[name], values[name].numpy(), tolerance)
            assert verdict.agrees, f"{name}: {verdict}"
