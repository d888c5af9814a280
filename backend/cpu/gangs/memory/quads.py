"""Loads of four adjacent 32-bit words for each lane: one load of 128 bits a lane, and a transposition in registers.

Gathers of a vector's components take two to three times as long where a gather is a series of loads, as on AMD's
processors, and on those without gathers (AMD EPYC, Zen 4: 16 texels of four words in 7.5 ns instead of 14.6). Where
gathers are fast, they take less: bicubic interpolation takes 0.73 of the time with them (Intel, Emerald Rapids).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...layout import ScalarLayout
from ...machine import AccessCosts
from ..values.vectors import LaneVectors, vector_text
from .vector_memory import LaneIndices, memory_type

WORDS = 4
_MOST_LANES = 16
_MIXING = 8
"""The shuffles that transpose four words of each lane."""


def quads_pay(costs: AccessCosts, lanes: int, words: int) -> bool:
    """Whether a load for each lane of the widest vectors, their joining and mixing take less than gathers."""
    shuffles = lanes - lanes // WORDS + _MIXING
    return costs.loads + shuffles * costs.shuffle < words * costs.gather


class Quads:
    """Loads records of four words."""

    def __init__(self, vectors: LaneVectors) -> None:
        self._vectors = vectors
        self._out = vectors.out
        self._lanes = vectors.lanes
        self._costs = vectors.out.module.costs

    def are_for(self, words: int) -> bool:
        """Whether so many words of each lane are loaded so: lanes fill whole vectors of four words, and at most one of
        the widest, and gathers of the words take longer.
        """
        fits = self._lanes % WORDS == 0 and self._lanes <= _MOST_LANES and self._lanes & (self._lanes - 1) == 0
        return fits and quads_pay(self._costs, self._out.module.target.vector_bytes // 4, words)

    def load(self, lanes: LaneIndices, leaves: Sequence[ScalarLayout]) -> list[str]:
        """The vectors of the words at the lanes' addresses, which all are in range."""
        rows = self._rows(lanes, leaves[0].align)
        quarters = self._lanes // WORDS
        first, second, third, fourth = (self._joined(rows[it::WORDS]) for it in range(WORDS))
        low, high = (0, 4, 1, 5), (2, 6, 3, 7)
        ends = [
            self._mixed(one, other, quarters, it)
            for it in (low, high)
            for one, other in ((first, second), (third, fourth))
        ]
        words = [
            self._mixed(ends[it], ends[it + 1], quarters, half)
            for it in (0, 2)
            for half in ((0, 1, 4, 5), (2, 3, 6, 7))
        ]
        return [
            self._vectors.vec.convert("bitcast", "i32", word, memory_type(leaf))
            for word, leaf in zip(words, leaves, strict=False)
        ]

    def _rows(self, lanes: LaneIndices, align: int) -> list[str]:
        """The four words of each lane. Indices pass through memory, from where scalars are loaded faster than they are
        taken out of a vector.
        """
        out, type = self._out, self._vectors.vec.type(lanes.index_type)
        with out.at_entry():
            place = out.value(f"alloca {type}")
        out.do(f"store {type} {lanes.index}, ptr {place}")
        found: list[str] = []
        for lane in range(self._lanes):
            at = out.pure(f"getelementptr {lanes.index_type}, ptr {place}, i64 {lane}")
            index = out.value(f"load volatile {lanes.index_type}, ptr {at}")
            wide = out.value(f"zext {lanes.index_type} {index} to i64")
            pointer = out.value(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, i64 {wide}")
            found.append(out.value(f"load <4 x i32>, ptr {pointer}, align {align}"))
        return found

    def _joined(self, rows: Sequence[str]) -> str:
        """Vectors one after another as one; there are one, two or four."""
        size, rows = WORDS, list(rows)
        while len(rows) > 1:
            numbers = vector_text("i32", range(2 * size))
            rows = [
                self._out.value(
                    f"shufflevector <{size} x i32> {one}, <{size} x i32> {other}, <{2 * size} x i32> {numbers}"
                )
                for one, other in zip(rows[::2], rows[1::2], strict=True)
            ]
            size *= 2
        return rows[0]

    def _mixed(self, one: str, other: str, quarters: int, chosen: Sequence[int]) -> str:
        """Of each four words of two vectors those with these numbers; 4 to 7 are in the second vector."""
        numbers = [
            WORDS * quarter + it % WORDS + (self._lanes if it >= WORDS else 0)
            for quarter in range(quarters)
            for it in chosen
        ]
        return self._vectors.shuffle("i32", one, other, numbers)
