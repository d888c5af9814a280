"""Accesses to workgroup memory whose positions are known: whole vectors and constant shuffles, whatever the formula.

Memory is taken as *blocks* of as many words as a part has lanes. A load reads the blocks that have the lanes' words,
and shuffles these into place. A store shuffles the lanes' words into blocks; words of a block that no lane stores are
loaded first, and stored as they were. Only one worker accesses the memory of a workgroup, so that nobody sees this.
Later loads find blocks that were stored as a whole, which a processor forwards from its queue of stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .....ir.hercules import nodes as h
from ...layout import ScalarLayout
from ..values.vectors import LaneVectors, mask_text, vector_text
from .addresses import LaneAddress, ValueQueries, words_of
from .vector_memory import LaneIndices, VectorMemory, memory_type

_WORD = 4
_MOST_BLOCKS = 8
"""The most blocks of an access. With more, words are loaded one after another, or scattered."""


@dataclass(frozen=True, slots=True)
class KnownAccess:
    """The number of each lane's word behind a pointer; None for lanes that make no access. If it is not known that all
    other lanes do, it `is_partial`. In registers, only whole blocks and single words may be accessed.
    """

    pointer: str
    leaf: ScalarLayout
    words: tuple[int | None, ...]
    is_partial: bool
    is_in_registers: bool

    def beside(self, pointer: str, number: int) -> KnownAccess:
        """The same access, named by a pointer that is so many words before its own."""
        return replace(self, pointer=pointer, words=tuple(None if it is None else it + number for it in self.words))

    @property
    def given(self) -> list[int]:
        """The words of the lanes that may access."""
        return [it for it in self.words if it is not None]

    @property
    def first(self) -> int | None:
        """The word of lane 0, if words are consecutive; of a lane that makes no access, the word it would have."""
        lane, word = next((lane, it) for lane, it in enumerate(self.words) if it is not None)
        start = word - lane
        is_run = all(it is None or it == start + lane for lane, it in enumerate(self.words))
        return start if is_run and start >= 0 else None


@dataclass(frozen=True, slots=True)
class KnownStore:
    """A vector of memory's type to store."""

    access: KnownAccess
    data: str


