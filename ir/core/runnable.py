"""Features of core IR that no device supports yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Diagnostic, ShaderError, not_supported, with_article
from ..layout_sizes import size_of
from ..source import Source, Span
from ..textures import is_loadable
from ..types import AddressSpace, Array, Buffer, OverrideCount, Pointer, Struct, Texture, Type
from . import nodes
from .structure import blocks_of

LARGEST = 1 << 20
"""Maximum size in bytes of an invocation's private variables, of the variables of one function, of one value, and of a
workgroup's variables. WebGPU guarantees 8192 bytes each of private and function variables, and 16384 per workgroup.
"""


def check_runnable(entry: nodes.Function, source: Source | None = None) -> None:
    """Raise ShaderError for an entry point that uses immediate data or views of buffers, demands a subgroup size, or
    has variables or values of more than LARGEST bytes.
    """
    found = [
        not_supported(what, resource.span)
        for resource in entry.resources
        if (what := _unsupported(resource)) is not None
    ]
    if entry.subgroup_size is not None:
        found.append(not_supported("running with a 'subgroup_size' that the shader demands", entry.span))
    found += _oversized(entry)
    if found:
        raise ShaderError(found, source)


def check_resources(entry: nodes.Function) -> None:
    """Raise ShaderError for an entry point that uses external textures."""
    for variable in entry.resources:
        store = variable.type.store if isinstance(variable.type, Pointer) else variable.type
        if isinstance(store, Texture) and not is_loadable(store):
            raise ShaderError([not_supported(f"{with_article(str(store))} in a compute shader", variable.span)])


def _unsupported(resource: nodes.ValueDeclaration) -> str | None:
    type = resource.type
    if isinstance(type, Pointer) and type.space is AddressSpace.IMMEDIATE:
        return f"running with immediate data ('{resource.name}')"
    if isinstance(type, Pointer) and isinstance(type.store, Buffer):
        return f"running with a variable of type '{type.store}' ('{resource.name}')"
    return None


def _oversized(entry: nodes.Function) -> Iterator[Diagnostic]:
    """Variables and values that take too much memory."""
    yield from _over(entry.resources, AddressSpace.WORKGROUP, "workgroup variables", entry.span)
    yield from _over(entry.resources, AddressSpace.PRIVATE, "private variables", entry.span)
    for function in _reached(entry):
        instructions = [it for block in blocks_of(function) for it in block.instructions]
        yield from _over(instructions, AddressSpace.FUNCTION, "variables of a function", function.span)
        for instruction in instructions:
            size = max(_size(it.type) for it in (instruction, *instruction.operands))
            if size > LARGEST:
                yield _too_large(size, "a value", instruction.span)


def _over(values: Sequence[object], space: AddressSpace, what: str, span: Span | None) -> Iterator[Diagnostic]:
    """The error if the variables of an address space take more than LARGEST bytes together; the largest one is at
    fault.
    """
    sizes: dict[int, Span | None] = {}
    total = 0
    for value in values:
        if isinstance(value, nodes.Var) and isinstance(value.type, Pointer) and value.type.space is space:
            size = _size(value.type.store)
            sizes[size] = value.span
            total += size
    if total > LARGEST:
        yield _too_large(total, what, sizes[max(sizes)] or span)


def _too_large(size: int, what: str, span: Span | None) -> Diagnostic:
    return not_supported(f"{what} of {size} bytes: at most {LARGEST} are run", span)


def _size(type: Type) -> int:
    """Bytes of an array or structure; 0 for other types, and for a size that depends on an override without a value."""
    if isinstance(type, Array) and isinstance(type.count, OverrideCount):
        return 0
    return size_of(type) if isinstance(type, (Array, Struct)) else 0


def _reached(entry: nodes.Function) -> list[nodes.Function]:
    """The function and all functions that it calls, directly or indirectly."""
    found = {entry: None}
    for function in (pending := [entry]):
        for block in blocks_of(function):
            for call in block.instructions:
                if isinstance(call, nodes.Call) and call.callee not in found:
                    found[call.callee] = None
                    pending.append(call.callee)
    return pending
