"""Transposed accesses: for each lane, the elements of the gang's parts are consecutive in memory.

Each lane's elements of several parts are loaded and stored as one vector, and transposed in registers to and from the
vectors of the parts. Four words are transposed in each quarter of a vector of 16 by unpacking, and quarters are then
moved as a whole: processors have an instruction without a vector of indices for each of these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...layout import ScalarLayout
from ...llvm import Ops
from ..values.vectors import LaneVectors
from .interleave import Interleaved
from .vector_memory import VectorMemory, memory_type


class TransposedAccess:
    """Loads and stores of groups of parts; all lanes access memory."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory, interleaved: Interleaved) -> None:
        self._vectors = vectors
        self._vector_memory = vector_memory
        self._interleaved = interleaved
        self._lanes = vectors.lanes
        self._out = vectors.out

    def group(self, parts: int) -> int:
        """The number of parts to access at a time; 0 if there are too few."""
        size = self._lanes
        while parts % size:
            size //= 2
        return size if size >= _FEWEST else 0

    def load(self, leaf: ScalarLayout, group: int, pointer: Callable[[int], str]) -> list[str]:
        """The vectors of a group; `pointer` gives the pointer to a lane's element of the first part."""
        scalar, row = memory_type(leaf), Ops(self._out, group)
        order = self._order(leaf, group)
        pieces = [self._vector_memory.load(pointer(lane), leaf, None, row) for lane in order]
        rows = self._wide(scalar, group, pieces)
        if not self._is_in_quads(leaf, group):
            return self._interleaved.split(scalar, rows)
        quads = [self._transposed_quads(scalar, rows[first : first + _QUAD]) for first in range(0, group, _QUAD)]
        columns = [self._interleaved.split(scalar, it, unit=_QUAD) for it in zip(*quads, strict=True)]
        return [it for together in zip(*columns, strict=True) for it in together]

    def store(self, leaf: ScalarLayout, data: Sequence[str], pointer: Callable[[int], str]) -> None:
        """Store the vectors of a group."""
        group, scalar = len(data), memory_type(leaf)
        row, order = Ops(self._out, group), self._order(leaf, group)
        if self._is_in_quads(leaf, group):
            columns = [self._interleaved.join(scalar, data[it::_QUAD], unit=_QUAD) for it in range(_QUAD)]
            rows = [it for quads in zip(*columns, strict=True) for it in self._transposed_quads(scalar, quads)]
        else:
            rows = self._interleaved.join(scalar, data)
        in_one = self._lanes // group
        for number, wide in enumerate(rows):
            for at in range(in_one):
                numbers = range(at * group, (at + 1) * group)
                values = self._vectors.shuffle(scalar, wide, "poison", numbers) if in_one > 1 else wide
                self._vector_memory.store(values, pointer(order[number * in_one + at]), leaf, None, row)

    def _is_in_quads(self, leaf: ScalarLayout, group: int) -> bool:
        """Whether elements and groups fit the instructions for four words."""
        return leaf.size == _WORD and group % _QUAD == 0 and self._lanes % _QUAD == 0

    def _order(self, leaf: ScalarLayout, group: int) -> list[int]:
        """The lanes in the order in which their pieces fill vectors: for quads, each vector has every fourth lane of
        some adjacent ones.
        """
        if not self._is_in_quads(leaf, group):
            return list(range(self._lanes))
        near = _QUAD * (self._lanes // group)
        return [
            first + number + it
            for first in range(0, self._lanes, near)
            for number in range(_QUAD)
            for it in range(0, near, _QUAD)
        ]

    def _wide(self, scalar: str, group: int, pieces: list[str]) -> list[str]:
        """Vectors of some pieces each, in their order."""
        row = LaneVectors(Ops(self._out, group))
        while row.lanes < self._lanes:
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            pieces = [row.shuffle(scalar, left, right, range(2 * row.lanes)) for left, right in pairs]
            row = LaneVectors(Ops(self._out, 2 * row.lanes))
        return pieces

    def _transposed_quads(self, scalar: str, rows: Sequence[str]) -> list[str]:
        """Of four vectors, the first words of all quads, the second ones, and so on; this is its own inverse."""
        ahead = [(rows[0], rows[1]), (rows[2], rows[3])]
        words = (_LOW_WORDS, _HIGH_WORDS)
        halves = [[self._unpacked(scalar, left, right, numbers) for left, right in ahead] for numbers in words]
        pairs = (_LOW_PAIRS, _HIGH_PAIRS)
        return [self._unpacked(scalar, left, right, numbers) for left, right in halves for numbers in pairs]

    def _unpacked(self, scalar: str, left: str, right: str, numbers: Sequence[int]) -> str:
        """In each quad, some words of both vectors; those of the second one are numbered from four on."""
        wanted = [
            first + it % _QUAD + it // _QUAD * self._lanes for first in range(0, self._lanes, _QUAD) for it in numbers
        ]
        return self._vectors.shuffle(scalar, left, right, wanted)


_WORD = 4
_QUAD = 4
"""The words of 128 bits."""
_LOW_WORDS, _HIGH_WORDS = (0, 4, 1, 5), (2, 6, 3, 7)
_LOW_PAIRS, _HIGH_PAIRS = (0, 1, 4, 5), (2, 3, 6, 7)
_FEWEST = 4
"""The fewest parts of a group: shorter rows are not worth the shuffles."""
