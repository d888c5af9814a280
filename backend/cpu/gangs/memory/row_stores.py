"""Stores of lanes that walk along rows of their own: each element of a row is a whole cache line for one word.

The counterpart of `row_walks`. The vectors of as many iterations as a vector has lanes are kept on the stack,
transposed in registers, and stored as a whole vector of each lane's row. Rows whose distance is a power of two lie in
few sets of the cache: single words would push each other's lines out.

That elements follow each other is tested at run time, by the number that all lanes have in common. Vectors are kept
only if all lanes store, and have all elements of the window inside of the array. If the next store is elsewhere, or the
loop is left, those that are kept are scattered. No invocation sees the difference: the kernel never reads the binding,
and nothing else in the loop writes to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...layout import ScalarLayout
from ...llvm import FunctionText, Ops
from ..analysis.body import Level
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries
from .row_walks import MOST_PARTS, NEAR, has_rows, pays
from .transposed import TransposedAccess
from .vector_memory import LaneIndices, VectorMemory
from .walks import Walk, Walks

_WORD = 4


@dataclass(frozen=True, slots=True)
class _Kept:
    """What one Write keeps in one copy of a loop. The slots: the `count` of vectors, whether the loop `has_stored`, and
    the common numbers of the `next` store, and the `pointer` to the array. The `rows` are the vectors, and `index` the
    lanes' first indices.
    """

    count: str
    has_stored: str
    next: str
    pointer: str
    rows: str
    index: str
    leaf: ScalarLayout


class RowStores:
    """Stores of words along the lanes' rows in bindings that a kernel only writes."""

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
        self._context, self._slots, self._out = context, context.slots, vectors.out
        self._vectors, self._vector_memory, self._addresses = vectors, vector_memory, addresses
        self._transposed, self._walks, self._values = transposed, walks, values
        self._vec, self._one = vectors.vec, vectors.one
        costs, self._lanes = vectors.out.module.costs, vectors.lanes
        self._pays = context.gang.parts <= MOST_PARTS and pays(min(costs.scatter, costs.stores), costs, self._lanes)
        self._kept: dict[Level, dict[tuple[h.Write, int], _Kept]] = {}

    def applies_to(self, write: h.Write, address: LaneAddress) -> bool:
        """Whether a Write of a word goes along rows, in a loop with enough iterations that all lanes leave together.
        The answer is the same in all versions of a block.
        """
        if not self._pays or self._context.site.known is not None or not address.is_only_written:
            return False
        if len(address.varying) != 1 or not address.leaf.size == address.varying[0].stride == _WORD:
            return False
        position = address.varying[0].position
        walk = None if abs(self._values.shape(position).stride) in NEAR else self._walks.of(position)
        return walk is not None and self._is_own(write, walk.levels[0])

    def _is_own(self, write: h.Write, level: Level) -> bool:
        """Whether the loop has enough iterations, and nothing else in it writes to the storage."""
        if level in self._context.shapes.divergent or self._walks.trips([level]) < self._lanes:
            return False
        placed, plan = self._context.placed, self._context.plan
        nodes = [
            it for leader in level.leaders for it in placed.blocks[leader] if it in placed.live and it is not write
        ]
        if any(isinstance(it, h.Call) for it in nodes):
            return False
        return not any(isinstance(it, (h.Write, h.Atomic)) and plan.of(it) is plan.of(write) for it in nodes)

    def store(
        self, write: h.Write, data: str, address: LaneAddress, mask: str | None, otherwise: Callable[[], None]
    ) -> None:
        """Keep a vector of memory's type, or store it `otherwise`."""
        walk = self._walks.of(address.varying[0].position)
        assert walk is not None
        kept = self._kept_by(write, walk, address)
        if not self._walks.is_usable(walk):
            self._scatter(kept)
            otherwise()
            return
        full = "true" if mask is None else self._vectors.is_full(mask)
        steps, count = self._walks.sum(walk), self._slots.load("i32", kept.count)
        is_next = self._one.binary("icmp eq", "i32", steps, self._slots.load("i32", kept.next))
        going = self._one.binary("and", "i1", self._one.binary("icmp ne", "i32", count, "0"), is_next)
        self._slots.store("i32", self._one.binary("add", "i32", steps, "1"), kept.next)
        self._vectors.do_either(
            self._one.binary("and", "i1", going, full),
            lambda: self._keep(kept, data, count),
            lambda: self._begin(kept, data, address, self._one.binary("and", "i1", is_next, full), full, otherwise),
        )

    def _begin(
        self, kept: _Kept, data: str, address: LaneAddress, is_next: str, full: str, otherwise: Callable[[], None]
    ) -> None:
        """Begin a new window with a vector if it is the first one, or follows the one before; else store it."""
        self._scatter(kept)
        index = self._addresses.lanes_by(address, _WORD, "i32").index
        is_first = self._one.binary("xor", "i1", self._slots.load("i1", kept.has_stored), "true")
        test = self._one.binary("or", "i1", self._one.binary("and", "i1", is_first, full), is_next)
        test = self._one.binary("and", "i1", test, has_rows(self._vectors, self._addresses, address))
        self._slots.store("i1", "true", kept.has_stored)

        def begin() -> None:
            self._slots.store("ptr", address.pointer, kept.pointer)
            self._out.do(f"store {self._vec.type('i32')} {index}, ptr {kept.index}, align {_WORD}")
            self._keep(kept, data, "0")

        self._vectors.do_either(test, begin, otherwise)

    def _keep(self, kept: _Kept, data: str, count: str) -> None:
        """Keep a vector. If it is the last one of the window, store all."""
        self._vector_memory.store(data, _row(self._out, self._lanes, kept.rows, count), kept.leaf, None)
        count = self._one.binary("add", "i32", count, "1")
        self._slots.store("i32", count, kept.count)
        is_going = self._one.binary("icmp ult", "i32", count, str(self._lanes))
        self._vectors.do_either(is_going, lambda: None, lambda: self._store_window(kept))

    def _store_window(self, kept: _Kept) -> None:
        leaf = kept.leaf
        rows = [_row(self._out, self._lanes, kept.rows, str(number)) for number in range(self._lanes)]
        data = [self._vector_memory.load(it, leaf, None) for it in rows]
        index = self._out.value(f"load {self._vec.type('i32')}, ptr {kept.index}, align {_WORD}")
        indices, start = self._vectors.all_lanes("i32", index), self._slots.load("ptr", kept.pointer)

        def pointer(lane: int) -> str:
            place = self._one.convert("zext", "i32", indices[lane], "i64")
            return self._out.pure(f"getelementptr [{_WORD} x i8], ptr {start}, i64 {place}")

        self._transposed.store(leaf, data, pointer)
        self._slots.store("i32", "0", kept.count)

    def leave(self, level: Level) -> None:
        """Store what is kept, where a copy of a loop is left."""
        for kept in self._kept.pop(level, {}).values():
            self._scatter(kept)
            self._slots.store("i1", "false", kept.has_stored)

    def _scatter(self, kept: _Kept) -> None:
        """Store the vectors that are kept, one by one."""
        leaf = kept.leaf
        name = f"scatter.rows.{leaf.align}.{self._lanes}"
        head = f"define internal void @{name}(ptr %p0, ptr %p1, ptr %p2, i32 %p3) noinline cold nounwind"
        self._out.module.helper(name, lambda: f"{head} {{\n{self._scatter_body(leaf)}\n}}\n")
        start, count = self._slots.load("ptr", kept.pointer), self._slots.load("i32", kept.count)
        self._out.do(f"call void @{name}(ptr {start}, ptr {kept.index}, ptr {kept.rows}, i32 {count})")
        self._slots.store("i32", "0", kept.count)

    def _scatter_body(self, leaf: ScalarLayout) -> str:
        """The body of the helper function with the parameters pointer, index, rows and count."""
        out = FunctionText(self._out.module)
        out.open("entry")
        vec, one = Ops(out, self._lanes), Ops(out)
        vector_memory = VectorMemory(LaneVectors(vec))
        index = out.value(f"load {vec.type('i32')}, ptr %p1, align {_WORD}")
        out.do("br label %next")
        out.open("next")
        ways = [("0", "entry")]
        row = out.phi("i32", lambda: ways)
        out.do(f"br i1 {one.binary('icmp ult', 'i32', row, '%p3')}, label %store, label %done")
        out.open("store")
        data = vector_memory.load(_row(out, self._lanes, "%p2", row), leaf, None)
        moved = vec.binary("add", "i32", index, LaneVectors(vec).splat(row, "i32"))
        vector_memory.scatter(data, LaneIndices("%p0", moved, "i32", _WORD), leaf, None)
        ways.append((one.binary("add", "i32", row, "1"), "store"))
        out.do("br label %next")
        out.open("done")
        out.do("ret void")
        return out.text()

    def _kept_by(self, write: h.Write, walk: Walk, address: LaneAddress) -> _Kept:
        key = write, self._context.site.part
        own = self._kept.setdefault(walk.levels[0], {})
        if key not in own:
            count, has_stored, following, start = (self._slots.make(it) for it in ("i32", "i1", "i32", "ptr"))
            with self._out.at_entry():
                size = self._lanes * _WORD
                rows = self._out.value(f"alloca [{self._lanes} x [{self._lanes} x i32]], align {size}")
                index = self._out.value(f"alloca {self._vec.type('i32')}, align {size}")
            own[key] = _Kept(count, has_stored, following, start, rows, index, address.leaf)
        return own[key]


def _row(out: FunctionText, lanes: int, rows: str, number: str) -> str:
    return out.pure(f"getelementptr inbounds [{lanes} x i32], ptr {rows}, i32 {number}")
