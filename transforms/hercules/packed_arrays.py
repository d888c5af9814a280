"""Arrays of 8-bit and 16-bit integers and of bools as arrays of 32-bit words, as they lie in buffers.

An array of such scalars, however nested, is one array of words: its elements follow each other without gaps, the first
one in the lowest bits of the first word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.types import I32, U32

_WORD: Final = 32


def is_narrow(type: h.Type | None) -> bool:
    """Whether it is an integer of 8 or 16 bits."""
    return isinstance(type, h.Integer) and type.bits < _WORD


def widened(type: h.Type) -> h.Type:
    """The scalar type that computes a scalar: 32 bits for narrow integers."""
    if isinstance(type, h.Integer) and is_narrow(type):
        return I32 if type.signed else U32
    return type


def bits_in_buffers(type: h.Type) -> int:
    """The bits of a bool or narrow integer in an array."""
    return type.bits if isinstance(type, h.Integer) else 8


def is_packable(type: h.Type | None) -> bool:
    """Whether arrays of this scalar are packed into words."""
    return isinstance(type, h.Bool) or is_narrow(type)


def packed_element(type: h.Type) -> h.Type | None:
    """The scalar of an array, however nested, that is packed into words; None for other types."""
    while isinstance(type, h.Array):
        type = type.element
        if is_packable(type):
            return type
    return None


def extents(type: h.Type) -> list[h.DynamicConstant]:
    """The extents of an array, however nested, outermost first."""
    found: list[h.DynamicConstant] = []
    while isinstance(type, h.Array):
        found.append(type.extent)
        type = type.element
    return found


def widened_type(type: h.Type) -> h.Type:
    """The type of a collection that is no parameter: narrow integers take 32 bits."""
    match type:
        case h.Product(fields=fields):
            return h.Product(tuple(map(widened_type, fields)))
        case h.Summation(variants=variants):
            return h.Summation(tuple(map(widened_type, variants)))
        case h.Array(element=element, extent=extent):
            return h.Array(widened_type(element), extent)
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return widened(type)
        case _:
            assert_never(type)


def packed_type(type: h.Type) -> h.Type:
    """The type of a parameter: arrays are packed, and a bool in a product is a u32."""
    match type:
        case h.Product(fields=fields):
            return h.Product(tuple(U32 if isinstance(it, h.Bool) else packed_type(it) for it in fields))
        case h.Array(element=element, extent=extent):
            scalar = packed_element(type)
            if scalar is None:
                return h.Array(packed_type(element), extent)
            return h.Array(U32, _words(extents(type), bits_in_buffers(scalar)))
        case h.Summation(variants=variants):
            return h.Summation(tuple(map(packed_type, variants)))
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return widened(type)
        case _:
            assert_never(type)


def _words(sizes: Sequence[h.DynamicConstant], bits: int) -> h.DynamicConstant:
    """The number of words for all elements."""
    count: h.DynamicConstant = dynamic.ONE
    for size in sizes:
        count = dynamic.mul(count, size)
    in_word = _WORD // bits
    return dynamic.div(dynamic.add(count, dynamic.literal(in_word - 1)), dynamic.literal(in_word))


def widened_constant(constant: h.Constant) -> h.Constant:
    """A constant with narrow integers of 32 bits."""
    match constant:
        case h.IntegerConstant(type=type, value=value):
            return h.IntegerConstant(widened(type), value)
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(widened_type(type))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(widened_type(type), tuple(map(widened_constant, parts)))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(widened_type(type), tuple(map(widened_constant, parts)))
        case h.SummationConstant(type=type, variant=variant, value=value):
            return h.SummationConstant(widened_type(type), variant, widened_constant(value))
        case h.BoolConstant() | h.FloatConstant():
            return constant
        case _:
            assert_never(constant)


def packed_constant(constant: h.Constant) -> h.Constant:
    """A constant with packed arrays, as a version of a parameter."""
    match constant:
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(packed_type(type))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(packed_type(type), tuple(map(_packed_field, parts)))
        case h.ArrayConstant(type=type, elements=parts):
            if (scalar := packed_element(type)) is not None:
                return _packed_words(packed_type(type), _numbers(constant), bits_in_buffers(scalar))
            return h.ArrayConstant(packed_type(type), tuple(map(packed_constant, parts)))
        case h.SummationConstant(type=type, variant=variant, value=value):
            return h.SummationConstant(packed_type(type), variant, packed_constant(value))
        case h.BoolConstant() | h.IntegerConstant() | h.FloatConstant():
            return widened_constant(constant)
        case _:
            assert_never(constant)


def _packed_field(constant: h.Constant) -> h.Constant:
    if isinstance(constant, h.BoolConstant):
        return h.IntegerConstant(U32, int(constant.value))
    if constant == h.ZeroConstant(h.Bool()):
        return h.ZeroConstant(U32)
    return packed_constant(constant)


def _numbers(constant: h.Constant) -> list[int]:
    """The elements of a constant array, however nested."""
    match constant:
        case h.ArrayConstant(elements=parts):
            return [number for part in parts for number in _numbers(part)]
        case h.BoolConstant(value=value) | h.IntegerConstant(value=value):
            return [int(value)]
        case h.ZeroConstant(type=type):
            count = 1
            for extent in extents(type):
                assert isinstance(extent, h.DynamicLiteral)
                count *= extent.value
            return [0] * count
        case h.FloatConstant() | h.ProductConstant() | h.SummationConstant():
            raise AssertionError("an array of other elements is not packed")
        case _:
            assert_never(constant)


def _packed_words(type: h.Type, numbers: Sequence[int], bits: int) -> h.Constant:
    in_word = _WORD // bits
    mask = (1 << bits) - 1
    groups = [numbers[start : start + in_word] for start in range(0, len(numbers), in_word)]
    words = [sum((number & mask) << bits * place for place, number in enumerate(group)) for group in groups]
    return h.ArrayConstant(type, tuple(h.IntegerConstant(U32, word) for word in words))
