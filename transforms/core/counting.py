"""Loops that count up: the counter never decreases, because the loop exits before the counter wraps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from .ranges import constant_of, whole
from .regions import blocks_from, branches_to, region

Stores: TypeAlias = Mapping[Value, Sequence[tuple[nodes.Store, bool]]]
"""The stores of a loop by variable, and whether each runs at most once per iteration, outside of inner loops."""


def stores_in(loop: nodes.Loop) -> Stores:
    """The stores in a loop."""
    own = {id(block) for start in (loop.start_target, loop.continuing_target) for block in region(start)}
    found: dict[Value, list[tuple[nodes.Store, bool]]] = {}
    for block in (*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)):
        for store in block.instructions:
            if isinstance(store, nodes.Store):
                found.setdefault(store.pointer, []).append((store, id(block) in own))
    return found


def counts_variable(loop: nodes.Loop, variable: Value, stores: Stores) -> bool:
    """Whether a loop changes a variable, which is only loaded and stored, by at most one addition per iteration."""
    if len(stores[variable]) != 1:
        return False
    ((store, is_once),) = stores[variable]
    return is_once and _adds(loop, store.value, lambda it: isinstance(it, nodes.Load) and it.pointer is variable)


def counts_argument(loop: nodes.Loop, argument: nodes.BlockArgument) -> bool:
    """Whether each iteration passes an argument of the loop's start unchanged or larger."""
    position = loop.start_target.arguments.index(argument)
    passed = [it.arguments[position] for it in branches_to(blocks_from(loop.continuing_target), loop.start_target)]
    return bool(passed) and all(it is argument or _adds(loop, it, lambda value: value is argument) for it in passed)


def _adds(loop: nodes.Loop, value: Value, is_counter: Callable[[Value], bool]) -> bool:
    """Whether a value is the counter and a positive constant, and does not wrap."""
    if not isinstance(value, nodes.Binary) or value.op is not BinaryOp.ADD or not is_counter(value.lhs):
        return False
    step, largest = constant_of(value.rhs), _largest(loop, is_counter)
    return step is not None and step > 0 and largest is not None and largest + step <= whole(value.type).high


def _largest(loop: nodes.Loop, is_counter: Callable[[Value], bool]) -> int | None:
    """The largest counter that does not leave the loop by the condition at its start."""
    node = None if loop.start_target.branch is None else loop.start_target.branch.target
    if not isinstance(node, nodes.If):
        return None
    condition, goes_on = node.condition, node.true_target
    leaves = node.false_target
    while isinstance(condition, nodes.Unary) and condition.op is UnaryOp.NOT:
        condition, goes_on, leaves = condition.operand, leaves, goes_on
    if leaves.branch is None or leaves.branch.target is not loop.merge_target:
        return None
    if not isinstance(condition, nodes.Binary) or not is_counter(condition.lhs):
        return None
    bound = constant_of(condition.rhs)
    bound = whole(condition.lhs.type).high if bound is None else bound
    match condition.op:
        case BinaryOp.LESS:
            return bound - 1
        case BinaryOp.LESS_EQUAL:
            return bound
        case _:
            return None
