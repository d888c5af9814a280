"""Runs a Hercules function of arrays and scalars as machine code, on values in Python's own types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..ir.diagnostics import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h

Buffer = npt.NDArray[Any]

_ALIGN = 64


def run_values(function: h.Function, constants: Sequence[int], values: Sequence[object]) -> object:
    """What the function returns. It becomes a kernel (see `transforms.hercules.as_kernel`). Threads run one after
    another, as Reduces have it; gangs are for kernels without races.

    Raises InputError for arguments that do not fit, and ShaderError for what the CPU does not support.
    """
    from ..backend.cpu import compile_function
    from ..backend.cpu.layout import natural_layout
    from ..transforms.hercules.as_kernel import as_kernel

    if len(values) != len(function.parameter_types):
        raise InputError(f"{function.name} takes {len(function.parameter_types)} arguments")
    kernel = as_kernel(function)
    buffers = [_buffer(type, constants) for type in function.parameter_types]
    for index, value in enumerate(values):
        _fill(buffers[index], [value] if index in kernel.scalars else value, function.parameter_names[index])
    layouts = {index: natural_layout(type) for index, type in enumerate(function.parameter_types)}
    compiled = compile_function(function, layouts, tier="lane")
    compiled.run([buffer.ctypes.data for buffer in buffers], constants)
    results = [_taken(buffers[index], index in kernel.scalars) for index in kernel.results]
    return results if kernel.is_product else results[0]


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
        case _:
            raise InputError("functions of products and sums run on the interpreter only: --device interp")


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
