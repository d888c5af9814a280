"""What is generated for operations: edges, copies, value numbers, groups, words and builders."""

from __future__ import annotations

from types import ModuleType
from typing import get_args

import pytest

from tinct.ir.hercules import nodes as h
from tinct.ir.schema.runtime import Operation, value_key


def test_inputs_are_in_the_order_of_the_fields(flow: ModuleType) -> None:
    start, a, b, c = flow.Start(), flow.Number(1, ""), flow.Number(2, ""), flow.Number(3, "")
    merge = flow.Merge([start, start])
    assert start.inputs() == ()
    assert merge.inputs() == (start, start)
    assert flow.Choice(merge, [a, b], [c]).inputs() == (merge, a, b, c)
    assert flow.Binary(flow.Op.SUB, a, b).inputs() == (a, b)
    path = [flow.Element(b, 4), flow.Member(0), flow.Element(c, 4)]
    assert flow.Part(a, path).inputs() == (a, b, c)
    assert flow.Change(a, flow.Element(b, 4), owner=None).inputs() == (a, b)


def test_an_optional_operand_is_an_input_where_there_is_one() -> None:
    start, end, callee = h.Start(), h.Start(), h.Function("f", [], [], [], h.Product(()), [])
    placed, other = h.Call(callee, [], [start], control=start), h.Call(callee, [], [start, start])
    assert placed.inputs() == other.inputs() == (start, start)
    assert value_key(placed, placed.inputs()) != value_key(other, other.inputs())
    placed.map_inputs(lambda _: end)
    other.map_inputs(lambda _: end)
    assert (placed.arguments, placed.control, placed.copy().control) == ([end], end, end)
    assert (other.arguments, other.control) == ([end, end], None)


def test_inputs_are_mapped_through_parts(flow: ModuleType) -> None:
    a, b, c = flow.Number(1, ""), flow.Number(2, ""), flow.Number(3, "")
    path = [flow.Element(b, 4), flow.Member(0)]
    part = flow.Part(a, path)
    part.map_inputs({a: c, b: c}.__getitem__)
    assert part.inputs() == (c, c)
    assert part.path == [flow.Element(c, 4), flow.Member(0)]
    assert path == [flow.Element(b, 4), flow.Member(0)]
    change = flow.Change(a, flow.Element(b, 4), owner=None)
    change.map_inputs(lambda _: c)
    assert (change.whole, change.step) == (c, flow.Element(c, 4))


def test_control_inputs_and_pins(flow: ModuleType) -> None:
    start = flow.Start()
    merge = flow.Merge([start])
    assert merge.control_inputs() == (start,)
    assert start.control_inputs() == ()
    assert flow.Choice(merge, [], []).pinned_to() is merge
    assert not hasattr(flow.Number(1, ""), "pinned_to")


def test_copies_share_no_list(flow: ModuleType) -> None:
    merge = flow.Merge([flow.Start()])
    choice = flow.Choice(merge, [merge], [], label="x", weight=3)
    copy = choice.copy()
    assert (copy.merge, copy.values, copy.others, copy.label, copy.weight) == (merge, [merge], [], "x", 3)
    copy.values.append(merge)
    assert choice.values == [merge]


def test_keys_have_attributes_and_operands_but_no_notes(flow: ModuleType) -> None:
    def key(node: Operation) -> object:
        return value_key(node, node.inputs())  # type: ignore[attr-defined]

    a, b = flow.Number(1, "one"), flow.Number(2, "two")
    assert key(flow.Number(1, "one")) == key(flow.Number(1, "uno", label="x"))
    assert key(flow.Number(1, "")) != key(flow.Number(2, ""))
    assert key(flow.Number(1, "")) != key(flow.Number(1, "", weight=2))
    assert key(flow.Part(a, [flow.Element(b, 4)])) == key(flow.Part(a, [flow.Element(b, 4)]))
    assert key(flow.Part(a, [flow.Element(b, 4)])) != key(flow.Part(a, [flow.Element(b, 8)]))
    assert key(flow.Part(a, [flow.Element(b, 4)])) != key(flow.Part(b, [flow.Element(a, 4)]))
    assert key(flow.Part(a, [flow.Member(0)])) != key(flow.Part(a, [flow.Member(1)]))
    assert key(flow.Part(a, [flow.Member(4)])) != key(flow.Part(a, [flow.Element(a, 4)]))


def test_keys_tell_where_a_list_of_operands_ends(flow: ModuleType) -> None:
    merge, a = flow.Merge([]), flow.Number(1, "")
    left, right = flow.Choice(merge, [a], [a, a]), flow.Choice(merge, [a, a], [a])
    assert left.inputs() == right.inputs()
    assert value_key(left, left.inputs()) != value_key(right, right.inputs())


def test_operands_of_commutative_operations_may_be_exchanged(flow: ModuleType) -> None:
    a, b = flow.Number(1, ""), flow.Number(2, "")
    for make in (flow.Same, lambda x, y: flow.Binary(flow.Op.ADD, x, y)):
        assert make(a, b).is_commutative
        assert value_key(make(a, b), (a, b)) == value_key(make(b, a), (b, a))
    minus = flow.Binary(flow.Op.SUB, a, b)
    assert not minus.is_commutative
    assert value_key(minus, (a, b)) != value_key(minus, (b, a))
    assert not a.is_commutative


def test_groups_are_bases_and_unions(flow: ModuleType) -> None:
    assert set(get_args(flow.AnyPureNode)) == {flow.Choice, flow.Number, flow.Binary, flow.Same}
    assert isinstance(flow.Start(), flow.ControlNode)
    assert not isinstance(flow.Start(), flow.PureNode)
    match flow.Binary(flow.Op.ADD, flow.Start(), flow.Start()):
        case flow.ScalarNode():
            pass
        case _:
            pytest.fail("a binary operation is on scalars")


def test_operations_by_word(flow: ModuleType) -> None:
    assert {
        "start": flow.Start,
        "merge": flow.Merge,
        "choice": flow.Choice,
        "number": flow.Number,
        "add": flow.Binary,
        "sub": flow.Binary,
        "same": flow.Same,
        "part": flow.Part,
        "change": flow.Change,
    } == flow.BY_WORD


def test_builder(flow: ModuleType) -> None:
    made: list[object] = []

    class Builder(flow.OperationBuilder):  # type: ignore[misc, name-defined]
        def add(self, operation: Operation, /) -> Operation:
            made.append(operation)
            return operation

    builder = Builder()
    number = builder.number(1, comment="one")
    assert (number.value, number.comment, number.label) == (1, "one", "")
    values = [number]
    choice = builder.choice(builder.merge([]), values, [], label="x", weight=2)
    assert (choice.values, choice.label, choice.weight) == (values, "x", 2)
    assert choice.values is not values
    assert len(made) == 3
    assert not hasattr(builder, "change")


def test_nodes_of_values_get_their_defaults(flow: ModuleType) -> None:
    part = flow.Part.of({"whole": flow.Start(), "path": ()})
    assert (part.path, part.label, part.weight) == ([], "", 1)
