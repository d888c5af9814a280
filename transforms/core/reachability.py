"""What a function needs of its module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...ir.core import nodes
from ...ir.core.rules import counts_in
from ...ir.core.structure import blocks_of
from ...ir.core.values import User, Value
from ...ir.types import OverrideCount


def reached_functions(function: nodes.Function) -> Sequence[nodes.Function]:
    """The function and all that it calls, directly or not."""
    found = [function]
    for caller in found:
        for block in blocks_of(caller):
            calls = [it for it in block.instructions if isinstance(it, nodes.Call)]
            found.extend(it for it in dict.fromkeys(call.callee for call in calls) if it not in found)
    return found


def reached_from_root(module: nodes.Module, function: nodes.Function) -> Sequence[nodes.Instruction]:
    """What the function needs of `root`: its resources, what it and its callees name, and what these need."""
    is_needed: set[int] = {id(resource) for resource in function.resources}
    for caller in reached_functions(function):
        is_needed.update(id(operand) for user in users_in(caller) for operand in user.operands)
    counts = {it.count: it.value for it in module.counts}
    needed: list[nodes.Instruction] = []
    for instruction in reversed(module.root.instructions):
        if id(instruction) in is_needed:
            needed.append(instruction)
            is_needed.update(map(id, (*instruction.operands, *_counts_of(instruction, counts))))
    return needed[::-1]


def users_in(function: nodes.Function) -> Iterator[User]:
    """Everything in a function that holds operands, the function itself included."""
    yield function
    for block in blocks_of(function):
        yield from block.instructions
        if block.branch is not None:
            yield block.branch
            if isinstance(block.branch.target, (nodes.If, nodes.Switch)):
                yield block.branch.target


def _counts_of(instruction: nodes.Instruction, counts: dict[OverrideCount, Value]) -> Iterable[Value]:
    """The values that say how many elements an override-sized variable has."""
    found = counts_in(instruction.type)
    return [counts[count] for count in found if count in counts]
