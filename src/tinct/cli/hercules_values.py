"""Runs a Hercules function of arrays and scalars as machine code, on values in Python's own types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..ir.diagnostics import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.storage import Value, Variant
from ..ir.hercules.types import infer_types
from ..transforms.hercules.lower_sums import lowered_type

Buffer = npt.NDArray[Any]

_ALIGN = 64


def run_values(function: h.Function, constants: Sequence[int], values: Sequence[object]) -> object:
    """What the function returns. It becomes a kernel (see `transforms.hercules.as_kernel`). Threads run one after
    another, as Reduces have it; gangs are for kernels without races.

    Raises InputError for arguments that do not fit, and ShaderError for what the CPU does not support.
    """
    from ..backend.cpu import compile_function
    from ..backend.cpu.layout import natural_layout
    from ..ir.hercules.copying import specialised
    from ..transforms.hercules.as_kernel import as_kernel
    from ..transforms.hercules.inline_calls import inline_calls
    from ..transforms.hercules.lower_sums import lower_sums

    if len(values) != len(function.parameter_types):
        raise InputError(f"{function.name} takes {len(function.parameter_types)} arguments")
    inline_calls(function)
    if any(_has_rows(type) for type in (*function.parameter_types, *_parts(function.return_type))):
        function = specialised(function, constants)
    returned = infer_types(function)
    end = next((it for it in function.nodes if isinstance(it, h.Return)), None)
    parts = [] if end is None else end.value.fields if isinstance(end.value, h.ProductNode) else [end.value]
    types, results = list(function.parameter_types), [returned[part] for part in parts]
    lower_sums(function)
    kernel = as_kernel(function)
    buffers = [_buffer(type, constants) for type in function.parameter_types]
    for index, (type, value) in enumerate(zip(types, values, strict=True)):
        raw = _raw(type, value)
        _fill(buffers[index], [raw] if index in kernel.scalars else raw, function.parameter_names[index])
    try:
        layouts = {index: natural_layout(type) for index, type in enumerate(function.parameter_types)}
    except TypeError as error:
        raise InputError(f"not supported: {error}, as an argument on the CPU") from None
    compiled = compile_function(function, layouts, tier="lane")
    compiled.run([buffer.ctypes.data for buffer in buffers], constants)
    found = [
        _value(type, _taken(buffers[index], index in kernel.scalars))
        for type, index in zip(results, kernel.results, strict=True)
    ]
    return found if kernel.is_product else found[0]


def _parts(type: h.Type) -> tuple[h.Type, ...]:
    return type.fields if isinstance(type, h.Product) else (type,)


def _has_rows(type: h.Type) -> bool:
    """Whether an array's elements are of a size that only dynamic constants tell."""
    match type:
        case h.Array(element=h.Array(extent=extent) as inner):
            return not isinstance(extent, h.DynamicLiteral) or _has_rows(inner)
        case h.Array(element=element):
            return _has_rows(element)
        case h.Product(fields=parts) | h.Summation(variants=parts):
            return any(isinstance(it, h.Array) and not isinstance(it.extent, h.DynamicLiteral) for it in parts)
        case _:
            return False


def _raw(type: h.Type, value: object) -> object:
    """A value as numpy wants it: products and sums, which are a tag and all variants, as tuples."""
    match type:
        case h.Product(fields=fields) if isinstance(value, (list, tuple)):
            given = cast("Sequence[object]", value)
            if len(given) == len(fields):
                return tuple(_raw(*pair) for pair in zip(fields, given, strict=True))
            raise InputError(f"a product of {len(fields)} fields is needed, not {len(given)}")
        case h.Summation(variants=variants):
            if not isinstance(value, Variant) or not 0 <= value.index < len(variants):
                raise InputError(f'a sum is {{"variant": 0, "value": …}}, not {value!r}')
            zeros = [np.zeros((), _dtype(lowered_type(it))).tolist() for it in variants]
            zeros[value.index] = _raw(variants[value.index], value.value)
            return (value.index, *zeros)
        case h.Array(element=element) if isinstance(value, (list, tuple)):
            return [_raw(element, it) for it in cast("Sequence[object]", value)]
        case _:
            return value


def _value(type: h.Type, raw: object) -> object:
    """The inverse of `_raw`."""
    match type:
        case h.Product(fields=fields):
            return [_value(*pair) for pair in zip(fields, cast("Sequence[object]", raw), strict=True)]
        case h.Summation(variants=variants):
            tag, *values = cast("Sequence[object]", raw)
            assert isinstance(tag, int)
            return Variant(tag, cast("Value", _value(variants[tag], values[tag])))
        case h.Array(element=element):
            return [_value(element, it) for it in cast("Sequence[object]", raw)]
        case _:
            return raw


def _buffer(type: h.Type, constants: Sequence[int]) -> Buffer:
    """Zeros for an array, aligned, and with room behind them: positions in an empty array still have a place."""
    shape: list[int] = []
    while isinstance(type, h.Array):
        shape.append(dynamic.evaluate(type.extent, constants))
        type = type.element
    kind = _dtype(type)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = np.zeros(size + 2 * _ALIGN, np.uint8)
    start = -memory.ctypes.data % _ALIGN
    return memory[start : start + size].view(kind).reshape(shape)


def _dtype(type: h.Type) -> np.dtype[Any]:
    match type:
        case h.Bool():
            return np.dtype(np.bool_)
        case h.Integer(bits=bits, signed=signed):
            return np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        case h.Float(bits=bits):
            return np.dtype(f"f{bits // 8}")
        case h.Product(fields=fields):
            return np.dtype([(f"f{number}", _dtype(field)) for number, field in enumerate(fields)], align=True)
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)):
            return np.dtype((_dtype(element), (count,)))
        case _:
            raise InputError("not supported: an array of unknown extent in a product, as an argument on the CPU")


def _fill(buffer: Buffer, value: object, name: str) -> None:
    try:
        given = np.array(value, buffer.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"the argument {name!r} does not fit: {error}") from None
    if given.size == buffer.size == 0:
        return
    if given.shape != buffer.shape:
        raise InputError(f"the argument {name!r} has the shape {given.shape} instead of {buffer.shape}")
    buffer[...] = given


def _taken(buffer: Buffer, is_scalar: bool) -> object:
    values = cast(object, buffer.tolist())
    return cast("list[object]", values)[0] if is_scalar else values
