"""Whole numbers in values: where in memory selectors lead to."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..base.errors import InputError
from ..ir import types as wgsl
from ..ir.dataflow.nodes import Element, Selector
from ..ir.layout import member_offsets, runtime_count, size_of, stride_of
from ..ir.layout_packing import unpack
from .machine import selected

Packed: TypeAlias = "bytes | bytearray | memoryview"


def without_atomic(type: wgsl.Type) -> wgsl.Type:
    """The type of the number in an atomic; all else as it is."""
    return type.element if isinstance(type, wgsl.Atomic) else type


def path_of(selectors: tuple[Selector, ...]) -> tuple[str | int, ...]:
    """Selectors as a plan has them: the names of members, and the numbers of elements."""
    return tuple(it.index if isinstance(it, Element) else it.name for it in selectors)


def number_in(type: wgsl.Type, data: Packed, selectors: tuple[Selector, ...]) -> int:
    """The whole number that selectors lead to. Raises InputError."""
    found: Any = unpack(type, data)
    for selector in selectors:
        found = selected(found, selector)
    if found.shape or found.dtype.kind not in "iu":
        raise InputError("that is no whole number")
    return int(found)


def located_number(type: wgsl.Type, size: int, selectors: tuple[Selector, ...]) -> tuple[int, wgsl.Type]:
    """The offset and the type of the whole number that selectors lead to in a value. Raises InputError."""
    offset = 0
    for selector in selectors:
        if isinstance(selector, Element):
            inner, stride, count = _elements(type, size - offset)
            if not 0 <= selector.index < count:
                raise InputError(f"there is no element {selector.index}, but {count} elements")
            offset, type = offset + selector.index * stride, inner
            continue
        names = [it.name for it in type.members] if isinstance(type, wgsl.Struct) else []
        if not isinstance(type, wgsl.Struct) or selector.name not in names:
            raise InputError(f"there is no member {selector.name!r}")
        number = names.index(selector.name)
        offset, type = offset + member_offsets(type)[number], type.members[number].type
    if without_atomic(type) not in (wgsl.I32, wgsl.U32):
        raise InputError("that is no whole number")
    return offset, type


def _elements(type: wgsl.Type, size: int) -> tuple[wgsl.Type, int, int]:
    """The type, the stride and the number of elements."""
    if isinstance(type, wgsl.Array):
        count = type.count if isinstance(type.count, int) else runtime_count(type, size)
        return type.element, stride_of(type), count
    if isinstance(type, wgsl.Vector):
        return type.element, size_of(type.element), type.width
    return type, 0, 0
