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
from .context import Context

DEEPEST_COMPOSITE = 255


def is_plain(type: Type) -> bool:
    """Scalars, vectors, matrices, atomics, and arrays and structures of them (WGSL, "Plain Types")."""
    return isinstance(type, (Scalar, Vector, Matrix, Atomic, Array, Struct))


def is_handle(type: Type) -> bool:
    """Textures and samplers."""
    return isinstance(type, (Texture, Sampler))


def has_creation_fixed_footprint(type: Type) -> bool:
    """Its size is known without any override's value (WGSL, "Fixed-Footprint Types")."""
    return is_plain(type) and not any(
        isinstance(part, Array) and not isinstance(part.count, int) for part in walk(type)
    )


def has_fixed_footprint(type: Type) -> bool:
    """Its size is known when the pipeline is made: only an outermost array may be sized by an override."""
    if isinstance(type, Array) and isinstance(type.count, OverrideCount):
        return has_creation_fixed_footprint(type.element)
    return has_creation_fixed_footprint(type)


def is_host_shareable(type: Type) -> bool:
    """It can lie in a buffer: no bool, and no element count that an override gives."""
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
    """A pointer type must be of memory that can be (WGSL, "Reference and Pointer Types")."""
    if not is_plain(store):
        context.fail("invalid-type", f"a pointer cannot point to '{store}'", span)
    check_store_type(context, space, store, access, span)


def check_store_type(context: Context, space: AddressSpace, store: Type, access: Access, span: Span) -> None:
    """What a variable of an address space can hold."""
    fault = store_fault(space, store, access)
    if fault is not None:
        context.fail("invalid-store-type", fault, span)


def store_fault(space: AddressSpace, store: Type, access: Access) -> str | None:
    """Why memory of an address space and access mode cannot hold the type; None when it can."""
    if space is AddressSpace.HANDLE:
        return None if is_handle(store) else f"a variable of type '{store}' needs an address space"
    if is_handle(store):
        return f"type '{store}' cannot be in address space '{space.value}'"
    match space:
        case AddressSpace.FUNCTION | AddressSpace.PRIVATE:
            if not is_constructible(store):
                return f"type '{store}' is not constructible, so it cannot be in address space '{space.value}'"
        case AddressSpace.WORKGROUP:
            if not has_fixed_footprint(store):
                return f"type '{store}' has no fixed size, so it cannot be in address space 'workgroup'"
        case AddressSpace.UNIFORM:
            if not is_host_shareable(store) or not is_constructible(store):
                return f"type '{store}' cannot be in a uniform buffer"
        case AddressSpace.STORAGE:
            if not is_host_shareable(store):
                return f"type '{store}' is not host-shareable, so it cannot be in a storage buffer"
            if contains_atomic(store) and access is not Access.READ_WRITE:
                return "atomics in storage memory need access mode 'read_write'"
    return None
