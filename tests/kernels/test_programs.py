"""Every function of programs/ on each device, against its numpy reference."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tinct.agreement import answers, load_kernels
from tinct.cases import Case, KernelCases, load_cases
from tinct.functions import DEVICES, HerculesFile

PROGRAMS = load_cases(Path(__file__).parents[2] / "programs")
CASES = [pytest.param(case, id=f"{case.kernel}-{case.name}") for program in PROGRAMS for case in program.cases]


@cache
def file_of(path: Path) -> HerculesFile:
    """The functions of a file, which are compiled once for all tests."""
    file = load_kernels(path)
    assert isinstance(file, HerculesFile)
    return file


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES)
def test_a_device_agrees_with_the_reference(case: Case, device: str) -> None:
    (answer,) = answers(file_of(case.kernel_path), case, [device], {})
    if device == "interp" and not case.interp:
        assert answer.status == "skipped"
        return
    assert (answer.status, answer.against) == ("agrees", "numpy"), answer.detail


@pytest.mark.parametrize("program", [pytest.param(it, id=it.name) for it in PROGRAMS])
def test_cases_cover_each_function_and_the_edges(program: KernelCases) -> None:
    file = file_of(program.path)
    assert {file.function(case.entry).name for case in program.cases} == set(file)
    sizes = {size for case in program.cases for size in case.sizes.values()}
    assert 1 in sizes
    assert any(size > 1 and size % 2 for size in sizes)
    assert any(case.interp for case in program.cases)
    assert all(case.outputs for case in program.cases)


def test_sizes_of_0_are_covered() -> None:
    assert sum(any(0 in case.sizes.values() for case in program.cases) for program in PROGRAMS) >= 12
