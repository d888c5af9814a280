"""Replacing types all over a module: types are immutable and shared, so a changed structure is another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...ir.constants import ConstantValue
from ...ir.core import nodes
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import Array, Pointer, Struct, Type, array, pointer
from .reachability import users_in


def retype(module: nodes.Module, structs: Mapping[Struct, Struct]) -> None:
    """Put structures in the place of others, member by member alike, wherever their types occur."""
    module.structs = [structs.get(struct, struct) for struct in module.structs]
    types: dict[Type, Type] = {}
    types.update(structs.items())
    replace_types(module, types)


def replace_types(module: nodes.Module, types: Mapping[Type, Type]) -> None:
    """Put types in the place of others wherever values have them."""
    retype_values(module, lambda type: mapped(type, types))


def retype_values(module: nodes.Module, changed: Callable[[Type], Type]) -> None:
    """Give all values, and what functions return, the types that `changed` makes of theirs."""
    for value in _values(module):
        value.type = changed(value.type)
        if isinstance(value, nodes.Constant):
            value.value = ConstantValue(value.type, value.value.value)
    for function in module.functions:
        function.return_type = changed(function.return_type)


def mapped(type: Type, types: Mapping[Type, Type]) -> Type:
    """A type with others in the place of some, itself or in it. The members of structures stay as they are."""
    if type in types:
        return types[type]
    match type:
        case Array(element=element, count=count):
            return array(mapped(element, types), count)
        case Pointer(space=space, store=store, access=access):
            return pointer(space, mapped(store, types), access)
        case _:
            return type


def _values(module: nodes.Module) -> Iterator[nodes.AnyValue]:
    yield from _with_constants(module.root.instructions)
    for function in module.functions:
        yield from function.parameters
        for block in blocks_of(function):
            yield from block.arguments
            yield from block.instructions
        yield from _constants(operand for user in users_in(function) for operand in user.operands)


def _with_constants(instructions: Iterable[nodes.Instruction]) -> Iterator[nodes.AnyValue]:
    for instruction in instructions:
        yield instruction
        yield from _constants(instruction.operands)


def _constants(values: Iterable[Value]) -> Iterator[nodes.Constant]:
    return (it for it in values if isinstance(it, nodes.Constant))
