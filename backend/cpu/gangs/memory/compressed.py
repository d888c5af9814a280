"""Stores under a mask whose lanes write to consecutive elements, one lane after another: compactions.

What lanes append to a list, by an atomic counter or by a scan, lies side by side for the lanes of a mask, whatever
formula gives the positions. The positions of these lanes are moved together in registers, and compared with a row of
numbers at run time. If they are one, the lanes' data are moved together, too, and stored as whole vectors under one
mask; otherwise they are scattered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...machine import AccessCosts
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, words_of
from .interleave import Interleaved
from .vector_memory import memory_type

_WORD = 4
_MOST_WORDS = 4
"""The most words of an element."""
_AVX2_LANES = 8
_TEST_AND_MOVE = 8
"""The operations on registers, each as long as a shuffle, that take the place of a scatter. AVX2 has no scatters: of
one under a mask, LLVM makes a branch and a store for each lane, which always take longer.
"""


class CompressedStores:
    """Stores of whole elements by the lanes of a mask."""

    def __init__(self, vectors: LaneVectors, addresses: LaneAddresses, interleaved: Interleaved) -> None:
        self._vectors = vectors
        self._addresses = addresses
        self._interleaved = interleaved
        self._vec, self._one, self._out, self._lanes = vectors.vec, vectors.one, vectors.out, vectors.lanes
        target = vectors.out.module.target
        self._has_compress = target.has_avx512 and self._lanes in (8, 16)
        has_permute = target.has_avx2 and self._lanes == _AVX2_LANES
        self._is_fast = compressing_pays(vectors.out.module.costs) if self._has_compress else has_permute

    def applies_to(self, addresses: Sequence[LaneAddress]) -> bool:
        """Whether all words of the elements at the lanes' positions are stored."""
        first, words = words_of(addresses)
        if not self._is_fast or first.is_private or len(first.varying) != 1:
            return False
        stride = first.varying[0].stride
        return (
            all(it.leaf.size == _WORD and it.offset is not None for it in addresses)
            and sorted(words) == list(range(stride // _WORD))
            and stride % _WORD == 0
            and stride <= _MOST_WORDS * _WORD
        )

    def store(
        self, data: Sequence[str], addresses: Sequence[LaneAddress], mask: str, otherwise: Callable[[], Sequence[str]]
    ) -> None:
        """Store vectors of memory's type, one for each word."""
        first, words = words_of(addresses)
        stride, vec = first.varying[0].stride, self._vec
        lanes, bits = self._addresses.lanes_by(first, stride, "i32"), self._vectors.bits(mask)
        move = self._mover(mask, bits)
        positions = move("i32", lanes.index)
        start = self._vectors.lane("i32", positions, "0")
        is_written = vec.binary("icmp ult", "i32", self._vectors.lane_numbers("i32"), self._count(bits))
        row = vec.binary("add", "i32", self._vectors.splat(start, "i32"), self._vectors.lane_numbers("i32"))
        differs = vec.binary("and", "i1", vec.binary("icmp ne", "i32", positions, row), is_written)
        is_row = self._one.binary("icmp eq", f"i{self._lanes}", self._vectors.bits(differs), "0")

        def together() -> Sequence[str]:
            given = {
                word: (it.leaf, move(memory_type(it.leaf), lane))
                for word, it, lane in zip(words, addresses, data, strict=True)
            }
            place = self._one.convert("zext", "i32", start, "i64")
            pointer = self._out.pure(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, i64 {place}")
            self._interleaved.store(pointer, stride // _WORD, given, is_written)
            return ()

        self._vectors.either(is_row, (), together, otherwise)

    def _count(self, bits: str) -> str:
        """How many lanes there are in the mask, in all lanes."""
        width = f"i{self._lanes}"
        count = self._one.intrinsic("llvm.ctpop", width, bits)
        return self._vectors.splat(self._one.convert("zext", width, count, "i32"), "i32")

    def _mover(self, mask: str, bits: str) -> Callable[[str, str], str]:
        """A function of a scalar type and a vector, which moves the elements of a mask's lanes to the first lanes."""
        return self._compressing(mask) if self._has_compress else self._permuting(bits)

    def _compressing(self, mask: str) -> Callable[[str, str], str]:
        def move(scalar: str, vector: str) -> str:
            type, masks = self._vec.type(scalar), self._vec.type("i1")
            name = f"llvm.experimental.vector.compress.{self._vec.suffix(scalar)}"
            self._out.module.declare(f"{type} @{name}({type}, {masks}, {type})")
            return self._out.pure(f"call {type} @{name}({type} {vector}, {masks} {mask}, {type} poison)")

        return move

    def _permuting(self, bits: str) -> Callable[[str, str], str]:
        """By the numbers of the lanes in the mask, from a table of all masks."""
        type, bytes = self._vec.type("i32"), self._vec.type("i8")
        table = self._out.module.constant(_lanes_in_masks(self._lanes), self._lanes)
        number = self._one.convert("zext", f"i{self._lanes}", bits, "i64")
        row = self._out.pure(f"getelementptr [{self._lanes} x i8], ptr {table}, i64 {number}")
        numbers = self._vec.convert(
            "zext", "i8", self._out.pure(f"load {bytes}, ptr {row}, align {self._lanes}"), "i32"
        )

        def move(scalar: str, vector: str) -> str:
            name = "llvm.x86.avx2.permd"
            self._out.module.declare(f"{type} @{name}({type}, {type})")
            words = self._vec.convert("bitcast", scalar, vector, "i32")
            moved = self._out.pure(f"call {type} @{name}({type} {words}, {type} {numbers})")
            return self._vec.convert("bitcast", "i32", moved, scalar)

        return move


def compressing_pays(costs: AccessCosts) -> bool:
    """Whether moving lanes together is faster than a scatter of AVX-512."""
    return costs.scatter > _TEST_AND_MOVE * costs.shuffle


def _lanes_in_masks(lanes: int) -> str:
    """For each mask the numbers of its lanes, as bytes, and zeros."""
    rows = [[lane for lane in range(lanes) if mask >> lane & 1] for mask in range(1 << lanes)]
    text = "".join(f"\\{it:02x}" for row in rows for it in (*row, *[0] * (lanes - len(row))))
    return f'[{lanes << lanes} x i8] c"{text}"'
