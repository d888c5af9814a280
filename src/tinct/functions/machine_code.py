"""Functions as machine code of the CPU."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.deadline import compiling_within
from ..dispatch import Timing
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.layout import buffer_size
from ..ir.hercules.types import substitute
from .copies import copied_function
from .results import DeviceResult

if TYPE_CHECKING:
    from ..backend.cpu import CompiledFunction
    from ..transforms.hercules.as_kernel import Kernel

_ALIGN = 64
"""The alignment in bytes that machine code assumes of a parameter's address."""
_MOST_KEPT = 16
"""Most sets of dynamic constants for which code is kept."""


@dataclass(frozen=True, slots=True)
class _Code:
    kernel: Kernel
    function: CompiledFunction


class MachineCode:
    """A function that verifies, compiled on demand: once if it can be, else for each set of dynamic constants."""

    def __init__(self, function: h.Function) -> None:
        self._given = function
        self._inlined: h.Function | None = None
        self._codes: dict[tuple[int, ...] | None, _Code] = {}

    def run(self, constants: Sequence[int], buffers: Sequence[bytearray], timeout: float | None) -> DeviceResult:
        """The result for these bytes of the parameters.

        Threads run one after another, as Reduces have it; gangs are for kernels without races. Raises DeviceError when
        the time is over, InputError for a result of more than 4 GiB.
        """
        start = time.perf_counter()
        with compiling_within(timeout):
            code, is_new = self._code(tuple(constants))
        compiled = time.perf_counter()
        known = [dynamic.literal(it) for it in constants]
        memory = [
            _aligned(dynamic.evaluate(buffer_size(substitute(type, known)), ()))
            for type in code.kernel.function.parameter_types
        ]
        for room, data in zip(memory, buffers, strict=False):
            room[: len(data)] = np.frombuffer(data, np.uint8)
        bound = code.function.bind([it.ctypes.data for it in memory], constants)
        ready = time.perf_counter()
        bound.run(timeout=timeout)
        seconds = time.perf_counter() - ready
        results = [memory[index].data for index in code.kernel.results]
        return DeviceResult(results, code.kernel.is_product, Timing(compiled - start if is_new else 0.0, seconds))

    def _code(self, constants: tuple[int, ...]) -> tuple[_Code, bool]:
        """The code for these dynamic constants, and whether it was compiled just now."""
        from ..transforms.hercules.for_machine import is_for_all, with_own_control

        if self._inlined is None:
            function = copied_function(self._given)
            with_own_control(function)
            self._inlined = function
        key = None if is_for_all(self._inlined, constants) else constants
        is_new = key not in self._codes
        if is_new:
            if len(self._codes) == _MOST_KEPT:
                del self._codes[next(iter(self._codes))]
            self._codes[key] = _compiled(self._inlined, key)
        return self._codes[key], is_new


def _compiled(function: h.Function, constants: Sequence[int] | None) -> _Code:
    from ..backend.cpu import CpuOptions, compile_function
    from ..backend.cpu.layout import natural_layout
    from ..ir.hercules.copying import specialised
    from ..transforms.hercules.for_machine import kernel_of

    kernel = kernel_of(copied_function(function) if constants is None else specialised(function, constants))
    layouts = {index: natural_layout(type) for index, type in enumerate(kernel.function.parameter_types)}
    return _Code(kernel, compile_function(kernel.function, layouts, CpuOptions("lane")))


def _aligned(size: int) -> npt.NDArray[np.uint8]:
    """Zeros at an aligned address."""
    room = np.zeros(size + _ALIGN, np.uint8)
    start = -room.ctypes.data % _ALIGN
    return room[start : start + size]
