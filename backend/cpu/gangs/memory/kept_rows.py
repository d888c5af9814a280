"""Rows of workgroup memory that are kept as vectors while a loop goes along them (see `analysis.own_rows`).

A gang needs one word of each lane's row at a time. Before the loop, the rows of all lanes are loaded as whole vectors
and transposed in registers; a vector for each word stays on the stack, or in registers where LLVM unrolls the loop.
After the loop, the vectors are transposed and stored. Nobody sees that: the lanes' rows are apart from each other, and
only one worker accesses the memory of a workgroup.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ...layout import ScalarLayout
from ...machine import AccessCosts
from ..analysis.body import Level
from ..analysis.known import Values
from ..analysis.own_rows import Access, OwnRows, find_own_rows
from ..context import GangContext
from ..values.thread_numbers import ThreadNumbers
from ..values.vectors import LaneVectors
from .interleave import WORDS_FOR_EACH, Interleaved
from .transposed import TransposedAccess
from .vector_memory import VectorMemory

_WORD = ScalarLayout(h.Integer(32, signed=False))
_FEWEST = 4
"""The fewest words of a row that are loaded as one vector."""
_KEEP_AND_LOAD = 2
"""The operations, each as long as a shuffle, in which a vector is kept and found again."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Rows in a loop that is being written: each part's array of vectors, and the number of the turn, an i64."""

    rows: OwnRows
    places: Sequence[str]
    turn: str


class KeptRows:
    """Writes the accesses to rows of the loops that are being written."""

    def __init__(self, context: GangContext, vectors: LaneVectors, threads: ThreadNumbers) -> None:
        self._context, self._site, self._slots = context, context.site, context.slots
        self._vectors, self._threads = vectors, threads
        self._vec, self._one, self._out = vectors.vec, vectors.one, vectors.out
        self._memory = context.nodes.memory
        self._vector_memory = vector_memory = VectorMemory(vectors)
        self._interleaved = Interleaved(vectors, vector_memory)
        self._transposed = TransposedAccess(vectors, vector_memory, self._interleaved)
        self._found: dict[tuple[Level, frozenset[tuple[h.Node, Values]]], list[OwnRows]] = {}
        """By the loop, and what is known of the counters around it."""
        self._kept: dict[h.Node, _Kept] = {}
        self._turns: dict[Level, str] = {}

    def __contains__(self, node: h.Node) -> bool:
        """Whether an access is to a row that is kept."""
        return node in self._kept

    @contextmanager
    def of(self, level: Level) -> Generator[None]:
        """Keep rows while a loop is written, which all lanes enter."""
        found = self._rows_of(level)
        if not found:
            yield
            return
        turn = self._turns[level] = self._slots.make("i64")
        self._slots.store("i64", "0", turn)
        kept = [_Kept(it, [self._new(it) for _ in self._site.parts()], turn) for it in found]
        for it in kept:
            if it.rows.is_read:
                self._load_all(it)
        nodes: dict[h.Node, _Kept] = {node: it for it in kept for node in it.rows.walks}
        self._kept |= nodes
        yield
        for node in nodes:
            del self._kept[node]
        for it in kept:
            if it.rows.written:
                self._store_all(it)

    def begin_turn(self, level: Level) -> None:
        """Count a turn of a loop, at its beginning."""
        slot = self._turns.get(level)
        if slot is not None:
            self._slots.store("i64", self._one.binary("add", "i64", self._slots.load("i64", slot), "1"), slot)

    def load(self, node: h.Read) -> str:
        """The words of the current part's lanes."""
        data = self._vector_memory.load(self._place(node), _WORD, None)
        return self._vec.convert("bitcast", "i32", data, llvm_type(self._context.types[node]))

    def store(self, node: h.Write, data: str, mask: str | None) -> None:
        """Store the words of the current part's lanes that are in a mask."""
        place = self._place(node)
        words = self._vec.convert("bitcast", llvm_type(self._context.types[node.value]), data, "i32")
        if mask is not None:
            words = self._vec.select(mask, "i32", words, self._vector_memory.load(place, _WORD, None))
        self._vector_memory.store(words, place, _WORD, None)

    def _rows_of(self, level: Level) -> list[OwnRows]:
        """The rows that are worth it."""
        known = self._site.known
        outside: Mapping[h.Node, Values] = {} if known is None else known.values.counters
        key = level, frozenset(outside.items())
        if key not in self._found:
            context, costs = self._context, self._out.module.costs
            found = find_own_rows(context.placed, context.plan, context.gang.forks, level, outside)
            self._found[key] = [it for it in found if keeping_pays(it, costs, self._vectors.lanes)]
        return self._found[key]

    def _new(self, rows: OwnRows) -> str:
        with self._out.at_entry():
            count = self._vectors.lanes
            return self._out.value(f"alloca [{rows.size} x [{count} x i32]], align {count * _WORD.size}")

    def _place(self, node: Access) -> str:
        """The pointer to the vector that an access touches in this turn, of which the beginning was counted."""
        kept = self._kept[node]
        walk, one = kept.rows.walks[node], self._one
        row = str(walk.first)
        if walk.step:
            before = one.binary("mul", "i64", self._slots.load("i64", kept.turn), str(walk.step))
            row = one.binary("add", "i64", before, str(walk.first - walk.step))
        return self._vector(kept.places[self._site.part], row)

    def _vector(self, place: str, row: str) -> str:
        return self._out.pure(f"getelementptr inbounds [{self._vectors.lanes} x i32], ptr {place}, i64 {row}")

    def _load_all(self, kept: _Kept) -> None:
        for part in self._site.parts():
            for word, vector in enumerate(self._loaded(kept.rows)):
                self._vector_memory.store(vector, self._vector(kept.places[part], str(word)), _WORD, None)

    def _loaded(self, rows: OwnRows) -> list[str]:
        """The vectors of the current part's rows."""
        place = self._pointers(rows)
        if rows.is_dense:
            words = dict.fromkeys(range(rows.size), _WORD)
            return self._interleaved.load(place(0, 0), rows.size, words, None, is_dense=True)
        found: list[str] = []
        for first, count in _pieces(rows.size, self._vectors.lanes):
            places = [place(lane, first) for lane in range(self._vectors.lanes)]
            if count == 1:
                found.append(self._vector_memory.load_each(places, _WORD))
            else:
                found += self._transposed.load(_WORD, count, places.__getitem__)
        return found

    def _store_all(self, kept: _Kept) -> None:
        for part in self._site.parts():
            places = [self._vector(kept.places[part], str(word)) for word in range(kept.rows.size)]
            self._put(kept.rows, [self._vector_memory.load(it, _WORD, None) for it in places])

    def _put(self, rows: OwnRows, data: Sequence[str]) -> None:
        """Store the vectors of the current part's rows."""
        place = self._pointers(rows)
        if rows.is_dense:
            self._interleaved.store(place(0, 0), rows.size, {it: (_WORD, one) for it, one in enumerate(data)}, None)
            return
        for first, count in _pieces(rows.size, self._vectors.lanes):
            places = [place(lane, first) for lane in range(self._vectors.lanes)]
            if rows.written.isdisjoint(range(first, first + count)):
                continue
            if count == 1:
                self._vector_memory.store_each(data[first], dict(enumerate(places)), _WORD)
            else:
                self._transposed.store(_WORD, data[first : first + count], places.__getitem__)

    def _pointers(self, rows: OwnRows) -> Callable[[int, int], str]:
        """The pointer to a word of the row of a lane of the current part."""
        before = self._one.binary("mul", "i64", self._threads.first(), str(rows.distance * _WORD.size))
        start = self._memory.address(rows.storage).pointer
        first = self._out.pure(f"getelementptr inbounds i8, ptr {start}, i64 {before}")

        def place(lane: int, word: int) -> str:
            offset = (rows.start + rows.distance * lane + word) * _WORD.size
            return self._out.pure(f"getelementptr inbounds i8, ptr {first}, i64 {offset}")

        return place


