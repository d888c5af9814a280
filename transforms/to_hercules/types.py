"""WGSL types and constants in Hercules IR (conventions: `ir/hercules/entry.py`)."""

from __future__ import annotations

from functools import cache

from ...ir import types as wgsl
from ...ir.constants import ConstantValue, RawValue, Repeated, zero
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h

BOOL = h.Bool()
I32 = h.Integer(32, True)
U32 = h.Integer(32, False)
U16 = h.Integer(16, False)
U64 = h.Integer(64, False)
F32 = h.Float(32)
F16 = h.Float(16)

_SCALARS: dict[wgsl.ScalarKind, h.Type] = {
    wgsl.ScalarKind.BOOL: BOOL,
    wgsl.ScalarKind.I32: I32,
    wgsl.ScalarKind.U32: U32,
    wgsl.ScalarKind.F32: F32,
    wgsl.ScalarKind.F16: F16,
}


@cache
def scalar_type(scalar: wgsl.Scalar) -> h.Type:
    """The primitive type of a concrete scalar."""
    return _SCALARS[scalar.kind]


def collection_type(type: wgsl.Type, length: h.DynamicConstant | None = None) -> h.Type:
    """The type of a value in a collection; `length` is the extent of a runtime-sized array in it.

    Raises ShaderError for types that cannot be stored in memory (textures, samplers).
    """
    match type:
        case wgsl.Scalar():
            return scalar_type(type)
        case wgsl.Atomic(element=element):
            return scalar_type(element)
        case wgsl.Vector(width=width, element=element):
            return h.Array(scalar_type(element), h.DynamicLiteral(width))
        case wgsl.Matrix(columns=columns):
            return h.Array(collection_type(type.column), h.DynamicLiteral(columns))
        case wgsl.Array(element=element, count=None):
            assert length is not None
            return h.Array(collection_type(element), length)
        case wgsl.Array(element=element, count=int() as count):
            return h.Array(collection_type(element), h.DynamicLiteral(count))
        case wgsl.Struct(members=members):
            return h.Product(tuple(collection_type(member.type, length) for member in members))
        case _:
            raise ShaderError([not_supported(f"a value of type {type} on the CPU", None)])


def scalar_constant(scalar: wgsl.Scalar, value: RawValue) -> h.Constant:
    """A scalar constant."""
    if isinstance(value, bool):
        return h.BoolConstant(value)
    if isinstance(value, int) and scalar.is_integer:
        return h.IntegerConstant(scalar_type(scalar), value)
    assert isinstance(value, (int, float))
    return h.FloatConstant(scalar_type(scalar), float(value))


def collection_constant(constant: ConstantValue) -> h.Constant:
    """A constant of any constructible type."""
    type, value = constant.type, constant.value
    if isinstance(type, wgsl.Scalar):
        return scalar_constant(type, value)
    if _is_zero(type, value):
        return h.ZeroConstant(collection_type(type))
    assert not isinstance(value, (bool, int, float))
    elements: list[h.Constant] = []
    for index, item in enumerate(value):
        element = wgsl.element_type(type, index)
        assert element is not None
        elements.append(collection_constant(ConstantValue(element, item)))
    if isinstance(type, wgsl.Struct):
        return h.ProductConstant(collection_type(type), tuple(elements))
    return h.ArrayConstant(collection_type(type), tuple(elements))


def _is_zero(type: wgsl.Type, value: RawValue) -> bool:
    """Whether the value is a `Repeated` zero value; zero values in another form are not recognised."""
    return isinstance(value, Repeated) and repr(value) == repr(zero(type))
