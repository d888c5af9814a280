"""`tinct graph --run --stream`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tinct
from tinct.cli import tinct as command

from .support import shift

PARAMS = {"width": 0, "offset": 0}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """sum = frame * by + last."""

    @tinct.graph
    def adding(frame, last, by):
        params = {"width": by, "offset": 0}
        return {"sum": shift({"src": frame, "dst": last, "params": params}, threads=frame.length)["dst"]}

    file = tmp_path / "adding.hpvm"
    adding.save(file)
    np.save(tmp_path / "frames.npy", np.arange(12, dtype=np.uint32).reshape(4, 3))
    return file


def call(graph: Path, *arguments: object) -> Result:
    frames = graph.parent / "frames.npy"
    given = [str(it).replace("frames.npy", str(frames)) for it in arguments]
    return CliRunner().invoke(command, ["graph", str(graph), *given])


def test_items_along_the_first_axis(graph: Path) -> None:
    file = graph.parent / "out.npz"
    given = ("-b", "last=[1, 1, 1]", "-b", "by=2")
    result = call(graph, "--run", "--stream", "frame=frames.npy", *given, "-o", file)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(file)["sum"], np.arange(12).reshape(4, 3) + 3)
    again = call(graph, "--run", "--stream", "frame=[[1], [2]]", "-b", "last=[1]", "-b", "by=2", "--format", "json")
    assert again.stdout.strip() == '{"sum": [[4], [5]]}'


def test_state(graph: Path) -> None:
    given = ("--stream", "frame=frames.npy", "--state", "last=[0, 0, 0]", "--feed", "sum=last", "-b", "by=0")
    result = call(graph, "--run", *given, "--depth", 2, "--device", "interp", "--format", "json")
    sums = np.cumsum(np.arange(12).reshape(4, 3), axis=0).tolist()
    assert result.stdout.strip() == f'{{"sum": {sums}}}'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--stream", "frame=frames.npy"), "--stream is for --run"),
        (("--run", "--state", "last=[0]"), "--state is for --stream"),
        (("--run", "--stream", "frame=frames.npy", "--times"), "--times is for one run"),
        (("--run", "--stream", "fram=frames.npy"), "graph 'adding' has no input named 'fram'; did you mean 'frame'?"),
        (("--run", "--stream", "frame=frames.npy", "--stream", "last=[[1]]"), "frame has 4, last has 1"),
        (("--run", "--stream", "by=3"), "--stream by: the array has no items along a first axis"),
        (
            ("--run", "--stream", "frame=frames.npy", "--state", "last=[0]", "--feed", "sum"),
            "'sum' is not of the form OUTPUT=INPUT",
        ),
        (("--run", "--stream", "frame=frames.npy", "-b", "by=1"), "the item has no value for the input last"),
        (
            ("--run", "--stream", "frame=frames.npy", "-b", "by=1", "-b", "last=[[1.5]]"),
            "item 0: last: ",
        ),
    ],
)
def test_wrong_command_lines(graph: Path, arguments: tuple[str, ...], message: str) -> None:
    result = call(graph, *arguments)
    assert result.exit_code == 2
    assert message in result.output
