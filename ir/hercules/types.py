"""Types of Hercules IR: their usual names, and the types inside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeGuard, assert_never

from . import dynamic
from .nodes import (
    Array,
    ArrayConstant,
    BinaryOp,
    Bool,
    BoolConstant,
    Constant,
    Control,
    ControlIndex,
    DynamicConstant,
    FieldIndex,
    Float,
    FloatConstant,
    Index,
    Integer,
    IntegerConstant,
    PositionIndex,
    Product,
    ProductConstant,
    Summation,
    SummationConstant,
    Type,
    VariantIndex,
    ZeroConstant,
)

BOOL: Final = Bool()
I8, I16, I32, I64 = (Integer(bits, signed=True) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Integer(bits, signed=False) for bits in (8, 16, 32, 64))
F16, F32, F64 = (Float(bits) for bits in (16, 32, 64))
UNIT: Final = Product(())

COMPARISONS: Final = frozenset(
    {
        BinaryOp.LESS,
        BinaryOp.LESS_EQUAL,
        BinaryOp.GREATER,
        BinaryOp.GREATER_EQUAL,
        BinaryOp.EQUAL,
        BinaryOp.NOT_EQUAL,
    }
)

Scalar = Bool | Integer | Float


@cache
def array(element: Type, extent: int | DynamicConstant) -> Array:
    """An array; an `int` stands for a literal extent."""
    return Array(element, dynamic.literal(extent) if isinstance(extent, int) else extent)


def product(*fields: Type) -> Product:
    """A product."""
    return Product(fields)


def is_scalar(type: Type | None) -> TypeGuard[Scalar]:
    """Whether it is a bool, an integer or a float."""
    return isinstance(type, (Bool, Integer, Float))


def has_known_width(type: Scalar) -> bool:
    """Whether there are operations on scalars of this width."""
    match type:
        case Bool():
            return True
        case Integer(bits):
            return bits in (8, 16, 32, 64)
        case Float(bits):
            return bits in (16, 32, 64)
        case _:
            assert_never(type)


def is_data(type: Type | None) -> bool:
    """Whether the type is data: it contains no control."""
    match type:
        case None | Control():
            return False
        case Product(parts) | Summation(parts):
            return all(map(is_data, parts))
        case Array(element=element):
            return is_data(element)
        case Bool() | Integer() | Float():
            return True
        case _:
            assert_never(type)


def is_collection(type: Type | None) -> bool:
    """Whether it is a product, a sum or an array of data: the types that Read and Write index."""
    return isinstance(type, (Product, Summation, Array)) and is_data(type)


def substitute(type: Type, arguments: Sequence[DynamicConstant]) -> Type:
    """The type with its dynamic-constant parameters replaced by arguments, such as the result type of a call."""
    match type:
        case Array(element, extent):
            return Array(substitute(element, arguments), dynamic.substitute(extent, arguments))
        case Product(fields):
            return Product(tuple(substitute(it, arguments) for it in fields))
        case Summation(variants):
            return Summation(tuple(substitute(it, arguments) for it in variants))
        case Control(factors):
            return Control(tuple(dynamic.substitute(it, arguments) for it in factors))
        case Bool() | Integer() | Float():
            return type
        case _:
            assert_never(type)


def element_type(type: Type, index: Index) -> Type | None:
    """The type one level down, or None if the index does not fit."""
    match type, index:
        case Product(fields), FieldIndex(number):
            found = fields[number] if 0 <= number < len(fields) else None
            return None if isinstance(found, Control) else found
        case Summation(variants), VariantIndex(number):
            return variants[number] if 0 <= number < len(variants) else None
        case Array(element=element), PositionIndex():
            return element
        case Product(fields), ControlIndex(number):
            found = fields[number] if 0 <= number < len(fields) else None
            return found if isinstance(found, Control) else None
        case _:
            return None


def indexed_type(type: Type, indices: Iterable[Index]) -> Type | None:
    """The type that the indices lead to, or None if one of them does not fit its level."""
    current: Type | None = type
    for index in indices:
        if current is None:
            return None
        current = element_type(current, index)
    return current


def constant_type(constant: Constant) -> Type:
    """The type of a constant."""
    match constant:
        case BoolConstant():
            return BOOL
        case (
            IntegerConstant(type=type)
            | FloatConstant(type=type)
            | ProductConstant(type=type)
            | SummationConstant(type=type)
            | ArrayConstant(type=type)
            | ZeroConstant(type=type)
        ):
            return type
        case _:
            assert_never(constant)
