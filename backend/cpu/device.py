"""Compiled functions and entry points, and running them on buffers in place."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
Buffer: TypeAlias = "Bytes | bytearray | memoryview"
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
        self,
        buffers: Sequence[Buffer],
        workgroups: tuple[int, int, int],
        lengths: Sequence[int] | None = None,
        *,
        workers: int | None = None,
    ) -> None:
        """Dispatch over the buffers, one for each binding in order, changing the written ones in place.

        `lengths` are the element counts of the runtime-sized arrays, in the order of their bindings; if they are left
        out, as many elements as fit the buffers. Buffers too small for that are an InputError.
        """
        bindings = self.entry_point.bindings
        if len(buffers) != len(bindings):
            raise InputError(f"{len(bindings)} buffers are needed, not {len(buffers)}")
        given = [_as_bytes(buffer) for buffer in buffers]
        counts = _lengths(bindings, given) if lengths is None else list(lengths)
        constants = [*workgroups, *counts]
        held = [_hold(binding, buffer, constants) for binding, buffer in zip(bindings, given, strict=True)]
        addresses = [0] * len(bindings)
        for binding, buffer in zip(bindings, held, strict=True):
            addresses[binding.parameter] = _address(buffer)
        self.function.run(addresses, constants, workers=workers)
        for binding, buffer, mine in zip(bindings, given, held, strict=True):
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


def _as_bytes(buffer: Buffer) -> Bytes:
    return buffer if isinstance(buffer, numpy.ndarray) else numpy.frombuffer(buffer, numpy.uint8)


def _lengths(bindings: Sequence[Binding], buffers: Sequence[Bytes]) -> list[int]:
    return [
        wgsl_layout.runtime_count(binding.type, buffer.nbytes)
        for binding, buffer in zip(bindings, buffers, strict=True)
        if binding.length is not None
    ]


def _hold(binding: Binding, buffer: Bytes, constants: Sequence[int]) -> Bytes:
    """The buffer, or a copy that is aligned and has room for one element of a runtime-sized array that is empty.

    With that room, positions clamped to the last element are inside the buffer even where there is none.
    """
    tail = wgsl_layout.runtime_array(binding.type)
    if tail is None or binding.length is None:
        least = needed = wgsl_layout.size_of(binding.type)
    else:
        offset, array = tail
        stride, count = wgsl_layout.stride_of(array), constants[binding.length]
        least, needed = offset + stride * count, offset + stride * max(count, 1)
    if buffer.nbytes < least:
        raise InputError(f"the buffer for '{binding.name}' has {buffer.nbytes} bytes, but {least} are needed")
    if buffer.nbytes >= needed and _address(buffer) % _ALIGN == 0:
        return buffer
    room = numpy.zeros(max(buffer.nbytes, needed) + _ALIGN, numpy.uint8)
    start = -_address(room) % _ALIGN
    copy = room[start : start + max(buffer.nbytes, needed)]
    copy[: buffer.nbytes] = buffer
    return copy


def _address(buffer: Bytes) -> int:
    return int(buffer.ctypes.data)
