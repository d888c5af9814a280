"""One run of a sequence, which may take several calls into C while better machine code is compiled."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from . import _pool
from .aligned import address_of, aligned_zeros
from .packed_steps import Tables
from .sequence_steps import Range, RefusedGrid, SequenceRun
from .threads import shared_pool

_MOST = (1 << 63) - 1
"""The most executions, which last centuries."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a call into C has done: executions, whether `until` has ended them, and the grid that was refused."""

    executions: int
    is_ended: bool
    refused: RefusedGrid | None
    seconds: tuple[float, ...]


@dataclass(slots=True)
class Run:
    """A run on memories at these addresses, of at most so many executions."""

    addresses: tuple[int, ...]
    executions: int
    swaps: tuple[int, ...]
    until: Range | None
    is_timed: bool
    _executed: int = 0
    _is_ended: bool = False
    _refused: RefusedGrid | None = None
    _seconds: tuple[float, ...] = ()
    _turns: int = 0
    """How often memories have changed places before the execution that was last."""

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
        places = self._after(self._turns, tuple(range(len(self.addresses))))
        return SequenceRun(self._executed, self._seconds, places, self._refused)

    def execute(self, tables: Tables, executions: int, stop: _pool.Stop | None) -> None:
        """Execute the steps so many times, or until the end."""
        self.accept(self.attempt(tables, executions, stop))

    def attempt(self, tables: Tables, executions: int, stop: _pool.Stop | None) -> Done:
        """Execute the steps on the memories; `accept` comes then, unless their contents before are restored."""
        steps = bytearray(tables.steps) if self.is_timed else tables.steps
        numbers = bytearray(tables.numbers) if tables.extents else tables.numbers
        rooms = [aligned_zeros(size) for size in tables.rooms]
        first = self._after(self._turns + (self._executed > 0), self.addresses)
        addresses = (*first, *map(address_of, rooms))
        swaps = (*self.swaps, *range(len(first), len(addresses))) if self.swaps else ()
        executed, is_ended, refused, extents = shared_pool().run_sequence(
            steps,
            numbers,
            bytearray(_words(addresses)),
            tables.places,
            tables.extents,
            tables.terms,
            _words(swaps),
            b"" if self.until is None else _words((self.until.memory, self.until.offset)),
            tables.privates,
            min(executions, _MOST),
            self.is_timed,
            stop,
        )
        refusal = None if refused < 0 else RefusedGrid(tables.origins[refused], extents)
        return Done(executed, is_ended, refusal, tables.learn(steps) if self.is_timed else ())

    def accept(self, done: Done) -> None:
        """Go on from what was done."""
        begun = done.executions + (done.refused is not None)
        self._turns += begun if self._executed else max(begun - 1, 0)
        self._executed += done.executions
        self._is_ended, self._refused = done.is_ended, done.refused
        if done.seconds:
            before = self._seconds or (0.0,) * len(done.seconds)
            self._seconds = tuple(a + b for a, b in zip(before, done.seconds, strict=True))

    def _after(self, turns: int, items: tuple[int, ...]) -> tuple[int, ...]:
        """What the numbers stand for after so many swaps."""
        power, result = self.swaps, items
        while turns and power:
            if turns & 1:
                result = tuple(result[it] for it in power)
            power, turns = _twice(power), turns >> 1
        return result


def _twice(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order[it] for it in order)


def _words(numbers: tuple[int, ...] | list[int]) -> bytes:
    return struct.pack(f"{len(numbers)}Q", *numbers)
