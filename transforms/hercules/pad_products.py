"""Padding of products in buffers: each part keeps its place when 64-bit integers become pairs of words.

A 64-bit integer is aligned to 8 bytes, the words that replace it on a GPU to 4 (`wide_integers`). So wherever the
alignment leaves a gap, a word of padding becomes a field: in `(u32, u64)` before the u64, in `(u64, u32)` at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import assert_never

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.inference import infer_types
from ...ir.hercules.layout import WORD, field_offsets, field_size, rounded, size_of
from ...ir.hercules.types import U32, element_type
from ...ir.layout_sizes import round_up

_ZERO = h.ZeroConstant(U32)


def pad_products(function: h.Function) -> None:
    """Change the function in place. It has no sums, and a ProductNode is only its result.

    Raises ShaderError where the width of a gap depends on dynamic constants.
    """
    types = infer_types(function)
    in_memory = [types[node] for node in function.nodes if isinstance(node, (h.Parameter, h.ConstantNode))]
    if all(_padded_type(type) == type for type in (*in_memory, *function.parameter_types)):
        return
    for node in function.nodes:
        match node:
            case h.ConstantNode(value=value):
                node.value = _padded_constant(value)
            case h.Read(collection=collection) if not isinstance(collection, (h.If, h.Match, h.Atomic)):
                node.indices = _padded_indices(types[collection], node.indices)
            case h.Write() | h.Atomic():
                node.indices = _padded_indices(types[node.collection], node.indices)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)
    function.parameter_types = [_padded_type(type) for type in function.parameter_types]
    padded = infer_types(function)
    results = (padded[node.value] for node in function.nodes if isinstance(node, h.Return))
    function.return_type = next(results, function.return_type)


def _padded_type(type: h.Type) -> h.Type:
    match type:
        case h.Product():
            return h.Product(tuple(U32 if it is None else _padded_type(it) for it in _fields(type)))
        case h.Array(element=element, extent=extent):
            return h.Array(_padded_type(element), extent)
        case h.Summation() | h.Bool() | h.Integer() | h.Float() | h.Control():
            return type
        case _:
            assert_never(type)


def _fields(type: h.Product) -> Iterator[h.Type | None]:
    """The fields, with None for each word of padding."""
    if any(isinstance(it, h.Control) for it in type.fields):
        yield from type.fields
        return
    end: h.DynamicConstant = dynamic.ZERO
    for field, start in zip(type.fields, field_offsets(type), strict=True):
        yield from _padding(end, start)
        yield field
        end = dynamic.add(start, field_size(field))
    yield from _padding(end, size_of(type))


def _padding(end: h.DynamicConstant, start: h.DynamicConstant) -> Iterator[None]:
    """The words between the end of a part and the start of the next."""
    if isinstance(end, h.DynamicLiteral) and isinstance(start, h.DynamicLiteral):
        yield from repeat(None, max(start.value - round_up(WORD, end.value), 0) // WORD)
    elif start not in (end, rounded(end, WORD)):
        what = "a 64-bit integer behind an array of variable size in a product on a GPU"
        raise ShaderError([not_supported(what, None)])


def _places(type: h.Product) -> list[int]:
    """The number of each field among fields and padding."""
    return [place for place, field in enumerate(_fields(type)) if field is not None]


def _padded_indices(type: h.Type, indices: Sequence[h.Index]) -> list[h.Index]:
    """The indices of the same part in the padded type."""
    found: list[h.Index] = []
    for index in indices:
        if isinstance(type, h.Product) and isinstance(index, h.FieldIndex):
            found.append(h.FieldIndex(_places(type)[index.field]))
        else:
            found.append(index)
        inner = element_type(type, index)
        assert inner is not None
        type = inner
    return found


def _padded_constant(constant: h.Constant) -> h.Constant:
    match constant:
        case h.ProductConstant(type=type, fields=parts):
            assert isinstance(type, h.Product)
            given = iter(parts)
            fields = [_ZERO if it is None else _padded_constant(next(given)) for it in _fields(type)]
            return h.ProductConstant(_padded_type(type), tuple(fields))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(_padded_type(type), tuple(map(_padded_constant, parts)))
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(_padded_type(type))
        case h.SummationConstant() | h.BoolConstant() | h.IntegerConstant() | h.FloatConstant():
            return constant
        case _:
            assert_never(constant)
