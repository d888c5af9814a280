"""`tinct.Graph` and `@tinct.graph`: what they build, and what they refuse, at the call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.graphs import instance_id, maximum, minimum, num_dims, num_instances, zeros
from tinct.ir.dataflow.text import print_module

from .support import DEVICES, SHADER, count, fill, place, put, shift

PARAMS = {"width": 3, "offset": 4, "weights": [0.5, 2]}


def body(graph: tinct.Graph) -> list[str]:
    """The lines of the graph's own function."""
    text = str(graph)
    return [line.strip() for line in text[text.index(f"graph {graph.name}(") :].splitlines()[1:-3]]


@pytest.mark.parametrize("device", DEVICES)
def test_built_node_by_node(device: str) -> None:
    graph = tinct.Graph("sums")
    first = graph.node(shift, threads="len(data)", constants={"SCALE": 2}, name="first")
    second = graph.node(shift, workgroups=graph.input("data").length.ceil_div(4), name="second")
    graph.bind_input("data", first["src"])
    graph.bind_input(zeros("len(data)"), first["dst"])
    for member, value in (("width", 1), ("offset", "shift"), ("weights", "weights")):
        graph.bind_input(value, first[f"params.{member}"])
    graph.bind_input("params", second["params"])
    graph.edge(first["dst"], second["src"])
    graph.bind_input("data", second["dst"])
    graph.bind_output(second["dst"], "sums")
    assert list(graph.inputs) == ["data", "shift", "weights", "params"]
    assert str(graph.inputs["params"].type) == "Params"
    assert graph.outputs == {"sums": "array<u32>"}
    data = np.arange(6, dtype=np.uint32)
    out = graph.run({"data": data, "shift": 10, "weights": [0, 0], "params": PARAMS}, device=device)
    np.testing.assert_array_equal(out["sums"], data + (2 * data + 11) + 7)
    np.testing.assert_array_equal(data, np.arange(6))


def test_the_leaves_of_a_graph() -> None:
    """A leaf for each use of a kernel: other constants, or a structure as one port, are another leaf."""
    graph = tinct.Graph()
    nodes = [graph.node(shift, threads=1, constants=it) for it in (None, {"SCALE": 3}, {"SCALE": np.uint32(3)})]
    for node in nodes:
        graph.bind_input("data", node["src"])
        graph.bind_input(zeros(1), node["dst"])
    for node in nodes[:2]:
        graph.bind_input("params", node["params"])
    graph.bind_input(1, nodes[2]["params.width"])
    graph.bind_input(1, nodes[2]["params.offset"])
    graph.bind_input("weights", nodes[2]["params.weights"])
    for name, node in zip("abc", nodes, strict=True):
        graph.bind_output(node["dst"], name)
    text = str(graph)
    assert text.count("leaf ") == 3
    assert text.count("constant(SCALE, 3)") == 2
    assert text.count("in params: Params") == 3  # two leaves, and the graph
    assert "in params.width: u32, in params.offset: i32, in params.weights: vec2<f32>" in text


@pytest.mark.parametrize("device", DEVICES)
def test_built_by_a_function(device: str) -> None:
    @tinct.graph
    def sums(data, width, weights):
        params = {"width": width, "offset": 5, "weights": weights}
        first = shift({"src": data, "dst": zeros(data.length), "params": params}, threads=data.length)
        second = shift({"src": first["dst"], "dst": first["dst"], "params": params}, threads=data.length)
        return {"sums": second["dst"], "first": first["dst"]}

    assert body(sums).count("shift_dst_2 = split(array<u32>, 3)") == 1
    data = np.array([[1, 2], [3, 4]], np.uint32)
    out = sums.run({"data": data, "width": 1, "weights": [0, 0]}, device=device)
    np.testing.assert_array_equal(out["first"], data.ravel() + 6)
    np.testing.assert_array_equal(out["sums"], 2 * (data.ravel() + 6) + 6)
    assert not np.shares_memory(out["first"], out["sums"])


