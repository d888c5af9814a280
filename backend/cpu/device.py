"""Compiled functions and entry points, and running them on buffers in place."""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy
import numpy.typing

from ...ir import layout as wgsl_layout
from ...ir.diagnostics import InputError
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import Binding, EntryPoint
from . import jit
from .emit import Emitted, Tier, emit_function
from .layout import Layout, binding_layout
from .threads import shared_pool
from .watchdog import stop_after

Bytes = numpy.typing.NDArray[numpy.uint8]
Buffer: TypeAlias = "Bytes | bytearray | memoryview"
_ALIGN = 16
"""What the machine code may assume of a binding's address."""


_LARGEST = (1 << 32) - 4
"""The most bytes of a binding, as WebGPU has it: gangs compute with 32-bit indices of scalars."""


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """Machine code of a Hercules function whose parameters are buffers."""

    emitted: Emitted
    code: jit.MachineCode
    _entry: Callable[[int, int, int, int, int, int], None]

    def run(
        self,
        addresses: Sequence[int],
        constants: Sequence[int],
        *,
        workers: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Run on the buffers at these addresses, with these dynamic constants; return when all is done.

        Buffers must be as large as the layouts and the constants say, and 16-byte aligned. After `timeout` seconds the
        run is stopped half done, with a DeviceError.
        """
        factors = (dynamic.evaluate(it, constants) for it in self.emitted.parallel)
        threads = math.prod(factors)
        if threads == 0:
            return
        buffers = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        numbers = (ctypes.c_uint64 * max(len(constants), 1))(*constants)
        buffers_at, numbers_at, entry = ctypes.addressof(buffers), ctypes.addressof(numbers), self._entry

        scratch_size = dynamic.evaluate(self.emitted.scratch_size, constants)
        with stop_after(timeout) as stop:

            def task(begin: int, end: int, scratch: int) -> None:
                if not stop.value:
                    entry(buffers_at, numbers_at, begin, end, scratch, stop.address)

            shared_pool(workers).run(task, threads, scratch_size)


def compile_function(
    function: h.Function, layouts: Mapping[int, Layout], *, tier: Tier | None = None, contract: bool = False
) -> CompiledFunction:
    """Compile a function whose parameters have these layouts. Raises ShaderError for what the CPU does not support.

    Without a `tier`, it is what the environment variable TINCT_CPU_TIER says, else the fastest. With `contract`,
    products and sums may be fused (see `emit_function`).
    """
    started = time.perf_counter()
    emitted = emit_function(function, layouts, _default_tier() if tier is None else tier, contract=contract)
    code = jit.compile_module(emitted.text, time.perf_counter() - started)
    return CompiledFunction(emitted, code, code.entry())


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """An entry point as machine code. It may be run by several threads, one at a time."""

    entry_point: EntryPoint
    function: CompiledFunction
    slots: tuple[Slot, ...]

    @property
    def times(self) -> jit.CompileTimes:
        """Seconds that each stage of the compilation took."""
        return self.function.code.times

    @property
    def tier(self) -> Tier:
        """How the invocations of a workgroup run."""
        return self.function.emitted.tier

    @property
    def tier_reason(self) -> str:
        """Why they do not run as gangs; empty if they do."""
        return self.function.emitted.tier_reason

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
        timeout: float | None = None,
    ) -> None:
        """Dispatch over the buffers, one for each binding in order, changing the written ones in place.

        `lengths` are the element counts of the runtime-sized arrays, in the order of their bindings; if they are left
        out, as many elements as fit the buffers. Buffers too small for that, or a written one that overlaps another,
        are an InputError, more than `timeout` seconds a DeviceError.
        """
        slots = self.slots
        if len(buffers) != len(slots):
            raise InputError(f"{len(slots)} buffers are needed, not {len(buffers)}")
        given = [_as_bytes(buffer) for buffer in buffers]
        if any(buffer.nbytes > _LARGEST for buffer in given):
            raise InputError(f"buffers have at most {_LARGEST} bytes on the CPU")
        if lengths is None:
            pairs = zip(slots, given, strict=True)
            lengths = [slot.count(buffer.nbytes) for slot, buffer in pairs if slot.length is not None]
        _check_apart([slot.binding for slot in slots], given)
        constants = [*workgroups, *lengths]
        addresses = [0] * len(slots)
        copies: list[tuple[Bytes, Bytes]] = []
        for slot, buffer in zip(slots, given, strict=True):
            address = _address(buffer)
            if slot.needs_copy(buffer.nbytes, constants) or address % _ALIGN:
                copy = _aligned_copy(buffer, slot.needed(constants))
                copies.append((buffer, copy))
                address = _address(copy)
            addresses[slot.binding.parameter] = address
        self.function.run(addresses, constants, workers=workers, timeout=timeout)
        for buffer, copy in copies:
            if buffer.flags.writeable:
                buffer[:] = copy[: buffer.nbytes]


def _check_apart(bindings: Sequence[Binding], buffers: Sequence[Bytes]) -> None:
    """Refuse a written buffer that overlaps another, as WebGPU does: the machine code takes bindings to be apart."""
    spans = sorted(
        (_address(buffer), buffer.nbytes, index) for index, buffer in enumerate(buffers) if buffer.nbytes > 0
    )
    for (start, size, first), (following, _, second) in pairwise(spans):
        if start + size > following and (bindings[first].is_written or bindings[second].is_written):
            raise InputError(f"the buffers for '{bindings[first].name}' and '{bindings[second].name}' overlap")


def _default_tier() -> Tier:
    name = os.environ.get("TINCT_CPU_TIER", "gang")
    match name:
        case "gang" | "lane":
            return name
        case _:
            raise InputError(f"TINCT_CPU_TIER must be 'gang' or 'lane', not {name!r}")


def compile_entry(entry_point: EntryPoint, *, tier: Tier | None = None, contract: bool = False) -> CompiledKernel:
    """Compile an entry point for this machine; see `compile_function`."""
    function = entry_point.function
    layouts = {
        binding.parameter: binding_layout(binding.type, function.parameter_types[binding.parameter])
        for binding in entry_point.bindings
    }
    slots = tuple(_slot(binding) for binding in entry_point.bindings)
    return CompiledKernel(entry_point, compile_function(function, layouts, tier=tier, contract=contract), slots)


@dataclass(frozen=True, slots=True)
class Slot:
    """How large a binding's buffer must be: `fixed` bytes, then `stride` for each element of a runtime-sized array."""

    binding: Binding
    fixed: int
    stride: int
    length: int | None

    def count(self, size: int) -> int:
        """How many elements fit a buffer."""
        return max(size - self.fixed, 0) // self.stride

    def needs_copy(self, size: int, constants: Sequence[int]) -> bool:
        """Whether a buffer lacks room for one element, which its array, being empty, does not have.

        With that room, positions clamped to the last element are inside the buffer even where there is none. Raises
        InputError for a buffer that is too small.
        """
        count = 0 if self.length is None else constants[self.length]
        least = self.fixed + self.stride * count
        if size < least:
            raise InputError(f"the buffer for '{self.binding.name}' has {size} bytes, but {least} are needed")
        return count == 0 and size < self.fixed + self.stride

    def needed(self, constants: Sequence[int]) -> int:
        """The bytes that a copy must have."""
        return self.fixed + self.stride * (1 if self.length is None else max(constants[self.length], 1))


def _slot(binding: Binding) -> Slot:
    tail = wgsl_layout.runtime_array(binding.type)
    if tail is None:
        return Slot(binding, wgsl_layout.size_of(binding.type), 0, None)
    offset, array = tail
    return Slot(binding, offset, wgsl_layout.stride_of(array), binding.length)


def _as_bytes(buffer: Buffer) -> Bytes:
    return buffer if isinstance(buffer, numpy.ndarray) else numpy.frombuffer(buffer, numpy.uint8)


def _aligned_copy(buffer: Bytes, size: int) -> Bytes:
    """The buffer at an aligned address, with zeros behind it if it is smaller than `size`."""
    room = numpy.zeros(max(buffer.nbytes, size) + _ALIGN, numpy.uint8)
    copy = room[-_address(room) % _ALIGN :]
    copy[: buffer.nbytes] = buffer
    return copy


def _address(buffer: Bytes) -> int:
    return int(buffer.__array_interface__["data"][0])
