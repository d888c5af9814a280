"""The Reads, Writes and Atomics of a block: which are made together, and under which masks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...data import llvm_type
from ...memory import Address
from ...storage import Storage
from ..analysis.shapes import VARYING
from ..context import GangContext
from ..memory.addresses import LaneAddress, array_steps
from ..memory.atomics import GangAtomic, combined, is_combined
from ..memory.changed_elements import are_changed_by_lane, change_by_lane, change_of
from ..memory.kept_rows import KeptRows
from ..memory.lane_chains import LaneChain
from ..memory.neighbours import Neighbours, find_neighbours, in_order
from ..memory.prefixes import Operand
from ..memory.records import Record, find_records
from ..memory.strips import Strip, find_strips
from ..values.values import GangValues
from .chains import ChainEmitter
from .masks import Masks
from .private_writes import PrivateWrites


class AccessEmitter:
    """Writes the accesses of a block."""

    def __init__(
        self,
        context: GangContext,
        values: GangValues,
        masks: Masks,
        private_writes: PrivateWrites,
        kept_rows: KeptRows,
    ) -> None:
        self._placed, self._types, self._users = context.placed, context.types, context.users
        self._plan, self._private = context.plan, context.private
        self._memory, self._costs = context.nodes.memory, context.out.module.costs
        self._site = context.site
        self._values = values
        self._masks = masks
        self._private_writes, self._kept_rows = private_writes, kept_rows
        self.chains = ChainEmitter(context, values, self._shared_storage, self._is_scattered)
        self._chains: dict[h.Node, LaneChain] = {}
        """The chains in the current block, by each of their Writes."""
        self._records: dict[h.Node, Record] = {}
        """The records of the current block."""
        self._neighbours: dict[h.Node, Neighbours] = {}
        """The neighbours in the current block, by each of their Reads."""
        self._strips: dict[h.Node, Strip] = {}
        """The strips in the current block, by each of their Reads."""
        self._turns: dict[h.Node, list[h.Write]] = {}
        """The Writes one after another in the current block, by each of them."""
        self._waiting: set[Neighbours | Strip] = set()
        """Those that are not loaded yet."""

    def begin(self, nodes: Sequence[h.Node]) -> list[h.Node]:
        """Find the accesses of a block that are made together. Returns its nodes in an order in which they can be."""
        nodes = self._without_chains(nodes)
        self._records = find_records(nodes, self._shared_storage, self._values.is_uniform_in_part, self._users)
        groups = find_neighbours(nodes, self._records, self._shared_storage, self._is_scattered)
        self._turns = self._find_turns(nodes) if self._site.known else {}
        self._neighbours = {read: group for group in groups for read in group.reads}
        strips = self._find_strips(nodes)
        self._strips = {read: strip for strip in strips for read in strip.reads}
        self._waiting = {*groups, *strips}
        return in_order(nodes, [*(it.reads for it in groups), *(it.reads for it in strips)])

    def _without_chains(self, nodes: Sequence[h.Node]) -> list[h.Node]:
        """The nodes that are written by themselves: of a chain, only its Writes, which the last one writes together."""
        self._chains = {}
        is_partial = any(it is not None for it in self._masks.all_here())
        found = [] if is_partial else self.chains.find(nodes)
        self._chains = {write: it for it in found for write in (*it.stores, it.write)}
        inside = {node for it in found for node in (it.read, *it.computed, it.change)}
        return [it for it in nodes if it not in inside]

    def _find_strips(self, nodes: Sequence[h.Node]) -> list[Strip]:
        """The strips of a block. Where positions are known, single words are shuffled into place."""
        if self._site.known:
            return []
        taken = {*self._records, *self._neighbours}
        return find_strips(nodes, taken, self._shared_storage, self._values.distance)

    def _is_scattered(self, position: h.Node) -> bool:
        is_varying = self._values.shape(position) == VARYING and not self._values.is_almost_affine(position)
        return is_varying and not self._values.is_known(position)

    def is_in_record(self, node: h.Node) -> bool:
        """Whether a record contains the access."""
        return node in self._records

    # Loads

    def loaded(self, node: h.Read) -> str:
        """The scalar or vector of a Read in the current part."""
        memory = self._values.memory
        if node in self._kept_rows:
            return self._kept_rows.load(node)
        if isinstance(node.collection, h.ConstantNode):
            constant = node.collection.value
            vector = memory.load_of_table(node, lambda: self._memory.constant(constant), self._masks.here())
            if vector is not None:
                return vector
            address = memory.address_beyond(self._memory.constant(constant), node.indices)
        else:
            address = memory.address_of(self._plan.of(node.collection), node.indices)
        value, is_vector = memory.load(address, self._masks.here(), node)
        assert is_vector == self._values.shape(node).is_vector
        if not is_vector and self._values.is_uniform(node):
            self._values.broadcasts.load(node, Address(address.pointer, address.leaf), self._memory)
        return value

    def load_with_others(self, node: h.Read) -> bool:
        """Load a Read with the rest of its record, with its neighbours, or in several parts at once. False if none of
        these applies.
        """
        group = self._neighbours.get(node)
        if group is not None:
            if group in self._waiting:
                self._waiting.remove(group)
                self._load_neighbours(group)
            return True
        strip = self._strips.get(node)
        if strip is not None:
            if strip in self._waiting:
                self._waiting.remove(strip)
                self._load_strip(strip)
            return True
        record = self._records.get(node)
        if record is None:
            return self._load_transposed(node)
        if node is record.members[0].node:
            self._load_record(record)
        return True

    def _load_record(self, record: Record) -> None:
        memory = self._values.memory
        for _ in self._site.parts():
            addresses = [memory.address_of(record.storage, it.node.indices) for it in record.members]
            vectors = memory.load_record(addresses, self._masks.here())
            for member, vector in zip(record.members, vectors, strict=True):
                self._values.define(member.node, vector)
        for member in record.members:
            self._values.keep_if_left_behind(member.node, self._masks.here)

    def _load_neighbours(self, group: Neighbours) -> None:
        memory = self._values.memory
        for _ in self._site.parts():
            pairs = [
                (
                    memory.address_of(group.storage, it.first.indices),
                    memory.address_of(group.storage, it.second.indices),
                )
                for it in group.pairs
            ]
            for read, vector in zip(group.reads, memory.load_neighbours(pairs, self._masks.here()), strict=True):
                self._values.define(read, vector)
        for read in group.reads:
            self._values.keep_if_left_behind(read, self._masks.here)

    def _load_strip(self, strip: Strip) -> None:
        memory = self._values.memory
        for _ in self._site.parts():
            addresses = [memory.address_of(strip.storage, it.indices) for it in strip.reads]
            vectors = memory.load_strip(addresses, strip.offsets, self._masks.here())
            for read, vector in zip(strip.reads, vectors, strict=True):
                self._values.define(read, vector)
        for read in strip.reads:
            self._values.keep_if_left_behind(read, self._masks.here)

    def _load_transposed(self, node: h.Read) -> bool:
        group = self._transposed_group(node)
        if group == 0:
            return False
        memory, found = self._values.memory, list[str]()
        for part in self._site.parts():
            if part % group == 0:
                found += memory.load_transposed(memory.address_of(self._plan.of(node.collection), node.indices), group)
        for part in self._site.parts():
            self._values.define(node, found[part])
        self._values.keep_if_left_behind(node, self._masks.here)
        return True

    def _transposed_group(self, node: h.Read | h.Write) -> int:
        """The number of parts to access at once, since their elements are consecutive; 0 for one after another."""
        storage = self._shared_storage(node)
        if self._site.count == 1 or storage is None or any(it is not None for it in self._masks.all_here()):
            return 0
        total = 0
        for position, extent, stride in array_steps(storage.layout, node.indices):
            step = self._values.part_step(position)
            if step is None or (step and not self._values.is_proved(position, extent)):
                return 0
            total += step * stride
        memory = self._values.memory
        address = memory.address_of(storage, node.indices)
        is_wide = total != address.leaf.size or memory.is_known(address)
        return 0 if is_wide else memory.transposed_group(address, self._site.count)

    # Stores

    def store(self, node: h.Write) -> None:
        """A Write in all parts. The last Write of a record stores the whole record, and the last one of several that
        are one access stores all.
        """
        chain = self._chains.get(node)
        if chain is not None:
            if node is chain.last:
                for _ in self._site.parts():
                    self.chains.emit(chain)
            return
        record, turns = self._records.get(node), self._turns.get(node, [])
        if len(turns) > 1:
            if node is turns[-1]:
                self._store_in_turn(turns)
            return
        if record is None and self._store_transposed(node):
            return
        for _ in self._site.parts():
            if record is None:
                self._store(node)
            elif node is record.members[-1].node:
                self._store_record(record)

    def _store_record(self, record: Record) -> None:
        memory = self._values.memory
        addresses = [memory.address_of(record.storage, it.node.indices) for it in record.members]
        values = [self._values.vector(it.node.value) for it in record.members if isinstance(it.node, h.Write)]
        memory.store_record(values, addresses, self._masks.here())

    def _find_turns(self, nodes: Sequence[h.Node]) -> dict[h.Node, list[h.Write]]:
        """Writes to one shared storage, each of the version before, without another access to it between them."""
        found: dict[h.Node, list[h.Write]] = {}
        last: dict[Storage, h.Write] = {}
        for node in nodes:
            if not isinstance(node, (h.Read, h.Write)):
                if isinstance(node, (h.Atomic, h.Call)):
                    last.clear()
                continue
            storage = self._shared_storage(node)
            if storage is None:
                continue
            before = last.pop(storage, None)
            if isinstance(node, h.Write) and node not in self._records:
                turns = found[node] = found[before] if before is not None and node.collection is before else []
                turns.append(node)
                last[storage] = node
        return found

    def _store_in_turn(self, turns: Sequence[h.Write]) -> None:
        memory = self._values.memory
        for _ in self._site.parts():
            addresses = [memory.address_of(self._plan.of(it), it.indices) for it in turns]
            if all(map(memory.is_known, addresses)):
                memory.store_in_turn([self._values.vector(it.value) for it in turns], addresses, self._masks.here())
                continue
            for it in turns:
                self._store(it)

    def _store_transposed(self, node: h.Write) -> bool:
        group = self._transposed_group(node)
        if group == 0:
            return False
        memory, data = self._values.memory, [self._values.vector(node.value) for _ in self._site.parts()]
        for part in self._site.parts():
            if part % group == 0:
                memory.store_transposed(data[part : part + group], memory.address_of(self._plan.of(node), node.indices))
        return True

    def _store(self, node: h.Write) -> None:
        memory, storage = self._values.memory, self._plan.of(node)
        if node in self._kept_rows:
            self._kept_rows.store(node, self._values.vector(node.value), self._masks.here())
            return
        mask = self._private_writes.mask(storage) if storage in self._private else self._masks.here()
        address = memory.address_of(storage, node.indices)
        change = change_of(node, self._users) if mask is None else None
        is_scattered = any(self._is_scattered(it.position) for it in address.varying)
        if change is not None and is_scattered and are_changed_by_lane(address, self._costs):
            change_by_lane(memory, memory.lanes_of(address), change, self._types, self._lanes_of(change.operand))
            return
        with self._masks.if_any_lane() if _is_one_element(address) else nullcontext():
            memory.store(node.value, address, mask, node)

    def _lanes_of(self, node: h.Node) -> list[str]:
        """The scalars of a part's lanes."""
        memory, values = self._values.memory, self._values
        scalar = self._scalar_if_uniform(node)
        if scalar is not None:
            return [scalar] * memory.lanes
        return memory.all_lanes(llvm_type(self._types[node]), values.vector(node))

    def _shared_storage(self, node: h.Read | h.Write) -> Storage | None:
        """The storage that a scalar access touches, if the lanes share it, their rows are not kept,
        and no chain has the access.
        """
        collection = node.collection if isinstance(node, h.Read) else node
        if isinstance(collection, (h.ConstantNode, h.Atomic)) or is_version_projection(node):
            return None
        if node in self._kept_rows or node in self._chains:
            return None
        storage = None if is_collection(self._types[node]) and node is not collection else self._plan.of(collection)
        return None if storage in self._private else storage

    # Atomics

    def atomic(self, node: h.Atomic) -> None:
        """An atomic operation in all parts, of which one has an active lane; one operation for all parts if they have
        one address.
        """
        is_uniform = all(self._values.is_uniform(it) for it in positions_of(node.indices))
        if is_uniform and is_combined(node.op) and self._plan.of(node) not in self._private:
            results = combined([self._operation(node) for _ in self._site.parts()])
            for part in self._site.parts():
                if results:
                    self._define_old_value(node, results[part])
            return
        for _ in self._site.parts():
            with self._masks.if_any_lane():
                result = self._operation(node).emit()
                if result is not None:
                    self._define_old_value(node, result)

    def _operation(self, node: h.Atomic) -> GangAtomic:
        """An atomic operation in the current part."""
        memory, storage, values = self._values.memory, self._plan.of(node), self._values
        old = [it for it in self._users[node] if it in self._placed.live and not is_version_projection(it)]
        return GangAtomic(
            memory,
            self._memory,
            node.op,
            memory.address_of(storage, node.indices),
            [Operand(values.vector(it), self._scalar_if_uniform(it)) for it in node.operands],
            self._masks.here(),
            is_shared=storage.is_shared,
            is_used=any(isinstance(it, h.Read) and it.indices == [h.FieldIndex(1)] for it in old),
            tables=None if storage.parameter is None else self._memory.tables.get(storage.parameter),
        )

    def _define_old_value(self, node: h.Atomic, text: str) -> None:
        self._values.define_old_value(node, text)
        if self._values.is_left_behind(node):
            self._values.keep(node, text, self._masks.here())

    def _scalar_if_uniform(self, node: h.Node) -> str | None:
        return self._values.scalar(node) if self._values.is_uniform_in_part(node) else None


def _is_one_element(address: LaneAddress) -> bool:
    """Whether all lanes of a part store to one address, which needs an active lane."""
    return not address.varying and not address.is_private
