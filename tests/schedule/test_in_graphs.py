"""Nests with decisions as nodes of graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tinct
from tinct import InputError, Nest
from tinct.graphs import one_to_one, zeros
from tinct.nests import LoweredNest

DOUBLE = """
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> doubled: array<f32>;
@compute @workgroup_size(64) fn double(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&source) { doubled[id.x] = source[id.x] * 2.0; }
}
"""
X = np.random.default_rng(0).random((100, 7), np.float32)


def row_sums(decisions: str) -> LoweredNest:
    nest = Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("sums", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[j]), [i])
    return nest.lower(decisions, reassociate=True)


def between_kernels(lowered: LoweredNest) -> tinct.Graph:
    double = tinct.load(DOUBLE)["double"]

    @tinct.graph
    def sums(x):  # type: ignore[no-untyped-def]
        twice = double({"source": x, "doubled": zeros(X.size)}, threads=X.size)
        found = lowered({"x": twice["doubled"]}, sizes={"rows": 100, "columns": 7})
        last = double({"source": one_to_one(found["sums"]), "doubled": zeros(100)}, threads=100)
        return {"out": last["doubled"]}

    return sums


@pytest.mark.parametrize("decisions", ["i: workgroup * invocation(16)", "i: workgroup"])
def test_between_kernels(decisions: str) -> None:
    sums = between_kernels(row_sums(decisions))
    assert np.allclose(sums.run({"x": X})["out"], 4 * X.sum(1))
    assert "= createNode1D(row_sums, 100)" in str(sums.program)
    assert np.allclose(tinct.load_graph(str(sums.program)).run({"x": X})["out"], 4 * X.sum(1))


def test_extents_are_whole_workgroups_where_an_invocation_has_no_iteration_of_its_own() -> None:
    for decisions, extents in (
        ("", "1D(row_sums, 1)"),
        ("i: workgroup * unrolled(4) * invocation(8)", "1D(row_sums, 32)"),
        ("i: workgroup * invocation(8)\nj: loop * invocation(4)", "2D(row_sums, 52, 8)"),
    ):
        graph = tinct.Graph("sums")
        node = graph.node(row_sums(decisions), sizes={"rows": 100, "columns": 7}, name="sums")
        graph.bind_input("x", node["x"])
        graph.bind_output(node["sums"], "out")
        assert f"createNode{extents}" in str(graph.program)
        assert np.allclose(graph.run({"x": X})["out"], X.sum(1))


def with_threads(graph: tinct.Graph) -> object:
    return graph.node(row_sums(""), threads=100)


def without_a_size(graph: tinct.Graph) -> object:
    return graph.node(row_sums(""), sizes={"rows": 100})


def without_sizes(graph: tinct.Graph) -> object:
    return graph.node(row_sums(""))


def with_a_negative_size(graph: tinct.Graph) -> object:
    return graph.node(row_sums(""), sizes={"rows": -1, "columns": 7})


def with_sizes_of_a_kernel(graph: tinct.Graph) -> object:
    return graph.node(tinct.load(DOUBLE)["double"], threads=1, sizes={"n": 1})


def outside_of_a_graph(graph: tinct.Graph) -> object:
    return row_sums("")({"x": X}, sizes={"rows": 100, "columns": 7})


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (with_threads, "a nest has sizes, which give its extents and overrides"),
        (without_a_size, "size 'columns' is missing"),
        (without_sizes, "size 'rows' is missing"),
        (with_a_negative_size, "size 'rows' is a whole number from 0 to"),
        (with_sizes_of_a_kernel, "sizes are for nests"),
        (outside_of_a_graph, "with inputs or ports among its buffers, in a function under @tinct.graph"),
    ],
)
def test_misuse(mistake: Callable[[tinct.Graph], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mistake(tinct.Graph("sums"))
