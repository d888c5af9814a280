"""The programs of `examples/`: as graphs, from their files, and as sequences of dispatches, against references."""

from __future__ import annotations

import importlib.util
from functools import cache
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numpy.lib import recfunctions

import tinct

from .support import DEVICES

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/*.hpvm"))
OTHER = DEVICES[-1] if DEVICES[-1] != "cpu" else "hercules"
"""The second device of programs on two of them: a GPU if there is one."""
PROGRAMS = {"canny", "conjugate_gradient", "fft", "fluid", "kmeans", "life", "radix_sort", "transformer"}

each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda it: it.name)


@cache
def module(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{folder.name}", folder / f"{folder.name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def check(example: ModuleType, found: dict[str, npt.NDArray[Any]], expected: dict[str, npt.NDArray[Any]]) -> None:
    """Exactly, or as accurate as the example says of itself."""
    assert set(found) == set(expected)
    for name, array in expected.items():
        numbers = found[name]
        if numbers.dtype.names is not None:
            numbers = recfunctions.structured_to_unstructured(numbers)
        accuracy = getattr(example, "ACCURACY", {"rtol": 0, "atol": 0})
        np.testing.assert_allclose(np.ravel(numbers), np.ravel(array), **accuracy, err_msg=name)


def test_there_are_examples() -> None:
    assert {it.name for it in FOLDERS} >= PROGRAMS


@pytest.mark.parametrize("device", DEVICES)
@each_folder
def test_example(folder: Path, device: str) -> None:
    example = module(folder)
    given = example.inputs(np.random.default_rng(7))
    expected = example.reference(given)
    for graph in (example.GRAPH, tinct.load_graph(folder / f"{folder.name}.hpvm")):
        check(example, graph.run(given, device=device), expected)


@each_folder
def test_example_on_two_devices_in_turn(folder: Path) -> None:
    """Every second leaf runs on another device, so that data cross wherever they can."""
    example = module(folder)
    given = example.inputs(np.random.default_rng(7))
    leaves = [".".join(path) for path in example.GRAPH.run_timed(given).timings]
    devices = dict.fromkeys(leaves[1::2], OTHER)
    check(example, example.GRAPH.run(given, devices=devices), example.reference(given))


class Alternating(tinct.Session):
    """Runs every second dispatch on another device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.devices = cycle(("cpu", device))

    def run(self, *arguments: Any, **options: Any) -> Any:
        return super().run(*arguments, device=next(self.devices), **options)


@pytest.mark.parametrize("device", ["cpu", OTHER])
@each_folder
def test_the_sequence_of_dispatches_gives_the_same_as_the_graph(folder: Path, device: str) -> None:
    example = module(folder)
    given = example.inputs(np.random.default_rng(7))
    expected = example.GRAPH.run(given, device=device)
    with tinct.Session(device) as session:
        found = {name: it.numpy() for name, it in example.in_order(session, given).items() if name in expected}
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].tobytes() == array.tobytes(), name


@each_folder
def test_the_sequence_of_dispatches_on_two_devices_in_turn(folder: Path) -> None:
    example = module(folder)
    given = example.inputs(np.random.default_rng(7))
    expected = example.reference(given)
    with Alternating(OTHER) as session:
        found = {name: it.numpy() for name, it in example.in_order(session, given).items() if name in expected}
    check(example, found, expected)


@each_folder
def test_the_file_is_what_the_example_saves(folder: Path, tmp_path: Path) -> None:
    saved = tmp_path / folder.name / f"{folder.name}.hpvm"
    saved.parent.mkdir()
    module(folder).GRAPH.save(saved, shaders="files")
    lines = [line for line in saved.read_text().splitlines() if not line.startswith("shader ")]
    committed = (folder / saved.name).read_text().splitlines()
    assert [line for line in committed if not line.startswith("shader ")] == lines
    assert f'shader {folder.name} = file("{folder.name}.wgsl")' in committed


@pytest.mark.parametrize("device", ["cpu", OTHER])
def test_canny_finds_the_edges_of_a_stream_of_frames(device: str) -> None:
    example = module(Path(__file__).parents[2] / "examples" / "canny")
    given = example.inputs(np.random.default_rng(7))
    frames = [np.roll(given["picture"], step, axis=1) for step in range(9)]
    found = list(example.edges_of(frames, size=given["size"], limits=given["limits"], device=device))
    assert len(found) == len(frames)
    for frame, edges in zip(frames, found, strict=True):
        check(example, {"edges": edges}, example.reference(given | {"picture": frame}))
