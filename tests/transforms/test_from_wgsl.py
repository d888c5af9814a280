"""WGSL to core IR: one golden text for each construct, verified, and read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.frontend import load_program
from tinct.ir.core import parse, print_module, verify
from tinct.ir.core.nodes import SCHEMA
from tinct.ir.schema.traverse import mistakes, same
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build

GOLDENS = Path(__file__).parents[1] / "goldens" / "core"
SOURCES = sorted(GOLDENS.glob("*.wgsl"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    module = build(load_program(Source.from_file(path)))
    assert mistakes(module, SCHEMA) == []
    verify(module)
    text = print_module(module)
    golden(path.with_suffix(".core"), text)
    again = parse(text, module.structs)
    assert print_module(again) == text
    assert same(module, again)
    verify(again)


def test_there_are_goldens() -> None:
    assert len(SOURCES) > 15


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_spans_are_kept(path: Path) -> None:
    """Every instruction and branch that has a source says where."""
    module = build(load_program(Source.from_file(path)))
    blocks = [it for function in module.functions for it in _blocks(function.start_target)]
    for block in blocks:
        for instruction in block.instructions:
            assert instruction.span is not None, instruction


def _blocks(start: object) -> list[object]:
    from tinct.ir.core.nodes import Block
    from tinct.ir.schema.traverse import walk

    return [node for node in walk(start) if isinstance(node, Block)]


def test_interface_counts_dead_code() -> None:
    path = GOLDENS / "dead_code.wgsl"
    module = build(load_program(Source.from_file(path)))
    main = next(function for function in module.functions if function.name == "main")
    assert [resource.name for resource in main.resources] == ["a", "b"]
