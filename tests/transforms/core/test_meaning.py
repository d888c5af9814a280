"""Every pass and pipeline keeps the meaning: the interpreter's answers of real and random kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.pipelines import PIPELINES
from tests.differential.generate import Generator

from tinct.ir.core import Module
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
        wrong = [it for it in pipelines if not _is_right(text, entry, it, expected, as_text=as_text)]
        assert wrong == [], entry


def _is_right(text: str, entry: str, pipeline: str, expected: dict[BindingPoint, bytes], *, as_text: bool) -> bool:
    module: Module = specialise(module_of(text), entry, {})
    transformed(module, pipeline)
    if as_text:
        module = module_of(written(module))
    return answers(module, entry) == expected


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    assert_meaning(path.read_text(encoding="utf-8"), as_text=False)


@pytest.mark.parametrize("seed", range(21))
def test_random_kernels(seed: int) -> None:
    assert_meaning(Generator(seed).kernel(), as_text=False)


@pytest.mark.parametrize("seed", range(2))
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
