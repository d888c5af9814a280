"""Predicates memory operations: their results are zero if the condition is false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import VOID, Pointer, is_constructible
from .regions import remove, split

Condition: TypeAlias = Sequence[Value]
"""Bools that must all hold."""


def is_predicable(access: nodes.Access) -> bool:
    """Whether a pointer is only for operations that can be left out: loads, stores and atomics."""
    if not isinstance(access.type, Pointer) or not access.uses:
        return False
    return all(_can_be_left_out(use.user) and use.index == 0 for use in access.uses)


def _can_be_left_out(user: object) -> bool:
    if isinstance(user, nodes.Load):
        return is_constructible(user.type)
    if isinstance(user, nodes.BuiltinCall):
        is_fitting = user.type is VOID or is_constructible(user.type)
        return user.function.startswith("atomic") and is_fitting and user.function != "atomicCompareExchangeWeak"
    return isinstance(user, nodes.Store)


def predicate(builder: Builder, function: nodes.Function, conditions: Mapping[nodes.Access, Condition]) -> None:
    """Let the users of pointers happen, and the pointers be made, only where the pointers' conditions hold."""
    for block in blocks_of(function):
        for index in reversed(range(len(block.instructions))):
            user = block.instructions[index]
            pointer = user.operands[0] if user.operands else None
            if isinstance(pointer, nodes.Access) and pointer in conditions:
                _predicate(builder, block, index, conditions[pointer])
    for block in blocks_of(function):
        remove(
            block,
            [it for it in block.instructions if isinstance(it, nodes.Access) and it in conditions and not it.uses],
        )


def _predicate(builder: Builder, block: nodes.Block, index: int, condition: Condition) -> None:
    """Cut the block around an instruction, which goes into the true arm of an If."""
    user = block.instructions[index]
    rest = split(block, index + 1)
    block.instructions.pop()
    results: list[nodes.BlockArgument] = []
    if user.type is not VOID:
        result = nodes.BlockArgument(user.type, None, span=user.span)
        result.name, user.name = user.name, None
        user.replace_all_uses_with(result)
        results.append(result)
    rest.arguments = results
    pointer = user.operands[0]
    assert isinstance(pointer, nodes.Access)
    own = nodes.Access(pointer.object, pointer.indices, pointer.type, None, span=pointer.span)
    user.set_operand(0, own)
    inside, outside = nodes.Block([], [own, user], None), empty_block()
    inside.branch = nodes.Branch(rest, [user] if results else [])
    zeros = [nodes.Constant(zero_constant(it.type), it.type, None) for it in results]
    outside.branch = nodes.Branch(rest, zeros)
    with builder.at(block):
        builder.span = user.span
        whole = condition[0]
        for it in condition[1:]:
            whole = builder.binary(BinaryOp.AND, whole, it)
    node = nodes.If(whole, inside, outside, rest, span=user.span)
    block.branch = nodes.Branch(node, (), span=user.span)
