"""Accesses of a gang of several rows of lanes: the elements of a row are consecutive, rows are apart."""

from __future__ import annotations

from ...layout import ScalarLayout
from ...llvm import Ops
from ..values.vectors import LaneVectors, vector_text
from .vector_memory import LaneIndices, VectorMemory, memory_type


class Rows:
    """Loads and stores of rows of `row` lanes, whose indices are in range."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory, row: int) -> None:
        self._vectors = vectors
        self._vector_memory = vector_memory
        self._row = row
        self._lanes = vectors.lanes
        self._out = vectors.out

    def follows(self, lanes: LaneIndices) -> str:
        """An i1: whether the elements of each row are consecutive."""
        vectors, type = self._vectors, lanes.index_type
        firsts = [lane // self._row * self._row for lane in range(self._lanes)]
        first = vectors.shuffle(type, lanes.index, "poison", firsts)
        numbers = vector_text(type, (lane % self._row for lane in range(self._lanes)))
        expected = vectors.vec.binary("add", type, first, numbers)
        return vectors.is_full(vectors.vec.binary("icmp eq", type, lanes.index, expected))

    def load_one_each(self, lanes: LaneIndices, leaf: ScalarLayout) -> str:
        """The lanes' elements if each row has one; it is loaded whatever the mask, since it is in range."""
        scalar, vector = memory_type(leaf), "poison"
        type = self._vectors.vec.type(scalar)
        for row, pointer in enumerate(self._pointers(lanes)):
            element = self._out.value(f"load {scalar}, ptr {pointer}, align {leaf.align}")
            vector = self._out.pure(f"insertelement {type} {vector}, {scalar} {element}, i64 {row}")
        return self._vectors.shuffle(scalar, vector, "poison", (lane // self._row for lane in range(self._lanes)))

    def load(self, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> str:
        """The concatenation of the rows' vectors."""
        pointers, scalar = self._pointers(lanes), memory_type(leaf)
        if len(pointers) == 1:
            return self._vector_memory.load(pointers[0], leaf, mask)
        part = LaneVectors(Ops(self._out, self._row))
        rows = [
            self._vector_memory.load(pointer, leaf, self._mask_of(mask, row), part.vec)
            for row, pointer in enumerate(pointers)
        ]
        while len(rows) > 1:
            pairs = zip(rows[::2], rows[1::2], strict=True)
            rows = [part.shuffle(scalar, left, right, range(2 * part.lanes)) for left, right in pairs]
            part = LaneVectors(Ops(self._out, 2 * part.lanes))
        return rows[0]

    def store(self, data: str, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> None:
        """Store each row as a vector."""
        part = Ops(self._out, self._row)
        for row, pointer in enumerate(self._pointers(lanes)):
            piece = self._row_of(memory_type(leaf), data, row)
            self._vector_memory.store(piece, pointer, leaf, self._mask_of(mask, row), part)

    def _pointers(self, lanes: LaneIndices) -> list[str]:
        """The pointer to the first element of each row."""
        pointers: list[str] = []
        for first in range(0, self._lanes, self._row):
            index = self._vectors.lane(lanes.index_type, lanes.index, str(first))
            pointers.append(
                self._out.pure(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {lanes.index_type} {index}")
            )
        return pointers

    def _mask_of(self, mask: str | None, row: int) -> str | None:
        return None if mask is None else self._row_of("i1", mask, row)

    def _row_of(self, scalar: str, vector: str, row: int) -> str:
        first = row * self._row
        return self._vectors.shuffle(scalar, vector, "poison", range(first, first + self._row))
