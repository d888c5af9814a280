"""Accesses at positions that are the lane number with some bits flipped, as in a sorting network.

The lanes' elements fill one aligned block of as many elements as there are lanes. The block is loaded or stored as
whole vectors, and the lanes' words are exchanged in registers: flipping bits twice gives the number again, so that
loads and stores permute alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...memory import Memory
from ..analysis.shapes import Kind
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, ValueQueries, words_of
from .interleave import Interleaved
from .register_permutes import RegisterPermutes
from .vector_memory import VectorMemory, memory_type

_WORDS = ("i32", "float")
_MOST_WORDS = 4
"""The most words of an element."""


class Permuted:
    """Accesses to scalars of one element, whose only position has the kind PERMUTED."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory, memory: Memory, values: ValueQueries) -> None:
        self._vectors = vectors
        self._interleaved = Interleaved(vectors, vector_memory)
        self._permutes = RegisterPermutes(vectors)
        self._memory = memory
        self._values = values
        self._one = vectors.one

    def applies_to(self, addresses: Sequence[LaneAddress]) -> bool:
        """Whether addresses are those of words in the elements at a PERMUTED position."""
        first = addresses[0]
        if first.is_private or len(first.varying) != 1 or any(it.varying != first.varying for it in addresses):
            return False
        size, stride = first.leaf.size, first.varying[0].stride
        is_known = all(it.offset is not None and it.offset % size == 0 for it in addresses)
        is_whole = stride % size == 0 and stride <= _MOST_WORDS * size
        return is_known and is_whole and self._values.shape(first.varying[0].position).kind is Kind.PERMUTED

    def first(self, addresses: Sequence[LaneAddress]) -> str:
        """The position of the first lane, an i64."""
        return self._vectors.lane("i64", self._values.vector(addresses[0].varying[0].position), "0")

    def test(self, addresses: Sequence[LaneAddress], first: str) -> str:
        """An i1: whether the block is in range."""
        last = self._one.binary("or", "i64", first, str(self._vectors.lanes - 1))
        return self._one.binary("icmp ult", "i64", last, self._memory.dynamic(addresses[0].varying[0].extent))

    def load(self, addresses: Sequence[LaneAddress], first: str) -> list[str]:
        """The lanes' words, if the test holds."""
        one, words = words_of(addresses)
        leaves = [it.leaf for it in addresses]
        wanted = dict(zip(words, leaves, strict=True))
        start, period = self._start(one, first), one.varying[0].stride // one.leaf.size
        data = self._interleaved.load(start, period, wanted, None, is_dense=one.offset == 0)
        by_word = dict(zip(wanted, data, strict=True))
        return [
            self._exchanged(memory_type(leaf), by_word[word], first) for word, leaf in zip(words, leaves, strict=True)
        ]

    def store(self, data: Sequence[str], addresses: Sequence[LaneAddress], first: str, mask: str | None) -> None:
        """Store the words of the lanes in the mask, if the test holds."""
        one, words = words_of(addresses)
        leaves = [it.leaf for it in addresses]
        moved = [self._exchanged(memory_type(leaf), it, first) for leaf, it in zip(leaves, data, strict=True)]
        given = dict(zip(words, zip(leaves, moved, strict=True), strict=True))
        period = one.varying[0].stride // one.leaf.size
        self._interleaved.store(self._start(one, first), period, given, self._exchanged_mask(mask, first))

    def _start(self, address: LaneAddress, first: str) -> str:
        """The pointer to the word of the block's first element."""
        block = self._one.binary("and", "i64", first, str(-self._vectors.lanes))
        element = f"getelementptr inbounds [{address.varying[0].stride} x i8], ptr {address.pointer}, i64 {block}"
        return self._vectors.out.value(element)

    def _exchanged(self, scalar: str, data: str, first: str) -> str:
        """A vector whose lanes are exchanged with those whose numbers differ in the bits that the first lane's has."""
        lanes, vec = self._vectors.lanes, self._vectors.vec
        if scalar in _WORDS and self._permutes.are_available():
            flipped = self._one.binary("and", "i64", first, str(lanes - 1))
            splat = self._vectors.splat(self._one.convert("trunc", "i64", flipped, "i32"), "i32")
            numbers = vec.binary("xor", "i32", splat, self._vectors.lane_numbers("i32"))
            return self._permutes.pick(scalar, data, data, numbers)
        bit = 1
        while bit < lanes:
            flipped = self._one.binary("icmp ne", "i64", self._one.binary("and", "i64", first, str(bit)), "0")
            swapped = self._vectors.shuffle(scalar, data, "poison", [lane ^ bit for lane in range(lanes)])
            data = vec.select(self._vectors.splat(flipped, "i1"), scalar, swapped, data)
            bit *= 2
        return data

    def _exchanged_mask(self, mask: str | None, first: str) -> str | None:
        if mask is None:
            return None
        vec = self._vectors.vec
        words = self._exchanged("i32", vec.convert("sext", "i1", mask, "i32"), first)
        return vec.binary("icmp ne", "i32", words, vec.constant("i32", 0))
