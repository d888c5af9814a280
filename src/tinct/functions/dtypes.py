"""numpy dtypes of types of Hercules IR, in the layout of `ir.hercules.layout`.

A product is a structure of `f0`, `f1`, …. A sum is one of `variant` and `v0`, `v1`, …, of which all but one are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, assert_never

import numpy as np

from ..base.errors import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.layout import TAG, WORD, field_offsets, size_of, sum_as_product
from ..ir.layout_numbers import NumberType

_TOO_LARGE = 1 << 31
"""Bytes from which on numpy has no dtype for a structure."""


def number_type(type: h.Bool | h.Integer | h.Float) -> NumberType:
    """A scalar type as the rules for converting numbers have it."""
    match type:
        case h.Bool():
            return NumberType("bool", np.dtype("?"))
        case h.Integer(bits=bits, signed=signed):
            return NumberType(f"{'i' if signed else 'u'}{bits}", np.dtype(f"<{'i' if signed else 'u'}{bits // 8}"))
        case h.Float(bits=bits):
            return NumberType(f"f{bits}", np.dtype(f"<f{bits // 8}"))
        case _:
            assert_never(type)


def innermost(type: h.Type) -> h.Type:
    """What the elements of arrays of arrays are."""
    while isinstance(type, h.Array):
        type = type.element
    return type


def extents(type: h.Type) -> tuple[h.DynamicConstant, ...]:
    """The extents of arrays of arrays, the outermost first."""
    return (type.extent, *extents(type.element)) if isinstance(type, h.Array) else ()


def shape_of(type: h.Type) -> tuple[int, ...]:
    """The shape of an array for a value; the type's extents are literals."""
    return tuple(dynamic.evaluate(it, ()) for it in extents(type))


def has_literal_extents(type: h.Type) -> bool:
    """Whether no array in the type has an extent that depends on dynamic constants."""
    match type:
        case h.Array(element=element, extent=extent):
            return isinstance(extent, h.DynamicLiteral) and has_literal_extents(element)
        case h.Product(fields=parts) | h.Summation(variants=parts):
            return all(map(has_literal_extents, parts))
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return True
        case _:
            assert_never(type)


def dtype_if_known(type: h.Type) -> np.dtype[Any] | None:
    """`dtype_of`, or None if it depends on dynamic constants or numpy has none."""
    if not has_literal_extents(innermost(type)):
        return None
    try:
        return dtype_of(type)
    except InputError:
        return None


@cache
def dtype_of(type: h.Type) -> np.dtype[Any]:
    """The dtype of a scalar, a product, a sum, or of the elements of arrays of them. Their extents are literals.

    Raises InputError for a structure of 2 GiB or more, for which numpy has no dtype.
    """
    return _dtype(innermost(type), are_fields_words=False)


@cache
def memory_dtype(type: h.Type) -> np.dtype[Any]:
    """The same with narrow fields extended to words, as devices get them."""
    return _dtype(innermost(type), are_fields_words=True)


def field_names(type: h.Product | h.Summation) -> tuple[str, ...]:
    """The names in the dtype of a structure."""
    if isinstance(type, h.Product):
        return tuple(f"f{number}" for number in range(len(type.fields)))
    return ("variant", *(f"v{number}" for number in range(len(type.variants))))


def _dtype(type: h.Type, *, are_fields_words: bool) -> np.dtype[Any]:
    match type:
        case h.Bool() | h.Integer() | h.Float():
            return number_type(type).dtype
        case h.Product(fields=fields):
            return _structure(field_names(type), fields, type, are_fields_words=are_fields_words)
        case h.Summation():
            whole = sum_as_product(type)
            return _structure(field_names(type), whole.fields, whole, are_fields_words=are_fields_words)
        case h.Array() | h.Control():
            raise TypeError(f"no dtype for {type}")
        case _:
            assert_never(type)


def _structure(
    names: Sequence[str], fields: Sequence[h.Type], whole: h.Product, *, are_fields_words: bool
) -> np.dtype[Any]:
    size = dynamic.evaluate(size_of(whole), ())
    if size >= _TOO_LARGE:
        raise InputError(f"a structure of {size} bytes is too large: numpy's have less than 2 GiB")
    return np.dtype(
        {
            "names": list(names),
            "formats": [_field(field, are_fields_words=are_fields_words) for field in fields],
            "offsets": [dynamic.evaluate(it, ()) for it in field_offsets(whole)],
            "itemsize": size,
        }
    )


def _field(type: h.Type, *, are_fields_words: bool) -> np.dtype[Any]:
    if are_fields_words:
        match type:
            case h.Bool():
                return number_type(TAG).dtype
            case h.Integer(bits=bits, signed=signed) if bits < 8 * WORD:
                return np.dtype("<i4" if signed else "<u4")
            case _:
                pass
    return np.dtype((_dtype(innermost(type), are_fields_words=are_fields_words), shape_of(type)))
