"""Edges that are declared one-to-one: which are proved, which are not, and the places that a warning shows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import tinct
from tinct.base.errors import InputError
from tinct.cli import tinct as command
from tinct.graphs import num_instances, one_to_one, zeros

_HEAD = """
struct Size { offset: u32, width: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> src: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
"""


def _kernel(body: str, *, size: str = "64", head: str = "") -> tinct.Kernel:
    names = "@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u"
    text = f"{_HEAD}{head}\n@compute @workgroup_size({size})\n"
    text += f"fn main({names}) {{ _ = size.width; _ = &src; _ = &dst; {body} }}\n"
    return tinct.load(text)["main"]


def _graph(
    first: tinct.Kernel, second: tinct.Kernel, *, way: str = "one-to-one", threads: str = "len(x)", other: str = ""
) -> tinct.Graph:
    graph = tinct.Graph("pair")
    nodes = [graph.node(first, threads=threads, name="first")]
    nodes.append(graph.node(second, threads=other or threads, name="second"))
    for node in nodes:
        graph.bind_input("offset", node["size.offset"])
        graph.bind_input("width", node["size.width"])
        graph.bind_input(zeros("2 * len(x)"), node["dst"])
    graph.bind_input("x", nodes[0]["src"])
    graph.edge(nodes[0]["dst"], nodes[1]["src"], way)
    graph.bind_output(nodes[1]["dst"], "y")
    return graph


_WRITE = "if id.x < arrayLength(&src) { dst[id.x] = src[id.x]; }"
_STRIDES = "for (var i = id.x; i < arrayLength(&src); i += 64u * groups.x) { dst[i] = src[i]; }"


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (_WRITE, _WRITE),
        (_WRITE, "let n = arrayLength(&src); if id.x >= n { return; } dst[n - id.x] = src[id.x] + src[id.x];"),
        (_WRITE, "var i = id.x; i++; i -= 1u; dst[0] = src[i];"),
        ("dst[id.x + size.width] = 1.0;", "let at = size.width; dst[id.x] = src[at + id.x];"),
        # Elements that stay as they are do not matter, nor what the sink writes
        ("if src[id.x] > 0.0 { dst[id.x] = 1.0; }", "dst[u32(src[id.x])] = 1.0;"),
        ("dst[id.x] = 1.0;", "dst[id.x] = 1.0;"),
        (_STRIDES, _STRIDES),
        # The numbers of a launch decide
        (_WRITE, "dst[id.x] = src[id.x + size.offset];"),
    ],
)
def test_nothing_is_said(write: str, read: str):
    assert _graph(_kernel(write), _kernel(read)).warnings == ()


_ANOTHER = "'src' is read at another position than 'first' writes [same-position]"
_NOT_ONLY = "'src' is not read only where the same invocation of 'first' writes [same-position]"


@pytest.mark.parametrize(
    ("write", "read", "reason"),
    [
        (_WRITE, "dst[id.x] = src[id.x + 1u];", _ANOTHER),
        (_WRITE, "let before = id.x - 1u; if id.x > 0u { dst[id.x] = src[id.x] - src[before]; }", _ANOTHER),
        ("let at = id.x << 1u; dst[at] = 1.0; dst[at + 2u] = 2.0;", "dst[id.x] = src[2u * id.x + 1u];", _ANOTHER),
    ],
)
def test_disproved(write: str, read: str, reason: str):
    (warning,) = _graph(_kernel(write), _kernel(read)).warnings
    assert warning.is_disproved
    assert warning.message == f"is not one-to-one: second: {reason}"


@pytest.mark.parametrize(
    ("write", "read", "reason"),
    [
        (_WRITE, "dst[id.x] = src[2u * id.x];", _NOT_ONLY),
        (_WRITE, "if id.x == 0u { dst[0] = src[0]; }", _NOT_ONLY),
        ("dst[2u * id.x] = 1.0; dst[2u * id.x + 1u] = 2.0;", "dst[id.x] = src[2u * id.x];", _NOT_ONLY),
        (
            _WRITE,
            "dst[id.x] = src[u32(src[id.x])];",
            "'src': its position is not a sum of products of builtin values and numbers of the dispatch [position]",
        ),
        (
            "dst[0] = 1.0;",
            "dst[id.x] = src[0];",
            "'src' is read at one position by all invocations along x [own-element]",
        ),
        (
            "if id.x == 0u { dst[7] = 1.0; }",
            "if id.x > 0u { dst[id.x] = src[7]; }",
            "'src' is read at one position by all invocations along x [own-element]",
        ),
        (_STRIDES, _WRITE, "'src' is accessed in another grid-stride loop, or in none [same-position]"),
    ],
)
def test_not_proved(write: str, read: str, reason: str):
    (warning,) = _graph(_kernel(write), _kernel(read)).warnings
    assert not warning.is_disproved
    assert warning.message == f"cannot be proved one-to-one: second: {reason}"


def test_rows_of_invocations_without_a_position_of_their_own():
    """Rounding up makes several rows."""
    body = "if id.x < arrayLength(&src) { dst[id.x] = src[id.x]; }"
    for size, number in (("8, 1", 0), ("8, 8", 1)):
        kernel = _kernel(body, size=size)
        assert len(_graph(kernel, kernel).warnings) == number


def test_one_invocation():
    """It has all elements to itself, whatever the position is."""
    assert _graph(*(_kernel("dst[0] = src[0];", size="1") for _ in "ab"), threads="1").warnings == ()


def test_strides_of_other_workgroups():
    """Whether the numbers of invocations are equal is decided by a launch."""
    other = _kernel(_STRIDES.replace("64u", "32u"), size="32")
    assert _graph(_kernel(_STRIDES), other).warnings == ()


@pytest.mark.parametrize("strides", [_STRIDES.replace("id.x", "id.x + 1u"), f"{_STRIDES} dst[id.x] = src[id.x];"])
def test_other_loops(strides: str):
    (warning,) = _graph(_kernel(_STRIDES), _kernel(strides)).warnings
    assert "grid-stride" in warning.message


def test_atomic_operations():
    """They are no reason against it: nothing but the position matters."""
    head = "@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;"
    for position, number in (("id.x", 0), ("id.x + 1u", 1)):
        first, second = (_kernel(f"atomicAdd(&counts[{it}], 1u);", head=head) for it in ("id.x", position))
        graph = tinct.Graph("atomics")
        nodes = [graph.node(it, threads="len(counts)", name=name) for name, it in (("a", first), ("b", second))]
        for node in nodes:
            for port in ("size.offset", "size.width"):
                graph.bind_input(0, node[port])
            graph.bind_input("x", node["src"])
            graph.bind_input(zeros(1), node["dst"])
        graph.bind_input("counts", nodes[0]["counts"])
        graph.edge(nodes[0]["counts"], nodes[1]["counts"], "one-to-one")
        graph.bind_output(nodes[1]["counts"], "result")
        assert len(graph.warnings) == number


@pytest.mark.parametrize(
    ("instances", "edge"), [((), "pair_first.dst -> pair_second.src"), (3, "first.dst -> second.src")]
)
def test_edges_in_graphs(instances: Any, edge: str):
    """In a graph that is inlined, and in one with instances, whose extents ask for their number."""
    extent: Any = num_instances("x") * "len(x)" if instances else "len(x)"
    broken = tinct.Graph("pair")
    nodes = [
        broken.node(_kernel(it), threads=extent, name=name)
        for name, it in (("first", _WRITE), ("second", "dst[id.x] = src[id.x + 1u];"))
    ]
    for node in nodes:
        for port in ("size.offset", "size.width"):
            broken.bind_input(0, node[port])
    broken.bind_input("x", nodes[0]["src"])
    broken.bind_input("y", nodes[1]["dst"])
    broken.bind_input(zeros("len(x)"), nodes[0]["dst"])
    broken.edge(nodes[0]["dst"], nodes[1]["src"], "one-to-one")
    broken.bind_output(nodes[1]["dst"], "y_out")
    outer = tinct.Graph("outer")
    node = outer.node(broken, name="pair", instances=instances)
    for name in ("x", "y"):
        outer.bind_input(name, node[name])
    outer.bind_output(node["y_out"], "y_out")
    (warning,) = outer.warnings
    assert warning.edge == edge
    assert warning.is_disproved


def test_edge_between_two_graphs():
    """The kernels on both sides of the bounds are seen."""
    one, other = tinct.Graph("one"), tinct.Graph("other")
    for graph, body in ((one, _WRITE), (other, "dst[id.x] = src[id.x + 1u];")):
        node = graph.node(_kernel(body), threads="len(x)", name="only")
        for port in ("size.offset", "size.width"):
            graph.bind_input(0, node[port])
        graph.bind_input("x", node["src"])
        graph.bind_input(zeros("len(x)"), node["dst"])
        graph.bind_output(node["dst"], "y")
    outer = tinct.Graph("outer")
    nodes = [outer.node(it) for it in (one, other)]
    outer.bind_input("x", nodes[0]["x"])
    outer.edge(nodes[0]["y"], nodes[1]["x"], "one-to-one")
    outer.bind_output(nodes[1]["y"], "y")
    (warning,) = outer.warnings
    assert warning.edge == "one_only.dst -> other_only.src"
    assert warning.is_disproved


def test_edge_to_a_python_function():
    graph = tinct.Graph("mixed")
    node = graph.node(_kernel(_WRITE), threads=(), name="first")
    for port in ("size.offset", "size.width"):
        graph.bind_input(0, node[port])
    graph.bind_input("x", node["src"])
    graph.bind_input(zeros("len(x)"), node["dst"])

    def scaled(values: Any) -> Any:
        return {"y": values * 2}

    host = graph.node(scaled, inputs={"values": "array<f32>"}, outputs={"y": "array<f32>"}, name="host")
    graph.edge(node["dst"], host["values"], "one-to-one")
    graph.bind_output(host["y"], "y")
    (warning,) = graph.warnings
    assert warning.message == (
        "cannot be proved one-to-one: host: it is no kernel, but a graph with instances or a repeat, or a Python "
        "function [grids]"
    )


def test_graph_without_one_to_one_edges_is_not_analysed(monkeypatch: pytest.MonkeyPatch):
    def unexpected(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("tinct.graphs.written.kernel_accesses", unexpected)
    assert _graph(_kernel(_WRITE), _kernel(_WRITE), way="all-to-all").warnings == ()


def _cli(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(command, ["graph", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_command_shows_both_places(tmp_path: Path):
    file = tmp_path / "pair.hpvm"
    _graph(_kernel(_WRITE), _kernel("dst[id.x] = src[id.x + 1u];")).program.save(file)
    text, errors = _cli(str(file))
    assert text.startswith("shader")
    assert "warning[one-to-one]: first.dst -> second.src is not one-to-one: second:" in errors
    shown = _marked(errors)
    assert "createEdge(first, second, one_to_one, dst, src)" in shown
    assert "src[id.x + 1u]" in shown


def _marked(text: str) -> list[str]:
    """What the carets are under."""
    lines = text.splitlines()
    return [above[line.index("^") : line.rindex("^") + 1] for above, line in pairwise(lines) if "^" in line]


@pytest.mark.parametrize(("read", "is_named"), [(_WRITE, True), ("dst[id.x] = src[id.x + size.offset];", False)])
def test_remarks_name_edges_that_could_be_one_to_one(tmp_path: Path, read: str, is_named: bool):
    file = tmp_path / "pair.hpvm"
    _graph(_kernel(_WRITE), _kernel(read), way="all-to-all").program.save(file)
    _, errors = _cli(str(file), "--remarks")
    wanted = "first.dst -> second.src: not fused: the edge is all-to-all, and could be declared one-to-one"
    assert (wanted in errors) is is_named
    assert _cli(str(file))[1] == ""


def test_remarks_need_equal_extents(tmp_path: Path):
    file = tmp_path / "pair.hpvm"
    _graph(_kernel(_WRITE), _kernel(_WRITE), way="all-to-all", other="width").program.save(file)
    assert _cli(str(file), "--remarks")[1] == ""


def test_results_do_not_depend_on_it():
    graphs = [
        _graph(_kernel(_WRITE), _kernel("dst[id.x] = src[id.x + 1u];"), way=it) for it in ("one-to-one", "all-to-all")
    ]
    inputs = {"x": np.arange(100, dtype=np.float32), "offset": 0, "width": 1}
    np.testing.assert_array_equal(graphs[0].run(inputs)["y"], graphs[1].run(inputs)["y"])


# Functions under tinct.graph


def _call(kernel: tinct.Kernel, source: Any, x: Any) -> Any:
    buffers = {"size": {"offset": 0, "width": 0}, "src": source, "dst": zeros(x.length)}
    return kernel(buffers, threads=x.length)["dst"]


def test_call_says_one_to_one():
    kernel = _kernel(_WRITE)

    @tinct.graph
    def chain(x: Any) -> Any:
        once = _call(kernel, x, x)
        twice = _call(kernel, one_to_one(once), x)
        return {"y": _call(kernel, twice, x)}

    edges = [it for it in str(chain).splitlines() if "createEdge" in it]
    assert ["one_to_one" in it for it in edges] == [True, False]
    assert [it.message for it in chain.fused().remarks] == ["fused"]
    x = np.arange(70, dtype=np.float32)
    np.testing.assert_array_equal(chain.fused().run({"x": x})["y"], chain.run({"x": x})["y"])


def test_one_use_of_several_is_one_to_one():
    kernel = _kernel(_WRITE)

    @tinct.graph
    def fork(x: Any) -> Any:
        once = _call(kernel, x, x)
        return {"once": once, "own": _call(kernel, one_to_one(once), x), "other": _call(kernel, once, x)}

    assert str(fork).count("one_to_one") == 2  # into the split, and from there to one node
    assert fork.warnings == ()


def test_call_with_another_grid():
    kernel = _kernel(_WRITE)

    def shorter(x: Any) -> Any:
        once = _call(kernel, x, x)
        buffers = {"size": {"offset": 0, "width": 0}, "src": one_to_one(once), "dst": zeros(x.length)}
        return {"y": kernel(buffers, threads=x.length - 1)["dst"]}

    with pytest.raises(InputError, match="the extent x is"):
        tinct.graph(shorter)


@pytest.mark.parametrize("value", [3, None, "dst", np.zeros(3, np.float32)])
def test_value_that_is_no_port(value: Any):
    with pytest.raises(InputError, match="one_to_one is for an output of a node"):
        one_to_one(value)


def test_input_and_output_of_the_graph():
    kernel = _kernel(_WRITE)

    def of_input(x: Any) -> Any:
        return {"y": _call(kernel, one_to_one(x), x)}

    def of_output(x: Any) -> Any:
        return {"y": one_to_one(_call(kernel, x, x))}

    with pytest.raises(InputError, match="one_to_one is for an output of a node"):
        tinct.graph(of_input)
    with pytest.raises(InputError, match="one_to_one is for the buffers of a call"):
        tinct.graph(of_output)
