"""Core IR back to WGSL: one golden text for each construct, stable from the second trip on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.backend.wgsl import print_unit
from tinct.frontend import load_program
from tinct.ir.core import Module, parse, verify
from tinct.ir.source import Source
from tinct.ir.wgsl import ast
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_wgsl.unit import to_unit

GOLDENS = Path(__file__).parents[1] / "goldens" / "wgsl"
SOURCES = sorted(path for path in GOLDENS.glob("*.wgsl") if not path.name.endswith(".out.wgsl"))
MODULES = sorted(GOLDENS.glob("*.core"))
INPUTS_OF_CORE = sorted((GOLDENS.parent / "core").glob("*.wgsl"))


def module_of(text: str) -> Module:
    module = build(load_program(Source.from_text(text)))
    verify(module)
    return module


def written(module: Module) -> str:
    return print_unit(to_unit(module))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    text = written(module_of(path.read_text(encoding="utf-8")))
    golden(path.with_suffix(".out.wgsl"), text)
    assert written(module_of(text)) == text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_golden_of_core_text(path: Path, golden: Callable[[Path, str], None]) -> None:
    """What no WGSL becomes: values that Ifs yield, values carried by loops."""
    module = parse(path.read_text(encoding="utf-8"))
    verify(module)
    text = written(module)
    golden(path.with_suffix(".out.wgsl"), text)
    assert written(module_of(text)) == text


@pytest.mark.parametrize("path", INPUTS_OF_CORE, ids=lambda path: path.stem)
def test_second_trip_is_the_identity(path: Path) -> None:
    text = written(module_of(path.read_text(encoding="utf-8")))
    assert written(module_of(text)) == text


def test_writing_leaves_the_module_alone() -> None:
    path = GOLDENS / "loops.wgsl"
    module = module_of(path.read_text(encoding="utf-8"))
    first = to_unit(module)
    assert isinstance(first, ast.TranslationUnit)
    verify(module)
    assert print_unit(to_unit(module)) == print_unit(first)


def test_there_are_goldens() -> None:
    assert len(SOURCES) >= 10
    assert MODULES
    assert INPUTS_OF_CORE
