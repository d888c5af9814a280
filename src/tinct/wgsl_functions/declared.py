"""The signature of a function that a program declares."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base.errors import InputError
from ..ir.builtins import builtin
from ..ir.schema.traverse import walk
from ..ir.types import Access, AddressSpace, Pointer, Type, Void, contains_runtime_array, is_constructible
from ..ir.wgsl import ast
from ..ir.wgsl.program import CallsBuiltin, FunctionInfo, Program
from .signature import Parameter, Signature

_COMMENT = r"^\s*//[/!]? ?(.*)$"
_POINTED_AT = (AddressSpace.FUNCTION, AddressSpace.PRIVATE, AddressSpace.WORKGROUP, AddressSpace.STORAGE)


def signature_of(program: Program, function: FunctionInfo) -> Signature:
    """The signature. Raises InputError for a function that cannot be called from Python, with the parameter."""
    parameters = tuple(_parameter(function, it.name, it.type) for it in function.parameters)
    bound = [it for it in function.resources if it.binding is not None]
    written = [it for it in bound if it.access in (Access.WRITE, Access.READ_WRITE)]
    return Signature(
        name=function.name,
        parameters=parameters,
        value=None if isinstance(function.return_type, Void) else function.return_type,
        bound=tuple(it.name for it in bound),
        written=tuple(it.name for it in written),
        is_cooperative=_is_cooperative(program, function),
        wgsl=_head(program, function),
        comment=_comment(program, function),
    )


def _parameter(function: FunctionInfo, name: str, type: Type) -> Parameter:
    pointer = type if isinstance(type, Pointer) else None
    store = type if pointer is None else pointer.store
    place = f"{function.name} cannot be called from Python: its parameter {name}: {type}"
    if pointer is not None and pointer.space not in _POINTED_AT:
        raise InputError(f"{place} points to a {pointer.space.value} variable, which a call has no room for")
    if contains_runtime_array(store):
        raise InputError(f"{place} has no fixed size")
    if not is_constructible(store):
        raise InputError(f"{place} is no value that an array could hold")
    if pointer is None:
        return Parameter(name, store)
    return Parameter(name, store, pointer.space, pointer.access)


def _is_cooperative(program: Program, function: FunctionInfo) -> bool:
    spaces = {it.space for it in function.resources} | {
        it.type.space for it in function.parameters if isinstance(it.type, Pointer)
    }
    return AddressSpace.WORKGROUP in spaces or any(_meets(program, it) for it in _called(function))


def _called(function: FunctionInfo) -> Iterator[FunctionInfo]:
    """The function and all that it calls, each once."""
    found = {function.name: function}
    pending = [function]
    while pending:
        current = pending.pop()
        yield current
        pending += [it for it in current.calls if it.name not in found]
        found |= {it.name: it for it in current.calls}


def _meets(program: Program, function: FunctionInfo) -> bool:
    """Whether a function itself calls a builtin function that needs other invocations."""
    calls = (program.facts.calls.get(it) for it in walk(function.node) if isinstance(it, ast.Call))
    builtins = (builtin(it.name) for it in calls if isinstance(it, CallsBuiltin))
    return any(it is not None and (it.flags.is_barrier or it.flags.is_subgroup) for it in builtins)


def _head(program: Program, function: FunctionInfo) -> str:
    """The declaration up to its body, on one line."""
    end = function.node.body.span.start
    text = program.source.data[function.node.name_span.start : end].decode("utf-8", "replace")
    return "fn " + " ".join(text.split())


def _comment(program: Program, function: FunctionInfo) -> str:
    """The line comments directly above the function."""
    line = program.source.position(function.node.span.start).line - 1
    found: list[str] = []
    while line > 0 and (match := re.match(_COMMENT, program.source.line_text(line))):
        found.append(match[1].rstrip())
        line -= 1
    return "\n".join(reversed(found))
