"""Loads of elements that lie close together, in any order: by vectors and a permutation.

In workgroup memory, the lanes' elements are compared with a *window*: as many elements as two vectors have. If all are
inside, which a test at run time says whatever formula the positions come from, the window is loaded as two vectors,
from which each lane picks its element. Strides of two, the pairs of sorting and merging networks and of butterflies,
flipped bits, rotations, and tables of a few elements are of that kind.

A window starts at the first lane's element, rounded down to a whole vector; if that fails, at that element itself,
where the gang has few parts; if that fails too, elements are gathered.

In buffers, a window is one vector: for positions that rise from lane to lane and are limited at the border of an array,
so that all elements lie within a vector from that of the first lane on, or at the end of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import gcd

from .....ir.hercules import nodes as h
from ...layout import ScalarLayout
from ...machine import AccessCosts
from ...memory import WINDOW_PADDING, Memory
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries, words_of
from .interleave import Interleaved
from .register_permutes import RegisterPermutes
from .runs import Run
from .vector_memory import LaneIndices, VectorMemory, memory_type

_WORD = 4
_MOST_WORDS = 4
"""The most words of an element, so that a window past the end of an array stays within the storage's padding."""
_MOST_PARTS = 8
"""The most parts of a gang that loads by windows. With 16 parts, compiling takes 1.5 times as long."""
_FEW_PARTS = 4
"""The most parts of a gang that tries two windows."""
_TEST_AND_PICK = 6
"""The operations on registers, each as long as a shuffle, that take the place of a gather."""


