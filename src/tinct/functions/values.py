"""Arguments as arrays in the layout of `dtypes`, and results as what the reference interpreter makes.

Numbers are converted by the rules of `ir.layout_numbers`, as in a shader's buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, assert_never, cast

import numpy as np

from ..base.errors import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.layout import buffer_size, size_of
from ..ir.hercules.storage import Value, Variant
from ..ir.hercules.text import type_text
from ..ir.layout_numbers import Array, NumberType, as_array, as_given_array, is_array, is_row, shown, store
from .dtypes import dtype_of, extents, field_names, innermost, memory_dtype, number_type, shape_of
from .forms import is_mapping, is_structured, variant_of

_LARGEST = (1 << 32) - 4
"""The largest buffer in bytes, WebGPU's limit."""


def blank(type: h.Type, name: str) -> Array:
    """Zeros of a type whose extents are literals; a sum is its first variant. Raises InputError for more than 4 GiB."""
    size = dynamic.evaluate(buffer_size(type), ())
    shape = shape_of(type)
    if size > _LARGEST or any(it > _LARGEST for it in shape):
        raise InputError(f"{name}: {_text(type)} takes more than 4 GiB, the limit of a buffer")
    return np.zeros(shape, dtype_of(type))


def as_argument(type: h.Type, value: object, name: str) -> Array:
    """A new array with an argument; the type's extents are literals. Raises InputError."""
    target = blank(type, name)
    _put(type, value, target, name)
    return target


def to_bytes(type: h.Type, array: Array) -> bytearray:
    """The bytes of a value, as devices get them."""
    memory = np.zeros(array.shape, memory_dtype(type))
    memory[...] = array
    data = bytearray(dynamic.evaluate(buffer_size(type), ()))
    data[: memory.nbytes] = memory.tobytes()
    return data


def from_bytes(type: h.Type, data: bytes | bytearray | memoryview) -> Array:
    """A new array with the value that a device left in a buffer. The variants that a sum does not hold are zero."""
    size = dynamic.evaluate(size_of(type), ())
    array: Array = np.frombuffer(data[:size], np.uint8).copy()
    if size:
        array = array.view(dtype_of(type)).reshape(shape_of(type))
    else:
        array = np.zeros(shape_of(type), dtype_of(type))
    _clear_inactive(innermost(type), array)
    return array


def to_value(type: h.Type, array: Array) -> Value:
    """The value of an array, as the interpreter and JSON have it: lists, and `Variant` for a sum."""
    match type:
        case h.Array(element=element):
            if not isinstance(innermost(type), (h.Product, h.Summation)):
                return cast(Value, array.tolist())
            return [to_value(element, array[position, ...]) for position in range(len(array))]
        case h.Product(fields=fields):
            return [to_value(it, array[name]) for it, name in zip(fields, field_names(type), strict=True)]
        case h.Summation(variants=variants):
            index = int(array["variant"])
            return Variant(index, to_value(variants[index], array[f"v{index}"]))
        case h.Bool() | h.Integer() | h.Float():
            return cast(Value, array.item())
        case h.Control():
            raise TypeError("control is no value")
        case _:
            assert_never(type)


# Putting a value into an array, whose shape is that of the type


def _put(type: h.Type, value: object, target: Array, place: str) -> None:
    if is_array(value) or isinstance(value, np.void):
        _put_array(type, as_given_array(value, lambda _: place), target, place)
        return
    match type:
        case h.Array(element=element):
            if isinstance(innermost(type), (h.Product, h.Summation)):
                _put_rows(element, value, target, place)
            else:
                _put_numbers(type, value, target, place)
        case h.Product():
            _put_product(type, value, target, place)
        case h.Summation():
            _put_sum(type, value, target, place)
        case h.Bool() | h.Integer() | h.Float():
            _put_numbers(type, value, target, place)
        case h.Control():
            raise TypeError("control is no value")
        case _:
            assert_never(type)


def _put_numbers(type: h.Type, value: object, target: Array, place: str) -> None:
    scalar = _number_type(type)
    where = partial(_place, place)
    array = as_array(value, scalar, where)
    if array.size == target.size == 0 and (array.ndim == target.ndim or is_row(value)):
        return
    if array.shape != target.shape:
        raise _misshapen(type, target, value, place)
    store(array, target, scalar, where)


def _put_rows(element: h.Type, value: object, target: Array, place: str) -> None:
    """The items of a list of products or sums."""
    if not is_row(value):
        array = as_given_array(value, lambda _: place)
        if not array.ndim:
            raise _misfit(place, f"an array of {_text(element)} takes a list or an array", value)
        value = [array[position] for position in range(len(array))]
    for position, item in enumerate(value):
        _put(element, item, target[position, ...], f"{place}[{position}]")


def _put_product(type: h.Product, value: object, target: Array, place: str) -> None:
    names = field_names(type)
    if is_mapping(value):
        _check_names(type, value.keys(), place)
        parts: Sequence[object] = [value[name] for name in names]
    elif is_row(value):
        parts = value
    else:
        raise _misfit(place, f"{_text(type)} takes a tuple of its fields", value)
    if len(parts) != len(names):
        raise InputError(f"{place}: {_text(type)} has {len(names)} fields, not {len(parts)}")
    for name, field, part in zip(names, type.fields, parts, strict=True):
        _put(field, part, target[name], f"{place}.{name}")


