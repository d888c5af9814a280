"""Compiled functions and entry points, and running them on buffers in place."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy
import numpy.typing

from ...ir import layout as wgsl_layout
from ...ir.diagnostics import InputError
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import Binding, EntryPoint
from . import jit
from .emit import Emitted, emit_function
from .layout import Layout, binding_layout
from .threads import shared_pool

Bytes = numpy.typing.NDArray[numpy.uint8]
_ALIGN = 16
"""What the machine code may assume of a binding's address."""


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """Machine code of a Hercules function whose parameters are buffers."""

    emitted: Emitted
    code: jit.MachineCode
    _entry: Callable[[int, int, int, int, int], None]

    def run(self, addresses: Sequence[int], constants: Sequence[int], *, workers: int | None = None) -> None:
        """Run on the buffers at these addresses, with these dynamic constants; return when all is done.

        Buffers must be as large as the layouts and the constants say, and 16-byte aligned.
        """
        factors = (dynamic.evaluate(it, constants) for it in self.emitted.parallel)
        threads = math.prod(factors)
        if threads == 0:
            return
        buffers = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        numbers = (ctypes.c_uint64 * max(len(constants), 1))(*constants)
        buffers_at, numbers_at, entry = ctypes.addressof(buffers), ctypes.addressof(numbers), self._entry

        def task(begin: int, end: int, scratch: int) -> None:
            entry(buffers_at, numbers_at, begin, end, scratch)

        shared_pool(workers).run(task, threads, dynamic.evaluate(self.emitted.scratch_size, constants))


def compile_function(function: h.Function, layouts: Mapping[int, Layout]) -> CompiledFunction:
    """Compile a function whose parameters have these layouts. Raises ShaderError for what the CPU does not support."""
    started = time.perf_counter()
    emitted = emit_function(function, layouts)
    code = jit.compile_module(emitted.text, time.perf_counter() - started)
    return CompiledFunction(emitted, code, code.entry())


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """An entry point as machine code. It may be run by several threads, one at a time."""

    entry_point: EntryPoint
    function: CompiledFunction

    @property
    def times(self) -> jit.CompileTimes:
        """Seconds that each stage of the compilation took."""
        return self.function.code.times

    def llvm(self, *, optimised: bool = True) -> str:
        """The LLVM IR, after LLVM's passes or before."""
        return self.function.code.optimised if optimised else self.function.emitted.text

    def assembly(self) -> str:
        """The machine code as text."""
        return jit.assembly(self.function.code.optimised)

    def run(
        self, buffers: Sequence[Bytes], workgroups: tuple[int, int, int], *, workers: int | None = None
    ) -> None:
        """Dispatch over the buffers, one for each binding in order, changing the written ones in place.

        The length of a runtime-sized array is what fits its buffer. A buffer too small for its type is an InputError.
        """
        bindings = self.entry_point.bindings
        if len(buffers) != len(bindings):
            raise InputError(f"{len(bindings)} buffers are needed, not {len(buffers)}")
        held = [_hold(binding, buffer) for binding, buffer in zip(bindings, buffers, strict=True)]
        lengths = [
            wgsl_layout.runtime_count(binding.type, buffer.nbytes)
            for binding, buffer in zip(bindings, buffers, strict=True)
            if binding.length is not None
        ]
        addresses = [0] * len(bindings)
        for binding, buffer in zip(bindings, held, strict=True):
            addresses[binding.parameter] = _address(buffer)
        self.function.run(addresses, [*workgroups, *lengths], workers=workers)
        for binding, buffer, mine in zip(bindings, buffers, held, strict=True):
            if mine is not buffer and binding.is_written:
                buffer[:] = mine[: buffer.nbytes]


def compile_entry(entry_point: EntryPoint) -> CompiledKernel:
    """Compile an entry point for this machine. Raises ShaderError for what the CPU does not support."""
    function = entry_point.function
    layouts = {
        binding.parameter: binding_layout(binding.type, function.parameter_types[binding.parameter])
        for binding in entry_point.bindings
    }
    return CompiledKernel(entry_point, compile_function(function, layouts))


def _hold(binding: Binding, buffer: Bytes) -> Bytes:
    """The buffer, or a copy that is aligned and has room for one element of a runtime-sized array that is empty.

    With that room, positions clamped to the last element are inside the buffer even where there is none.
    """
    least = _fixed_size(binding)
    if buffer.nbytes < least:
        raise InputError(f"the buffer for '{binding.name}' has {buffer.nbytes} bytes, but its type takes {least}")
    needed = least + _element_size(binding)
    if buffer.nbytes >= needed and _address(buffer) % _ALIGN == 0:
        return buffer
    room = numpy.zeros(max(buffer.nbytes, needed) + _ALIGN, numpy.uint8)
    start = -_address(room) % _ALIGN
    copy = room[start : start + max(buffer.nbytes, needed)]
    copy[: buffer.nbytes] = buffer
    return copy


def _fixed_size(binding: Binding) -> int:
    tail = wgsl_layout.runtime_array(binding.type)
    return wgsl_layout.size_of(binding.type) if tail is None else tail[0]


def _element_size(binding: Binding) -> int:
    tail = wgsl_layout.runtime_array(binding.type)
    return 0 if tail is None else wgsl_layout.stride_of(tail[1])


def _address(buffer: Bytes) -> int:
    return int(buffer.ctypes.data)
