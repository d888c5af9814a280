"""Loads from positions that are the lane number with some bits flipped, as in a sorting network.

The lanes' elements fill one aligned block of as many elements as there are lanes. The block is loaded as a vector, and
for each flipped bit a shuffle exchanges the lanes whose numbers differ in that bit.
"""

from __future__ import annotations

from ...memory import Memory
from ..analysis.shapes import Kind
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, ValueQueries
from .vector_memory import VectorMemory, memory_type


class Permuted:
    """Loads from addresses whose only position has the kind PERMUTED."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory, memory: Memory, values: ValueQueries) -> None:
        self._vectors = vectors
        self._vector_memory = vector_memory
        self._memory = memory
        self._values = values
        self._one = vectors.one

    def applies_to(self, address: LaneAddress) -> bool:
        """Whether an address has only a PERMUTED position."""
        if address.is_private or len(address.varying) != 1 or address.varying[0].stride != address.leaf.size:
            return False
        return self._values.shape(address.varying[0].position).kind is Kind.PERMUTED

    def first(self, address: LaneAddress) -> str:
        """The position of the first lane, an i64."""
        return self._vectors.lane("i64", self._values.vector(address.varying[0].position), "0")

    def test(self, address: LaneAddress, first: str) -> str:
        """An i1: whether the block is in range."""
        last = self._one.binary("or", "i64", first, str(self._vectors.lanes - 1))
        return self._one.binary("icmp ult", "i64", last, self._memory.dynamic(address.varying[0].extent))

    def load(self, address: LaneAddress, first: str) -> str:
        """The lanes' elements, if the test holds."""
        scalar, (part,), lanes = memory_type(address.leaf), address.varying, self._vectors.lanes
        block = self._one.binary("and", "i64", first, str(-lanes))
        element = f"getelementptr inbounds [{part.stride} x i8], ptr {address.pointer}, i64 {block}"
        data = self._vector_memory.load(self._vectors.out.value(element), address.leaf, None)
        bit = 1
        while bit < lanes:
            flipped = self._one.binary("icmp ne", "i64", self._one.binary("and", "i64", first, str(bit)), "0")
            swapped = self._vectors.shuffle(scalar, data, "poison", [lane ^ bit for lane in range(lanes)])
            data = self._vectors.vec.select(self._vectors.splat(flipped, "i1"), scalar, swapped, data)
            bit *= 2
        return data
