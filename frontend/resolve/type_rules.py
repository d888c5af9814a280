"""Where each type may stand.

WGSL, "Plain Types", "Host-shareable Types", "Fixed-Footprint Types", "`var` Declarations".
"""

from __future__ import annotations

from ...ir.source import Span
from ...ir.types import (
    BOOL,
    Access,
    AddressSpace,
    Array,
    Atomic,
    Buffer,
    Matrix,
    OverrideCount,
    Sampler,
    Scalar,
    Struct,
    Texture,
    Type,
    Vector,
    contains_atomic,
    contains_runtime_array,
    is_constructible,
    walk,
)
from ...ir.wgsl.limits import DEEPEST_COMPOSITE
from .context import Context


def is_plain(type: Type) -> bool:
    """Scalars, vectors, matrices, atomics, and arrays and structures of them (WGSL, "Plain Types")."""
    return isinstance(type, (Scalar, Vector, Matrix, Atomic, Array, Struct))


def is_handle(type: Type) -> bool:
    """Textures and samplers."""
    return isinstance(type, (Texture, Sampler))


def has_creation_fixed_footprint(type: Type) -> bool:
    """Its size is known without any override's value (WGSL, "Fixed-Footprint Types")."""
    if isinstance(type, Buffer):
        return isinstance(type.size, int)
    return is_plain(type) and not any(
        isinstance(part, Array) and not isinstance(part.count, int) for part in walk(type)
    )


def has_fixed_footprint(type: Type) -> bool:
    """Its size is known when the pipeline is made: an override may size an outermost array, or a buffer."""
    if isinstance(type, Buffer):
        return type.size is not None
    if isinstance(type, Array) and isinstance(type.count, OverrideCount):
        return has_creation_fixed_footprint(type.element)
    return has_creation_fixed_footprint(type)


def is_host_shareable(type: Type) -> bool:
    """It can lie in a buffer: no bool, and no element count or size that an override gives."""
    if isinstance(type, Buffer):
        return not isinstance(type.size, OverrideCount)
    for part in walk(type):
        if part is BOOL or not is_plain(part):
            return False
        if isinstance(part, Array) and isinstance(part.count, OverrideCount):
            return False
    return True


def nesting_depth(type: Type) -> int:
    """How deep composites nest (WGSL, "Composite Types")."""
    return _depth(type, {})


def _depth(type: Type, known: dict[Struct, int]) -> int:
    """`known` are the depths of structures already measured, since one may appear many times."""
    depth = 0
    while isinstance(type, Array):
        depth += 1
        type = type.element
    match type:
        case Struct(members=members):
            if type not in known:
                known[type] = 1 + max([_depth(member.type, known) for member in members], default=0)
            return depth + known[type]
        case Matrix():
            return depth + 2
        case Vector():
            return depth + 1
        case _:
            return depth


def check_nesting(context: Context, type: Type, span: Span) -> None:
    """Bound the depth, so that types may be walked by recursion."""
    if nesting_depth(type) > DEEPEST_COMPOSITE:
        context.fail("nesting-too-deep", f"a type nests deeper than {DEEPEST_COMPOSITE} levels", span)


def check_array_element(context: Context, element: Type, span: Span) -> None:
    """Arrays hold plain types of a size known when the module is made (WGSL, "Array Types")."""
    if not is_plain(element):
        context.fail("invalid-type", f"an array cannot hold '{element}'", span)
    if contains_runtime_array(element):
        context.fail("invalid-type", "an array cannot hold a runtime-sized array", span)
    if not has_creation_fixed_footprint(element):
        context.fail("invalid-type", "an array cannot hold an array whose size an override gives", span)
    check_nesting(context, element, span)


def check_pointer_store(context: Context, space: AddressSpace, store: Type, access: Access, span: Span) -> None:
    """A pointer type must be of memory that can be (WGSL, "Reference and Pointer Types").

    A buffer passed on, or a view of one, may have a size known only at run time, where a variable may not.
    """
    if not is_plain(store) and not isinstance(store, Buffer):
        context.fail("invalid-type", f"a pointer cannot point to '{store}'", span)
    is_unsized = is_host_shareable(store) and not has_fixed_footprint(store)
    if not (is_unsized and space in BUFFER_SPACES and not contains_atomic(store)):
        check_store_type(context, space, store, access, span)


BUFFER_SPACES = (AddressSpace.STORAGE, AddressSpace.UNIFORM, AddressSpace.WORKGROUP)
"""Where a variable may be a buffer (WGSL, "Buffer Types")."""


def check_store_type(context: Context, space: AddressSpace, store: Type, access: Access, span: Span) -> None:
    """What a variable of an address space can hold."""
    fault = store_fault(space, store, access)
    if fault is not None:
        context.fail("invalid-store-type", fault, span)


def store_fault(space: AddressSpace, store: Type, access: Access) -> str | None:
    """Why memory of an address space and access mode cannot hold the type; None when it can."""
    if space is AddressSpace.HANDLE:
        fault = f"a variable of type '{store}' needs an address space, such as 'var<private>'"
        return None if is_handle(store) else fault
    if is_handle(store) or (isinstance(store, Buffer) and space not in BUFFER_SPACES):
        return f"type '{store}' cannot be in address space '{space.value}'"
    match space:
        case AddressSpace.FUNCTION | AddressSpace.PRIVATE:
            if not is_constructible(store):
                return f"type '{store}' is not constructible, so it cannot be in address space '{space.value}'"
        case AddressSpace.WORKGROUP:
            if not has_fixed_footprint(store):
                return f"type '{store}' has no fixed size, so it cannot be in address space 'workgroup'"
        case AddressSpace.UNIFORM:
            if not is_host_shareable(store) or not has_fixed_footprint(store) or contains_atomic(store):
                return f"type '{store}' cannot be in a uniform buffer"
        case AddressSpace.IMMEDIATE:
            if not is_host_shareable(store) or not is_constructible(store):
                return f"type '{store}' cannot be immediate data"
            if any(isinstance(part, Array) for part in walk(store)):
                return "immediate data cannot hold arrays"
        case AddressSpace.STORAGE:
            if not is_host_shareable(store):
                return f"type '{store}' is not host-shareable, so it cannot be in a storage buffer"
            if contains_atomic(store) and access is not Access.READ_WRITE:
                return "atomics in storage memory need access mode 'read_write'"
    return None