@pytest.mark.parametrize("device", DEVICES)
def test_extents_from_data(device: str) -> None:
    """The second node has as many invocations as the first one counted; its results are read on the host."""
    graph = tinct.Graph()
    counted = graph.node(count, threads="len(data)")
    graph.bind_input("data", counted["src"])
    graph.bind_input(zeros(), counted["total"])
    filled = graph.node(fill, threads=counted["total"] * 2)
    graph.bind_input(maximum(counted["total"], 1), filled["value"])
    graph.bind_input(zeros(10), filled["dst"])
    graph.bind_output(filled["dst"], "dst")
    data = np.array([1, 0, 7, 9, 0], np.uint32)
    np.testing.assert_array_equal(graph.run({"data": data}, device=device)["dst"], [3] * 6 + [0] * 4)
    np.testing.assert_array_equal(graph.run({"data": data * 0}, device=device)["dst"], [0] * 10)


@pytest.mark.parametrize("device", DEVICES)
def test_structures_in_buffers(device: str) -> None:
    graph = tinct.Graph()
    placed = graph.node(place, threads="len(data)")
    graph.bind_input("data", placed["src"])
    graph.bind_input(zeros("len(data)"), placed["points"])
    again = graph.node(place, threads=placed["points"]["count"])
    graph.bind_input("data", again["src"])
    points, copy = graph.split(placed["points"])
    graph.edge(points, again["points"])
    graph.bind_output(again["points"], "points")
    filled = graph.node(fill, threads=copy["count"])
    graph.bind_input(zeros(copy.length), filled["dst"])
    graph.bind_input(8, filled["value"])
    graph.bind_output(filled["dst"], "dst")
    out = graph.run({"data": np.array([5, 0, 6, 7], np.uint32)}, device=device)
    assert int(out["points"]["count"]) == 6
    np.testing.assert_array_equal(out["dst"], [8, 8, 8, 0])


@pytest.mark.parametrize("device", DEVICES)
def test_graphs_within_graphs(device: str) -> None:
    """Instances of a graph write parts of one array, each by its index."""

    @tinct.graph
    def cell(state, weights):
        at = instance_id("y") * 3 + instance_id("x")
        params = {"width": at, "offset": num_instances("x") * 10 + num_dims(), "weights": weights}
        return {"state": put({"dst": state, "params": params}, threads=())["dst"]}

    @tinct.graph
    def cells(state, weights, n):
        first = cell({"state": state, "weights": weights}, instances=(n, 2))
        return cell({"state": first["state"], "weights": weights}, instances=(1, 1, 1))["state"]

    assert list(cells.inputs) == ["state", "weights", "n"]
    out = cells.run({"state": np.arange(7, dtype=np.uint32), "weights": [0, 0], "n": 2}, device=device)
    np.testing.assert_array_equal(out["state"], [13, 22, 2, 22, 22, 5, 6])


def test_a_graph_that_asks_for_ancestors_is_whole_only_inside_of_others() -> None:
    @tinct.graph
    def cell(state):
        params = {"width": instance_id("y"), "offset": 0, "weights": "weights"}
        return {"state": put({"dst": state, "params": params}, threads=())["dst"]}

    with pytest.raises(tinct.InputError, match="node 'root' is replicated in 0 dimensions only"):
        cell.run({})
    outer = tinct.Graph()
    node = outer.node(cell, instances=3)
    outer.bind_input("state", node["state"])
    outer.bind_input("weights", node["weights"])
    outer.bind_output(node["state"], "state")
    with pytest.raises(tinct.InputError, match="node 'cell' is replicated in 1 dimensions only"):
        outer.run({})


