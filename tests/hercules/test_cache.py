"""Analyses are kept while the function stays as it was, and only then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tinct.ir.hercules.cache import Analyses, version_of
from tinct.ir.hercules.graph import replace_predecessor
from tinct.ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Call,
    ConstantNode,
    DynamicLiteral,
    Fork,
    Function,
    IntegerConstant,
)
from tinct.ir.hercules.placement import place_nodes
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.types import I32

from .generate_forks import generate_forks
from .support import node_of

TEXT = """fn f<n>(a: i32, b: i32) -> i32 {
  two = constant(i32 2)
  work = fork(start, n)
  end = join(work)
  sum = add(a, two)
  called = call(g, sum, b)
  done = return(end, called)
}
fn g(x: i32, y: i32) -> i32 {
  result = add(x, y)
  done = return(start, result)
}
"""


def _change_operand(function: Function) -> None:
    replace_predecessor(node_of(function, "sum"), node_of(function, "a"), node_of(function, "b"))


def _change_operation(function: Function) -> None:
    node = node_of(function, "sum")
    assert isinstance(node, Binary)
    node.op = BinaryOp.MUL


def _change_constant(function: Function) -> None:
    node = node_of(function, "two")
    assert isinstance(node, ConstantNode)
    node.value = IntegerConstant(I32, 3)


def _change_factor(function: Function) -> None:
    node = node_of(function, "work")
    assert isinstance(node, Fork)
    node.factor = DynamicLiteral(4)


def _change_order(function: Function) -> None:
    function.nodes.append(function.nodes.pop(3))


def _change_callee(function: Function) -> None:
    node = node_of(function, "called")
    assert isinstance(node, Call)
    result = node_of(node.callee, "result")
    assert isinstance(result, Binary)
    result.op = BinaryOp.SUB


@pytest.mark.parametrize(
    "change",
    [_change_operand, _change_operation, _change_constant, _change_factor, _change_order, _change_callee],
)
def test_every_edit_makes_a_new_version(change: Callable[[Function], None]) -> None:
    function = parse(TEXT).functions[0]
    known = Analyses(function)
    before, placed = version_of(function), known.get(place_nodes)
    assert version_of(function) == before
    assert known.get(place_nodes) is placed
    change(function)
    assert version_of(function) != before
    assert known.get(place_nodes) is not placed
    assert known.get(place_nodes) is known.get(place_nodes)


def test_random_functions_have_versions() -> None:
    for seed in range(5):
        function = generate_forks(seed).functions[0]
        assert version_of(function) == version_of(function)
        hash(version_of(function))
