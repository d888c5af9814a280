"""Random graphs, within others too, against numpy: run, printed and parsed."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.graphs import instance_id, zeros
from tinct.ir.dataflow.codec import CODEC
from tinct.ir.dataflow.nodes import Module
from tinct.ir.dataflow.text import parse

from .support import put, shift

Array = npt.NDArray[np.uint32]
SIZE = 5


def params(made: random.Random) -> tuple[dict[str, object], int]:
    """Members of the uniform structure: numbers, an expression or an input; and what `shift` adds for them."""
    offset = made.randrange(100)
    width, value = made.choice([(made.randrange(9), None), ("len(x) * 2 - 1", 2 * SIZE - 1), ("n", 7)])
    return {"width": width, "offset": offset, "weights": "weights"}, (width if value is None else value) + offset


class RandomGraph:
    """A graph, and the values of its outputs, which are computed while it is built."""

    def __init__(self, made: random.Random, name: str, x: Array, level: int) -> None:
        self.graph = tinct.Graph(name)
        self.graph.input("x", "array<u32>")
        self.made = made
        self.level = level
        self.x = x
        self.open: list[tuple[object, Array]] = []
        """Ports that nothing uses yet, with their values."""
        for _ in range(made.randint(1, 6)):
            self.add()
        self.outputs: dict[str, Array] = {}
        for number, (port, value) in enumerate(self.open):
            self.graph.bind_output(port, f"y{number}")
            self.outputs[f"y{number}"] = value

    def source(self) -> tuple[object, Array]:
        """A port, taken once, an input, or zeros."""
        if self.open and self.made.random() < 0.7:
            port, value = self.open.pop(self.made.randrange(len(self.open)))
            if self.made.random() < 0.4:
                port, *copies = self.graph.split(port, self.made.randint(2, 3))
                self.open += [(copy, value) for copy in copies]
            return port, value
        if self.made.random() < 0.5:
            return "x", self.x
        return zeros(SIZE), np.zeros(SIZE, np.uint32)

    def connect(self, source: object, port: tinct.graphs.builder.Port) -> None:
        if isinstance(source, tinct.graphs.builder.Port):
            self.graph.edge(source, port)
        else:
            self.graph.bind_input(source, port)

    def add(self) -> None:
        if self.level and self.made.random() < 0.3:
            self.add_graph()
        else:
            self.add_kernel()

    def add_kernel(self) -> None:
        members, added = params(self.made)
        node = self.graph.node(shift, threads=self.made.choice([SIZE, "len(x)", "n - 2"]))
        (left, src), (right, dst) = self.source(), self.source()
        self.connect(left, node["src"])
        self.connect(right, node["dst"])
        for member, value in members.items():
            self.graph.bind_input(value, node[f"params.{member}"])
        self.open.append((node["dst"], dst + src + np.uint32(added)))

    def add_graph(self) -> None:
        """A graph of its own, or instances of one that write an element each."""
        source, value = self.source()
        if self.made.random() < 0.5:
            count = self.made.randint(0, SIZE)
            node = self.graph.node(writer(), instances=count)
            self.connect(source, node["x"])
            self.graph.bind_input("weights", node["weights"])
            self.open.append((node["x"], np.where(np.arange(SIZE) < count, 42, value).astype(np.uint32)))
            return
        inner = RandomGraph(self.made, "inner", value, self.level - 1)
        node = self.graph.node(inner.graph)
        for name in node.inputs:
            self.connect(source if name == "x" else name, node[name])
        self.open += [(node[name], made) for name, made in inner.outputs.items()]


def writer() -> tinct.Graph:
    graph = tinct.Graph("writer")
    node = graph.node(put, threads=())
    graph.bind_input("x", node["dst"])
    graph.bind_input(instance_id(), node["params.width"])
    graph.bind_input(42, node["params.offset"])
    graph.bind_input("weights", node["params.weights"])
    graph.bind_output(node["dst"], "x")
    return graph


@pytest.mark.parametrize("seed", range(60))
def test_random_graph(seed: int) -> None:
    """Leaves, splits, transient buffers, unused outputs, queries and instances."""
    x = np.arange(1, SIZE + 1, dtype=np.uint32)
    expected = RandomGraph(random.Random(seed), "random", x, level=2)
    graph = expected.graph
    text = str(graph)
    module = graph.program.module
    assert parse(text) == module
    assert CODEC.from_json(CODEC.to_json(module), Module) == module
    given = {"x": x, "n": 7, "weights": [0, 0]}
    given = {name: value for name, value in given.items() if name in graph.inputs}
    for runnable, device in ((graph, "cpu"), (tinct.load_graph(text), "interp")):
        found = runnable.run(given, device=device)
        assert set(found) == set(expected.outputs)
        for name, array in expected.outputs.items():
            np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(x, np.arange(1, SIZE + 1))
