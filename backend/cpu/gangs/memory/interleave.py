"""Interleaved access: consecutive records, one for each lane, by whole vectors and shuffles.

A record has `period` *words*. Word `o` of lane `i` is word `i * period + o` in memory, which holds `period` vectors in
a row; for each `o`, the lanes want the vector of their words `o`. An even period is halved by one shuffle of two
vectors for each half; an odd one takes from each vector in turn. LLVM drops shuffles with unused results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...layout import ScalarLayout
from ..values.vectors import LaneVectors, mask_text
from .vector_memory import VectorMemory, memory_type

MOST_WORDS = 16
"""The most words of a record; longer records are gathered word by word."""
WORDS_FOR_EACH = 4
"""The most words of a record for each wanted one that are loaded or stored as whole vectors."""


class Interleaved:
    """Loads and stores of records."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory) -> None:
        self._vectors = vectors
        self._vector_memory = vector_memory
        self._lanes = vectors.lanes

    def load(
        self, pointer: str, period: int, words: Mapping[int, ScalarLayout], mask: str | None, *, is_dense: bool
    ) -> list[str]:
        """The vector of each of the `words`; `pointer` is that of word 0 of lane 0.

        Other words of the records of the mask's lanes may be read, too; if the records are not dense, none behind the
        last wanted word.
        """
        leaf = next(iter(words.values()))
        scalar = memory_type(leaf)
        end = self._lanes * period if is_dense else (self._lanes - 1) * period + max(words) + 1

        def part(number: int) -> str:
            wanted = [it < end for it in _numbers(number, self._lanes)]
            if not any(wanted):
                return "poison"
            start = self._part_of(pointer, leaf, number)
            return self._vector_memory.load(start, leaf, self._masked(wanted, number, mask, period))

        parts = self.split(scalar, list(map(part, range(period))))
        return [self._cast(parts[word], scalar, memory_type(layout)) for word, layout in words.items()]

    def _masked(self, wanted: Sequence[bool], number: int, mask: str | None, period: int) -> str | None:
        """The mask of a vector in memory: wanted words of lanes in the mask; None for all."""
        constant = None if all(wanted) else mask_text(wanted)
        if mask is None:
            return constant
        lanes = mask
        if period > 1:
            numbers = (it // period for it in _numbers(number, self._lanes))
            lanes = self._vectors.shuffle("i1", mask, "poison", numbers)
        return lanes if constant is None else self._vectors.vec.binary("and", "i1", lanes, constant)

    def store(self, pointer: str, period: int, words: Mapping[int, tuple[ScalarLayout, str]], mask: str | None) -> None:
        """Store vectors of memory's type to words of the lanes in the mask, and touch no other memory."""
        leaf, _ = next(iter(words.values()))
        for number, (part, start) in enumerate(self.rows(pointer, period, words)):
            wanted = [it % period in words for it in _numbers(number, self._lanes)]
            if mask is None and not all(wanted):
                self._vector_memory.store_some(part, start, leaf, wanted)
            elif any(wanted):
                self._vector_memory.store(part, start, leaf, self._masked(wanted, number, mask, period))

    def rows(self, pointer: str, period: int, words: Mapping[int, tuple[ScalarLayout, str]]) -> list[tuple[str, str]]:
        """The vectors in memory's order with their pointers; other words are poison."""
        leaf, _ = next(iter(words.values()))
        scalar = memory_type(leaf)
        given = ["poison"] * period
        for word, (layout, data) in words.items():
            given[word] = self._cast(data, memory_type(layout), scalar)
        parts = self.join(scalar, given)
        return [(part, self._part_of(pointer, leaf, number)) for number, part in enumerate(parts)]

    def _part_of(self, pointer: str, leaf: ScalarLayout, number: int) -> str:
        offset = number * self._lanes * leaf.size
        return self._vectors.out.pure(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def _cast(self, data: str, source: str, target: str) -> str:
        return self._vectors.vec.convert("bitcast", source, data, target)

    def split(self, scalar: str, parts: Sequence[str], unit: int = 1) -> list[str]:
        """Shuffles vectors in memory's order into a vector for each word of the period. With a `unit`, units of so many
        words take the place of words; the period is a power of two then.
        """
        period, count = len(parts), self._lanes // unit
        assert unit == 1 or period & (period - 1) == 0
        if period == 1:
            return list(parts)
        if period % 2 == 0:
            halves = [
                self.split(
                    scalar,
                    [self._shuffle(scalar, *pair, _words(range(odd, 2 * count, 2), unit)) for pair in _pairs(parts)],
                    unit,
                )
                for odd in (0, 1)
            ]
            return [halves[word % 2][word // 2] for word in range(period)]
        return [
            self._collected(scalar, parts, [divmod(lane * period + word, count) for lane in range(count)])
            for word in range(period)
        ]

    def join(self, scalar: str, words: Sequence[str], unit: int = 1) -> list[str]:
        """The inverse of `split`."""
        period, count = len(words), self._lanes // unit
        if period == 1:
            return list(words)
        if period == count:  # a square, of which instructions take even and odd parts rather than put them together
            return self.split(scalar, words, unit)
        if period % 2 == 0:
            parts: list[str] = []
            halves = self.join(scalar, words[::2], unit), self.join(scalar, words[1::2], unit)
            for pair in zip(*halves, strict=True):
                for first in (0, count // 2):
                    numbers = [it for lane in range(first, first + count // 2) for it in (lane, lane + count)]
                    parts.append(self._shuffle(scalar, *pair, _words(numbers, unit)))
            return parts
        return [
            self._collected(scalar, words, [(number % period, number // period) for number in _numbers(part, count)])
            for part in range(period)
        ]

    def _collected(self, scalar: str, sources: Sequence[str], wanted: Sequence[tuple[int, int]]) -> str:
        """The vector of elements given by (source, lane)."""
        result = "poison"
        for number, source in enumerate(sources):
            if any(it == number for it, _ in wanted) and source != "poison":
                numbers = [self._lanes + lane if it == number else here for here, (it, lane) in enumerate(wanted)]
                result = self._shuffle(scalar, result, source, numbers)
        return result

    def _shuffle(self, scalar: str, left: str, right: str, numbers: Iterable[int]) -> str:
        if left == right == "poison":
            return "poison"
        return self._vectors.shuffle(scalar, left, right, numbers)


def _pairs(parts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


def _words(units: Iterable[int], unit: int) -> Iterator[int]:
    """The numbers of the words of some units."""
    return (it * unit + word for it in units for word in range(unit))


def _numbers(part: int, lanes: int) -> range:
    return range(part * lanes, (part + 1) * lanes)
