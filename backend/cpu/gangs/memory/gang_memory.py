"""The memory accesses of a gang.

Positions that rise evenly from lane to lane are a *run*. One test a gang says that they are in range and, if they are
speculated, that they rise; whole vectors are then loaded and stored, with shuffles for interleaved records. If the test
fails, and for other positions, each lane's position is clamped and elements are gathered or scattered; positions that
are likely consecutive are compared first. A lane-private collection has the lanes' copies of each scalar side by side.

The file exceeds the usual length because it is what the rest of a gang sees of all ways to access memory, and chooses
between them; each way has a module beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ...layout import ScalarLayout
from ...memory import Address
from ..analysis.body import Level
from ..analysis.shapes import ROW_UNIFORM, UNIFORM, Kind
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries, words_of
from .coinciding import CoincidingLoads
from .compressed import CompressedStores
from .constant_tables import ConstantTables
from .interleave import MOST_WORDS, WORDS_FOR_EACH, Interleaved
from .known_accesses import KnownAccess, KnownAccesses, KnownStore
from .loop_prefetch import LoopPrefetches
from .non_temporal import NonTemporalStores
from .permuted import Permuted
from .pieces import Pieces
from .prefetch import DISTANCE, Prefetches, prefetch
from .private_memory import PrivateMemory
from .quads import WORDS, Quads
from .row_stores import RowStores
from .row_walks import RowWalks
from .rows import Rows
from .runs import Run, Runs
from .transposed import TransposedAccess
from .vector_memory import LaneIndices, VectorMemory, masked_stores_are_slow, memory_type
from .walks import Walks
from .windows import BorderLoads, Windows

_WORD = 4
_FEW_REGISTERS = 16
"""With so many registers for vectors, those that sums take are spilled if loads come before their time."""


class GangMemory(LaneVectors):
    """Writes the accesses of a gang. `mask` arguments are vectors of i1, None for all lanes."""

    def __init__(self, context: GangContext, values: ValueQueries) -> None:
        super().__init__(context.vec)
        self._memory = memory = context.nodes.memory
        self._context = context
        self._values = values
        self._vector_memory = VectorMemory(self)
        self.private = PrivateMemory(context, self._vector_memory)
        self._addresses = LaneAddresses(context, self, self.private, values)
        self._runs = Runs(self, self._addresses, memory, values)
        self._quads = Quads(self)
        self._rows = Rows(self, self._vector_memory, min(context.gang.row, context.gang.lanes))
        self._interleaved = Interleaved(self, self._vector_memory)
        self._transposed = TransposedAccess(self, self._vector_memory, self._interleaved)
        memories = self, self._vector_memory, self._addresses, self._transposed
        walks = Walks(context, values)
        self._row_walks = RowWalks(context, *memories, walks, values)
        self._row_stores = RowStores(context, *memories, walks, values)
        self._non_temporal = NonTemporalStores(context, self, self._vector_memory, self._runs)
        self._permuted = Permuted(self, self._vector_memory, memory, values)
        self._tables = ConstantTables(context, self, values)
        self._pieces = Pieces(context, self, self._vector_memory, values)
        self._known = KnownAccesses(self, self._vector_memory, values)
        self._coinciding = CoincidingLoads(context, self, self._addresses, values)
        self._compressed = CompressedStores(self, self._addresses, self._interleaved)
        self._windows = Windows(self, self._addresses, context.gang.parts)
        self._borders = BorderLoads(self, self._addresses, memory, values)
        self._prefetches = Prefetches(context)
        self._loop_prefetches = LoopPrefetches(context, values)
        self._threads = context.gang.threads
        self._has_few_registers = context.out.module.target.vector_registers <= _FEW_REGISTERS
        self._masked_stores_are_slow = masked_stores_are_slow(context.out.module.costs, self.lanes)
        self.address_of = self._addresses.of
        self.address_beyond = self._addresses.beyond
        self.pointer_at = self._addresses.pointer_at
        self.lanes_of = self._addresses.lanes_of
        self.is_in_range = self._addresses.is_in_range

    # Loads

    def load(self, address: LaneAddress, mask: str | None, read: h.Read | None = None) -> tuple[str, bool]:
        """The vector at the address, or the scalar if all lanes have one address; and whether it is a vector. `read` is
        the node, where it is one by itself.
        """
        if read is not None and self._row_walks.applies_to(read, address):
            data = self._row_walks.load(read, address, lambda: self._load_words([address], mask)[0])
            return self._vector_memory.from_memory(address.leaf, data), True
        if address.varying:
            if read is not None and self._fills_registers(read):
                self.out.keep_order()
            in_pieces = self._in_pieces(read, address, mask)
            return in_pieces or self.load_record([address], mask)[0], True
        if address.is_private:
            return self._vector_memory.from_memory(
                address.leaf, self._vector_memory.load(address.pointer, address.leaf, None)
            ), True
        return self._memory.load(Address(address.pointer, address.leaf)), False

    def _fills_registers(self, read: h.Read) -> bool:
        """Whether what is loaded likely stays in one of few registers, beside sums that a loop carries on. What one
        operation needs is an operand in memory.
        """
        is_in_loop = bool(self._context.placed.loops.around[self._context.site.here])
        return is_in_loop and self._has_few_registers and len(self._context.users[read]) > 1

    def load_of_table(self, read: h.Read, table: Callable[[], Address], mask: str | None) -> str | None:
        """The vector of a Read of a constant `table` at positions that are known in part; None if they are not."""
        return self._tables.load(read, lambda: self.load(self._addresses.beyond(table(), read.indices), mask)[0])

    def _in_pieces(self, read: h.Read | None, address: LaneAddress, mask: str | None) -> str | None:
        run = None if read is None else self._runs.of(address)
        if read is None or (run is not None and not run.is_speculated):
            return None
        data = self._pieces.load(read, address, mask, lambda: self._load_by_lane(address, mask))
        return None if data is None else self._vector_memory.from_memory(address.leaf, data)

    def load_record(self, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        """The vectors of one scalar, or of several scalars of one size in the same element."""
        known = self._known.of_record(addresses)
        run = self._runs.of(addresses[0]) if known is None else None
        if known is not None:
            data = [self._known.load(it) for it in known]
        elif run is None:
            data = self._load_apart(addresses, mask)
        else:
            data = self._tested(
                self._runs.test(run),
                [memory_type(address.leaf) for address in addresses],
                lambda: self._load_run(run, addresses, mask),
                lambda: self._load_otherwise(run, addresses, mask),
            )
        return [self._vector_memory.from_memory(address.leaf, it) for address, it in zip(addresses, data, strict=True)]

    def _load_otherwise(self, run: Run, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        """Scalars at the addresses of a run that is none."""
        if run.is_speculated and self._windows.applies_to(addresses):
            return self._windows.load(addresses, mask)
        return [self._load_at_border(run, address, mask) for address in addresses]

    def _load_at_border(self, run: Run, address: LaneAddress, mask: str | None) -> str:
        def gathered() -> str:
            return self._vector_memory.rare_gather(self.lanes_of(address), address.leaf, mask)

        if not self._borders.applies_to(run, address):
            return gathered()
        return self._borders.load(address, mask, gathered)

    def _load_apart(self, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        """Scalars at arbitrary addresses: permuted, by a window, once for all lanes, or apart."""
        if self._permuted.applies_to(addresses):
            return self._load_permuted(addresses, mask)
        if self._is_by_window(addresses):
            return self._windows.load(addresses, mask)
        if self._is_coinciding(addresses):
            return self._coinciding.load(addresses, mask, lambda: self._load_words(addresses, mask))
        return self._load_words(addresses, mask)

    def _is_coinciding(self, addresses: Sequence[LaneAddress]) -> bool:
        first = addresses[0]
        is_faster = self._is_row_uniform(first) or self._is_in_rows(first)
        return not is_faster and not self._values.is_brief() and self._coinciding.applies_to(addresses)

    def _load_words(self, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        """Scalars apart: two adjacent words are gathered as one, and four words loaded as one."""
        found: dict[LaneAddress, str] = {}
        quad = self._quad(addresses)
        if quad is not None:
            words = self._quads.load(self._addresses.elements_of(quad[0]), [it.leaf for it in quad])
            found |= dict(zip(quad, words, strict=True))
        for address in addresses:
            if address in found:
                continue
            following = None if address.is_private or self._is_row_uniform(address) else _word_after(address, addresses)
            if following is None or following in found:
                found[address] = self._load_by_lane(address, mask)
            else:
                leaves = address.leaf, following.leaf
                found[address], found[following] = self._vector_memory.gather_pairs(
                    self.lanes_of(address), leaves, mask
                )
        return [found[address] for address in addresses]

    def _load_permuted(self, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        first = self._permuted.first(addresses)
        return self._tested(
            self._permuted.test(addresses, first),
            [memory_type(it.leaf) for it in addresses],
            lambda: self._permuted.load(addresses, first),
            lambda: [self._vector_memory.gather(self.lanes_of(it), it.leaf, mask) for it in addresses],
        )

    def _is_by_window(self, addresses: Sequence[LaneAddress]) -> bool:
        first = addresses[0]
        is_faster = self._is_row_uniform(first) or self._is_in_rows(first)
        return not is_faster and not self._values.is_brief() and self._windows.applies_to(addresses)

    def _quad(self, addresses: Sequence[LaneAddress]) -> list[LaneAddress] | None:
        """Three or four words in a row of an element, from the first on, to load as one; None if there are none."""
        first = min(addresses, key=lambda it: it.offset or 0)
        if first.is_private or len(first.varying) != 1 or first.offset is None:
            return None
        if self._is_row_uniform(first) or first.leaf.size != _WORD or self._values.is_brief():
            return None
        by_offset = {it.offset: it for it in addresses}
        offsets = [first.offset + _WORD * number for number in range(WORDS)]
        found = [by_offset[it] for it in offsets if it in by_offset]
        is_inside = first.offset + WORDS * _WORD <= first.varying[0].stride
        is_whole = [it.offset for it in found] == offsets[: len(found)] and len(found) > 2
        return found if is_inside and is_whole and self._quads.are_for(len(found)) else None

    def load_strip(self, addresses: Sequence[LaneAddress], offsets: Sequence[int], mask: str | None) -> list[str]:
        """The vectors of scalars at addresses that are so many elements behind the first one (see `strips`)."""
        first, run = addresses[0], self._runs.of(addresses[0])
        assert run is not None
        is_safe = all(self.is_in_range(it.position, it.extent) for address in addresses for it in address.varying)
        test = None if is_safe else self._runs.strip_test(run, offsets[-1])
        wanted = {offset: address.leaf for offset, address in zip(offsets, addresses, strict=True)}

        def load() -> list[str]:
            start, period = self._runs.pointer(first.pointer, run), run.step // first.leaf.size
            own = None if test is not None or first.is_padded else mask
            return self._interleaved.load(start, period, wanted, own, is_dense=first.is_padded)

        data = self._tested(
            test,
            [memory_type(it.leaf) for it in addresses],
            load,
            lambda: [self._vector_memory.rare_gather(self.lanes_of(it), it.leaf, mask) for it in addresses],
        )
        return [self._vector_memory.from_memory(it.leaf, one) for it, one in zip(addresses, data, strict=True)]

    def load_neighbours(self, pairs: Sequence[tuple[LaneAddress, LaneAddress]], mask: str | None) -> list[str]:
        """The vectors of pairs of 32-bit words, of which in each lane the second likely follows the first."""
        lanes = [(self.lanes_of(first), self.lanes_of(second)) for first, second in pairs]
        leaves = [(first.leaf, second.leaf) for first, second in pairs]
        return self._tested(
            self._are_next([(one.index, other.index) for one, other in lanes]),
            [memory_type(it) for pair in leaves for it in pair],
            lambda: [
                word
                for (at, _), pair in zip(lanes, leaves, strict=True)
                for word in self._vector_memory.gather_pairs(at, pair, mask)
            ],
            lambda: [
                self._vector_memory.gather(at, leaf, mask)
                for both, pair in zip(lanes, leaves, strict=True)
                for at, leaf in zip(both, pair, strict=True)
            ],
        )

    def _are_next(self, pairs: Sequence[tuple[str, str]]) -> str:
        """An i1: whether in each lane each second index follows the first one."""
        one = self.vec.constant("i32", 1)
        following = [self.vec.binary("add", "i32", first, one) for first, _ in pairs]
        tests = [
            self.vec.binary("icmp eq", "i32", it, second) for it, (_, second) in zip(following, pairs, strict=True)
        ]
        return self.is_full(reduce(lambda left, right: self.vec.binary("and", "i1", left, right), tests))

    def _load_run(self, run: Run, addresses: Sequence[LaneAddress], mask: str | None) -> list[str]:
        if self._runs.is_range_tested(run):
            mask = None
        if run.step == 0:
            return [self._load_one(run, address) for address in addresses]
        if not _is_interleaved(run, addresses):
            return [self._load_strided(run, address, mask) for address in addresses]
        first, words = words_of(addresses)
        start, is_dense = self._runs.pointer(first.pointer, run), run.is_dense and first.offset == 0
        if first.is_binding and not self._values.is_rare() and self._prefetches.is_new(first.pointer, run):
            self._prefetch(start, run)
        period, leaves = run.step // first.leaf.size, [address.leaf for address in addresses]
        wanted = dict(zip(words, leaves, strict=True))
        return self._interleaved.load(start, period, wanted, mask, is_dense=is_dense)

    def _prefetch(self, start: str, run: Run) -> None:
        """What the next gang loads, or a later iteration."""
        if self._values.is_streaming():
            ahead = self.out.value(f"getelementptr i8, ptr {start}, i64 {DISTANCE}")
            prefetch(self.out, ahead, run.step * self.lanes)
        else:
            self._loop_prefetches.emit(start, run)

    def _load_one(self, run: Run, address: LaneAddress) -> str:
        scalar, pointer = memory_type(address.leaf), self._runs.pointer(address.pointer, run)
        return self.splat(self.out.value(f"load {scalar}, ptr {pointer}, align {address.leaf.align}"), scalar)

    def _load_strided(self, run: Run, address: LaneAddress, mask: str | None) -> str:
        """Elements at even distances: by a gather, or lane by lane where that takes less time."""
        if self._values.is_brief():
            return self._vector_memory.rare_gather(self._strided(run, address), address.leaf, mask)
        costs = self.out.module.costs
        if mask is not None or costs.gather <= costs.loads:
            return self._vector_memory.gather(self._strided(run, address), address.leaf, mask)
        return self._vector_memory.load_each(self._places(run, address), address.leaf)

    def _places(self, run: Run, address: LaneAddress) -> list[str]:
        """The pointers of the lanes."""
        first = self._runs.pointer(address.pointer, run)
        return [self._addresses.moved(first, lane * run.step) for lane in range(self.lanes)]

    def _strided(self, run: Run, address: LaneAddress) -> LaneIndices:
        """The indices of elements at even distances, without the lanes' positions.

        The index is hidden from LLVM, which would otherwise compute a vector of pointers before a loop: pointers take
        twice the registers.
        """
        size = address.leaf.size
        unit = size if run.step % size == 0 else 1
        pointer = self._runs.pointer(address.pointer, run)
        zero = self.splat(self.hidden("0", "i32"), "i32")
        index = self.vec.binary("or", "i32", zero, self.lane_numbers("i32", run.step // unit))
        return LaneIndices(pointer, index, "i32", unit)

    def _load_by_lane(self, address: LaneAddress, mask: str | None) -> str:
        lanes, leaf = self.lanes_of(address), address.leaf
        if self._is_row_uniform(address):
            return self._rows.load_one_each(lanes, leaf)
        if self._is_in_rows(address) and not self._values.is_brief():
            return self._rows.load(lanes, leaf, mask)
        if not self._may_follow(address):
            return self._vector_memory.gather(lanes, leaf, mask)
        return self._tested(
            self._rows.follows(lanes),
            [memory_type(leaf)],
            lambda: [self._rows.load(lanes, leaf, mask)],
            lambda: [self._vector_memory.gather(lanes, leaf, mask)],
        )[0]

    def _tested(
        self,
        test: str | None,
        scalars: Sequence[str],
        fast: Callable[[], Sequence[str]],
        slow: Callable[[], Sequence[str]],
    ) -> list[str]:
        """Vectors from the `fast` way if a test holds, which is likely, else from the `slow` one. Without a test, the
        fast way is always right. Rare code has only the slow way.
        """
        if test is None:
            return list(fast())
        if self._values.is_rare():
            return list(slow())
        return self.either(test, scalars, fast, slow)

    # Stores

    def store(self, value: h.Node, address: LaneAddress, mask: str | None, write: h.Write | None = None) -> None:
        """Store a value for the lanes of a mask that is not empty. `write` is the node, where it is one by itself."""
        if write is not None and self._row_stores.applies_to(write, address):
            lanes = self._values.vector(value)
            data = self._vector_memory.to_memory(address.leaf, lanes)
            self._row_stores.store(write, data, address, mask, lambda: self._store_apart([data], [address], mask))
            return
        if address.varying or address.is_private:
            self.store_lanes(self._values.vector(value), address, mask)
            return
        scalar = llvm_type(address.leaf.type)
        is_uniform = self._values.shape(value) == UNIFORM
        one = self._values.scalar(value) if is_uniform else self.a_lane(scalar, self._values.vector(value), mask)
        self._memory.store(one, Address(address.pointer, address.leaf))

    def leave(self, level: Level) -> None:
        """Store what is kept for later in a loop, behind one copy of it."""
        self._row_stores.leave(level)

    def store_lanes(self, lanes: str, address: LaneAddress, mask: str | None) -> None:
        """Store a vector; lanes have different addresses."""
        if address.varying:
            self.store_record([lanes], [address], mask)
        else:
            self._vector_memory.store(
                self._vector_memory.to_memory(address.leaf, lanes), address.pointer, address.leaf, mask
            )

    def store_private(self, lanes: str, address: Address) -> None:
        """Store a vector at an address."""
        assert isinstance(address.layout, ScalarLayout)
        self._vector_memory.store(
            self._vector_memory.to_memory(address.layout, lanes), address.pointer, address.layout, None
        )

    def store_record(self, lanes: Sequence[str], addresses: Sequence[LaneAddress], mask: str | None) -> None:
        """Store vectors of one scalar, or of several scalars of one size in the same element."""
        data = [self._vector_memory.to_memory(address.leaf, it) for address, it in zip(addresses, lanes, strict=True)]
        if self._store_known(data, self._known.of_record(addresses), mask):
            return
        if self._permuted.applies_to(addresses):
            self._store_permuted(data, addresses, mask)
            return
        run = self._runs.of(addresses[0])
        if run is None or run.step == 0:
            self._store_apart(data, addresses, mask)
            return
        self._tested(
            self._runs.test(run),
            (),
            lambda: self._store_run(data, run, addresses, mask),
            lambda: self._scatter_rarely(data, addresses, mask),
        )

    def _store_apart(self, data: Sequence[str], addresses: Sequence[LaneAddress], mask: str | None) -> None:
        """Scalars at arbitrary addresses."""

        def by_lane() -> Sequence[str]:
            for it, address in zip(data, addresses, strict=True):
                self._store_by_lane(it, address, mask)
            return ()

        if mask is not None and self._is_compressed(addresses):
            self._compressed.store(data, addresses, mask, by_lane)
        else:
            by_lane()

    def _is_compressed(self, addresses: Sequence[LaneAddress]) -> bool:
        first = addresses[0]
        is_faster = self._is_row_uniform(first) or self._is_in_rows(first) or self._may_follow(first)
        return not is_faster and not self._values.is_brief() and self._compressed.applies_to(addresses)

    def store_in_turn(self, lanes: Sequence[str], addresses: Sequence[LaneAddress], mask: str | None) -> bool:
        """Store vectors of different elements of one array, one after another, as one access. False if that is not
        possible.
        """
        data = [self._vector_memory.to_memory(address.leaf, it) for address, it in zip(addresses, lanes, strict=True)]
        return self._store_known(data, self._known.all_of(addresses), mask)

    def _store_known(self, data: Sequence[str], known: Sequence[KnownAccess] | None, mask: str | None) -> bool:
        if known is None:
            return False
        self._known.store([KnownStore(access, it) for access, it in zip(known, data, strict=True)], mask)
        return True

    def _store_permuted(self, data: Sequence[str], addresses: Sequence[LaneAddress], mask: str | None) -> None:
        first = self._permuted.first(addresses)

        def store() -> Sequence[str]:
            self._permuted.store(data, addresses, first, mask)
            return ()

        self._tested(
            self._permuted.test(addresses, first), (), store, lambda: self._scatter_rarely(data, addresses, mask)
        )

    def _scatter_all(
        self, data: Sequence[str], lanes: Sequence[LaneIndices], addresses: Sequence[LaneAddress], mask: str | None
    ) -> Sequence[str]:
        for it, at, address in zip(data, lanes, addresses, strict=True):
            self._vector_memory.scatter(it, at, address.leaf, mask)
        return ()

    def _scatter_rarely(self, data: Sequence[str], addresses: Sequence[LaneAddress], mask: str | None) -> Sequence[str]:
        for it, address in zip(data, addresses, strict=True):
            self._vector_memory.rare_scatter(it, self.lanes_of(address), address.leaf, mask)
        return ()

    def _store_strided(self, data: Sequence[str], run: Run, addresses: Sequence[LaneAddress], mask: str | None) -> None:
        """Elements at even distances: by a scatter, or lane by lane where that takes less time."""
        costs = self.out.module.costs
        for it, address in zip(data, addresses, strict=True):
            if mask is None and costs.stores < costs.scatter:
                self._vector_memory.store_each(it, dict(enumerate(self._places(run, address))), address.leaf)
            else:
                self._vector_memory.scatter(it, self._strided(run, address), address.leaf, mask)

    def _store_run(
        self, data: Sequence[str], run: Run, addresses: Sequence[LaneAddress], mask: str | None
    ) -> Sequence[str]:
        if not _is_interleaved(run, addresses):
            self._store_strided(data, run, addresses, mask)
            return ()
        first, words = words_of(addresses)
        leaves = [address.leaf for address in addresses]
        given = dict(zip(words, zip(leaves, data, strict=True), strict=True))
        start, period = self._runs.pointer(first.pointer, run), run.step // first.leaf.size
        is_whole, size = len(given) == period, run.step * self._threads
        is_past = first.is_only_written and is_whole and self._values.moves_on(run.varying, size)
        is_past = is_past and self._non_temporal.fill_lines(run) and not self._values.has_short_rows()

        def store(mask: str | None) -> None:
            if mask is None and is_past:
                self._non_temporal.store(self._interleaved.rows(start, period, given), first, run)
            elif mask is not None and period == 1 and self._may_keep_others(first):
                self._store_beside_others(given[0][1], start, first.leaf, mask)
            else:
                self._interleaved.store(start, period, given, mask)

        may_be_past = is_past and self._values.are_lanes_of_positions()
        gains_from_all = period > 1 or (not self._values.is_rare() and (may_be_past or self._masked_stores_are_slow))
        if mask is not None and gains_from_all:
            self.do_either(self.is_full(mask), lambda: store(None), lambda: store(mask))
        else:
            store(mask)
        return ()

    def _may_keep_others(self, address: LaneAddress) -> bool:
        """Whether a masked store may be one of a whole vector, in which other lanes have what memory has, and takes
        less time so. Only one worker accesses the memory of a workgroup, so that nobody sees the store.
        """
        is_own = address.is_padded and not address.is_binding
        return is_own and self._masked_stores_are_slow and not self._values.is_brief()

    def _store_beside_others(self, data: str, start: str, leaf: ScalarLayout, mask: str) -> None:
        """Store to consecutive scalars of padded memory for the lanes of a mask. If the first lane is one of them, the
        vector is within the memory and its padding, and is stored as a whole.
        """

        def whole() -> None:
            before = self._vector_memory.load_apart_from_store(start, leaf)
            chosen = self.vec.select(mask, memory_type(leaf), data, before)
            self._vector_memory.store(chosen, start, leaf, None)

        has_first = self.one.convert("trunc", f"i{self.lanes}", self.bits(mask), "i1")
        self.do_either(has_first, whole, lambda: self._vector_memory.store(data, start, leaf, mask))

    def _store_by_lane(self, data: str, address: LaneAddress, mask: str | None) -> None:
        lanes, leaf = self.lanes_of(address), address.leaf
        if self._is_in_rows(address):
            self._rows.store(data, lanes, leaf, mask)
        elif not self._may_follow(address):
            self._vector_memory.scatter(data, lanes, leaf, mask)
        else:
            self._tested(
                self._rows.follows(lanes),
                (),
                lambda: self._store_rows(data, lanes, leaf, mask),
                lambda: self._scatter_all([data], [lanes], [address], mask),
            )

    def _store_rows(self, data: str, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> Sequence[str]:
        self._rows.store(data, lanes, leaf, mask)
        return ()

    # Both

    def where_consecutive(
        self,
        address: LaneAddress,
        scalars: Sequence[str],
        fast: Callable[[str], Sequence[str]],
        slow: Callable[[], Sequence[str]],
    ) -> list[str]:
        """Vectors of these types, from the `fast` way with a pointer if the lanes' elements are consecutive."""
        run = self._runs.of(address)
        if run is None or run.step != address.leaf.size:
            return list(slow())
        return self._tested(self._runs.test(run), scalars, lambda: fast(self._runs.pointer(address.pointer, run)), slow)

    def is_likely_one_place(self, address: LaneAddress) -> bool:
        """Whether all lanes likely have one address, though not surely."""
        run = self._runs.of(address)
        return run is not None and run.step == 0 and not self._values.is_rare()

    def where_at_one_place(
        self,
        address: LaneAddress,
        scalars: Sequence[str],
        fast: Callable[[str], Sequence[str]],
        slow: Callable[[], Sequence[str]],
    ) -> list[str]:
        """Vectors of these types, from the `fast` way with a pointer if all lanes have one address."""
        run = self._runs.of(address)
        assert run is not None
        return self._tested(self._runs.test(run), scalars, lambda: fast(self._runs.pointer(address.pointer, run)), slow)

    def are_all_in_range(self, address: LaneAddress) -> bool:
        """Whether the elements of all lanes exist where they are consecutive, in a mask or not."""
        run = self._runs.of(address)
        return run is not None and self._runs.is_range_tested(run)

    def load_vector(self, pointer: str, leaf: ScalarLayout, mask: str | None) -> str:
        """The consecutive elements at a pointer; zeros in lanes that are not in the mask."""
        return self._vector_memory.from_memory(leaf, self._vector_memory.load(pointer, leaf, mask))

    def is_known(self, address: LaneAddress) -> bool:
        """Whether the positions of an access are known before the kernel runs."""
        return self._known.of(address) is not None

    # All parts at once

    def transposed_group(self, address: LaneAddress, parts: int) -> int:
        """The number of parts to access at a time if their elements are consecutive and all lanes in range, for the
        address of the first part; 0 if single parts are fast.
        """
        run = self._runs.of(address)
        is_wide = run is not None and (run.step <= address.leaf.size or self._runs.test(run) is not None)
        return 0 if address.is_private or not address.varying or is_wide else self._transposed.group(parts)

    def load_transposed(self, address: LaneAddress, group: int) -> list[str]:
        """The vectors of a group of parts, from the address of the first part."""
        data = self._transposed.load(address.leaf, group, self._pointers(address))
        return [self._vector_memory.from_memory(address.leaf, it) for it in data]

    def store_transposed(self, lanes: Sequence[str], address: LaneAddress) -> None:
        """Store the vectors of a group of parts; the address is that of the first part."""
        data = [self._vector_memory.to_memory(address.leaf, it) for it in lanes]
        self._transposed.store(address.leaf, data, self._pointers(address))

    def _pointers(self, address: LaneAddress) -> Callable[[int], str]:
        """The pointers to the lanes' elements."""
        run = self._runs.of(address)
        if run is not None:
            start = self._runs.pointer(address.pointer, run)
            return lambda lane: self._addresses.moved(start, lane * run.step)
        lanes = self.lanes_of(address)

        def pointer(lane: int) -> str:
            index = self.lane(lanes.index_type, lanes.index, str(lane))
            return self.out.value(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {lanes.index_type} {index}")

        return pointer

    # Addresses that are no runs

    def _may_follow(self, address: LaneAddress) -> bool:
        """Whether the lanes' elements are likely consecutive."""
        return (
            not address.is_private
            and len(address.varying) == 1
            and address.varying[0].stride == address.leaf.size
            and self._values.is_almost_affine(address.varying[0].position)
        )

    def _is_row_uniform(self, address: LaneAddress) -> bool:
        """Whether each row of lanes accesses one element."""
        return not address.is_private and all(
            self._values.shape(index.position) == ROW_UNIFORM for index in address.varying
        )

    def _is_in_rows(self, address: LaneAddress) -> bool:
        """Whether the elements of each row of lanes are consecutive."""
        shapes = [self._values.shape(index.position) for index in address.varying]
        if address.is_private or any(it.kind not in (Kind.ROWS, Kind.WIDENED_ROWS) for it in shapes):
            return False
        moving = [index for index, shape in zip(address.varying, shapes, strict=True) if shape != ROW_UNIFORM]
        return (
            len(moving) == 1
            and self._values.shape(moving[0].position).stride == 1
            and moving[0].stride == address.leaf.size
            and self._addresses.is_in_range(moving[0].position, moving[0].extent)
        )


def _word_after(address: LaneAddress, addresses: Sequence[LaneAddress]) -> LaneAddress | None:
    """The address of the 32-bit word behind a 32-bit word, if it is among the addresses."""
    if address.leaf.size != _WORD or address.offset is None:
        return None
    return next((it for it in addresses if it.offset == address.offset + _WORD), None)


def _is_interleaved(run: Run, addresses: Sequence[LaneAddress]) -> bool:
    """Whether a run of records is accessed by whole vectors and shuffles."""
    size = addresses[0].leaf.size
    offsets = [address.offset or 0 for address in addresses]
    return (
        run.step % size == 0
        and all((it - offsets[0]) % size == 0 for it in offsets)
        and max(offsets) - min(offsets) < run.step
        and run.step // size <= min(MOST_WORDS, WORDS_FOR_EACH * len(addresses))
    )