def test_texts_and_files(tmp_path: Path) -> None:
    (tmp_path / "sums.wgsl").write_bytes(SHADER.source.data)
    kernel = tinct.load(tmp_path / "sums.wgsl")["fill"]
    graph = tinct.Graph("filled")
    node = graph.node(kernel, threads="n")
    graph.bind_input(zeros("n"), node["dst"])
    graph.bind_input("value", node["value"])
    graph.bind_output(node["dst"], "dst")
    graph.save(tmp_path / "embedded.hpvm")
    graph.save(tmp_path / "files.hpvm", shaders="files")
    assert 'shader sums = file("sums.wgsl")' in (tmp_path / "files.hpvm").read_text()
    loaded = [tinct.load_graph(tmp_path / f"{name}.hpvm") for name in ("embedded", "files")]
    loaded.append(tinct.load_graph(graph.program.to_json()))
    for it in loaded:
        np.testing.assert_array_equal(it.run({"n": 3, "value": 7})["dst"], [7, 7, 7])
    assert loaded[0].module == graph.program.module
    assert print_module(loaded[2].module) == str(graph)
    outer = tinct.Graph("outer")
    inner = outer.node(loaded[1], name="inner")
    outer.bind_input(2, inner["n"])
    outer.bind_input(9, inner["value"])
    outer.bind_output(inner["dst"], "dst")
    np.testing.assert_array_equal(outer.run({})["dst"], [9, 9])
    with pytest.raises(tinct.InputError, match="has no file with its text"):
        outer_without_file().save(tmp_path / "no.hpvm", shaders="files")


def outer_without_file() -> tinct.Graph:
    graph = tinct.Graph()
    node = graph.node(fill, threads=1)
    graph.bind_input(zeros(1), node["dst"])
    graph.bind_input(1, node["value"])
    graph.bind_output(node["dst"], "dst")
    return graph


def graph_of_two() -> tuple[tinct.Graph, tinct.graphs.Node, tinct.graphs.Node]:
    graph = tinct.Graph("two")
    return graph, graph.node(shift, threads=8, name="a"), graph.node(shift, threads="n", name="b")


