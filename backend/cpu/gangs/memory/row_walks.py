"""Loads of lanes that walk along rows of their own: each element of a row is a whole cache line for one word.

Where each invocation goes through a row, a column of tiles or a part of an array, the lanes' positions are a start that
differs between lanes, plus a number that is the same for all and grows in a loop. As many elements of each row as a
vector has lanes are loaded at once, transposed in registers and kept on the stack; the next iterations load vectors
from there. A line is then fetched once instead of once for each word: rows whose distance is a power of two lie in few
sets of the cache, and push each other out.

That elements follow each other is tested at run time, by the number that all lanes have in common. A window is loaded
only if that number was the same or one less before, and all lanes have the whole window inside of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import log2, prod
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.types import U32
from ...machine import AccessCosts, costs_so_far
from ...trip_counts import max_trip_count
from ..analysis.body import Level
from ..analysis.costs import is_short
from ..analysis.shapes import UNIFORM
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries
from .transposed import TransposedAccess
from .vector_memory import LaneIndices, VectorMemory, memory_type

_WORD = 4
_MOST_PARTS = 4
"""The most parts of a gang that loads windows: each has one of its own for each load."""
_KEEP_AND_LOAD = 3
"""The operations on registers, each as long as a shuffle, in which a vector is stored, tested for, and loaded again."""
_NEAR = range(1, 5)
"""Distances of lanes, in elements, that are loaded as whole vectors."""
_DEPTH = 8
"""The most additions, one inside of another, of which a position is the sum."""
_OPPOSITE = {"add": "sub", "sub": "add"}
_NEXT = "2"
"""A number below this, counted from that of the iteration before, is the same element or the next one."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """A position as a sum: of values that differ between lanes and stay as they are in the loops of the `level`, and of
    `steps`, which are the same for all lanes, each added or subtracted.
    """

    level: Level
    steps: Sequence[tuple[h.Node, str]]


@dataclass(frozen=True, slots=True)
class _Window:
    """The slots of a window: whether it `is_filled`, since the loops were entered, the steps of its `first` vector, and
    those of the `last` access; and the `rows`, vectors of elements.
    """

    is_filled: str
    first: str
    last: str
    rows: str


class RowWalks:
    """Loads of words along the lanes' rows in bindings that a kernel only reads."""

    def __init__(
        self,
        context: GangContext,
        vectors: LaneVectors,
        vector_memory: VectorMemory,
        addresses: LaneAddresses,
        transposed: TransposedAccess,
        values: ValueQueries,
    ) -> None:
        self._context, self._placed, self._slots = context, context.placed, context.slots
        self._vectors, self._vector_memory, self._addresses = vectors, vector_memory, addresses
        self._transposed, self._values = transposed, values
        self._vec, self._one, self._out = vectors.vec, vectors.one, vectors.out
        lanes = vectors.lanes
        self._pays = context.gang.parts <= _MOST_PARTS and transposing_pays(costs_so_far().access, lanes)
        self._found: dict[h.Node, _Walk | None] = {}

    def applies_to(self, node: h.Read, address: LaneAddress) -> bool:
        """Whether a Read of a word goes along rows, in a loop with enough iterations."""
        if not self._pays or self._values.is_rare() or self._context.site.known is not None:
            return False
        if not isinstance(node.collection, h.Parameter) or not address.is_binding or len(address.varying) != 1:
            return False
        (index,) = address.varying
        is_word = address.leaf.size == index.stride == _WORD
        is_far = abs(self._values.shape(index.position).stride) not in _NEAR
        walk = self._walk_of(node, index.position) if is_word and is_far else None
        return walk is not None and all(self._values.is_usable(it) for it, _ in walk.steps)

    def load(self, node: h.Read, address: LaneAddress, otherwise: Callable[[], str]) -> str:
        """The lanes' words, as a vector of memory's type: from the window, from a new one, or loaded `otherwise`."""
        walk = self._found[node]
        assert walk is not None
        window, steps = self._window(walk), self._sum(walk)
        before = self._slots.load("i32", window.last)
        self._slots.store("i32", steps, window.last)
        row = self._one.binary("sub", "i32", steps, self._slots.load("i32", window.first))
        is_inside = self._one.binary("icmp ult", "i32", row, str(self._vectors.lanes))
        has_row = self._one.binary("and", "i1", self._slots.load("i1", window.is_filled), is_inside)
        scalar = memory_type(address.leaf)

        def next_window() -> list[str]:
            moved = self._one.binary("sub", "i32", steps, before)
            index = self._addresses.lanes_by(address, _WORD, "i32")
            test = self._one.binary("icmp ult", "i32", moved, _NEXT)
            test = self._one.binary("and", "i1", test, self._has_rows(address, index.index))
            return self._vectors.either(
                test, [scalar], lambda: [self._filled(window, address, index, steps)], lambda: [otherwise()]
            )

        return self._vectors.either(has_row, [scalar], lambda: [self._row(window, address, row)], next_window)[0]

    def _has_rows(self, address: LaneAddress, index: str) -> str:
        """An i1: whether all lanes have as many elements from their index on as a window has, unclamped."""
        (varying,) = address.varying
        last = self._vec.binary("add", "i32", index, self._vec.constant("i32", self._vectors.lanes - 1))
        test = self._vec.binary("icmp ule", "i32", last, self._addresses.last(varying.extent, "i32"))
        return self._vectors.is_full(test)

    def _filled(self, window: _Window, address: LaneAddress, lanes: LaneIndices, steps: str) -> str:
        """Load a window that begins at the lanes' indices. Its first vector."""
        indices = self._vectors.all_lanes("i32", lanes.index)

        def pointer(lane: int) -> str:
            place = self._one.convert("zext", "i32", indices[lane], "i64")
            return self._out.pure(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, i64 {place}")

        rows = self._transposed.load(address.leaf, self._vectors.lanes, pointer)
        for number, row in enumerate(rows):
            self._vector_memory.store(row, self._place(window, str(number)), address.leaf, None)
        self._slots.store("i32", steps, window.first)
        self._slots.store("i1", "true", window.is_filled)
        return rows[0]

    def _row(self, window: _Window, address: LaneAddress, row: str) -> str:
        return self._vector_memory.load(self._place(window, row), address.leaf, None)

    def _place(self, window: _Window, row: str) -> str:
        type = f"[{self._vectors.lanes} x i32]"
        return self._out.pure(f"getelementptr inbounds {type}, ptr {window.rows}, i32 {row}")

    def _window(self, walk: _Walk) -> _Window:
        """A new window. It is empty where the loops begin: where the level around them does."""
        around = self._context.body.enclosing(self._context.site.here)
        depth = len(around) - around.index(walk.level) - 2
        is_filled, first, last = (self._slots.make(type, depth) for type in ("i1", "i32", "i32"))
        with self._out.at_entry():
            count = self._vectors.lanes
            rows = self._out.value(f"alloca [{count} x [{count} x i32]], align {count * _WORD}")
        return _Window(is_filled, first, last, rows)

    def _sum(self, walk: _Walk) -> str:
        """What all lanes have gone along their rows, a u32, which may have wrapped round."""
        total = "0"
        for node, operation in walk.steps:
            total = self._one.binary(operation, "i32", total, self._values.scalar(node))
        return total

    def _walk_of(self, node: h.Read, position: h.Node) -> _Walk | None:
        if node not in self._found:
            self._found[node] = self._find(position)
        return self._found[node]

    def _find(self, position: h.Node) -> _Walk | None:
        is_word = isinstance(position, h.Cast) and self._context.types[position.operand] == U32
        if not is_word:
            return None
        assert isinstance(position, h.Cast)
        terms = list(self._terms(position.operand, "add"))
        starts = [it for it, _ in terms if self._values.shape(it) != UNIFORM]
        steps = [(it, operation) for it, operation in terms if self._values.shape(it) == UNIFORM]
        levels = list(takewhile(lambda it: it.is_loop and not self._changes(starts, it), self._levels()))
        if not levels or not starts or not self._changes([it for it, _ in steps], levels[-1]):
            return None
        if is_short(self._placed, self._context.shapes, levels[0], self._context.gang.parts):  # LLVM unrolls it
            return None
        trips = prod(max_trip_count(self._placed, it.container) for it in levels if isinstance(it.container, Loop))
        return _Walk(levels[-1], steps) if trips >= self._vectors.lanes else None

    def _levels(self) -> list[Level]:
        """The levels around the block, innermost first."""
        return self._context.body.enclosing(self._context.site.here)

    def _changes(self, nodes: Sequence[h.Node], level: Level) -> bool:
        """Whether any value is computed inside of a level."""
        return any(self._placed.place.get(it) in level.leaders for it in nodes)

    def _terms(self, node: h.Node, operation: str, depth: int = _DEPTH) -> Iterator[tuple[h.Node, str]]:
        """The values that are added or subtracted in 32 bits. A sum that is the same for all lanes is one value."""
        match node:
            case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB as op, lhs=lhs, rhs=rhs) if self._is_split(node, depth):
                yield from self._terms(lhs, operation, depth - 1)
                yield from self._terms(rhs, operation if op is h.BinaryOp.ADD else _OPPOSITE[operation], depth - 1)
            case h.Cast(operand=operand) | h.Bitcast(operand=operand) if self._is_split(
                node, depth
            ) and self._is_integer(operand):
                yield from self._terms(operand, operation, depth - 1)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                yield node, operation
            case _:
                assert_never(node)

    def _is_split(self, node: h.Node, depth: int) -> bool:
        return depth > 0 and self._values.shape(node) != UNIFORM and self._is_integer(node)

    def _is_integer(self, node: h.Node) -> bool:
        type = self._context.types[node]
        return isinstance(type, h.Integer) and type.bits == 32


def transposing_pays(costs: AccessCosts, lanes: int) -> bool:
    """Whether a window takes less time than a gather or loads for each of its vectors."""
    return min(costs.gather, costs.loads) > (log2(lanes) + _KEEP_AND_LOAD) * costs.shuffle
