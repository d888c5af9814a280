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

from collections.abc import Callable
from dataclasses import dataclass
from math import log2

from .....ir.hercules import nodes as h
from ...machine import AccessCosts
from ..analysis.bounds import constant_value
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries, VaryingIndex, array_steps
from .transposed import TransposedAccess
from .vector_memory import LaneIndices, VectorMemory, memory_type
from .walks import Walk, Walks

_WORD = 4
MOST_PARTS = 4
"""The most parts of a gang that has windows: each has one of its own for each access."""
_KEEP_AND_LOAD = 3
"""The operations on registers, each as long as a shuffle, in which a vector is stored, tested for, and loaded again."""
NEAR = range(1, 5)
"""Distances of lanes, in elements, that are loaded as whole vectors."""
_NEAR_BYTES = [it * _WORD for it in NEAR]
_NEXT = "2"
"""A number below this, counted from that of the iteration before, is the same element or the next one."""


@dataclass(frozen=True, slots=True)
class _Path:
    """How lanes walk. The `element` is the index of an array that is an element itself; None if rows are parts of one
    array.
    """

    walk: Walk
    element: VaryingIndex | None


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
        walks: Walks,
        values: ValueQueries,
    ) -> None:
        self._context, self._slots = context, context.slots
        self._vectors, self._vector_memory, self._addresses = vectors, vector_memory, addresses
        self._transposed, self._values = transposed, values
        self._one, self._out = vectors.one, vectors.out
        self._walks, lanes = walks, vectors.lanes
        costs = vectors.out.module.costs
        self._pays = context.gang.parts <= MOST_PARTS and pays(min(costs.gather, costs.loads), costs, lanes)

    def applies_to(self, node: h.Read, address: LaneAddress) -> bool:
        """Whether a Read of a word goes along rows, in a loop with enough iterations."""
        if not self._pays or self._values.is_brief() or self._context.site.known is not None:
            return False
        if not isinstance(node.collection, h.Parameter) or not address.is_binding or len(address.varying) != 1:
            return False
        path = self._path(node, address) if address.leaf.size == _WORD else None
        return path is not None and self._walks.is_usable(path.walk)

    def _path(self, node: h.Read, address: LaneAddress) -> _Path | None:
        (index,) = address.varying
        if abs(self._values.shape(index.position).stride) * index.stride in _NEAR_BYTES or index.stride % _WORD:
            return None
        if index.stride == _WORD:
            walk = self._walks.of(index.position)
            return None if walk is None else _Path(walk, None)
        layout = self._context.plan.of(node.collection).layout
        steps = [VaryingIndex(it, stride, extent) for it, extent, stride in array_steps(layout, node.indices)]
        moving = [it for it in steps if constant_value(it.position) is None]
        if len(moving) != 2 or moving[0].position is not index.position or moving[1].stride != _WORD:
            return None
        walk = self._walks.along(index.position, moving[1].position)
        return None if walk is None else _Path(walk, moving[1])

    def _steps(self, path: _Path) -> str:
        if path.element is None:
            return self._walks.sum(path.walk)
        position = self._addresses.clamped(self._values.scalar(path.element.position), path.element)
        return self._one.convert("trunc", "i64", position, "i32")

    def load(self, node: h.Read, address: LaneAddress, otherwise: Callable[[], str]) -> str:
        """The lanes' words, as a vector of memory's type: from the window, from a new one, or loaded `otherwise`."""
        path = self._path(node, address)
        assert path is not None
        window, steps = self._window(path.walk), self._steps(path)
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
            test = self._one.binary("and", "i1", test, has_rows(self._vectors, self._addresses, address))
            return self._vectors.either(
                test, [scalar], lambda: [self._filled(window, address, index, steps)], lambda: [otherwise()]
            )

        return self._vectors.either(has_row, [scalar], lambda: [self._row(window, address, row)], next_window)[0]

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

    def _window(self, walk: Walk) -> _Window:
        """A new window. It is empty where the loops begin: where the level around them does."""
        around = self._context.body.enclosing(self._context.site.here)
        depth = len(around) - around.index(walk.levels[-1]) - 2
        is_filled, first, last = (self._slots.make(type, depth) for type in ("i1", "i32", "i32"))
        with self._out.at_entry():
            count = self._vectors.lanes
            rows = self._out.value(f"alloca [{count} x [{count} x i32]], align {count * _WORD}")
        return _Window(is_filled, first, last, rows)


def has_rows(vectors: LaneVectors, addresses: LaneAddresses, address: LaneAddress) -> str:
    """An i1: whether the buffer has as many words as a window from any word of all lanes' elements on."""
    (varying,) = address.varying
    position = addresses.lanes_by(address, varying.stride, "i32").index
    reach = vectors.vec.constant("i32", -(-(vectors.lanes - 1) * _WORD // varying.stride))
    last = vectors.vec.binary("add", "i32", position, reach)
    return vectors.is_full(vectors.vec.binary("icmp ule", "i32", last, addresses.last(varying.extent, "i32")))


def pays(scattered: float, costs: AccessCosts, lanes: int) -> bool:
    """Whether a window takes less time than a scattered access, of a given cost, for each of its vectors."""
    return scattered > (log2(lanes) + _KEEP_AND_LOAD) * costs.shuffle
