"""Packs the steps of a sequence into the tables that `pool/sequence.h` describes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from .device import CompiledKernel, Slot
from .emitted import Interface
from .extents import Extent, depth, product
from .function import RunParameters
from .sequence_steps import CopyStep, DispatchStep, ExtentInMemory, FillStep, Grid, GridFromMemory, Range, Step

_STEP: Final = struct.Struct("18Q4d")
_KEPT: Final = slice(18, 21)
"""What runs learn for later ones: the two numbers of a pace, and the seconds of a thread."""
_SECONDS: Final = 21
_EXTENT: Final = struct.Struct("6Q")
_TERM: Final = struct.Struct("2Q")
_DISPATCH, _FILL, _COPY = range(3)
_NO_LIMIT: Final = (1 << 64) - 1
_MOST_DEPTH: Final = 64


@dataclass(frozen=True, slots=True)
class Tables:
    """The packed steps. `origins` has the number of the step that each of them comes from.

    `rooms` are the sizes of memories that the caller provides beside its own, numbered after those: machine code needs
    room for one element even of an empty array.
    """

    steps: bytearray
    numbers: bytearray
    places: bytes
    extents: bytes
    terms: bytes
    privates: tuple[tuple[int, str, int], ...]
    origins: tuple[int, ...]
    rooms: tuple[int, ...]

    def learn(self, steps: bytearray) -> tuple[float, ...]:
        """Keep the estimates of a copy of the steps that has run. Returns the seconds of the original steps."""
        sums, seconds = [0.0] * (self.origins[-1] + 1), _in_seconds(steps)[:, _SECONDS]
        for origin, taken in zip(self.origins, seconds, strict=True):
            sums[origin] += float(taken)
        _in_seconds(self.steps)[:, _KEPT] = _in_seconds(steps)[:, _KEPT]
        return tuple(sums)


def _in_seconds(steps: bytearray) -> npt.NDArray[np.float64]:
    """A row for each step, of which only the last members are such numbers."""
    return np.frombuffer(steps, np.float64).reshape(-1, _STEP.size // 8)


@dataclass(slots=True)
class Packer:
    """Makes the tables of steps, each packed with the machine code that it runs."""

    memories: int
    """The number of memories that the steps name."""
    workers: int
    _steps: list[bytes] = field(default_factory=list[bytes])
    _origins: list[int] = field(default_factory=list[int])
    _numbers: list[int] = field(default_factory=list[int])
    _places: list[int] = field(default_factory=list[int])
    _extents: list[bytes] = field(default_factory=list[bytes])
    _terms: list[bytes] = field(default_factory=list[bytes])
    _privates: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    _rooms: list[int] = field(default_factory=list[int])

    def tables(self) -> Tables:
        """What was packed."""
        return Tables(
            bytearray(b"".join(self._steps)),
            bytearray(struct.pack(f"{len(self._numbers)}Q", *self._numbers)),
            struct.pack(f"{len(self._places)}Q", *self._places),
            b"".join(self._extents),
            b"".join(self._terms),
            tuple(self._privates),
            tuple(self._origins),
            tuple(self._rooms),
        )

    def add(self, number: int, step: Step, code: CompiledKernel | None, *, beside: bool) -> None:
        """Add the step of a number; `code` is that of a dispatch. `beside`: it does not depend on the one before."""
        match step:
            case DispatchStep():
                assert code is not None
                self._dispatch(number, step, code, beside)
            case FillStep(target):
                self._bytes(number, _FILL, (target,), beside)
            case CopyStep(source, target):
                self._bytes(number, _COPY, (source, target), beside)

    def _bytes(self, number: int, kind: int, ranges: Sequence[Range], beside: bool) -> None:
        places, numbers = self._place(ranges), self._number((ranges[0].size,))
        self._append(number, (kind, 0, *places, numbers, *(0,) * 11, beside, False))

    def _append(self, number: int, words: tuple[int, ...]) -> None:
        self._origins.append(number)
        self._steps.append(_STEP.pack(*words, 0.0, 0.0, 0.0, 0.0))

    def _place(self, ranges: Sequence[Range]) -> tuple[int, int]:
        """The number of the first place, and how many there are."""
        first = len(self._places) // 2
        for it in ranges:
            self._places += it.memory, it.offset
        return first, len(ranges)

    def _number(self, numbers: Sequence[int]) -> int:
        first = len(self._numbers)
        self._numbers += numbers
        return first

    def _dispatch(self, number: int, step: DispatchStep, code: CompiledKernel, beside: bool) -> None:
        given = [step.ranges[slot.point] for slot in code.slots]
        grid = (1, 1, 1) if isinstance(step.grid, GridFromMemory) else step.grid
        pairs = list(zip(code.slots, given, strict=True))
        constants = (*grid, *(slot.count(it.size) for slot, it in pairs if slot.length is not None))
        bound = [self._with_room(slot, it, constants) for slot, it in pairs]
        moved = [(slot, old, new) for (slot, old), new in zip(pairs, bound, strict=True) if old is not new]
        for _, old, new in moved:
            self._bytes(number, _FILL, (new,), beside=False)
            self._bytes(number, _COPY, (old, new), beside=False)
        self._call(number, step, code, bound, constants, beside and not moved)
        for slot, old, new in moved:
            if slot.is_written:
                self._bytes(number, _COPY, (Range(new.memory, 0, old.size), old), beside=False)

    def _with_room(self, slot: Slot, given: Range, constants: Sequence[int]) -> Range:
        """The range, or a memory of its own if the range lacks room for one element."""
        if not slot.needs_copy(given.size, constants):
            return given
        self._rooms.append(slot.needed(constants))
        return Range(self.memories + len(self._rooms) - 1, 0, self._rooms[-1])

    def _call(
        self,
        number: int,
        step: DispatchStep,
        code: CompiledKernel,
        ranges: Sequence[Range],
        constants: Sequence[int],
        beside: bool,
    ) -> None:
        ordered = list(ranges)
        for slot, it in zip(code.slots, ranges, strict=True):
            ordered[slot.parameter] = it
        function = code.function.for_workers(constants, self.workers)
        parameters = RunParameters.of(function.interface, constants)
        privates = len(self._privates)
        self._privates += parameters.privates
        grid = self._grid(step.grid, function.interface)
        words = (
            (_DISPATCH, function.code.address, *self._place(ordered), self._number(parameters.words)),
            (parameters.threads, parameters.scratch, privates, len(parameters.privates)),
            (*grid, beside, function.interface.is_quicker_alone),
        )
        self._append(number, (*words[0], *words[1], *words[2]))

    def _grid(self, grid: Grid, interface: Interface) -> tuple[int, ...]:
        """What a step has about a grid that is computed later: extents, the most invocations, and two formulas."""
        if not isinstance(grid, GridFromMemory):
            return (0,) * 7
        first, extents = len(self._extents), (*grid.extents, 1, 1)[:3]
        for extent, size in zip(extents, grid.workgroup_size, strict=True):
            self._extents.append(_EXTENT.pack(*_extent_words(extent), size))
        capacity = _NO_LIMIT if grid.capacity is None else min(grid.capacity, _NO_LIMIT)
        threads = product(interface.parallel)
        return first, len(extents), capacity, *self._formula(threads), *self._formula(interface.scratch_size)

    def _formula(self, value: Extent) -> tuple[int, int]:
        """The first term of an extent, and how many there are."""
        first = len(self._terms)
        assert depth(value) <= _MOST_DEPTH
        self._terms += [_TERM.pack(*it) for it in value]
        return first, len(self._terms) - first


def _extent_words(extent: int | ExtentInMemory) -> tuple[int, ...]:
    if isinstance(extent, ExtentInMemory):
        return 1, extent.is_signed, 0, extent.memory, extent.offset
    return 0, 0, extent, 0, 0
