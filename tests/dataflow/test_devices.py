"""Which values are handed over and which are copied, and nodes on devices of their own."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.graphs import zeros
from tinct.ir.dataflow.nodes import CreateNode

from .support import DEVICES, fill, shift
from .test_random_graphs import SIZE, RandomGraph

WEIGHTS = [0, 0]
X = np.arange(1, 5, dtype=np.uint32)
needs_gpu = pytest.mark.skipif(GpuDevice.available() is None, reason="no GPU")


def bind_params(graph: tinct.Graph, node: tinct.graphs.Node) -> None:
    """`shift` adds its source to its destination, and nothing else."""
    graph.bind_input(0, node["params.width"])
    graph.bind_input(0, node["params.offset"])
    graph.bind_input("weights", node["params.weights"])


def chain() -> tinct.Graph:
    """Three nodes, each of which writes what only it has."""
    graph = tinct.Graph("chain")
    nodes = [graph.node(fill, threads=it, name=name) for it, name in ((4, "a"), (3, "b"), (2, "c"))]
    for number, node in enumerate(nodes):
        graph.bind_input(number + 1, node["value"])
    graph.bind_input(zeros(4), nodes[0]["dst"])
    graph.edge(nodes[0]["dst"], nodes[1]["dst"])
    graph.edge(nodes[1]["dst"], nodes[2]["dst"])
    graph.bind_output(nodes[2]["dst"], "y")
    return graph


def two_versions(*, reader_first: bool) -> tinct.Graph:
    """One node reads a value, and another writes a version of it."""
    graph = tinct.Graph("two_versions")
    first = graph.node(fill, threads=4, name="first")
    graph.bind_input(zeros(4), first["dst"])
    graph.bind_input(7, first["value"])
    copies = graph.split(first["dst"], 2)
    names = ("reader", "writer") if reader_first else ("writer", "reader")
    made = {name: graph.node(shift if name == "reader" else fill, threads=4, name=name) for name in names}
    graph.edge(copies[0], made["writer"]["dst"])
    graph.bind_input(9, made["writer"]["value"])
    graph.edge(copies[1], made["reader"]["src"])
    graph.bind_input(zeros(4), made["reader"]["dst"])
    bind_params(graph, made["reader"])
    graph.bind_output(made["reader"]["dst"], "read")
    graph.bind_output(made["writer"]["dst"], "written")
    return graph


@pytest.mark.parametrize("device", DEVICES)
def test_what_nobody_else_has_is_handed_over(device: str) -> None:
    result = chain().run_timed({}, device=device)
    np.testing.assert_array_equal(result.outputs["y"], [3, 3, 2, 1])
    assert [it for it in result.copies if "writes it" in it.why] == []


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reader_first", [True, False])
def test_a_value_that_another_node_still_needs_is_copied(device: str, reader_first: bool) -> None:
    result = two_versions(reader_first=reader_first).run_timed({"weights": WEIGHTS}, device=device)
    np.testing.assert_array_equal(result.outputs["read"], [7] * 4)
    np.testing.assert_array_equal(result.outputs["written"], [9] * 4)
    copies = [it for it in result.copies if "writes it" in it.why]
    expected = [] if reader_first else [("writer.dst", 16, "'writer' writes it, and its old value is still needed")]
    assert [(it.buffer, it.bytes, it.why) for it in copies] == expected
    assert all(it.source == it.target for it in copies)


@pytest.mark.parametrize("device", DEVICES)
def test_one_value_at_two_bindings_of_a_node(device: str) -> None:
    """What is read stays as it is while the version is written."""
    graph = tinct.Graph()
    node = graph.node(shift, threads="len(x)", name="double")
    graph.bind_input("x", node["src"])
    graph.bind_input("x", node["dst"])
    bind_params(graph, node)
    graph.bind_output(node["dst"], "y")
    x = np.arange(50, dtype=np.uint32)
    result = graph.run_timed({"x": x, "weights": WEIGHTS}, device=device)
    np.testing.assert_array_equal(result.outputs["y"], 2 * x)
    np.testing.assert_array_equal(x, np.arange(50))
    assert sum("'double' writes it" in it.why for it in result.copies) == 1


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_and_inputs_stay_the_callers(device: str) -> None:
    graph = tinct.Graph()
    node = graph.node(fill, threads=2)
    graph.bind_input("x", node["dst"])
    graph.bind_input("value", node["value"])
    graph.bind_output(node["dst"], "y")
    first = graph.run({"x": X, "value": 8}, device=device)["y"]
    second = graph.run({"x": first, "value": 9}, device=device)["y"]
    assert (X.tolist(), first.tolist(), second.tolist()) == ([1, 2, 3, 4], [8, 8, 3, 4], [9, 9, 3, 4])
    first[:] = 0
    assert second.tolist() == [9, 9, 3, 4]


def test_a_length_does_not_keep_a_value() -> None:
    graph = tinct.Graph()
    nodes = [graph.node(fill, threads="len(x) - 1", name=name) for name in ("a", "b")]
    graph.bind_input("x", nodes[0]["dst"])
    graph.edge(nodes[0]["dst"], nodes[1]["dst"])
    for value, node in enumerate(nodes):
        graph.bind_input(value, node["value"])
    graph.bind_output(nodes[1]["dst"], "y")
    result = graph.run_timed({"x": X})
    assert (result.outputs["y"].tolist(), len(result.copies)) == ([1, 1, 1, 4], 0)


def test_an_extent_reads_the_version_that_it_names() -> None:
    """The number of threads is an element that the next version of the same value no longer has."""
    graph = tinct.Graph()
    a = graph.node(fill, threads=1, name="a")
    b = graph.node(fill, threads=2, name="b")
    c = graph.node(fill, threads="a.dst[0]", name="c")
    graph.bind_input("x", a["dst"])
    graph.edge(a["dst"], b["dst"])
    graph.bind_input(zeros(4), c["dst"])
    for node, value in ((a, 3), (b, 1), (c, 5)):
        graph.bind_input(value, node["value"])
    graph.bind_output(b["dst"], "b")
    graph.bind_output(c["dst"], "c")
    found = graph.run({"x": X})
    assert (found["b"].tolist(), found["c"].tolist()) == ([1, 1, 3, 4], [5, 5, 5, 0])


def test_an_input_may_be_a_buffer_of_a_session() -> None:
    with tinct.Session() as session:
        x = session.buffer(X)
        graph = tinct.Graph()
        node = graph.node(fill, threads=1)
        graph.bind_input("x", node["dst"])
        graph.bind_input(6, node["value"])
        graph.bind_output(node["dst"], "y")
        assert graph.run({"x": x})["y"].tolist() == [6, 2, 3, 4]
        assert x.numpy().tolist() == [1, 2, 3, 4]


@needs_gpu
def test_data_cross_to_another_device_once() -> None:
    result = chain().run_timed({}, device="cpu", devices={"b": "gpu", "c": "gpu"})
    assert result.outputs["y"].tolist() == [3, 3, 2, 1]
    crossing = [(it.buffer, it.source, it.target) for it in result.copies if it.bytes == 16 and it.source != it.target]
    assert crossing == [("a.dst", "cpu", "gpu"), ("a.dst", "gpu", "cpu")]


def test_unknown_nodes_and_devices() -> None:
    outer = tinct.Graph("outer")
    node = outer.node(chain(), name="inner")
    outer.bind_output(node["y"], "y")
    assert outer.run({}, devices={"inner": "interp", "inner.b": "cpu"})["y"].tolist() == [3, 3, 2, 1]
    cases: list[tuple[object, str]] = [
        ({"iner": "cpu"}, "no node is named 'iner'; did you mean 'inner'?"),
        ({"inner.d.e": "cpu"}, "no node is named 'inner.d.e'"),
        ({"inner.a.b": "cpu"}, "no node is named 'inner.a.b'"),
        ({"inner": "cpus"}, "no device is named 'cpus'; did you mean 'cpu'?"),
        ({"inner": 3}, "device"),
        ({3: "cpu"}, "a node"),
        ([3], "devices"),
        ("inner", "devices"),
    ]
    for devices, message in cases:
        with pytest.raises(tinct.InputError) as caught:
            outer.run({}, devices=devices)  # type: ignore[arg-type]
        assert message in str(caught.value)


@pytest.mark.parametrize("seed", range(100, 130))
def test_random_graphs_on_random_devices(seed: int) -> None:
    made = random.Random(seed)
    x = np.arange(1, SIZE + 1, dtype=np.uint32)
    expected = RandomGraph(made, "random", x, level=2)
    graph = expected.graph
    nodes = [it.name for it in graph.state.body if isinstance(it, CreateNode)]
    devices = {name: made.choice(DEVICES) for name in nodes}
    given = {name: value for name, value in {"x": x, "n": 7, "weights": WEIGHTS}.items() if name in graph.inputs}
    found = graph.run(given, device=made.choice(DEVICES), devices=devices)
    for name, array in expected.outputs.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(x, np.arange(1, SIZE + 1))
