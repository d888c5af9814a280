"""The kernels of `shaders/`: built, verified, printed and read back; and interpreted on their small cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinct.cases import Case, load_cases
from tinct.compare import compare
from tinct.frontend import load_program
from tinct.ir.core import Module, parse, print_module, verify
from tinct.ir.schema.traverse import same
from tinct.ir.source import Source
from tinct.shader import Shader
from tinct.transforms.from_wgsl import build

SHADERS = Path(__file__).parents[2] / "shaders"
KERNELS = load_cases(SHADERS)
CASES = [case for kernel in KERNELS for case in kernel.cases if case.interp]


def module_of(path: Path) -> Module:
    return build(load_program(Source.from_file(path)))


@pytest.mark.parametrize("path", sorted({kernel.path for kernel in KERNELS}), ids=lambda path: path.stem)
def test_round_trip(path: Path) -> None:
    module = module_of(path)
    verify(module)
    text = print_module(module)
    again = parse(text, module.structs)
    assert same(module, again)
    assert print_module(again) == text


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kernel}-{case.name}".replace(" ", "_"))
def test_interpreted(case: Case) -> None:
    kernel = Shader(Source.from_file(case.kernel_path)).kernel(case.entry)
    inputs = case.inputs_of(kernel.bindings)
    expected = case.expected(inputs)
    assert expected is not None
    found = kernel.run(
        {**inputs, **case.samplers},
        workgroups=case.workgroups,
        threads=case.threads,
        constants=case.constants,
        device="interp",
    )
    for name, tolerance in case.outputs.items():
        comparison = compare(expected[name], found[name], tolerance)
        assert comparison.agrees, f"{name}: {comparison}"
