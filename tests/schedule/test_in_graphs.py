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
    again = tinct.load_graph(str(sums.program))
    assert again.module == sums.program.module
    assert "shader shader_2 = nest(" in str(again)
    assert np.allclose(again.run({"x": X})["out"], 4 * X.sum(1))


def squares() -> LoweredNest:
    nest = Nest("squares")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    nest.store("y", x * x, [i, j])
    return nest.lower("i: workgroup\nj: workgroup * invocation(64)")


def means() -> LoweredNest:
    nest = Nest("means")
    i, n = nest.dim("n"), nest.dim(1, "k")
    scale = nest.load("scale", "f32", [n])
    nest.store("y", nest.load("x", "f32", [i]) * nest.reduce("+", scale, on=[n]), [i])
    return nest.lower("i: workgroup * invocation(32)")


@tinct.graph
def pipeline(x, scale):  # type: ignore[no-untyped-def]
    squared = squares()({"x": x}, sizes={"rows": 100, "columns": 7})
    sums = row_sums("i: workgroup * invocation(16)")({"x": squared["y"]}, sizes={"rows": 100, "columns": 7})
    return {"means": means()({"x": sums["sums"], "scale": scale}, sizes={"n": 100})["y"]}


def test_neighbours_are_joined() -> None:
    fused = pipeline.fused()
    assert [str(it).partition(": ")[2] for it in fused.remarks] == [
        "squares.y -> row_sums.x: joined: one nest, squares_row_sums",
        "squares_row_sums.sums -> means.x: joined: one nest, squares_row_sums_means",
    ]
    assert str(fused).count("createNode1D(squares_row_sums_means, 100)") == 1
    assert "malloc" not in str(fused).replace("malloc(array<f32>, 100)", "")
    assert "    i: workgroup * invocation(16)" not in str(fused)
    assert '"""\ni: workgroup * invocation(16)\n"""' in str(fused)
    scale = np.float32([0.25])
    for device in ("cpu", "interp"):
        found = fused.run({"x": X, "scale": scale}, devices={"squares_row_sums_means": device})
        assert np.allclose(found["means"], 0.25 * (X * X).sum(1))


def used_twice(x):  # type: ignore[no-untyped-def]
    squared = squares()({"x": x}, sizes={"rows": 100, "columns": 7})
    sums = row_sums("")({"x": squared["y"]}, sizes={"rows": 100, "columns": 7})
    return {"squared": squared["y"], "sums": sums["sums"]}


def of_other_sizes(x):  # type: ignore[no-untyped-def]
    squared = squares()({"x": x}, sizes={"rows": 100, "columns": 7})
    sums = row_sums("")({"x": squared["y"]}, sizes={"rows": 7, "columns": 100})
    return {"sums": sums["sums"]}


def with_a_node_between(x):  # type: ignore[no-untyped-def]
    double = tinct.load(DOUBLE)["double"]
    sums = row_sums("")({"x": x}, sizes={"rows": 100, "columns": 7})
    return {
        "y": means()(
            {"x": sums["sums"], "scale": double({"source": sums["sums"], "doubled": zeros(1)}, threads=1)["doubled"]},
            sizes={"n": 100},
        )["y"]
    }


def computed_several_times(x):  # type: ignore[no-untyped-def]
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    a, b = nest.load("a", "f32", [i, k]), nest.load("b", "f32", [j, k])
    nest.store("c", nest.reduce("+", a * b, on=[k]), [i, j])
    squared = squares()({"x": x}, sizes={"rows": 100, "columns": 7})
    return nest.lower("i: workgroup")({"a": squared["y"], "b": x}, sizes={"m": 100, "n": 100, "inner": 7})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (used_twice, "squares.y is needed elsewhere"),
        (of_other_sizes, "'rows' is 7, not 100"),
        (with_a_node_between, "row_sums.sums is needed elsewhere"),
        (computed_several_times, "70000 elements of 'y' would be computed instead of 700"),
    ],
)
def test_neighbours_that_stay_two(function: Callable[..., object], reason: str) -> None:
    graph = tinct.graph(function)
    fused = graph.fused()
    assert any(f"not joined: {reason}" in str(it) for it in fused.remarks)
    found, expected = fused.run({"x": X}), graph.run({"x": X})
    assert all(np.array_equal(found[it], expected[it]) for it in expected)