class Windows:
    """Loads by windows."""

    def __init__(self, vectors: LaneVectors, addresses: LaneAddresses, parts: int) -> None:
        self._vectors = vectors
        self._addresses = addresses
        self._parts = parts
        permutes = RegisterPermutes(vectors)
        self._are_fast = permutes.are_available() and parts <= _MOST_PARTS and windows_pay(vectors.out.module.costs)

    def applies_to(self, addresses: Sequence[LaneAddress]) -> bool:
        """Whether scalars of one element at each lane's position are loaded by windows."""
        if not addresses[0].varying or not self._are_fast:
            return False
        first, _ = words_of(addresses)
        size = _element_size(first)
        return (
            all(it.is_padded and it.leaf.size == _WORD and it.offset is not None for it in addresses)
            and all(it.varying == first.varying for it in addresses)
            and size % _WORD == 0
            and size <= _MOST_WORDS * _WORD
            and max(it.offset or 0 for it in addresses) - (first.offset or 0) < size
            and (2 * self._vectors.lanes + 1) * size <= WINDOW_PADDING
        )

    def load(self, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        """The lanes' scalars, as vectors of memory's type; lanes that are not in the mask have any value."""
        first, words = words_of(addresses)
        layouts = dict(sorted(zip(words, (it.leaf for it in addresses), strict=True)))
        lanes = self._addresses.lanes_by(first, _element_size(first), "i32")
        load = _WindowLoad(self._vectors, lanes, layouts, mask)
        by_word = dict(zip(layouts, load.emit(2 if self._parts <= _FEW_PARTS else 1), strict=True))
        return [by_word[word] for word in words]


class BorderLoads:
    """Loads of the words of a buffer, for runs whose test does not hold."""

    def __init__(self, vectors: LaneVectors, addresses: LaneAddresses, memory: Memory, values: ValueQueries) -> None:
        self._vectors, self._addresses, self._memory, self._values = vectors, addresses, memory, values
        self._one, self._vec, self._out = vectors.one, vectors.vec, vectors.out
        self._vector_memory = VectorMemory(vectors)
        self._permutes = RegisterPermutes(vectors)
        self._are_fast = self._permutes.are_available() and windows_pay(vectors.out.module.costs)

    def applies_to(self, run: Run, address: LaneAddress) -> bool:
        """Whether words of an array of words are loaded so, in code that need not be short."""
        is_of_words = address.leaf.size == _WORD and len(address.varying) == 1 and address.varying[0].stride == _WORD
        is_wanted = self._are_fast and run.is_speculated and run.is_dense and not self._values.is_brief()
        return is_wanted and is_of_words and address.is_binding and self._is_long(address.varying[0].extent)

    def _is_long(self, extent: h.DynamicConstant) -> bool:
        """Whether an array may have as many elements as a vector."""
        return not isinstance(extent, h.DynamicLiteral) or extent.value >= self._vectors.lanes

    def load(self, address: LaneAddress, mask: str | None, otherwise: Callable[[], str]) -> str:
        """The lanes' words, as a vector of memory's type; lanes that are not in the mask have any value."""
        lanes, count = self._addresses.lanes_of(address), self._vectors.lanes
        extent = self._memory.dynamic(address.varying[0].extent)
        first = self._one.convert("zext", "i32", self._vectors.lane("i32", lanes.index, "0"), "i64")
        last = self._one.binary("sub", "i64", extent, str(count))
        start = self._one.intrinsic("llvm.smin", "i64", first, last)
        whole = self._vectors.splat(self._one.convert("trunc", "i64", start, "i32"), "i32")
        numbers = self._vec.binary("sub", "i32", lanes.index, whole)
        are_near = self._vec.binary("icmp ult", "i32", numbers, self._vec.constant("i32", count))
        if mask is not None:
            idle = self._vec.binary("xor", "i1", mask, "splat (i1 true)")
            are_near = self._vec.binary("or", "i1", are_near, idle)
        is_long = self._one.binary("icmp sge", "i64", start, "0")
        test = self._one.binary("and", "i1", self._vectors.is_full(are_near), is_long)
        scalar = memory_type(address.leaf)

        def near() -> list[str]:
            pointer = self._out.pure(f"getelementptr [{_WORD} x i8], ptr {address.pointer}, i64 {start}")
            vector = self._vector_memory.load(pointer, address.leaf, None)
            return [self._permutes.pick(scalar, vector, vector, numbers)]

        return self._vectors.either(test, [scalar], near, lambda: [otherwise()])[0]


def windows_pay(costs: AccessCosts) -> bool:
    """Whether a window is faster than a gather."""
    return costs.gather > _TEST_AND_PICK * costs.shuffle


class _WindowLoad:
    """Writes the load of some 32-bit `words` of each lane's element."""

    def __init__(
        self, vectors: LaneVectors, lanes: LaneIndices, words: Mapping[int, ScalarLayout], mask: str | None
    ) -> None:
        self._vectors, self._lanes, self._words, self._mask = vectors, lanes, words, mask
        self._one, self._vec, self._out = vectors.one, vectors.vec, vectors.out
        self._memory = VectorMemory(vectors)
        self._interleaved = Interleaved(vectors, self._memory)
        self._permutes = RegisterPermutes(vectors)

    def emit(self, starts: int) -> list[str]:
        """The vectors of the words, from the first window of one or two that has all elements, or gathered."""
        first = self._vectors.lane("i32", self._lanes.index, "0")
        rounded = self._one.binary("and", "i32", first, str(-self._vectors.lanes))
        if starts == 1:
            return self._from(rounded, self._gather)
        return self._from(rounded, lambda: self._from(first, self._gather))

    def _from(self, start: str, otherwise: Callable[[], Sequence[str]]) -> list[str]:
        """From the window that starts at an element, or in another way if it lacks an element."""
        numbers = self._vec.binary("sub", "i32", self._lanes.index, self._vectors.splat(start, "i32"))
        has_all = self._vec.binary("icmp ult", "i32", numbers, self._vec.constant("i32", 2 * self._vectors.lanes))
        if self._mask is not None:
            idle = self._vec.binary("xor", "i1", self._mask, "splat (i1 true)")
            has_all = self._vec.binary("or", "i1", has_all, idle)
        scalars = [memory_type(it) for it in self._words.values()]
        return self._vectors.either(
            self._vectors.is_full(has_all), scalars, lambda: self._load(start, numbers), otherwise
        )

    def _load(self, start: str, numbers: str) -> list[str]:
        unit, place = self._lanes.unit, self._one.convert("zext", "i32", start, "i64")
        lower = self._out.pure(f"getelementptr [{unit} x i8], ptr {self._lanes.pointer}, i64 {place}")
        upper = self._out.pure(f"getelementptr i8, ptr {lower}, i64 {unit * self._vectors.lanes}")
        low, high = (
            self._interleaved.load(it, unit // _WORD, self._words, None, is_dense=True) for it in (lower, upper)
        )
        return [
            self._permutes.pick(memory_type(layout), *pair, numbers)
            for layout, pair in zip(self._words.values(), zip(low, high, strict=True), strict=True)
        ]

    def _gather(self) -> list[str]:
        found: dict[int, str] = {}
        for word, layout in self._words.items():
            if word in found:
                continue
            pointer = self._out.pure(f"getelementptr i8, ptr {self._lanes.pointer}, i64 {word * _WORD}")
            lanes = replace(self._lanes, pointer=pointer)
            after = self._words.get(word + 1)
            if after is None:
                found[word] = self._memory.gather(lanes, layout, self._mask)
            else:
                found[word], found[word + 1] = self._memory.gather_pairs(lanes, (layout, after), self._mask)
        return [found[word] for word in self._words]


def _element_size(address: LaneAddress) -> int:
    """The bytes of the elements that the varying positions count."""
    return gcd(*(it.stride for it in address.varying))
