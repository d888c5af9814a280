"""The meaning of graphs, on a machine whose values are tuples of numbers and whose leaves are Python functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tinct.base.errors import InputError
from tinct.ir.dataflow import interp
from tinct.ir.dataflow.nodes import Element, Leaf, Malloc, Selector
from tinct.ir.dataflow.text import parse
from tinct.ir.dataflow.verify import check

Values = tuple[int, ...]

LEAVES = """
shader s = file("s.wgsl")
leaf add(in a: array<u32>, inout b: array<u32>, in n: u32) { entry(s, add) }
leaf set(inout b: array<u32>, in at: u32, in to: u32) { entry(s, set) }
leaf join(in a: array<u32>, in c: array<u32>, inout b: array<u32>) { entry(s, join) }
"""


@dataclass
class Machine:
    """`add` gives b + a + n, `set` gives b with one element changed, `join` gives all its inputs in a row."""

    calls: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    instances: int = 0

    def share(self, value: Values) -> Values:
        return value

    def drop(self, value: Values) -> None:
        pass

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int, ...]) -> Values:
        return (0,) * (extents[0] if extents else 1)

    def number(self, value: float) -> Values:
        return (int(value),)

    def length(self, value: Values) -> int:
        return len(value)

    def element(self, value: Values, selectors: tuple[Selector, ...]) -> int:
        for selector in selectors:
            assert isinstance(selector, Element)
            if selector.index >= len(value):
                raise InputError("there is no such element")
            return value[selector.index]
        return value[0]

    def run(
        self,
        leaf: Leaf,
        extents: tuple[int, ...],
        inputs: Mapping[str, Values],
        path: tuple[str, ...],
        *,
        capacity: int | None,
    ) -> dict[str, Values]:
        self.calls.append(("/".join(path), extents))
        b = inputs["b"]
        match leaf.entry:
            case "add":
                return {"b": tuple(x + y + inputs["n"][0] for x, y in zip(b, inputs["a"], strict=True))}
            case "set":
                at = inputs["at"][0]
                return {"b": (*b[:at], inputs["to"][0], *b[at + 1 :])}
            case _:
                return {"b": (*inputs["a"], *inputs["c"], *b)}

    def check_time(self) -> None:
        self.instances += 1


def run(graphs: str, machine: Machine | None = None, **inputs: Values) -> dict[str, Values]:
    module = parse(LEAVES + graphs + "\nroot = createNode(g)")
    check(module)
    return interp.run(module, inputs, machine or Machine())


def test_nodes_run_when_their_inputs_are_there() -> None:
    machine = Machine()
    text = """
    graph g(in x: array<u32>, in n: u32, out y: array<u32>) {
      bind.output(last, b, y)
      last = createNode1D(add, n)
      createEdge(first, last, all_to_all, b, a)
      bind.input(last, x, b)
      bind.input(last, 100, n)
      bind.input(first, x, a)
      bind.input(first, room, b)
      bind.input(first, n, n)
      room = malloc(array<u32>, len(x))
      first = createNode2D(add, n, len(x) * 2 - 1)
    }"""
    assert run(text, machine, x=(1, 2, 3), n=(10,)) == {"y": (112, 114, 116)}
    assert machine.calls == [("first", (10, 5)), ("last", (10,))]


def test_a_writer_has_a_value_of_its_own() -> None:
    """Both copies of a split, and both users of an input and of a transient buffer, find what was there before."""
    text = """
    graph g(in x: array<u32>, out y: array<u32>, out z: array<u32>) {
      room = malloc(array<u32>, 2)
      one = createNode(set)
      bind.input(one, room, b)
      bind.input(one, 0, at)
      bind.input(one, 5, to)
      pair = split(array<u32>, 2)
      createEdge(one, pair, all_to_all, b, value)
      two = createNode(set)
      createEdge(pair, two, all_to_all, copy0, b)
      bind.input(two, 1, at)
      bind.input(two, 6, to)
      left = createNode(join)
      createEdge(two, left, all_to_all, b, a)
      createEdge(pair, left, all_to_all, copy1, c)
      bind.input(left, room, b)
      bind.output(left, b, y)
      three = createNode(set)
      bind.input(three, x, b)
      bind.input(three, 0, at)
      bind.input(three, 7, to)
      right = createNode(join)
      createEdge(three, right, all_to_all, b, a)
      bind.input(right, x, c)
      bind.input(right, x, b)
      bind.output(right, b, z)
    }"""
    assert run(text, x=(1, 2)) == {"y": (5, 6, 5, 0, 0, 0), "z": (7, 2, 1, 2, 1, 2)}


REPEATED = """
graph inner(inout state: array<u32>, in more: array<u32>, out count: array<u32>) {
  node = createNode(add)
  bind.input(node, more, a)
  bind.input(node, state, b)
  bind.input(node, 1, n)
  pair = split(array<u32>, 2)
  createEdge(node, pair, all_to_all, b, value)
  after = createNode(join)
  createEdge(pair, after, all_to_all, copy0, a)
  bind.input(after, more, c)
  bind.input(after, none, b)
  none = malloc(array<u32>, 0)
  bind.output(pair, copy1, state)
  bind.output(after, b, count)
}
graph g(in x: array<u32>, in m: array<u32>, in n: u32, out y: array<u32>, out z: array<u32>) {
  turns = createNode(inner, repeat = n - 1)
  bind.input(turns, x, state)
  bind.input(turns, m, more)
  bind.output(turns, state, y)
  bind.output(turns, count, z)
}"""


def test_a_repeated_node_gets_its_own_outputs() -> None:
    machine = Machine()
    assert run(REPEATED, machine, x=(1, 2), m=(10, 20), n=(4,)) == {"y": (34, 65), "z": (34, 65, 10, 20)}
    assert machine.calls == [("turns/node", ()), ("turns/after", ())] * 3


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (1, "node 'turns' is repeated 0 times, so that nothing gives its output 'count'"),
        (0, "node 'turns', its repeat: n - 1 is -1"),
    ],
)
def test_repeats_that_do_not_fit(n: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(REPEATED, x=(1,), m=(2,), n=(n,))
    assert str(caught.value) == message


def test_a_node_repeated_zero_times_hands_its_inputs_on() -> None:
    text = """
    graph inner(inout state: array<u32>, in at: u32) {
      node = createNode(set)
      bind.input(node, state, b)
      bind.input(node, at, at)
      bind.input(node, 9, to)
      bind.output(node, b, state)
    }
    graph g(in x: array<u32>, in n: u32, out y: array<u32>) {
      turns = createNode(inner, repeat = n)
      bind.input(turns, x, state)
      bind.input(turns, 0, at)
      bind.output(turns, state, y)
    }"""
    assert run(text, x=(1, 2), n=(0,)) == {"y": (1, 2)}
    assert run(text, x=(1, 2), n=(2,)) == {"y": (9, 2)}


INSTANCES = """
graph inner(inout state: array<u32>, in base: u32) {
  node = createNode2D(set, getNumNodeInstances.x(getParentNode(getNode())), 3)
  bind.input(node, state, b)
  bind.input(node, ID.x(getParentNode(getNode())) * 2 + ID.y(getParentNode(getNode())), at)
  bind.input(node, base + EXTENT.y(getNode()) * 10 + getNumDims(getParentNode(getParentNode(getNode()))), to)
  bind.output(node, b, state)
}
graph g(inout x: array<u32>, in count: array<u32>) {
  many = createNode2D(inner, count[1], 2)
  bind.input(many, x, state)
  bind.input(many, 100, base)
  bind.output(many, state, x)
}""".replace("ID", "getNodeInstanceID").replace("EXTENT", "getNumNodeInstances")


def test_instances_write_one_output_and_ask_for_their_index() -> None:
    machine = Machine()
    assert run(INSTANCES, machine, x=(0,) * 8, count=(9, 3)) == {"x": (130,) * 6 + (0, 0)}
    assert machine.calls == [("many/node", (3, 3))] * 6
    assert machine.instances == 6


def test_no_instances_leave_the_output_as_it_was() -> None:
    assert run(INSTANCES, x=(1, 2, 3), count=(9, 0)) == {"x": (1, 2, 3)}


def test_extents_from_what_a_node_gave() -> None:
    machine = Machine()
    text = """
    graph g(in x: array<u32>, out y: array<u32>) {
      room = malloc(array<u32>, first.b[1] + len(first.b))
      first = createNode(set)
      bind.input(first, x, b)
      bind.input(first, 1, at)
      bind.input(first, 4, to)
      second = createNode1D(set, max(first.b[1], 2))
      bind.input(second, room, b)
      bind.input(second, first.b[0], at)
      bind.input(second, ceil_div(len(room), 2), to)
      bind.output(second, b, y)
    }"""
    assert run(text, machine, x=(1, 2, 3)) == {"y": (0, 4, 0, 0, 0, 0, 0)}
    assert machine.calls == [("first", ()), ("second", (4,))]


ONE_TO_ONE = """
graph g(in x: array<u32>, in n: u32, out y: array<u32>) {
  first = createNode1D(set, len(x))
  bind.input(first, x, b)
  bind.input(first, 0, at)
  bind.input(first, 1, to)
  second = createNode1D(set, n)
  createEdge(first, second, one_to_one, b, b)
  bind.input(second, 8 / n, at)
  bind.input(second, 2, to)
  bind.output(second, b, y)
}"""


def test_grids_that_only_the_inputs_make_equal() -> None:
    assert run(ONE_TO_ONE, x=(7, 7, 7, 7), n=(4,)) == {"y": (1, 7, 2, 7)}


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (3, "one-to-one from first.b to second.b: node 'first' has the extents 4, but 'second' 3"),
        (-1, "node 'second': the extent n is -1"),
    ],
)
def test_what_only_a_run_shows(n: int, message: str) -> None:
    with pytest.raises(interp.NodeError) as caught:
        run(ONE_TO_ONE, x=(7, 7, 7, 7), n=(n,))
    assert str(caught.value) == message
    assert caught.value.span is not None


def test_division_by_zero_and_missing_elements() -> None:
    with pytest.raises(interp.NodeError, match=r"node 'second', input 'at': 8 / n divides by zero"):
        run(ONE_TO_ONE.replace("second = createNode1D(set, n)", "second = createNode1D(set, len(x))"), x=(7,), n=(0,))
    with pytest.raises(interp.NodeError, match=r"node 'many': count\[1\]: there is no such element"):
        run(INSTANCES, x=(1,), count=(9,))
