"""The graphs of `examples/`: against their numpy references, from Python and from their files."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tinct

from .support import DEVICES

FOLDERS = sorted(path for path in (Path(__file__).parents[2] / "examples").iterdir() if path.is_dir())


@cache
def module(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{folder.name}", folder / f"{folder.name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_there_are_examples() -> None:
    assert {it.name for it in FOLDERS} >= {"canny", "life", "radix_sort"}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda it: it.name)
def test_example(folder: Path, device: str) -> None:
    example = module(folder)
    given = example.inputs(np.random.default_rng(7))
    expected = example.reference(given)
    loaded = tinct.load_graph(folder / f"{folder.name}.hpvm")
    for graph in (example.GRAPH, loaded):
        found = graph.run(given, device=device)
        assert set(found) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name].ravel(), array.ravel())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda it: it.name)
def test_the_file_is_what_the_example_saves(folder: Path, tmp_path: Path) -> None:
    saved = tmp_path / folder.name / f"{folder.name}.hpvm"
    saved.parent.mkdir()
    module(folder).GRAPH.save(saved, shaders="files")
    lines = [line for line in saved.read_text().splitlines() if not line.startswith("shader ")]
    committed = (folder / saved.name).read_text().splitlines()
    assert [line for line in committed if not line.startswith("shader ")] == lines
    assert f'shader {folder.name} = file("{folder.name}.wgsl")' in committed
