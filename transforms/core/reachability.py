"""What a function needs of its module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.core import nodes
from ...ir.core.rules import counts_in
from ...ir.core.structure import blocks_of
from ...ir.core.values import User, Value


def reached_functions(function: nodes.Function) -> Sequence[nodes.Function]:
    """The function and all that it calls, directly or not."""
    found = {function: None}
    pending = [function]
    while pending:
        calls = (it for block in blocks_of(pending.pop()) for it in block.instructions if isinstance(it, nodes.Call))
        new = [it for it in dict.fromkeys(call.callee for call in calls) if it not in found]
        found |= dict.fromkeys(new)
        pending += new
    return list(found)


def reached_from_root(module: nodes.Module, function: nodes.Function) -> Sequence[nodes.Instruction]:
    """What the function needs of `root`: its resources, what it and its callees name, and what these need."""
    pending: list[Value] = list(function.resources)
    for caller in reached_functions(function):
        pending.extend(operand for user in users_in(caller) for operand in user.operands)
    counts = {it.count: it.value for it in module.counts}
    pending += (value for count, value in counts.items() if count == function.subgroup_size)
    needed: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in needed:
            needed.add(value)
            pending += value.operands
            pending += (counts[count] for count in counts_in(value.type) if count in counts)
    return [instruction for instruction in module.root.instructions if instruction in needed]


def users_in(function: nodes.Function) -> Iterator[User]:
    """Everything in a function that holds operands, the function itself included."""
    yield function
    for block in blocks_of(function):
        yield from block.instructions
        if block.branch is not None:
            yield block.branch
            if isinstance(block.branch.target, (nodes.If, nodes.Switch)):
                yield block.branch.target
