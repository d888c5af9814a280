"""Features of core IR that no device supports yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..builtins import SUBGROUP_SIZE
from ..diagnostics import Diagnostic, ShaderError, not_supported, with_article
from ..layout_sizes import size_of
from ..limits import counted_storage, limits_of_size, over_promised
from ..source import Source, Span
from ..textures import is_loadable
from ..types import AddressSpace, Array, Buffer, OverrideCount, Pointer, Struct, Texture, Type
from . import nodes
from .structure import blocks_of

LARGEST = 1 << 20
"""Maximum size in bytes of an invocation's private variables, of the variables of one function, of one value, and of a
workgroup's variables. WebGPU guarantees 8192 bytes each of private and function variables, and 16384 per workgroup.
"""


SUBGROUP_SIZES = (4, 8, 16, 32, 64, 128)
"""The sizes of subgroups that a shader may demand: a quad at least, and at most what WGSL allows."""


def demanded_subgroup_size(entry: nodes.Function) -> int | None:
    """The size of the subgroups that an entry point demands, once overrides have values."""
    return entry.subgroup_size if isinstance(entry.subgroup_size, int) else None


def subgroup_size_of(entry: nodes.Function) -> int:
    """The size of the subgroups of an entry point on every device but a GPU."""
    return demanded_subgroup_size(entry) or SUBGROUP_SIZE


def workgroup_storage(entry: nodes.Function) -> int:
    """What an entry point takes of `maxComputeWorkgroupStorageSize`, once overrides have values."""
    types = [it.type for it in entry.resources if isinstance(it, nodes.Var)]
    stores = [it.store for it in types if isinstance(it, Pointer) and it.space is AddressSpace.WORKGROUP]
    return sum(counted_storage(size_of(it)) for it in stores)


def demanded_limits(entry: nodes.Function) -> dict[str, int]:
    """The limits that a device must be asked for, since an entry point's workgroups take more than every device has.

    Their names are those of GPUSupportedLimits. Overrides must have values.
    """
    values = [it.value.value for it in entry.workgroup_size if isinstance(it, nodes.Constant)]
    sizes = limits_of_size([it for it in values if isinstance(it, int)])
    return over_promised(sizes | {"maxComputeWorkgroupStorageSize": workgroup_storage(entry)})


def check_runnable(entry: nodes.Function, source: Source | None = None) -> None:
    """Raise ShaderError for an entry point that demands subgroups of a size that no device has, or has variables or
    values of more than LARGEST bytes.
    """
    found: list[Diagnostic] = []
    if entry.subgroup_size is not None and entry.subgroup_size not in SUBGROUP_SIZES:
        what = f"subgroups of {entry.subgroup_size} invocations: they have {SUBGROUP_SIZES[0]} to {SUBGROUP_SIZES[-1]}"
        found.append(not_supported(what, entry.span))
    found += _oversized(entry)
    if found:
        raise ShaderError(found, source)


def check_resources(entry: nodes.Function) -> None:
    """Raise ShaderError for an entry point that uses external textures."""
    for variable in entry.resources:
        store = variable.type.store if isinstance(variable.type, Pointer) else variable.type
        if isinstance(store, Texture) and not is_loadable(store):
            raise ShaderError([not_supported(f"{with_article(str(store))} in a compute shader", variable.span)])


def _oversized(entry: nodes.Function) -> Iterator[Diagnostic]:
    """Variables and values that take too much memory."""
    yield from _over(entry.resources, AddressSpace.WORKGROUP, "workgroup variables", entry.span)
    yield from _over(entry.resources, AddressSpace.PRIVATE, "private variables", entry.span)
    for function in reached(entry):
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
    """Bytes of an array, structure or buffer; 0 for other types, and for a size that an override without a value
    decides.
    """
    if isinstance(type, Array) and isinstance(type.count, OverrideCount):
        return 0
    if isinstance(type, Buffer):
        return type.size if isinstance(type.size, int) else 0
    return size_of(type) if isinstance(type, (Array, Struct)) else 0


def reached(entry: nodes.Function) -> list[nodes.Function]:
    """The function and all functions that it calls, directly or indirectly."""
    found = {entry: None}
    for function in (pending := [entry]):
        for block in blocks_of(function):
            for call in block.instructions:
                if isinstance(call, nodes.Call) and call.callee not in found:
                    found[call.callee] = None
                    pending.append(call.callee)
    return pending