def _pieces(size: int, lanes: int) -> Iterator[tuple[int, int]]:
    """The first words and the lengths of pieces of a row, each of a vector, a half of one and so on, or one word."""
    first = 0
    while first < size:
        count = lanes
        while count > size - first:
            count //= 2
        count = count if count >= _FEWEST else 1
        yield first, count
        first += count


def keeping_pays(rows: OwnRows, costs: AccessCosts, lanes: int) -> bool:
    """Whether rows are loaded and stored in less time than the loop takes to access their words one by one."""
    is_near = rows.distance <= WORDS_FOR_EACH
    load, store = min(costs.gather, costs.loads), min(costs.scatter, costs.stores)
    if is_near:  # neighbouring words of all lanes are loaded, shuffled, and stored under masks
        load = min(load, 2 * rows.distance * costs.shuffle)
        store = min(store, rows.distance * (costs.masked_store + costs.shuffle))
    stores = sum(isinstance(it, h.Write) for it in rows.walks)
    apart = rows.turns * (load * (len(rows.walks) - stores) + store * stores)
    levels = log2(rows.size if rows.is_dense else lanes)
    whole, singles = 0.0, 0
    for _, count in [(0, rows.size)] if rows.is_dense else _pieces(rows.size, lanes):
        singles += count == 1
        whole += 0 if count == 1 else count * (levels + _KEEP_AND_LOAD) * costs.shuffle
    kept = (whole + singles * costs.loads) * rows.is_read + (whole + singles * costs.stores) * bool(rows.written)
    return kept + rows.turns * len(rows.walks) * _KEEP_AND_LOAD * costs.shuffle < apart
