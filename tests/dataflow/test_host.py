"""Python functions on arrays as leaves of graphs."""

from __future__ import annotations

from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.graphs import HostFunction, zeros
from tinct.ir.dataflow.dot import draw
from tinct.ir.dataflow.text import type_text

from .support import DEVICES, count, fill


@tinct.host(outputs={"sorted": "array<u32>", "middle": "u32"})
def ranked(values: "array<u32>"):  # type: ignore[name-defined] # noqa: F722
    found = np.sort(values)
    return {"sorted": found, "middle": found[len(found) // 2]}


@tinct.host
def doubled(data: npt.NDArray[np.uint32], by: np.uint32) -> npt.NDArray[np.uint32]:
    return data * by


def halves(data):
    return {"data": data // 2}


@tinct.graph
def pipeline(data, value):
    twice = doubled(data, 2)
    filled = fill({"dst": twice, "value": value}, threads=1)
    order = ranked(filled["dst"])
    counted = count({"src": order["sorted"], "total": zeros()}, threads=data.length)
    return {"sorted": order["sorted"], "middle": order["middle"], "total": counted["total"]}


DATA = np.array([[5, 4], [0, 2]], np.uint32)


@pytest.mark.parametrize("device", DEVICES)
def test_between_kernels_on_every_device(device: str) -> None:
    result = pipeline.run_timed({"data": DATA, "value": 7}, device=device)
    assert result.outputs["sorted"].tolist() == [0, 4, 7, 8]
    assert result.outputs["middle"] == 7
    assert result.outputs["total"] == 3
    assert DATA.tolist() == [[5, 4], [0, 2]]
    assert result.timings[("ranked",)].dispatches == 1
    if device == "gpu":
        copied = [it for it in result.copies if it.target == "cpu" and "'ranked'" in it.why]
        assert [it.bytes for it in copied] == [16]


def test_a_plain_function_node_by_node() -> None:
    graph = tinct.Graph("halving")
    first = graph.node(halves, inputs={"data": "array<f32>"}, outputs={"data": "array<f32>"})
    second = graph.node(halves, inputs={"data": "array<f32>"}, outputs={"data": "array<f32>"}, name="again")
    assert (first.inputs, first.outputs) == (("data",), ("data",))
    graph.bind_input("numbers", first["data"])
    graph.edge(first["data"], second["data"])
    graph.bind_output(second["data"], "numbers")
    assert str(graph).count("host halves(inout data: array<f32>)\n") == 1
    assert graph.run({"numbers": [9.0, 4]})["numbers"].tolist() == [2, 1]


def test_the_types_of_ports() -> None:
    @tinct.host(outputs={"b": "array<mat2x3<f32>, 2>", "c": "i32"}, inputs={"d": "array<vec2f>"})
    def mixed(a: np.float16, c: "i32", d, e=1):  # type: ignore[no-untyped-def, name-defined] # noqa: F821, UP037
        return {}

    assert str(mixed.leaf.ports) and [(it.name, it.access.value) for it in mixed.ports] == [
        ("a", "in"),
        ("c", "inout"),
        ("d", "in"),
        ("b", "out"),
    ]
    graph = tinct.Graph()
    node = graph.node(mixed)
    for name in node.inputs:
        graph.bind_input(name, node[name])
    graph.bind_output(node["b"], "b")
    assert "host mixed(in a: f16, inout c: i32, in d: array<vec2<f32>>, out b: array<mat2x3<f32>, 2>)" in str(graph)


Size = TypeVar("Size")
Element = TypeVar("Element", bound=np.generic)


class Alias:
    """What a `type` statement makes, for a Python that has none; `npt.NDArray` is one from NumPy 2.5 on."""

    def __init__(self, value: object, *parameters: Any) -> None:
        self.__value__ = value
        self.__type_params__ = parameters

    def __getitem__(self, given: Any) -> GenericAlias:
        return GenericAlias(self, given)  # type: ignore[arg-type]


def test_an_annotation_may_be_an_alias() -> None:
    sized = Alias(np.ndarray[Size, np.dtype[Element]], Element, Size)  # type: ignore[type-var]
    flat = Alias(sized[Element, tuple[int]], Element)
    annotations = {"a": flat[np.int32], "b": sized[np.float16, tuple[int]], "c": Alias(flat[np.float32])}

    def mixed(a, b, c, d):  # type: ignore[no-untyped-def]
        return a

    mixed.__annotations__ = {**annotations, "d": Alias(np.uint32), "return": npt.NDArray[np.uint32]}
    texts = [f"{it.access.value} {it.name}: {type_text(it.type)}" for it in tinct.host(mixed).ports]
    ports = "in a: array<i32>, in b: array<f16>, in c: array<f32>, in d: u32, out result: array<u32>"
    assert texts == ports.split(", ")
    mixed.__annotations__["a"] = flat
    with pytest.raises(tinct.InputError, match=r"'a': .* stands for no WGSL type"):
        tinct.host(mixed)


def test_arguments_are_arrays_that_cannot_be_written_and_numpy_scalars() -> None:
    seen = {}

    @tinct.host(
        inputs={"points": "array<vec3f>", "scale": "f32", "room": "array<u32>", "tally": "atomic<u32>"},
        outputs={"n": "u32"},
    )
    def look(**given):  # type: ignore[no-untyped-def]
        seen.update(given)
        return len(given["points"])

    graph = tinct.Graph()
    node = graph.node(look)
    graph.bind_input("points", node["points"])
    graph.bind_input(1.5, node["scale"])
    graph.bind_input(zeros("len(points) + 1"), node["room"])
    graph.bind_input(zeros(), node["tally"])
    graph.bind_output(node["n"], "n")
    points = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert graph.run({"points": points})["n"] == 2
    np.testing.assert_array_equal(seen["points"], points)
    assert not seen["points"].flags.writeable
    assert (type(seen["scale"]), seen["scale"]) == (np.float32, 1.5)
    assert seen["room"].tolist() == [0, 0, 0]
    assert (type(seen["tally"]), seen["tally"]) == (np.uint32, 0)


def test_an_inner_graph_with_functions_of_the_same_name() -> None:
    def made(by: int) -> HostFunction:
        @tinct.host(inputs={"x": "u32"}, outputs={"x": "u32"})
        def step(x):  # type: ignore[no-untyped-def]
            return {"x": x + np.uint32(by)}

        return step

    def around(inner: object) -> tinct.Graph:
        graph = tinct.Graph("outer" if isinstance(inner, tinct.Graph) else "inner")
        node = graph.node(inner)  # type: ignore[arg-type]
        other = graph.node(made(10), name="last")
        graph.bind_input("x", node["x"])
        graph.edge(node["x"], other["x"])
        graph.bind_output(other["x"], "x")
        return graph

    graph = around(around(made(1)))
    assert graph.run({"x": 100})["x"] == 121
    assert str(graph).count("host step") == 3
    assert graph.program.functions.keys() == {"step", "step_2", "step_3"}


def test_in_files(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.hpvm"
    pipeline.save(file)
    assert "host ranked(in values: array<u32>, out sorted: array<u32>, out middle: u32)" in file.read_text()
    functions = {"ranked": ranked, "doubled": doubled.function}
    loaded = tinct.load_graph(file, functions=functions)
    assert loaded.run({"data": DATA, "value": 7})["middle"] == 7
    again = tinct.load_graph(loaded.to_json(), functions=functions)
    assert str(again) == str(loaded) == str(pipeline)
    assert "on the host" in draw(loaded.module)
    with pytest.raises(tinct.InputError, match=r"node 'doubled': it needs a Python function: load_graph\("):
        tinct.load_graph(file).run({"data": DATA, "value": 7})
    with pytest.raises(tinct.InputError, match="no leaf on the host named 'rank'; did you mean 'ranked'"):
        tinct.load_graph(file, functions={"rank": ranked})
    with pytest.raises(tinct.InputError, match="'ranked' has the ports in data: array<u32>"):
        tinct.load_graph(file, functions={"ranked": doubled})
    with pytest.raises(tinct.InputError, match=r"cannot be called with its inputs \(values\) by name"):
        tinct.load_graph(file, functions={"ranked": halves})


def run(function: object) -> object:
    graph = tinct.Graph()
    node = graph.node(function, inputs={"data": "array<f32>"}, outputs={"low": "f32", "high": "f32"}, name="bounds")  # type: ignore[arg-type]
    graph.bind_input("data", node["data"])
    graph.bind_output(node["low"], "low")
    return graph.run({"data": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (3.0, "node 'bounds': '_lambda_' returns a dict of its outputs (low, high), not 3.0"),
        ({"low": 3.0}, "node 'bounds': '_lambda_' returned nothing for its output 'high'"),
        (
            {"low": 1.0, "high": 2.0, "lo": 3},
            "node 'bounds': '_lambda_' has no output named 'lo'; did you mean 'low'?",
        ),
        ({"low": 3.0, "high": np.zeros(2)}, "node 'bounds': high: f32 "),
        ({"low": 3.0, "high": "x"}, "node 'bounds': high: f32 "),
    ],
)
def test_results_that_do_not_fit(result: object, message: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        run(lambda data: result)
    assert str(error.value).startswith(message)


def test_an_error_of_the_function_names_the_node() -> None:
    with pytest.raises(ZeroDivisionError) as error:
        run(lambda data: 1 / 0)
    assert error.value.__notes__ == ["raised by the function of node 'bounds', '_lambda_'"]

    def writes(data):  # type: ignore[no-untyped-def]
        data[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        run(writes)


def untyped(data):  # type: ignore[no-untyped-def]
    return data


def wrong(data: list[int]) -> np.uint32:
    return np.uint32(data[0])


def unknown(data: Nothing) -> np.uint32:  # type: ignore[name-defined] # noqa: F821
    return data


def without_result(data: np.uint32):  # type: ignore[no-untyped-def]
    return data


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (3, {}, "tinct.host is for a function, not 3"),
        (untyped, {}, "host function 'untyped': nothing says of what type 'data' is: an annotation or inputs does"),
        (wrong, {}, "host function 'wrong': 'data': "),
        (unknown, {}, "host function 'unknown': 'data': 'Nothing' is no WGSL type (name 'Nothing' is not defined)"),
        (without_result, {}, "host function 'without_result': nothing says what it returns: "),
        (halves, {"inputs": {"dat": "f32"}, "outputs": {}}, "host function 'halves': nothing says of what type 'data'"),
        (
            halves,
            {"inputs": {"data": "f32", "more": "f32"}, "outputs": {"a": "f32"}},
            "host function 'halves' cannot be called with its inputs (data, more) by name: ",
        ),
        (halves, {"inputs": {"data": "f32"}, "outputs": {"data": "u32"}}, "host function 'halves': 'data' is an input"),
        (halves, {"inputs": {"data": "f32"}, "outputs": {"a b": "u32"}}, "host function 'halves': 'a b' is no name"),
        (
            halves,
            {"inputs": {"data": "array<"}, "outputs": {"a": "u32"}},
            "host function 'halves': 'data': 'array<' is",
        ),
        (
            halves,
            {"inputs": {"data": "Point"}, "outputs": {"a": "u32"}},
            "host function 'halves': 'data': not supported",
        ),
        (halves, {"inputs": {"data": 3}, "outputs": {"a": "u32"}}, "host function 'halves': 'data': a type is a text"),
    ],
)
def test_functions_that_are_no_leaves(function: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        tinct.host(function, **options)  # type: ignore[call-overload]
    assert str(error.value).startswith(message)


def test_nodes_that_cannot_be() -> None:
    graph = tinct.Graph()
    with pytest.raises(tinct.InputError, match="a node executes a kernel, a graph or a function, not 3"):
        graph.node(3)  # type: ignore[arg-type]
    with pytest.raises(tinct.InputError, match="a function on the host runs once; threads"):
        graph.node(ranked, threads=4)
    with pytest.raises(tinct.InputError, match="executes 'ranked' on the host, once: it takes no extents"):
        graph.node(ranked, instances=4)
    with pytest.raises(tinct.InputError, match="inputs and outputs are types of the ports of a Python function"):
        graph.node(count, threads=1, inputs={"src": "array<u32>"})


def test_a_call_on_arrays_is_a_call() -> None:
    assert doubled(np.arange(3, dtype=np.uint32), by=2).tolist() == [0, 2, 4]
