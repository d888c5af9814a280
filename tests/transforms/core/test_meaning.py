"""Every pass and pipeline keeps the meaning: the interpreter's answers of real and random kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.pipelines import PIPELINES
from tests.differential.generate import Generator

from tinct.ir.core import Module
from tinct.ir.core.text import print_module
from tinct.ir.types import BindingPoint
from tinct.transforms.specialising import specialise

from .support import SHADERS, answers, entry_points, module_of, stays_in_range, transformed, written

CLAMPING = [it for it in PIPELINES if it != "robustness{mode=predicate}"]
"""Those that answer accesses out of range as the interpreter does, which takes the last element."""


def assert_meaning(text: str, *, as_text: bool) -> None:
    for entry in [function.name for function in entry_points(module_of(text))]:
        module = specialise(module_of(text), entry, {})
        expected = answers(module, entry)
        pipelines = PIPELINES if stays_in_range(module, entry) else CLAMPING
        found: dict[str, dict[BindingPoint, bytes]] = {}  # by module, since many pipelines change nothing
        wrong: list[str] = []
        for pipeline in pipelines:
            changed = _after(text, entry, pipeline, as_text=as_text)
            shown = print_module(changed)
            if shown not in found:
                found[shown] = answers(changed, entry)
            if found[shown] != expected:
                wrong.append(pipeline)
        assert wrong == [], entry


def _after(text: str, entry: str, pipeline: str, *, as_text: bool) -> Module:
    module = specialise(module_of(text), entry, {})
    transformed(module, pipeline)
    return module_of(written(module)) if as_text else module


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    assert_meaning(path.read_text(encoding="utf-8"), as_text=False)


@pytest.mark.parametrize("seed", range(1, 21))
def test_random_kernels(seed: int) -> None:
    assert_meaning(Generator(seed).kernel(), as_text=False)


@pytest.mark.parametrize("seed", [2, 9])
def test_random_kernels_written_back(seed: int) -> None:
    assert_meaning(Generator(seed).kernel(), as_text=True)


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_written_kernels(path: Path) -> None:
    """The text after every pass at once is right too, and stays what it is when read and written again."""
    text = path.read_text(encoding="utf-8")
    for entry in [function.name for function in entry_points(module_of(text))]:
        module = specialise(module_of(text), entry, {})
        expected = answers(module, entry)
        transformed(module, "O2,minify,gpu")
        once = written(module)
        assert written(module_of(once)) == once
        assert answers(module_of(once), entry) == expected
