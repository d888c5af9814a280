"""Compiled functions and entry points, and running them on buffers in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy

from ...base.errors import InputError
from ...base.records import dataclass
from ...ir import layout as wgsl_layout
from ...ir.types import BindingPoint
from . import jit
from .aligned import BINDING_ALIGNMENT, Bytes, address_of, aligned_zeros
from .function import BoundFunction, CompiledFunction, Recipe, Source
from .options import CpuOptions, Tier, default_options

if TYPE_CHECKING:
    from ...ir.hercules.entry import Binding, EntryPoint

Buffer: TypeAlias = "Bytes | bytearray | memoryview"

_LARGEST = (1 << 32) - 4
"""The largest binding in bytes, WebGPU's limit: gangs compute with 32-bit indices of scalars."""


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """An entry point as machine code. Several threads may run it at the same time."""

    function: CompiledFunction
    slots: tuple[Slot, ...]

    @property
    def times(self) -> jit.CompileTimes:
        """Seconds that each stage of the compilation took."""
        return self.function.code.times

    @property
    def tier(self) -> Tier:
        """How the invocations of a workgroup run."""
        return self.function.interface.tier

    @property
    def tier_reason(self) -> str:
        """The reason why they do not run as gangs; empty if they do."""
        return self.function.interface.tier_reason

    def llvm(self, *, optimised: bool = True) -> str:
        """The LLVM IR, after LLVM's passes or before."""
        emitted = self.function.recipe.emit()
        return jit.optimised_text(emitted.text, emitted.passes) if optimised else emitted.text

    def assembly(self) -> str:
        """The machine code as text."""
        emitted = self.function.recipe.emit()
        return jit.assembly(emitted.text, emitted.passes)

    def run(
        self,
        buffers: Sequence[Buffer],
        workgroups: tuple[int, int, int],
        lengths: Sequence[int] | None = None,
        *,
        workers: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Dispatch once; see `bind` and `BoundKernel.run`."""
        self.bind(buffers, workgroups, lengths).run(workers=workers, timeout=timeout)

    def bind(
        self, buffers: Sequence[Buffer], workgroups: tuple[int, int, int], lengths: Sequence[int] | None = None
    ) -> BoundKernel:
        """A dispatch over the buffers, one for each binding in order, that changes the written ones in place.

        `lengths` are the element counts of the runtime-sized arrays, in the order of their bindings; if they are left
        out, as many elements as fit the buffers. Buffers too small for that, or a written one that overlaps another,
        are an InputError.
        """
        slots = self.slots
        if len(buffers) != len(slots):
            raise InputError(f"{len(slots)} buffers are needed, not {len(buffers)}")
        given = [_as_bytes(buffer) for buffer in buffers]
        spans = [(address_of(buffer), buffer.nbytes) for buffer in given]
        if lengths is None:
            pairs = zip(slots, spans, strict=True)
            lengths = [slot.count(size) for slot, (_, size) in pairs if slot.length is not None]
        _check_apart(slots, spans)
        constants = (*workgroups, *lengths)
        addresses = [0] * len(slots)
        copies: list[tuple[Bytes, Bytes]] = []
        for slot, buffer, (address, size) in zip(slots, given, spans, strict=True):
            if size > _LARGEST:
                raise InputError(f"buffers have at most {_LARGEST} bytes on the CPU")
            if slot.needs_copy(size, constants) or address % BINDING_ALIGNMENT:
                copy = aligned_zeros(max(buffer.nbytes, slot.needed(constants)))
                copies.append((buffer, copy))
                address = address_of(copy)
            addresses[slot.parameter] = address
        return BoundKernel(self.function.bind(addresses, constants), tuple(given), tuple(copies))


@dataclass(frozen=True, slots=True)
class BoundKernel:
    """A kernel with its buffers and its number of workgroups, checked once, for any number of dispatches."""

    function: BoundFunction
    _buffers: Sequence[Bytes]
    """Views that keep the buffers where they are."""
    _copies: Sequence[tuple[Bytes, Bytes]]
    """Buffers that are not aligned or too small, each with the copy that the machine code works on."""

    def runner(self) -> Callable[[], None]:
        """`run` on all processors, as a function without a parameter, valid while this object lives."""
        return self.run if self._copies else self.function.runner()

    def run(self, *, workers: int | None = None, timeout: float | None = None) -> None:
        """Dispatch on the given number of threads, else on all processors, and wait for the end.

        After `timeout` seconds it is stopped half done, with a DeviceError.
        """
        for buffer, copy in self._copies:
            copy[: buffer.nbytes], copy[buffer.nbytes :] = buffer, 0
        self.function.run(workers=workers, timeout=timeout)
        for buffer, copy in self._copies:
            if buffer.flags.writeable:
                buffer[:] = copy[: buffer.nbytes]


def _check_apart(slots: Sequence[Slot], spans: Sequence[tuple[int, int]]) -> None:
    """Refuse a written buffer that overlaps another, as WebGPU does: machine code assumes that there is none.

    A buffer is its address and its bytes.
    """
    if len(spans) < 2:
        return
    ordered = sorted((address, size, index) for index, (address, size) in enumerate(spans) if size > 0)
    for (start, size, first), (following, _, second) in pairwise(ordered):
        if start + size > following and (slots[first].is_written or slots[second].is_written):
            raise InputError(f"the buffers for '{slots[first].name}' and '{slots[second].name}' overlap")


def compile_entry(entry_point: EntryPoint, options: CpuOptions | None = None) -> CompiledKernel:
    """Compile an entry point for this machine; without options, with `default_options`."""
    recipe = recipe_for(lambda: entry_point, options or default_options())
    return CompiledKernel(recipe.compile(), slots_of(entry_point))


def recipe_for(entry_point: Callable[[], EntryPoint], options: CpuOptions) -> Recipe:
    """How an entry point is compiled; `entry_point` is called when it is."""
    return Recipe(lambda: _source(entry_point()), options)


def _source(entry_point: EntryPoint) -> Source:
    from .layout import binding_layout

    function = entry_point.function
    return function, {
        binding.parameter: binding_layout(binding.type, function.parameter_types[binding.parameter])
        for binding in entry_point.bindings
    }


def slots_of(entry_point: EntryPoint) -> tuple[Slot, ...]:
    """The bindings of an entry point."""
    return tuple(_slot(binding) for binding in entry_point.bindings)


@dataclass(frozen=True, slots=True)
class Slot:
    """A binding of a kernel, and how large its buffer must be: `fixed` bytes, then `stride` for each element of a
    runtime-sized array, whose number is the dynamic constant `length`.
    """

    name: str
    point: BindingPoint
    parameter: int
    is_written: bool
    fixed: int
    stride: int
    length: int | None

    def count(self, size: int) -> int:
        """How many elements fit a buffer."""
        return max(size - self.fixed, 0) // self.stride

    def needs_copy(self, size: int, constants: Sequence[int]) -> bool:
        """Whether an empty array leaves its buffer without room for one element.

        With that room, positions clamped to the last element are inside the buffer even where there is none. Raises
        InputError for a buffer that is too small.
        """
        count = 0 if self.length is None else constants[self.length]
        least = self.fixed + self.stride * count
        if size < least:
            raise InputError(f"the buffer for '{self.name}' has {size} bytes, but {least} are needed")
        return count == 0 and size < self.fixed + self.stride

    def needed(self, constants: Sequence[int]) -> int:
        """The bytes that a copy must have."""
        return self.fixed + self.stride * (1 if self.length is None else max(constants[self.length], 1))


def _slot(binding: Binding) -> Slot:
    tail = wgsl_layout.runtime_array(binding.type)
    if tail is None:
        fixed, stride, length = wgsl_layout.size_of(binding.type), 0, None
    else:
        fixed, stride, length = tail[0], wgsl_layout.stride_of(tail[1]), binding.length
    return Slot(binding.name, binding.point, binding.parameter, binding.is_written, fixed, stride, length)


def _as_bytes(buffer: Buffer) -> Bytes:
    return buffer if isinstance(buffer, numpy.ndarray) else numpy.frombuffer(buffer, numpy.uint8)
