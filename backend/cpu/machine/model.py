"""What things cost on a processor: the numbers that choices of code are made from."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Literal

from ....base.records import dataclass

Source = Literal["measured", "table", "assumed"]
"""Measured on this machine; from the table of known processors; or those of a processor that is taken to be similar."""


@dataclass(frozen=True, slots=True)
class AccessCosts:
    """Nanoseconds for one vector of 32-bit lanes of the target, in the first-level cache, many after one another.

    `conflicts` is None for a target without such an instruction.
    """

    gather: float
    """The gather that LLVM makes of `llvm.masked.gather`, an instruction or not."""
    loads: float
    """A load for each lane, whose index is in memory, put into a vector."""
    scatter: float
    """The scatter that LLVM makes of `llvm.masked.scatter`."""
    stores: float
    """A store for each lane, whose index is in memory and whose value is in a vector."""
    shuffle: float
    """The lanes of a vector in the order that another vector says."""
    masked_store: float
    conflicts: float | None
    """For each lane, which lanes before it are equal."""
    counters: float
    """An increment for each lane of a counter, whose index is taken out of a vector."""
    stored_counters: float
    """The same, where the vector of indices is stored and its elements are loaded."""
    atomic: float
    """One atomic addition that no other processor disturbs."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A level of the caches. `bandwidth` is that of one processor that reads half as many bytes, in GB/s."""

    level: int
    size: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Copying:
    """Copying half of `size` bytes to the other half, again and again, on all processors: with ordinary stores, and
    with stores past the caches, in GB/s that are read and written.
    """

    size: int
    ordinary: float
    past: float


@dataclass(frozen=True, slots=True)
class MachineCosts:
    """The costs of a processor for a target. `bandwidth` is that of reading memory beyond all caches, in GB/s.

    `wake_up` is the time in seconds from a call until a sleeping worker has begun, 0 if it could not be measured.
    `copies` are for several sizes, smallest first, none if these were not measured; of `copies_apart` each line goes to
    a place far from the one before.
    """

    processor: str
    target: str
    source: Source
    access: AccessCosts
    caches: tuple[Cache, ...]
    bandwidth: float
    wake_up: float
    copies: tuple[Copying, ...] = ()
    copies_apart: tuple[Copying, ...] = ()

    @property
    def cached_bytes(self) -> int:
        """The most data that the caches of the machine help with: more comes from memory each time.

        With more, stores past the caches gain. A processor may read no faster from a cache that it shares with many
        others than from memory, and still be spared writing to memory.
        """
        return self._helped(self.copies)

    @property
    def cached_bytes_apart(self) -> int:
        """The same for lines that are stored far apart. A line is read before an ordinary store, and of such lines no
        processor knows early which one is next, so that it waits for those that are in no cache of its own.
        """
        return self._helped(self.copies_apart)

    def _helped(self, copies: Sequence[Copying]) -> int:
        """The size beyond which stores past the caches gain most in all: one odd measurement does not decide that."""
        if not copies:
            return max((it.size for it in self.faster_caches), default=_LEAST_CACHED)
        gains = [log(it.past / (_GAINS * it.ordinary)) for it in copies]
        ends = range(1, len(copies) + 1)
        return copies[max(ends, key=lambda end: (sum(gains[end:]), end)) - 1].size

    @property
    def faster_caches(self) -> list[Cache]:
        """The caches that are read faster than memory, and those that are closer, the closest first."""
        found = sorted(self.caches, key=lambda it: it.level)
        while found and found[-1].bandwidth < _HELPS * self.bandwidth:
            del found[-1]
        return found


_HELPS = 1.25
"""A cache is read faster than memory if it is by this factor. A virtual machine may see caches that others fill."""
_GAINS = 1.2
"""Stores past the caches gain something if copies with them are faster by this factor. Beyond all caches it is about
1.5, since ordinary stores read the lines first. Less may be gained within the caches, too, but does not make up for
what later dispatches then have to read from memory, nor for computations that wait for stores.
"""
_LEAST_CACHED = 1 << 20