CALLS: list[tuple[str, Callable[..., object]]] = [
    ("node 'a' has no port 'dts'; did you mean 'dst'?", lambda graph, a, b: a["dts"]),
    ("node 'a' has no port 'params.widht'; did you mean 'params.width'?", lambda graph, a, b: a["params.widht"]),
    ("node 'a' has no output 'src'; there is dst", lambda graph, a, b: graph.edge(a["src"], b["src"])),
    (
        "a.dst is of type array<u32>, but b.params.width of u32",
        lambda graph, a, b: graph.edge(a["dst"], b["params.width"]),
    ),
    (
        "an edge is one-to-one or all-to-all, not 'one-to-on'; did you mean 'one-to-one'?",
        lambda graph, a, b: graph.edge(a["dst"], b["src"], "one-to-on"),
    ),
    (
        "the source of an edge is a port of a node, as in node['dst'], not 'dst'",
        lambda graph, a, b: graph.edge("dst", b["src"]),
    ),
    ("is of another graph", lambda graph, a, b: tinct.Graph().bind_output(a["dst"], "x")),
    ("'2x' is no expression: 1:2: expected the end, found 'x'", lambda graph, a, b: graph.bind_input("2x", a["src"])),
    ("a.src is of type array<u32>, and takes no number", lambda graph, a, b: graph.bind_input(3, a["src"])),
    (
        "a.params.width is of type u32, and 2.5 is no whole number",
        lambda graph, a, b: graph.bind_input(2.5, a["params.width"]),
    ),
    (
        "expected a whole number, an expression such as 'len(x) / 2', or an input, not None",
        lambda graph, a, b: graph.bind_input(None, a["src"]),
    ),
    (
        "array<u32> takes one extent, its number of elements, not 0",
        lambda graph, a, b: graph.bind_input(zeros(), a["dst"]),
    ),
    ("no buffer", lambda graph, a, b: shift({"src": 1})),
    ("a node executes a kernel, a graph or a function, not 3", lambda graph, a, b: graph.node(3)),
    ("either as threads or as workgroups", lambda graph, a, b: graph.node(shift)),
    ("instances are for graphs", lambda graph, a, b: graph.node(shift, threads=1, instances=2)),
    ("'a' is a node already", lambda graph, a, b: graph.node(shift, threads=1, name="a")),
    ("'a b' is no identifier", lambda graph, a, b: graph.node(shift, threads=1, name="a b")),
    ("has 4 dimensions; a node has at most 3", lambda graph, a, b: graph.node(shift, threads=(1, 2, "n", 4))),
    ("an extent cannot be negative: (-1,)", lambda graph, a, b: graph.node(shift, threads=-1)),
    (
        "no override is named 'SCAL'; did you mean 'SCALE'?",
        lambda graph, a, b: graph.node(shift, threads=1, constants={"SCAL": 1}),
    ),
    ("cannot contain itself", lambda graph, a, b: graph.node(graph)),
    (
        "graph 'graph' is not whole: node 'shift': nothing gives its input 'src'",
        lambda graph, a, b: graph.node(unfinished()),
    ),
    ("cannot be a condition", lambda graph, a, b: 3 if graph.input("n") else 4),
    ("its number of elements is .length", lambda graph, a, b: len(graph.input("n"))),
    ("cannot be a list", lambda graph, a, b: list(graph.input("n"))),
    ("are of different graphs", lambda graph, a, b: graph.input("n") + tinct.Graph().input("n")),
    ("there is no dimension 'w'", lambda graph, a, b: instance_id("w")),
    ("a level counts ancestors", lambda graph, a, b: num_dims(level=-1)),
    ("'1a' is no name of an input or an output", lambda graph, a, b: graph.input("1a")),
    ("the name of a graph is an identifier, not 'a b'", lambda graph, a, b: tinct.Graph("a b")),
    ("a split makes 2 to 1024", lambda graph, a, b: graph.split(a["dst"], 1)),
    ("the number of an element, not -1", lambda graph, a, b: a["dst"][-1]),
    ("is for a function, not 3", lambda graph, a, b: tinct.graph(3)),
    ("is for a function with parameters that have names", lambda graph, a, b: tinct.graph(dict)),
    (
        "parameter 'x': the inputs of a graph are parameters with a name and no default",
        lambda graph, a, b: tinct.graph(with_default),
    ),
]


def with_default(x: object = 3) -> object:
    return x


def unfinished() -> tinct.Graph:
    graph = tinct.Graph()
    graph.node(shift, threads=1)
    return graph


@pytest.mark.parametrize(("message", "call"), CALLS, ids=[message[:40] for message, _ in CALLS])
def test_errors_at_the_call(message: str, call: Callable[..., object]) -> None:
    with pytest.raises(tinct.InputError) as caught:
        call(*graph_of_two())
    expected = "is called with inputs or ports among its buffers" if message == "no buffer" else message
    assert expected in str(caught.value)


def test_ports_are_connected_once() -> None:
    graph, a, b = graph_of_two()
    graph.edge(a["dst"], b["src"])
    for again in (lambda: graph.edge(a["dst"], b["dst"]), lambda: graph.bind_output(a["dst"], "x")):
        with pytest.raises(tinct.InputError, match="a split gives several copies"):
            again()
    with pytest.raises(tinct.InputError, match=r"b\.src is given by an edge and by a bind"):
        graph.bind_input("data", b["src"])
    with pytest.raises(tinct.InputError, match="a cycle"):
        graph.edge(b["dst"], a["src"])
    graph.bind_input("params", a["params"])
    with pytest.raises(tinct.InputError, match=r"node 'a' has no port 'params\.width'"):
        graph.bind_input(1, a["params.width"])
    graph.bind_input(1, b["params.width"])
    with pytest.raises(tinct.InputError, match=r"'params\.width' is given already, which is a part of 'params'"):
        graph.bind_input("params", b["params"])