def _put_sum(type: h.Summation, value: object, target: Array, place: str) -> None:
    held = variant_of(value)
    if held is None or not 0 <= held.index < len(type.variants):
        last = len(type.variants) - 1
        expected = f'{_text(type)} takes {{"variant": {"0" if last < 1 else f"0 to {last}"}, "value": …}}'
        raise _misfit(place, expected, value)
    target["variant"] = held.index
    _put(type.variants[held.index], held.value, target[f"v{held.index}"], f"{place}.v{held.index}")


def _put_array(type: h.Type, array: Array, target: Array, place: str) -> None:
    """An array of numpy's, which has the axes of the target, and those of its elements."""
    inner = innermost(type)
    if array.dtype.kind == "O" and isinstance(inner, (h.Product, h.Summation)):
        _put(type, array.tolist(), target, place)
        return
    if array.shape[: target.ndim] != target.shape and not array.size == target.size == 0:
        raise _misshapen(type, target, array, place)
    match inner:
        case h.Product(fields=fields) if is_structured(array, inner):
            _put_fields(field_names(inner), fields, array, target, place)
        case h.Product(fields=fields):
            _put_columns(inner, fields, array, target, place)
        case h.Summation(variants=variants) if is_structured(array, inner):
            if (array["variant"] >= len(variants)).any() or (array["variant"] < 0).any():
                raise InputError(f"{place}.variant: {_text(inner)} has the variants 0 to {len(variants) - 1}")
            _put_fields(field_names(inner), (h.Integer(32, signed=False), *variants), array, target, place)
            _clear_inactive(inner, target)
        case h.Summation():
            names = ", ".join(field_names(inner))
            raise _misfit(place, f"an array of {_text(inner)} is a structured one of {names}", array)
        case _:
            _put_numbers(type, array, target, place)


def _put_fields(names: Sequence[str], fields: Sequence[h.Type], array: Array, target: Array, place: str) -> None:
    for name, field in zip(names, fields, strict=True):
        _put_part(field, array[name], target[name], f"{place}.{name}")


def _put_columns(type: h.Product, fields: Sequence[h.Type], array: Array, target: Array, place: str) -> None:
    """Products given as a further axis of numbers."""
    if array.dtype.names is not None:
        _check_names(type, array.dtype.names, place)
        raise _misfit(place, f"{_text(type)} has the fields {', '.join(field_names(type))} in this order", array)
    if array.ndim == target.ndim or array.shape[target.ndim] != len(fields):
        raise _misfit(place, f"{_text(type)} takes {len(fields)} fields", array)
    for number, (name, field) in enumerate(zip(field_names(type), fields, strict=True)):
        _put_part(field, array.take(number, axis=target.ndim), target[name], f"{place}.{name}")


def _put_part(type: h.Type, array: Array, target: Array, place: str) -> None:
    """A field of all elements of an array: the target has the axes of the elements, and then those of the field."""
    inner = innermost(type)
    if isinstance(inner, (h.Product, h.Summation)):
        _put_array(inner, array, target, place)
    else:
        _put_numbers(type, array, target, place)


def _check_names(type: h.Product, given: object, place: str) -> None:
    known = field_names(type)
    names = list(cast("Sequence[object]", given))
    strange = [it for it in names if it not in known]
    if strange:
        raise InputError(f"{place}: {_text(type)} has no field {shown(strange[0])}; it has {', '.join(known)}")
    missing = [it for it in known if it not in names]
    if missing:
        raise InputError(f"{place}: there is no value for the field {missing[0]!r} of {_text(type)}")


def _clear_inactive(type: h.Type, array: Array) -> None:
    """Make the variants zero that sums in an array of `type` do not hold."""
    match type:
        case h.Product(fields=fields):
            for name, field in zip(field_names(type), fields, strict=True):
                _clear_inactive(innermost(field), array[name])
        case h.Summation(variants=variants):
            for number, variant in enumerate(variants):
                part = array[f"v{number}"]
                part[np.asarray(array["variant"] != number)] = np.zeros((), part.dtype)
                _clear_inactive(innermost(variant), part)
        case _:
            return


def _number_type(type: h.Type) -> NumberType:
    scalar = innermost(type)
    assert isinstance(scalar, (h.Bool, h.Integer, h.Float))
    return number_type(scalar)


def _place(name: str, index: tuple[int, ...]) -> str:
    return name + "".join(f"[{position}]" for position in index)


def _misshapen(type: h.Type, target: Array, value: object, place: str) -> InputError:
    wanted = f"shape {target.shape}" if extents(type) or target.ndim else "one number"
    array: Any = as_given_array(value, lambda _: place)
    return _misfit(place, f"{_text(type)} takes {wanted}", array if array.dtype.kind != "O" else value)


def _misfit(place: str, expected: str, given: object) -> InputError:
    return InputError(f"{place}: {expected}, not {shown(given)}")


def _text(type: h.Type) -> str:
    return type_text(type, [])