def test_a_node_that_executes_a_part_stays() -> None:
    text = str(pipeline.program)
    assert text.count("= createNode1D(means, 100)") == 1
    part = tinct.load_graph(text.replace("createNode1D(means, 100)", "createNode1D(means, 64)")).fused()
    assert [it.is_fused for it in part.remarks] == [True]
    found = part.run({"x": X, "scale": np.float32([1])})["means"]
    assert np.allclose(found, np.where(np.arange(100) < 64, (X * X).sum(1), 0))


def test_a_text_with_a_wrong_nest() -> None:
    text = str(pipeline.program)
    for old, new, message in (
        ("i: workgroup * invocation(16)", "k: loop", "there is no dimension 'k'"),
        ("inst x0 * x0", "inst x0 * x1", "there is no value 'x1'"),
    ):
        with pytest.raises(tinct.ShaderError, match=rf"(?s)shader 'shader(_\d)?': .*{message}"):
            tinct.load_graph(text.replace(old, new))


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


def test_odd_numbers_of_halves() -> None:
    nest = Nest("halves")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "f16", [i]) * 2.0, [i])
    lowered = nest.lower("i: workgroup * invocation(2)")

    @tinct.graph
    def twice(x):  # type: ignore[no-untyped-def]
        return lowered({"x": lowered({"x": x}, sizes={"n": 5})["y"]}, sizes={"n": 5})

    x = np.arange(6, dtype=np.float16)
    assert twice.run({"x": x})["y"][:5].tolist() == (4 * x[:5]).tolist()


IN_PARTS = "i: workgroup\nj: partial * loop(2) * invocation(2)\nj_part: loop * invocation(4)"


def in_parts(x):  # type: ignore[no-untyped-def]
    sizes = {"rows": 100, "columns": 7}
    squared = squares()({"x": x}, sizes=sizes)
    return {"sums": row_sums(IN_PARTS)({"x": squared["y"]}, sizes=sizes)["sums"]}


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_a_nest_of_two_dispatches_is_a_graph_of_two_leaves(device: str) -> None:
    graph = tinct.graph(in_parts)
    text = str(graph.program)
    assert "graph row_sums(in x: array<f32>, out sums: array<f32>) {" in text
    assert "row_sums_1_acc_partials = malloc(array<f32>, 200)" in text
    assert "createEdge(row_sums_1, row_sums_2, all_to_all, acc_partials, acc_partials)" in text
    for it in (graph, tinct.load_graph(text), graph.fused()):
        assert np.allclose(it.run({"x": X}, devices={"row_sums": device})["sums"], (X * X).sum(1))


def test_parts_that_several_later_dispatches_join() -> None:
    """A mean, which both other stages join, and the sum of the squares of what elements differ by from it."""
    nest = Nest("spread")
    i, j, k = nest.dim("rows"), nest.dim("columns"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    mean = nest.reduce("+", x, on=[j]) / 7.0
    away = nest.map(x, [(j, k)]) - mean
    nest.store("mean", mean, [i])
    nest.store("squares", nest.reduce("+", away * away, on=[k]), [i])
    lowered = nest.lower("j: partial * loop(2)\nk: partial * loop(4)", reassociate=True)
    assert len(lowered.stages) == 3
    graph = tinct.Graph("spreads")
    node = graph.node(lowered, sizes={"rows": 100, "columns": 7}, name="spread")
    graph.bind_input("x", node["x"])
    for name in ("mean", "squares"):
        graph.bind_output(node[name], name)
    found, expected = graph.run({"x": X}), nest.run({"x": X})
    assert all(np.allclose(found[it], expected[it], rtol=1e-5) for it in expected)


def test_an_output_in_parts_is_no_neighbour_to_join() -> None:
    def graph(x, scale):  # type: ignore[no-untyped-def]
        sums = row_sums(IN_PARTS)({"x": x}, sizes={"rows": 100, "columns": 7})
        return {"y": means()({"x": sums["sums"], "scale": scale}, sizes={"n": 100})["y"]}

    fused = tinct.graph(graph).fused()
    found = fused.run({"x": X, "scale": np.float32([0.5])})["y"]
    assert np.allclose(found, X.sum(1) / 2)