def test_a_call_that_fails_leaves_nothing_behind() -> None:
    graph, a, b = graph_of_two()
    scope = graph.state.scope
    before = list(graph.state.body), list(scope.inputs), list(scope.outputs), dict(scope.children)
    graph.edge(a["dst"], b["src"])
    for call in (
        lambda: graph.split(a["dst"]),
        lambda: graph.bind_output(a["dst"], "x"),
        lambda: graph.bind_input("fresh", b["src"]),
        lambda: graph.bind_input(zeros("other"), b["src"]),
        lambda: graph.bind_input("wide", b["params.width"], streaming=True),
        lambda: graph.edge(a["dst"], b["params"]),
        lambda: graph.node(shift, threads=("good", "len(good) +")),
    ):
        with pytest.raises(tinct.InputError):
            call()
    assert (graph.state.body[:-1], list(scope.inputs), list(scope.outputs), dict(scope.children)) == before


BAD_VALUES: tuple[object, ...] = (
    None,
    2.5,
    -1,
    True,
    "",
    "1 +",
    b"x",
    [[1]],
    {},
    np.zeros((2, 2)),
    object(),
    "x" * 100000,
)


@pytest.mark.parametrize("value", BAD_VALUES, ids=lambda it: repr(it)[:20])
def test_any_argument_is_taken_or_refused(value: object) -> None:
    calls: list[Callable[..., object]] = [
        lambda graph, a, b: graph.node(shift, threads=value),
        lambda graph, a, b: graph.node(shift, workgroups=value),
        lambda graph, a, b: graph.node(shift, threads=1, constants={"SCALE": value}),
        lambda graph, a, b: graph.node(shift, threads=1, constants=value),
        lambda graph, a, b: graph.node(shift, threads=1, name=value),
        lambda graph, a, b: graph.node(value),
        lambda graph, a, b: graph.input(value),
        lambda graph, a, b: graph.split(a["dst"], value),
        lambda graph, a, b: graph.split(value),
        lambda graph, a, b: graph.edge(a["dst"], b["src"], value),
        lambda graph, a, b: graph.edge(a["dst"], b["src"], streaming=value),
        lambda graph, a, b: graph.edge(value, b["src"]),
        lambda graph, a, b: graph.edge(a["dst"], value),
        lambda graph, a, b: graph.bind_input(value, a["src"]),
        lambda graph, a, b: graph.bind_input(value, a["params.width"]),
        lambda graph, a, b: graph.bind_input(zeros(value, name=value), a["dst"]),
        lambda graph, a, b: graph.bind_output(a["dst"], value),
        lambda graph, a, b: a[value],
        lambda graph, a, b: a["dst"][value],
        lambda graph, a, b: graph.input("n") * value,
        lambda graph, a, b: instance_id(value, level=value),
        lambda graph, a, b: tinct.Graph(value),
        lambda graph, a, b: tinct.graph(value),
        lambda graph, a, b: tinct.load_graph(value),
        lambda graph, a, b: more().run(value),
        lambda graph, a, b: more().run({"n": value}, timeout=60),
        lambda graph, a, b: more().run({"n": 1}, device=value),
        lambda graph, a, b: more().save(value, shaders="memory"),
        lambda graph, a, b: shift(value),
    ]
    for call in calls:
        with contextlib.suppress(tinct.InputError, tinct.ShaderError, OSError):
            call(*graph_of_two())


def test_a_graph_that_is_not_whole() -> None:
    graph, _, _ = graph_of_two()
    with pytest.raises(tinct.InputError, match=r"node 'a': nothing gives its input 'src'; .*node 'b'"):
        graph.run({})


def test_names_that_only_wgsl_has() -> None:
    """WGSL's identifiers may have characters that those of `.hpvm` files lack: there they stand in quotes."""
    shader = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> é·b: array<u32>;\n"
        "@compute @workgroup_size(1) fn f·x() { é·b[0] = 5; }"
    )
    graph = tinct.Graph()
    node = graph.node(shader["f·x"], threads=1)
    graph.bind_input(zeros(2), node["é·b"])
    graph.bind_output(node["é·b"], "b")
    np.testing.assert_array_equal(tinct.load_graph(str(graph)).run({})["b"], [5, 0])


