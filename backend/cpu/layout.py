"""How collections lie in memory: bindings as WGSL lays them out, everything else as `ir.hercules.layout` does.

A layout mirrors a Hercules type level by level, so that the indices of a Read or Write walk it to a byte address.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from ...base.records import dataclass
from ...ir import layout_sizes as wgsl_layout
from ...ir import types as wgsl
from ...ir.hercules import dynamic
from ...ir.hercules import layout as hercules_layout
from ...ir.hercules import nodes as h


@dataclass(frozen=True, slots=True)
class ScalarLayout:
    """One scalar; a bool takes a byte."""

    type: h.Type

    @property
    def size(self) -> int:
        """Its bytes."""
        match self.type:
            case h.Bool():
                return 1
            case h.Integer(bits=bits) | h.Float(bits=bits):
                return bits // 8
            case h.Product() | h.Summation() | h.Array() | h.Control():
                raise TypeError(f"not a scalar: {self.type}")
            case _:
                assert_never(self.type)

    @property
    def align(self) -> int:
        """Its alignment."""
        return self.size


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """`extent` elements, each `stride` bytes after the one before."""

    element: Layout
    extent: h.DynamicConstant
    stride: int

    @property
    def align(self) -> int:
        """The alignment of an element."""
        return self.element.align


@dataclass(frozen=True, slots=True)
class ProductLayout:
    """Fields at byte `offsets`. `size` leaves out what a last field of unknown extent takes."""

    fields: tuple[Layout, ...]
    offsets: tuple[int, ...]
    size: int
    align: int


Layout: TypeAlias = ScalarLayout | ArrayLayout | ProductLayout


def constant_size(layout: Layout) -> int | None:
    """The size of a layout in bytes, None if it depends on dynamic constants."""
    match layout:
        case ScalarLayout():
            return layout.size
        case ArrayLayout(extent=h.DynamicLiteral(value=count), stride=stride):
            return count * stride
        case ArrayLayout():
            return None
        case ProductLayout(fields=fields, size=size):
            return size if all(constant_size(field) is not None for field in fields) else None


def dynamic_size(layout: Layout) -> h.DynamicConstant:
    """The size of a layout in bytes."""
    match layout:
        case ArrayLayout(extent=extent, stride=stride):
            return dynamic.mul(extent, dynamic.literal(stride))
        case ProductLayout(fields=fields, offsets=offsets) if constant_size(layout) is None:
            return dynamic.add(dynamic_size(fields[-1]), dynamic.literal(offsets[-1]))
        case _:
            return dynamic.literal(constant_size(layout) or 0)


def natural_layout(type: h.Type) -> Layout:
    """The layout of collections that are not bindings (see `ir.hercules.layout`)."""
    match type:
        case h.Bool() | h.Integer() | h.Float():
            return ScalarLayout(type)
        case h.Array(element=element, extent=extent):
            inner, stride = natural_layout(element), hercules_layout.stride_of(type)
            if not isinstance(stride, h.DynamicLiteral):
                raise TypeError("an array of arrays whose extent is not a literal")
            return ArrayLayout(inner, extent, stride.value)
        case h.Product(fields=fields):
            return _natural_product(type, tuple(natural_layout(field) for field in fields))
        case h.Summation() | h.Control():
            raise TypeError(f"no layout for {type}")
        case _:
            assert_never(type)


def _natural_product(type: h.Product, fields: tuple[Layout, ...]) -> ProductLayout:
    offsets: list[int] = []
    for offset in (*hercules_layout.field_offsets(type), size := hercules_layout.size_of(type)):
        if not isinstance(offset, h.DynamicLiteral):
            raise TypeError("a product with an array whose extent is not a literal")
        offsets.append(offset.value)
    assert isinstance(size, h.DynamicLiteral)
    return ProductLayout(fields, tuple(offsets[:-1]), size.value, hercules_layout.align_of(type))


def binding_layout(type: wgsl.Type, collection: h.Type) -> Layout:
    """The layout of a binding (WGSL, "Memory Layout"): `collection` is the Hercules type of the WGSL `type`."""
    match type, collection:
        case (wgsl.Scalar() | wgsl.Atomic(), _):
            return ScalarLayout(collection)
        case wgsl.Vector(), h.Array(element=element, extent=extent):
            scalar = ScalarLayout(element)
            return ArrayLayout(scalar, extent, scalar.size)
        case wgsl.Matrix(), h.Array(element=element, extent=extent):
            return ArrayLayout(binding_layout(type.column, element), extent, wgsl_layout.stride_of(type))
        case wgsl.Array(), h.Array(element=element, extent=extent):
            return ArrayLayout(binding_layout(type.element, element), extent, wgsl_layout.stride_of(type))
        case wgsl.Struct(members=members), h.Product(fields=fields):
            parts = tuple(binding_layout(member.type, field) for member, field in zip(members, fields, strict=True))
            size = wgsl_layout.size_of(type) if constant_sizes(parts) else 0
            return ProductLayout(parts, wgsl_layout.member_offsets(type), size, wgsl_layout.align_of(type))
        case _:
            raise TypeError(f"the WGSL type {type} does not go with {collection}")


def constant_sizes(parts: tuple[Layout, ...]) -> bool:
    """Whether all parts are of known size."""
    return all(constant_size(part) is not None for part in parts)