class KnownAccesses:
    """Writes accesses of the current part."""

    def __init__(self, vectors: LaneVectors, vector_memory: VectorMemory, values: ValueQueries) -> None:
        self._vectors, self._vector_memory, self._values = vectors, vector_memory, values
        self._lanes = vectors.lanes
        self._out, self._vec = vectors.out, vectors.vec

    def of(self, address: LaneAddress) -> KnownAccess | None:
        """The access at an address of the current block, if its positions are known."""
        live = self._values.live()
        is_memory = address.is_padded and not address.is_private and not address.is_binding
        if live is None or not address.varying or not is_memory or address.leaf.size != _WORD:
            return None
        origin = address.origin
        offsets = [origin.offset if origin else 0] * self._lanes
        for index in address.varying:
            found = self._values.known(index.position)
            if found is None or not isinstance(index.extent, h.DynamicLiteral) or index.stride % _WORD:
                return None
            last = index.extent.value - 1
            offsets = [at + index.stride * min(it, last) for at, it in zip(offsets, found, strict=True)]
        words = tuple(None if it is False else at // _WORD for at, it in zip(offsets, live, strict=True))
        pointer = origin.pointer if origin else self._grown(address)
        return KnownAccess(pointer, address.leaf, words, None in live, address.is_in_registers)

    def _grown(self, address: LaneAddress) -> str:
        """The pointer that the first one of gangs with one code has, moved to where the current one's words are."""
        moved = self._values.grown_by([(it.position, it.stride) for it in address.varying])
        return (
            address.pointer if moved == "0" else self._out.pure(f"getelementptr i8, ptr {address.pointer}, i64 {moved}")
        )

    def all_of(self, addresses: Sequence[LaneAddress]) -> list[KnownAccess] | None:
        """The accesses at several addresses, if all are known."""
        found = [it for it in map(self.of, addresses) if it is not None]
        return found if len(found) == len(addresses) else None

    def of_record(self, addresses: Sequence[LaneAddress]) -> list[KnownAccess] | None:
        """The accesses to scalars in one element, if they are known; all are behind one pointer."""
        found = self.all_of(addresses)
        if found is None or addresses[0].origin is not None or any(it.offset is None for it in addresses):
            return found
        first, numbers = words_of(addresses)
        pointer = found[addresses.index(first)].pointer
        return [it.beside(pointer, number) for it, number in zip(found, numbers, strict=True)]

    # Loads

    def load(self, access: KnownAccess) -> str:
        """The lanes' words, as a vector of memory's type; lanes that make no access have any value."""
        scalar, given = memory_type(access.leaf), access.given
        if not given:
            return "zeroinitializer"
        if len(set(given)) == 1:
            pointer = self._pointer(access.pointer, given[0])
            return self._vectors.splat(self._out.value(f"load {scalar}, ptr {pointer}, align {_WORD}"), scalar)
        if access.first is not None and self._is_at_once(access, access.first):
            return self._load_from(access, access.first)
        wanted: dict[int, dict[int, int]] = {}
        for lane, word in enumerate(access.words):
            if word is not None:
                wanted.setdefault(word // self._lanes, {})[lane] = word % self._lanes
        if len(wanted) > _MOST_BLOCKS and not access.is_in_registers:
            return self._load_one_by_one(access)
        sources = [(self._load_from(access, it * self._lanes), lanes) for it, lanes in sorted(wanted.items())]
        return self._picked(scalar, sources)

    def _is_at_once(self, access: KnownAccess, first: int) -> bool:
        """Whether consecutive words are one access."""
        return not access.is_in_registers or first % self._lanes == 0

    def _load_one_by_one(self, access: KnownAccess) -> str:
        """The words one after another: their addresses are constants, so that this is faster than a gather."""
        type, vector = memory_type(access.leaf), "poison"
        for lane, word in enumerate(access.words):
            if word is not None:
                one = self._out.value(f"load {type}, ptr {self._pointer(access.pointer, word)}, align {_WORD}")
                vector = self._out.pure(f"insertelement {self._vec.type(type)} {vector}, {type} {one}, i64 {lane}")
        return vector

    def _picked(self, scalar: str, sources: Sequence[tuple[str, Mapping[int, int]]]) -> str:
        """The vector whose lanes are elements of some vectors, of which each gives some lanes."""
        while True:
            pairs = [sources[at : at + 2] for at in range(0, len(sources), 2)]
            sources = [self._merged(scalar, it) for it in pairs]
            if len(sources) == 1:
                return sources[0][0]

    def _merged(self, scalar: str, pair: Sequence[tuple[str, Mapping[int, int]]]) -> tuple[str, Mapping[int, int]]:
        numbers = list(range(self._lanes))
        for number, (_, lanes) in enumerate(pair):
            for lane, element in lanes.items():
                numbers[lane] = number * self._lanes + element
        other = pair[1][0] if len(pair) > 1 else "poison"
        lanes = {lane: lane for _, lanes in pair for lane in lanes}
        return self._shuffled(scalar, pair[0][0], other, numbers), lanes

    def _shuffled(self, scalar: str, left: str, right: str, numbers: Sequence[int]) -> str:
        if list(numbers) == list(range(self._lanes)):
            return left
        return self._vectors.shuffle(scalar, left, right, numbers)

    def _load_from(self, access: KnownAccess, word: int) -> str:
        return self._vector_memory.load(self._pointer(access.pointer, word), access.leaf, None)

    def _pointer(self, pointer: str, word: int) -> str:
        return self._out.pure(f"getelementptr i8, ptr {pointer}, i64 {word * _WORD}") if word else pointer

    def _indices(self, access: KnownAccess) -> LaneIndices:
        return LaneIndices(access.pointer, vector_text("i32", (it or 0 for it in access.words)), "i32", _WORD)

    @staticmethod
    def _live(access: KnownAccess) -> str:
        return mask_text(it is not None for it in access.words)

    # Stores

    def store(self, stores: Sequence[KnownStore], mask: str | None) -> None:
        """Store vectors, in an order that cannot be told from this one, for the lanes of a mask."""
        words = [it for store in stores for it in store.access.given]
        is_apart = len(set(words)) == len(words)
        if any(it.access.pointer != stores[0].access.pointer for it in stores) or not is_apart:
            for it in stores:
                self._store_one(it, mask)
            return
        if any(self._has_many_blocks(it.access) for it in stores):
            for it in stores:
                self._scatter(it, mask)
            return
        masked = [self._masked(it, mask) for it in stores]
        runs = [it for it in masked if self._is_run(it.access)]
        for it in runs:
            self._store_to(it.access, it.access.first or 0, it.data)
        self._store_blocks([it for it in masked if it not in runs])

    def _store_one(self, store: KnownStore, mask: str | None) -> None:
        given = store.access.given
        is_unclear = store.access.is_partial and len(set(given)) < len(given)
        if is_unclear or self._has_many_blocks(store.access):
            self._scatter(store, mask)
        else:
            self._store_blocks([self._masked(store, mask)])

    def _is_run(self, access: KnownAccess) -> bool:
        """Whether all lanes store, to consecutive words, as one access."""
        is_whole = None not in access.words and access.first is not None
        return is_whole and self._is_at_once(access, access.first or 0)

    def _has_many_blocks(self, access: KnownAccess) -> bool:
        return not access.is_in_registers and len({it // self._lanes for it in access.given}) > _MOST_BLOCKS

    def _scatter(self, store: KnownStore, mask: str | None) -> None:
        access = store.access
        live = mask if access.is_partial else self._live(access)
        self._vector_memory.scatter(store.data, self._indices(access), access.leaf, live)

    def _masked(self, store: KnownStore, mask: str | None) -> KnownStore:
        """The store in which lanes that are not in the mask store what memory has."""
        if not store.access.is_partial or mask is None:
            return store
        scalar, access = memory_type(store.access.leaf), store.access
        is_at_once = access.first is not None and self._is_at_once(access, access.first)
        before = self._load_apart_from_store(access, access.first or 0) if is_at_once else self.load(access)
        return KnownStore(access, self._vec.select(mask, scalar, store.data, before))

    def _load_apart_from_store(self, access: KnownAccess, word: int) -> str:
        """The words at a place that is stored to next."""
        if access.is_in_registers:
            return self._load_from(access, word)
        return self._vector_memory.load_apart_from_store(self._pointer(access.pointer, word), access.leaf)

    def _store_blocks(self, stores: Sequence[KnownStore]) -> None:
        """Store to whole blocks. Of words that are stored twice, the last one stays."""
        found: dict[int, dict[int, tuple[int, int]]] = {}
        for number, store in enumerate(stores):
            for lane, word in enumerate(store.access.words):
                if word is not None:
                    found.setdefault(word // self._lanes, {})[word % self._lanes] = number, lane
        for block, elements in sorted(found.items()):
            self._store_block(stores, block, elements)

    def _store_block(self, stores: Sequence[KnownStore], block: int, elements: Mapping[int, tuple[int, int]]) -> None:
        access, place = stores[0].access, block * self._lanes
        scalar = memory_type(access.leaf)
        sources: list[tuple[str, Mapping[int, int]]] = []
        if len(elements) < self._lanes:
            kept = {it: it for it in range(self._lanes) if it not in elements}
            sources.append((self._load_apart_from_store(access, place), kept))
        for number, store in enumerate(stores):
            lanes = {element: lane for element, (it, lane) in elements.items() if it == number}
            if lanes:
                own = memory_type(store.access.leaf)
                sources.append((self._vec.convert("bitcast", own, store.data, scalar), lanes))
        self._store_to(access, place, self._picked(scalar, sources))

    def _store_to(self, access: KnownAccess, word: int, data: str) -> None:
        self._vector_memory.store(data, self._pointer(access.pointer, word), access.leaf, None)
