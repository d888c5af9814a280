"""Transposed accesses: for each lane, the elements of the gang's parts are consecutive in memory.

Each lane's elements of several parts are loaded and stored as one vector, and transposed in registers to and from the
vectors of the parts.
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
        row = LaneVectors(Ops(self._out, group))
        pieces = [self._vector_memory.load(pointer(lane), leaf, None, row.vec) for lane in range(self._lanes)]
        while row.lanes < self._lanes:
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            numbers = range(2 * row.lanes)
            pieces = [row.shuffle(memory_type(leaf), left, right, numbers) for left, right in pairs]
            row = LaneVectors(Ops(self._out, 2 * row.lanes))
        return self._interleaved.split(memory_type(leaf), pieces)

    def store(self, leaf: ScalarLayout, data: Sequence[str], pointer: Callable[[int], str]) -> None:
        """Store the vectors of a group."""
        group, scalar = len(data), memory_type(leaf)
        row = Ops(self._out, group)
        in_one = self._lanes // group
        for number, piece in enumerate(self._interleaved.join(scalar, data)):
            for at in range(in_one):
                numbers = range(at * group, (at + 1) * group)
                values = self._vectors.shuffle(scalar, piece, "poison", numbers) if in_one > 1 else piece
                self._vector_memory.store(values, pointer(number * in_one + at), leaf, None, row)


_FEWEST = 4
"""The fewest parts of a group: shorter rows are not worth the shuffles."""
