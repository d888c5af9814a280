"""One run of a sequence, which may take several calls into C while better machine code is compiled."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from . import _pool
from .device import Bytes
from .packed_steps import Tables
from .sequence_steps import Range, RefusedGrid, SequenceRun
from .threads import shared_pool

_ALIGN = 64
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Done:
    """What a call into C has done: executions, whether `until` has ended them, and the grid that was refused."""

    executions: int
    is_ended: bool
    refused: RefusedGrid | None
    seconds: tuple[float, ...]


@dataclass(slots=True)
class Run:
    """A run on memories, of at most so many executions; `steps` is the number of steps."""

    memories: list[Bytes]
    """In the order of their numbers, as these are in the execution that was last."""
    executions: int
    swaps: tuple[int, ...]
    until: Range | None
    is_timed: bool
    steps: int
    _executed: int = 0
    _is_ended: bool = False
    _refused: RefusedGrid | None = None
    _seconds: list[float] = field(default_factory=list[float])
    _places: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._seconds = [0.0] * self.steps
        self._places = tuple(range(len(self.memories)))
        if not self.steps:
            self.accept(Done(self.executions, is_ended=False, refused=None, seconds=()))

    @property
    def left(self) -> int:
        """How many executions may follow."""
        return self.executions - self._executed

    @property
    def is_over(self) -> bool:
        """Whether none follows."""
        return self._is_ended or self._refused is not None or self.left <= 0

    def result(self) -> SequenceRun:
        """What was done."""
        seconds = tuple(self._seconds) if self.is_timed else ()
        return SequenceRun(self._executed, seconds, self._places, self._refused)

    def execute(self, tables: Tables, executions: int, stop: _pool.Stop | None) -> None:
        """Execute the steps so many times, or until the end."""
        self.accept(self.attempt(tables, executions, stop))

    def attempt(self, tables: Tables, executions: int, stop: _pool.Stop | None) -> Done:
        """Execute the steps on the memories; `accept` comes then, unless their contents before are restored."""
        steps, numbers = bytearray(tables.steps), bytearray(tables.numbers)
        rooms = [aligned_room(size) for size in tables.rooms]
        memories = self._after(1 if self._executed else 0, self.memories)
        addresses = [address_of(it) for it in (*memories, *rooms)]
        swaps = (*self.swaps, *range(len(memories), len(addresses))) if self.swaps else ()
        executed, is_ended, refused, extents = shared_pool().run_sequence(
            steps,
            numbers,
            bytearray(_words(addresses)),
            tables.places,
            tables.extents,
            _words(swaps),
            b"" if self.until is None else _words((self.until.memory, self.until.offset)),
            tables.privates,
            executions,
            self.is_timed,
            stop,
        )
        refusal = None if refused < 0 else RefusedGrid(tables.origins[refused], extents)
        return Done(executed, is_ended, refusal, tables.learn(steps, self.steps))

    def accept(self, done: Done) -> None:
        """Go on from what was done."""
        begun = done.executions + (done.refused is not None)
        turns = begun if self._executed else max(begun - 1, 0)
        self.memories = self._after(turns, self.memories)
        self._places = tuple(self._after(turns, list(self._places)))
        self._executed += done.executions
        self._is_ended, self._refused = done.is_ended, done.refused
        self._seconds = [a + b for a, b in zip(self._seconds, done.seconds, strict=True)]

    def _after(self, turns: int, items: list[_Item]) -> list[_Item]:
        """What the numbers stand for after so many swaps."""
        power, result = self.swaps, items
        while turns and power:
            if turns & 1:
                result = [result[it] for it in power]
            power, turns = _twice(power), turns >> 1
        return result


def _twice(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order[it] for it in order)


def address_of(memory: Bytes) -> int:
    """Where it begins."""
    return int(memory.__array_interface__["data"][0])


def aligned_room(size: int) -> Bytes:
    """Zeroed bytes at an aligned address."""
    room = np.zeros(size + _ALIGN, np.uint8)
    start = -address_of(room) % _ALIGN
    return room[start : start + size]


def _words(numbers: tuple[int, ...] | list[int]) -> bytes:
    return struct.pack(f"{len(numbers)}Q", *numbers)
