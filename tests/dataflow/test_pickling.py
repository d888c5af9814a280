"""Graphs pickle as text, and copies in a process share what is compiled."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from dask.base import tokenize

import tinct
from tinct.graphs import zeros

from .support import SHADER, fill
from .test_host import DATA, pipeline, ranked

GIVEN = {"data": DATA, "value": 7}


def filling(value: int = 3) -> tinct.Graph:
    graph = tinct.Graph("filling")
    node = graph.node(fill, threads=4)
    graph.bind_input(zeros(4), node["dst"])
    graph.bind_input(value, node["value"])
    graph.bind_output(node["dst"], "out")
    return graph


def test_a_graph_that_has_run() -> None:
    before = pipeline.run(GIVEN)
    again = pickle.loads(pickle.dumps(pipeline))
    assert isinstance(again, tinct.Graph)
    assert str(again) == str(pipeline)
    assert again.program.functions["ranked"] is ranked
    np.testing.assert_array_equal(again.run(GIVEN)["sorted"], before["sorted"])
    node = again.node(fill, threads=1)  # a graph that was pickled may grow
    again.bind_input("data", node["dst"])
    again.bind_input(1, node["value"])
    again.bind_output(node["dst"], "filled")
    assert again.run(GIVEN)["filled"].tolist() == [[1, 4], [0, 2]]


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda it: pickle.loads(pickle.dumps(it))])
def test_programs(copied) -> None:  # type: ignore[no-untyped-def]
    program = filling().program
    again = copied(program)
    assert (str(again), again.source) == (str(program), None)
    assert again.run({})["out"].tolist() == [3] * 4
    assert copied(again) is again
    assert again.kernels["fill"] is copied(again.kernels["fill"])


def test_a_program_is_pickled_as_text() -> None:
    program = filling().program
    program.run({})
    data = pickle.dumps(program)
    assert SHADER.source.data in data
    assert b"ELF" not in data


def test_a_graph_that_is_not_whole() -> None:
    graph = tinct.Graph("part")
    graph.node(fill, threads="n")
    again = pickle.loads(pickle.dumps(graph))
    assert again.state.body == graph.state.body
    with pytest.raises(tinct.InputError, match="nothing gives its input 'dst'"):
        again.run({})


def test_a_loaded_graph_keeps_the_places_of_its_mistakes(tmp_path: Path) -> None:
    (tmp_path / "s.wgsl").write_bytes(SHADER.source.data)
    file = tmp_path / "filling.hpvm"
    file.write_text(
        str(filling()).replace("createNode1D(fill, 4)", "createNode1D(fill, n - 5)").replace("(out", "(in n: u32, out")
    )
    program = tinct.load_graph(file)
    for it in (program, pickle.loads(pickle.dumps(program))):
        with pytest.raises(tinct.InputError) as error:
            it.run({"n": 2})
        assert str(error.value).startswith(f"{file}:")


def test_tokens_are_by_content() -> None:
    assert tokenize(filling()) == tokenize(filling()) == tokenize(filling().program)
    assert tokenize(filling()) != tokenize(filling(4))
    assert tokenize(pipeline) == tokenize(pickle.loads(pickle.dumps(pipeline)))
