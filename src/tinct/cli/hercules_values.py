"""Runs a Hercules function as machine code, on values in Python's own types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.storage import Value, from_python, mismatch
from ..ir.hercules.types import substitute

_ALIGN = 64


def run_values(function: h.Function, constants: Sequence[int], values: Sequence[object]) -> Value:
    """What the function, which may be changed, returns. It becomes a kernel (see `transforms.hercules.for_machine`).
    Threads run one after another, as Reduces have it; gangs are for kernels without races.

    Raises InputError for arguments that do not fit.
    """
    from ..backend.cpu import CpuOptions, compile_function
    from ..backend.cpu.layout import natural_layout
    from ..transforms.hercules.for_machine import kernel_for
    from .hercules_bytes import pack, size_of, unpack

    if len(values) != len(function.parameter_types):
        raise InputError(f"{function.name} takes {len(function.parameter_types)} arguments")
    known = [dynamic.literal(value) for value in constants]
    types = [substitute(type, known) for type in function.parameter_types]
    given = [from_python(value) for value in values]
    for name, type, value in zip(function.parameter_names, types, given, strict=True):
        if (why := mismatch(type, value, ())) is not None:
            raise InputError(f"the argument {name!r} {why}")
    returned = substitute(function.return_type, known)
    kernel = kernel_for(function, constants)
    natural = {index: natural_layout(type) for index, type in enumerate(kernel.function.parameter_types)}
    sized = [natural_layout(substitute(type, known)) for type in kernel.function.parameter_types]
    contents = [bytearray(size_of(layout)) for layout in sized]
    for index, (type, value) in enumerate(zip(types, given, strict=True)):
        pack(type, sized[index], value, contents[index])
    buffers = [_aligned(content) for content in contents]
    compile_function(kernel.function, natural, CpuOptions("lane")).bind(
        [it.ctypes.data for it in buffers], constants
    ).run()
    results = returned.fields if kernel.is_product and isinstance(returned, h.Product) else (returned,)
    found = [
        unpack(type, sized[index], bytearray(buffers[index]))
        for type, index in zip(results, kernel.results, strict=True)
    ]
    return found if kernel.is_product else found[0]


def _aligned(content: bytearray) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The bytes at an aligned address."""
    room = np.zeros(len(content) + _ALIGN, np.uint8)
    start = -room.ctypes.data % _ALIGN
    room[start : start + len(content)] = np.frombuffer(content, np.uint8)
    return room[start : start + len(content)]
