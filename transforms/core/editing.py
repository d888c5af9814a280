"""Small edits that several passes make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.scalars import wrap_u32
from ...ir.types import U32, IoAttributes, OverrideCount, Pointer, Struct, Type
from .regions import erase, remove


def any_of(changes: Iterable[bool]) -> bool:
    """Make all changes; whether any was one. (`any` stops at the first.)"""
    return True in list(changes)


def module_names(module: nodes.Module) -> NameScope:
    """The names of module scope."""
    taken = {it.name for it in module.functions} | {it.name for it in module.structs}
    return NameScope(taken | {value.name for value in module.root.instructions if value.name is not None})


def names_in(module_scope: NameScope, function: nodes.Function) -> NameScope:
    """The names that are taken in the function. The cost is linear in the size of the function."""
    return NameScope((value.name for value in values_of(function) if value.name is not None), module_scope)


def values_of(function: nodes.Function) -> Iterator[nodes.AnyValue]:
    """The parameters, block arguments and instructions of a function."""
    yield from function.parameters
    for block in blocks_of(function):
        yield from block.arguments
        yield from block.instructions


def add_declarations(module: nodes.Module, added: nodes.Module, scope: NameScope) -> None:
    """Add the structures, variables and functions of a module to another one, with names that are free in its `scope`;
    the names of structures must be.
    """
    for function in added.functions:
        function.name = scope.unique(function.name)
    for declared in added.root.instructions:
        declared.name = None if declared.name is None else scope.unique(declared.name)
    for function in added.functions:
        inner = NameScope((), scope)
        for value in values_of(function):
            value.name = None if value.name is None else inner.unique(value.name)
    module.structs = [*added.structs, *module.structs]
    module.root.instructions = [*module.root.instructions, *added.root.instructions]
    module.functions = [*added.functions, *module.functions]


def entry_builtin(builder: Builder, function: nodes.Function, builtin: str, type: Type = U32) -> Value:
    """A builtin input of an entry point: a parameter, a member of one, or a parameter of this type that is added."""
    for parameter in function.parameters:
        if parameter.io.builtin == builtin:
            return parameter
        for index, member in enumerate(parameter.type.members if isinstance(parameter.type, Struct) else ()):
            if member.io.builtin == builtin:
                return builder.access(parameter, [u32(index)])
    name = names_in(module_names(builder.module), function).unique(builtin)
    added = nodes.FunctionParameter(IoAttributes(builtin=builtin), type, name)
    function.parameters.append(added)
    return added


def count_value(builder: Builder, count: int | OverrideCount) -> Value:
    """An array's element count as a u32."""
    if isinstance(count, int):
        return u32(count)
    return as_u32(builder, next(it.value for it in builder.module.counts if it.count == count))


def as_u32(builder: Builder, value: Value) -> Value:
    """An i32 or u32 value as u32, bit for bit."""
    if value.type is U32:
        return value
    if isinstance(value, nodes.Constant) and isinstance(value.value.value, int):
        return u32(wrap_u32(value.value.value))
    return builder.convert(U32, value)


def calls_in(function: nodes.Function) -> Sequence[tuple[nodes.Block, nodes.Call]]:
    """The calls of user functions, each with its block, in the order of the text."""
    blocks = blocks_of(function)
    return [(block, it) for block in blocks for it in block.instructions if isinstance(it, nodes.Call)]


def drop_uncalled(module: nodes.Module) -> bool:
    """Drop the functions that no entry point reaches; true if there were any. A module without entry points keeps
    all.
    """
    if not any(function.stage is not None for function in module.functions):
        return False
    called: set[nodes.Function] = set()
    for function in reversed(module.functions):
        if function.stage is not None or function in called:
            called.add(function)
            called |= {call.callee for _, call in calls_in(function)}
    for function in module.functions:
        if function not in called:
            erase(function.start_target)
            function.drop_operands()
    changed = len(called) < len(module.functions)
    module.functions = [function for function in module.functions if function in called]
    return changed


def merge_access_chains(function: nodes.Function) -> bool:
    """Make a pointer to a part of a part one access; whether there was any."""
    chained: list[tuple[nodes.Block, nodes.Access]] = []
    for block in blocks_of(function):
        for access in block.instructions:
            if isinstance(access, nodes.Access) and isinstance(access.object, nodes.Access) and _is_pointer(access):
                inner = access.object
                access.indices = (*inner.indices, *access.indices)
                access.object = inner.object
                chained.append((block, inner))
    if chained:
        drop_unused_accesses(function)
    return bool(chained)


def drop_unused_accesses(function: nodes.Function) -> None:
    """Drop pointers to parts that nothing uses."""
    for block in reversed(blocks_of(function)):
        unused = [it for it in block.instructions if isinstance(it, nodes.Access) and _is_pointer(it) and not it.uses]
        remove(block, unused)


def _is_pointer(access: nodes.Access) -> bool:
    return isinstance(access.type, Pointer)