def test_the_type_of_an_input() -> None:
    """Where no port says it, and an expression asks for elements, the caller must."""
    graph = tinct.Graph()
    node = graph.node(fill, threads="len(data) + sizes[1]")
    graph.bind_input(zeros("len(data)"), node["dst"])
    graph.bind_input("n * 2", node["value"])
    graph.bind_output(node["dst"], "dst")
    with pytest.raises(tinct.InputError, match=r"node .fill.: len\(data\): nothing says what type the input 'data' of"):
        graph.run({})
    graph.input("data", "array<vec2<f32>>")
    with pytest.raises(tinct.InputError, match=r"sizes\[1\]: nothing says what type the input 'sizes'"):
        graph.run({})
    graph.input("sizes", "array<u32, 2>")
    out = graph.run({"data": np.zeros((3, 2), np.float32), "sizes": [0, 1], "n": 21})
    np.testing.assert_array_equal(out["dst"], [42, 42, 42])
    with pytest.raises(tinct.InputError, match="input 'data' is of type array<vec2<f32>>"):
        graph.input("data", "array<f32>")
    with pytest.raises(tinct.InputError, match="'array<' is no type: 1:7: expected a type"):
        graph.input("data", "array<")


def test_one_to_one_needs_equal_grids() -> None:
    graph = tinct.Graph()
    n = graph.input("n")
    a, b, c = (graph.node(fill, threads=it) for it in ((n + 1) * 2, 2 * n + 2, n * 2))
    graph.edge(a["dst"], b["dst"], "one-to-one")
    with pytest.raises(
        tinct.InputError, match=r"one-to-one from fill_2\.dst to fill_3\.dst: the extent x is 2 \* n \+ 2 in"
    ):
        graph.edge(b["dst"], c["dst"], "one-to-one")


def test_inputs_are_checked_by_name() -> None:
    graph = outer_without_file()
    with pytest.raises(tinct.InputError, match="graph 'graph' has no input named 'x'; there is none"):
        graph.run({"x": 1})
    with pytest.raises(tinct.InputError, match="no device is named 'cpus'; did you mean 'cpu'"):
        graph.run({}, device="cpus")
    with pytest.raises(tinct.InputError, match="nothing is given for the input n: u32 of graph 'more'"):
        more().run({})
    with pytest.raises(tinct.InputError, match="n: -1 is out of range for u32"):
        more().run({"n": -1})
    with pytest.raises(tinct.InputError, match=r"node 'fill': .* workgroups .* is over the limit"):
        more().run({"n": 65536})
    with pytest.raises(
        tinct.InputError, match="transient buffer 'fill_dst': 16000000000 bytes are more than a binding"
    ):
        more(size=4_000_000_000).run({"n": 1})


def more(size: int = 1) -> tinct.Graph:
    graph = tinct.Graph("more")
    node = graph.node(fill, threads="n")
    graph.bind_input(zeros(size), node["dst"])
    graph.bind_input(minimum("n", 4), node["value"])
    graph.bind_output(node["dst"], "dst")
    return graph


def test_a_leaf_that_never_ends() -> None:
    endless = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
        "@compute @workgroup_size(1) fn spin() { while a[0] == 0u { a[1] += 1u; } }"
    )
    graph = tinct.Graph("endless")
    before = graph.node(endless["spin"], threads=1, name="before")
    node = graph.node(endless["spin"], threads=1)
    graph.bind_input("b", before["a"])
    graph.bind_input("a", node["a"])
    graph.bind_output(before["a"], "b")
    graph.bind_output(node["a"], "a")
    for device in (it for it in DEVICES if it != "gpu"):  # a GPU's driver may end the loop
        assert graph.run({"a": [1, 0], "b": [1, 0]}, device=device)["a"].tolist() == [1, 0]
        with pytest.raises(tinct.DeviceError) as caught:
            graph.run({"a": [0, 0], "b": [1, 0]}, device=device, timeout=0.5)
        assert str(caught.value) == "node 'spin' was stopped: graph 'endless' did not end within 0.5 s"
    for device in ("cpu", "interp"):
        with pytest.raises(tinct.DeviceError, match=r"graph 'endless' did not end within 0\.25 s$"):
            graph.run({"a": [1, 0], "b": [1, 0]}, device=device, timeout=0.25, repeat=10**9)


