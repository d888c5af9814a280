"""The kernels of `shaders/`: built, verified, printed and read back; and interpreted on their small cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tinct.cases import Case, load_cases
from tinct.compare import compare
from tinct.frontend import load_program
from tinct.ir import layout
from tinct.ir.core import Module, from_program, parse, print_module, run, verify
from tinct.ir.core.nodes import Function, Var
from tinct.ir.core.root_values import RootValues
from tinct.ir.schema.traverse import same
from tinct.ir.source import Source
from tinct.ir.types import Pointer, Stage, Type

SHADERS = Path(__file__).parents[2] / "shaders"
KERNELS = load_cases(SHADERS)
CASES = [case for kernel in KERNELS for case in kernel.cases if case.interp]


def module_of(path: Path) -> Module:
    return from_program(load_program(Source.from_file(path)))


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
    module = module_of(case.kernel_path)
    entry = _entry(module, case)
    root = RootValues(module, case.constants)
    bound = {it.name: it for it in entry.resources if isinstance(it, Var) and it.binding is not None and it.name}
    types = {name: _store(variable) for name, variable in bound.items()}
    dtypes = {name: layout.numpy_dtype(_unit(type), root.counts) for name, type in types.items()}
    inputs = case.inputs(dtypes)
    expected = case.expected(inputs)
    buffers = {name: bytearray(array.tobytes()) for name, array in inputs.items()}
    bindings = {variable.binding: buffers[name] for name, variable in bound.items() if variable.binding is not None}
    run(module, entry.name, bindings, _workgroups(case, root, entry), case.constants)
    assert expected is not None
    for name, tolerance in case.outputs.items():
        found = np.frombuffer(buffers[name], dtypes[name]).reshape(inputs[name].shape)
        comparison = compare(expected[name], found, tolerance)
        assert comparison.agrees, f"{name}: {comparison}"


def _entry(module: Module, case: Case) -> Function:
    entries = [it for it in module.functions if it.stage is Stage.COMPUTE and case.entry in (None, it.name)]
    assert len(entries) == 1
    return entries[0]


def _store(variable: Var) -> Type:
    assert isinstance(variable.type, Pointer)
    return variable.type.store


def _unit(type: Type) -> Type:
    """The element of a runtime-sized array, else the type."""
    tail = layout.runtime_array(type)
    return tail[1].element if tail is not None and tail[0] == 0 else type


def _workgroups(case: Case, root: RootValues, entry: Function) -> tuple[int, int, int]:
    if case.workgroups is not None:
        return case.workgroups
    assert case.threads is not None
    sizes = root.workgroup_size(entry)
    x, y, z = (-(-threads // size) for threads, size in zip(case.threads, sizes, strict=True))
    return x, y, z
