"""Places values in memory by liveness: values whose lives do not overlap share bytes.

`place` puts the largest first, each at the lowest offset that is free during its life, in the room that grows least. It
tries several orders and keeps the best; no order is best for all graphs, since the problem is NP-complete (Garey and
Johnson, "Computers and Intractability", 1979, problem SR2, dynamic storage allocation).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

ALIGNMENT: Final = 256
"""Offsets and sizes are multiples of so many bytes: WebGPU's `minStorageBufferOffsetAlignment`."""
_ENOUGH: Final = 1.02
"""A placement of so many times the live bytes is not tried to be improved."""
_MOST_VALUES: Final = 500
"""The number of values up to which several orders are tried."""
_TRIES: Final = 24
"""The number of random orders that are tried."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Life:
    """A value of `size` bytes that is used from step `start` to step `end`, both included.

    `apart` has the values, by their numbers, that may not lie in one room with it.
    """

    size: int
    start: int
    end: int
    apart: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Placement:
    """The sizes of rooms, and the room and offset of each value."""

    rooms: tuple[int, ...]
    places: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The bytes of all rooms."""
        return sum(self.rooms)


def aligned(size: int) -> int:
    """The bytes that a value takes."""
    return size + -size % ALIGNMENT


def live_bytes(lives: Sequence[Life]) -> int:
    """The most bytes that are live at a step."""
    changes: dict[int, int] = {}
    for life in lives:
        changes[life.start] = changes.get(life.start, 0) + aligned(life.size)
        changes[life.end + 1] = changes.get(life.end + 1, 0) - aligned(life.size)
    most = now = 0
    for step in sorted(changes):
        now += changes[step]
        most = max(most, now)
    return most


def place(lives: Sequence[Life], alone: Sequence[int] = (), largest_room: int = 1 << 62) -> Placement:
    """A place for each value. Those of `alone` have a room of exactly their size at offset 0, which other values may
    share while they are dead. Rooms of several values have at most `largest_room` bytes.
    """
    enough = _ENOUGH * live_bytes(lives)
    best: Placement | None = None
    for order in _orders(lives):
        found = _Rooms(lives, alone, largest_room).filled(order)
        best = found if best is None or found.size < best.size else best
        if best.size <= enough or len(lives) > _MOST_VALUES:
            break
    return best or Placement((), ())


def _orders(lives: Sequence[Life]) -> Iterable[list[int]]:
    numbers = range(len(lives))
    yield sorted(numbers, key=lambda it: (-lives[it].size, lives[it].start))
    yield sorted(numbers, key=lambda it: (lives[it].start, -lives[it].size))
    yield sorted(numbers, key=lambda it: (lives[it].start - lives[it].end, -lives[it].size))
    made = random.Random(0)
    for _ in range(_TRIES):
        yield sorted(numbers, key=lambda it: -lives[it].size * made.uniform(0.3, 1))


@dataclass(slots=True)
class _Room:
    size: int
    is_fixed: bool
    members: list[int] = field(default_factory=list[int])


class _Rooms:
    """Rooms while they are filled. Arrays are by the numbers of the values; an offset is -1 before it is known."""

    def __init__(self, lives: Sequence[Life], alone: Sequence[int], largest_room: int) -> None:
        self._lives = lives
        self._largest = largest_room
        self._starts: Numbers = np.array([it.start for it in lives], np.int64)
        self._ends: Numbers = np.array([it.end for it in lives], np.int64)
        self._sizes: Numbers = np.array([aligned(it.size) for it in lives], np.int64)
        self._rooms: list[_Room] = []
        self._places: dict[int, tuple[int, int]] = {}
        for number in alone:
            self._rooms.append(_Room(lives[number].size, is_fixed=True))
            self._put(number, len(self._rooms) - 1, 0)

    def filled(self, order: Sequence[int]) -> Placement:
        """The placement of the values in this order."""
        for number in order:
            if number not in self._places:
                self._put(number, *self._best(number))
        return Placement(tuple(it.size for it in self._rooms), tuple(self._places[it] for it in range(len(order))))

    def _best(self, number: int) -> tuple[int, int]:
        """The room that grows least, and the offset in it; a new room if there is none."""
        found = (int(self._sizes[number]), len(self._rooms), 0)
        for index, room in enumerate(self._rooms):
            offset = self._lowest(number, room)
            if offset is None:
                continue
            size = self._lives[number].size if room.is_fixed else int(self._sizes[number])
            growth = max(offset + size - room.size, 0)
            if growth and (room.is_fixed or offset + size > self._largest):
                continue
            found = min(found, (growth, index, offset))
        if found[1] == len(self._rooms):
            self._rooms.append(_Room(0, is_fixed=False))
        return found[1], found[2]

    def _lowest(self, number: int, room: _Room) -> int | None:
        """The lowest offset that is free during the life; None if a value that must be apart is there."""
        life, members = self._lives[number], np.array(room.members, np.int64)
        lives_too = members[(self._starts[members] <= life.end) & (self._ends[members] >= life.start)]
        neighbours = lives_too.tolist()
        if not life.apart.isdisjoint(neighbours):
            return None
        offset = 0
        for begin, end in sorted(
            (self._places[it][1], self._places[it][1] + int(self._sizes[it])) for it in neighbours
        ):
            if begin - offset >= self._sizes[number]:
                break
            offset = max(offset, end)
        return offset

    def _put(self, number: int, room: int, offset: int) -> None:
        self._places[number] = room, offset
        self._rooms[room].members.append(number)
        if not self._rooms[room].is_fixed:
            self._rooms[room].size = max(self._rooms[room].size, offset + int(self._sizes[number]))