def test_a_doubling_hierarchy_ends_in_time() -> None:
    """Forty graphs, each with two of the one before: nobody can wait for it, but everybody can stop it."""
    graph: tinct.Graph = outer_without_file()
    for level in range(40):
        outer = tinct.Graph(f"level{level}")
        for _ in range(2):
            outer.node(graph)
        graph = outer
    with pytest.raises(tinct.DeviceError):
        graph.run({}, timeout=0.5)


def test_two_structures_of_one_name() -> None:
    other = tinct.load(
        "struct Points { count: u32, places: array<vec4u> }\n"
        "@group(0) @binding(0) var<storage, read_write> points: Points;\n"
        "@compute @workgroup_size(1) fn use_points() { points.count += 1u; }"
    )
    graph = tinct.Graph()
    a, b = graph.node(place, threads=1), graph.node(other["use_points"], threads=1)
    graph.bind_input("data", a["src"])
    graph.bind_input(zeros(4), a["points"])
    graph.edge(a["points"], b["points"])
    graph.bind_output(b["points"], "points")
    with pytest.raises(
        tinct.InputError, match="'points': the two structures in Points and Points have different layouts"
    ):
        graph.run({"data": [1]})


@pytest.mark.parametrize("device", DEVICES)
def test_textures(device: str) -> None:
    """What one node stores in a texture, the next one loads."""
    shader = tinct.load(
        """
        @group(0) @binding(0) var<uniform> level: f32;
        @group(0) @binding(1) var made: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(1) fn paint(@builtin(global_invocation_id) id: vec3u) {
            textureStore(made, id.xy, vec4f(level, f32(id.x), f32(id.y), 1));
        }
        @group(0) @binding(2) var picture: texture_2d<f32>;
        @group(0) @binding(3) var<storage, read_write> sums: array<f32>;
        @compute @workgroup_size(1) fn sum(@builtin(global_invocation_id) id: vec3u) {
            let texel = textureLoad(picture, id.xy, 0);
            sums[id.y * 3 + id.x] = texel.x + texel.y + texel.z;
        }
        """
    )
    graph = tinct.Graph()
    paint = graph.node(shader["paint"], threads=(3, 2))
    graph.bind_input(zeros(3, 2), paint["made"])
    graph.bind_input("level", paint["level"])
    total = graph.node(shader["sum"], threads=(3, 2))
    graph.bind_input(zeros(6), total["sums"])
    graph.edge(paint["made"], total["picture"])
    graph.bind_output(total["sums"], "sums")
    np.testing.assert_array_equal(graph.run({"level": 1}, device=device)["sums"], [1, 2, 2, 2, 3, 3])


def test_the_caller_owns_the_outputs() -> None:
    """A graph with no instance gives what it got: as a new array, even where it was given as a list or bytes."""

    @tinct.graph
    def inner(state):
        return {"state": fill({"dst": state, "value": 1}, threads=1)["dst"]}

    @tinct.graph
    def outer(state, n):
        return inner({"state": state}, instances=n)["state"]

    given = np.arange(3, dtype=np.uint32)
    out = outer.run({"state": given, "n": 0})["state"]
    np.testing.assert_array_equal(out, given)
    assert not np.shares_memory(out, given)
    for form in ([0, 1, 2], given.tobytes(), memoryview(given)):
        np.testing.assert_array_equal(outer.run({"state": form, "n": 0})["state"], given)
    np.testing.assert_array_equal(outer.run({"state": given, "n": 2})["state"], [1, 1, 2])
