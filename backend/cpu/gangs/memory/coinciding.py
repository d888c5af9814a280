"""Loads of several words of an element that is likely the same for all lanes, in loops that lanes leave one by one.

Lanes that walk over a list each, as of the things in a cell of a grid or in a node of a tree, often walk over the
same list: threads side by side lie in one cell. If the lanes of a mask have one position, the words are loaded once and
given to all lanes, which takes less time than gathers on all processors. Of positions that are computed from counters
of loops, the counters are tested before the loop (`values.common_counters`). For others there is a test at each load; a
gang for which it fails does not test the position again, so that lanes with lists of their own lose little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.hercules import nodes as h
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries
from .vector_memory import memory_type

_WORD = 4
_FEWEST_WORDS = 2
"""The fewest words for which a test at each load takes little of the time of their gathers."""


class CoincidingLoads:
    """Loads of elements at positions that lanes may have in common."""

    def __init__(
        self, context: GangContext, vectors: LaneVectors, addresses: LaneAddresses, values: ValueQueries
    ) -> None:
        self._slots, self._site = context.slots, context.site
        self._vectors = vectors
        self._addresses = addresses
        self._values = values
        self._vec, self._one, self._out = vectors.vec, vectors.one, vectors.out
        self._failed: dict[tuple[h.Node, int], str] = {}
        """The slots that say, by position and part, whether a test has failed in the gang."""

    def applies_to(self, addresses: Sequence[LaneAddress]) -> bool:
        """Whether words of one element are loaded where lanes leave a loop one by one."""
        first = addresses[0]
        return (
            not first.is_private
            and len(first.varying) == 1
            and all(it.leaf.size == _WORD and it.varying == first.varying for it in addresses)
            and self._values.is_in_divergent_loop()
            and (len(addresses) >= _FEWEST_WORDS or self._values.common(first.varying[0].position) is not None)
        )

    def load(
        self, addresses: Sequence[LaneAddress], mask: str | None, otherwise: Callable[[], Sequence[str]]
    ) -> list[str]:
        """The lanes' words, as vectors of memory's type; lanes that are not in the mask have any value."""
        is_common, place, unit = self._counted(addresses[0]) or self._tested(addresses[0], mask)
        scalars = [memory_type(it.leaf) for it in addresses]

        def once() -> Sequence[str]:
            found = list[str]()
            for address, scalar in zip(addresses, scalars, strict=True):
                element = f"getelementptr [{unit} x i8], ptr {address.pointer}, i64 {place}"
                word = self._out.value(f"load {scalar}, ptr {self._out.pure(element)}, align {address.leaf.align}")
                found.append(self._vectors.splat(word, scalar))
            return found

        return self._vectors.either(is_common, scalars, once, otherwise)

    def _counted(self, address: LaneAddress) -> tuple[str, str, int] | None:
        """The same as `_tested`, where the position is computed from counters of loops: these were tested before."""
        (varying,) = address.varying
        common = self._values.common(varying.position)
        if common is None:
            return None
        return common.is_common, self._addresses.clamped(common.scalar, varying), varying.stride

    def _tested(self, address: LaneAddress, mask: str | None) -> tuple[str, str, int]:
        """Whether the lanes have one position, an i1, false after a test that failed; that position, an i64, and its
        unit in bytes.
        """
        lanes = self._addresses.lanes_of(address)
        out, slot = self._out, self._slot(address)
        before, testing, tested = out.current, out.fresh_block("testing"), out.fresh_block("tested")
        out.do(f"br i1 {self._slots.load('i1', slot)}, label %{tested}, label %{testing}")
        out.open_arm(testing, before)
        common = self._vectors.of_some_lane(lanes.index_type, lanes.index, mask)
        differs = self._vec.binary("icmp ne", lanes.index_type, lanes.index, common)
        if mask is not None:
            differs = self._vec.binary("and", "i1", mask, differs)
        has_failed = self._vectors.any(differs)
        self._slots.store("i1", has_failed, slot)
        is_same = self._one.binary("xor", "i1", has_failed, "true")
        place = self._one.convert("zext", lanes.index_type, self._vectors.lane(lanes.index_type, common, "0"), "i64")
        out.do(f"br label %{tested}")
        out.open_merge(tested, before)
        return (
            out.phi("i1", lambda: [("false", before), (is_same, testing)]),
            out.phi("i64", lambda: [("0", before), (place, testing)]),
            lanes.unit,
        )

    def _slot(self, address: LaneAddress) -> str:
        name = address.varying[0].position, self._site.part
        if name not in self._failed:
            self._failed[name] = self._slots.make("i1", 0)
        return self._failed[name]
