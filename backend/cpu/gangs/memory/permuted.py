"""Loads from positions that are a lane's number with some bits flipped, as partners in a sorting network have them.

The lanes' elements fill one aligned block of as many elements: it is loaded whole, and for each bit that is flipped in
the numbers, neighbours change places.
"""

from __future__ import annotations

from ...memory import Memory
from ..analysis.shapes import Kind
from ..values.vectors import LaneVectors
from .moves import Moves, memory_type
from .places import Place, Values


class Permuted:
    """Places whose one position has the kind PERMUTED."""

    def __init__(self, vectors: LaneVectors, moves: Moves, memory: Memory, values: Values) -> None:
        self._vectors = vectors
        self._moves = moves
        self._memory = memory
        self._values = values
        self._one = vectors.one

    def is_one(self, place: Place) -> bool:
        """Whether a place is so."""
        if place.is_private or len(place.parts) != 1 or place.parts[0].stride != place.leaf.size:
            return False
        return self._values.shape(place.parts[0].position).kind is Kind.PERMUTED

    def first(self, place: Place) -> str:
        """The position of the first lane, an i64."""
        return self._vectors.lane("i64", self._values.vector(place.parts[0].position), "0")

    def test(self, place: Place, first: str) -> str:
        """Whether the block is in range."""
        last = self._one.binary("or", "i64", first, str(self._vectors.lanes - 1))
        return self._one.binary("icmp ult", "i64", last, self._memory.dynamic(place.parts[0].extent))

    def load(self, place: Place, first: str) -> str:
        """The lanes' elements; the test has held."""
        scalar, (part,), lanes = memory_type(place.leaf), place.parts, self._vectors.lanes
        block = self._one.binary("and", "i64", first, str(-lanes))
        element = f"getelementptr inbounds [{part.stride} x i8], ptr {place.pointer}, i64 {block}"
        data = self._moves.load(self._vectors.out.value(element), place.leaf, None)
        bit = 1
        while bit < lanes:
            flipped = self._one.binary("icmp ne", "i64", self._one.binary("and", "i64", first, str(bit)), "0")
            swapped = self._vectors.shuffle(scalar, data, "poison", [lane ^ bit for lane in range(lanes)])
            data = self._vectors.vec.select(self._vectors.splat(flipped, "i1"), scalar, swapped, data)
            bit *= 2
        return data
