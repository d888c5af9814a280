"""WGSL as short as it can be: the same interface and the same answers in fewer bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .base.interpreter_state import deep_nesting
from .frontend import load_program
from .ir import types
from .ir.core.nodes import Constant, Function, Module, Override, Var
from .ir.core.structure import blocks_of
from .ir.core.values import Value
from .ir.source import Source
from .ir.types import Struct, StructMember
from .transforms.from_wgsl.build import build
from .transforms.passes import run_passes
from .transforms.pipelines import CORE, MINIFY
from .transforms.to_wgsl.unit import to_unit


@deep_nesting()
def minify(source: Source) -> str:
    """The shortest text with the same meaning as the source. Raises ShaderError for an invalid source.

    Entry points, overrides and bindings keep their names, and resources stay in the interface of each entry point.
    """
    from .backend.wgsl.compact import print_compact
    from .backend.wgsl.short_literals import shorten_literals
    from .backend.wgsl.short_names import shorten_names

    module = build(load_program(source))
    run_passes(module, MINIFY.passes, CORE)
    _drop_unused(module)
    kept = set(_kept_names(module))
    members = set(_name_plainly(module))
    unit = shorten_literals(to_unit(module), frozenset(_callee_names(module)))
    return print_compact(shorten_names(unit, kept, members))


def _callee_names(module: Module) -> Iterator[str]:
    yield from (function.name for function in module.functions)
    yield from (struct.name for struct in module.structs)


def _kept_names(module: Module) -> Iterator[str]:
    yield from (function.name for function in module.functions if function.stage is not None)
    yield from (value.name for value in module.root.instructions if _is_interface(value) and value.name is not None)


def _is_interface(value: Value) -> bool:
    return isinstance(value, Override) or (isinstance(value, Var) and value.binding is not None)


def _drop_unused(module: Module) -> None:
    """Drop unused private and workgroup variables, and unused structures."""
    unused = [it for it in module.root.instructions if isinstance(it, Var) and not _is_interface(it) and not it.uses]
    for variable in unused:
        variable.drop_operands()
        module.root.instructions.remove(variable)
    for function in module.functions:
        function.resources = [it for it in function.resources if it not in unused]
    used = {part for type in _types(module) for part in types.walk(type) if isinstance(part, Struct)}
    module.structs = [struct for struct in module.structs if struct in used]


def _types(module: Module) -> Iterator[types.Type]:
    for value in module.root.instructions:
        yield value.type
    for function in module.functions:
        yield function.return_type
        yield from (value.type for value in _values(function))


def _values(function: Function) -> Iterator[Value]:
    yield from function.parameters
    for block in blocks_of(function):
        yield from block.arguments
        for instruction in block.instructions:
            yield instruction
            yield from (operand for operand in instruction.operands if isinstance(operand, Constant))
        if block.branch is not None:
            yield from block.branch.arguments


def _name_plainly(module: Module) -> Iterable[str]:
    """Remove the names of values that need none, and make all other names unique.

    Returns the new names of structure members.
    """
    for number, function in enumerate(module.functions):
        if function.stage is None:
            function.name = f"_f{number}"
        for index, value in enumerate(_values(function)):
            value.name = f"_v{number}_{index}" if isinstance(value, Var) else None
    for number, value in enumerate(module.root.instructions):
        if not _is_interface(value):
            value.name = f"_r{number}" if isinstance(value, Var) else None
    for number, struct in enumerate(module.structs):
        struct.name = f"_s{number}"
        struct.members = tuple(_renamed(it, f"_m{number}_{index}") for index, it in enumerate(struct.members))
    return [member.name for struct in module.structs for member in struct.members]


def _renamed(member: StructMember, name: str) -> StructMember:
    return StructMember(name, member.type, member.align, member.size, member.io)
