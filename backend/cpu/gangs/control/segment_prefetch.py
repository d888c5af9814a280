"""Prefetches for lanes that iterate over adjacent segments of an array, such as the rows of a compressed sparse matrix.

The segments of all lanes are contiguous, but in each iteration each lane reads from another cache line, a pattern that
hardware prefetchers do not recognise. So each iteration prefetches as many bytes as it reads, starting behind the
gang's segments: these are the next gang's.
"""

from __future__ import annotations

from collections.abc import Iterator

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout
from ...storage import Storage
from ..analysis.body import Level
from ..analysis.segments import segment_counter
from ..context import GangContext
from ..memory.prefetch import prefetch
from ..values.values import GangValues


class SegmentPrefetch:
    """Finds loops over segments, and writes their prefetches."""

    def __init__(self, context: GangContext, values: GangValues) -> None:
        self._placed, self._plan, self._users = context.placed, context.plan, context.users
        self._site = context.site
        self._values = values

    def begin(self, level: Level) -> str | None:
        """Before a loop: make the slot that counts iterations; None if the loop has no segments."""
        if segment_counter(self._placed, level.header) is None:
            return None
        iterations = self._values.slots.make("i64")
        self._values.slots.store("i64", "0", iterations)
        return iterations

    def prefetch_next(self, level: Level, iterations: str) -> None:
        """Write the prefetches of an iteration, where the header's Phis are defined."""
        values, site, out = self._values, self._site, self._values.out
        counter = segment_counter(self._placed, level.header)
        assert counter is not None
        with site.at(level.header), site.in_part(site.count - 1):
            last = values.memory.lane("i32", values.vector(counter), str(site.lanes - 1))
        threads = site.lanes * site.count
        done = values.slots.load("i64", iterations)
        values.slots.store("i64", values.one.binary("add", "i64", done, "1"), iterations)
        behind = values.one.binary("mul", "i64", done, str(threads - 1))
        position = values.one.binary("add", "i64", behind, values.one.convert("zext", "i32", last, "i64"))
        for storage, stride in dict.fromkeys(self._segments(level, counter)):
            start = values.base(storage)
            first = out.value(f"getelementptr [{stride} x i8], ptr {start}, i64 {position}")
            prefetch(out, first, threads * stride)

    def _segments(self, level: Level, counter: h.Phi) -> Iterator[tuple[Storage, int]]:
        """The bindings whose element at the counter's position is read in each iteration, and the bytes of
        an element.
        """
        positions: list[h.Node] = [counter, *(it for it in self._users[counter] if isinstance(it, h.Cast))]
        for position in positions:
            for node in self._users[position]:
                match node:
                    case h.Read(collection=collection, indices=[h.PositionIndex(position=at), *_]) if at is position:
                        is_inside = self._placed.place.get(node) in level.leaders
                        storage = None if isinstance(collection, h.ConstantNode) else self._plan.of(collection)
                        if is_inside and storage is not None and storage.is_binding:
                            assert isinstance(storage.layout, ArrayLayout)
                            yield storage, storage.layout.stride
                    case _:
                        pass
