"""The body of a fork for a gang of its threads.

A gang is one or more parts, each a vector of lanes, whose operations are written one after another: chains of
operations that wait for their operands overlap, and what the parts share is loaded once. Blocks are written in an order
of the levels (`analysis.body`), each under the mask of the lanes that pass it. Scalar values and branches that are the
same for all lanes stay scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from ....ir.deadline import check_compile_time
from ....ir.hercules import nodes as h
from ....ir.hercules.graph import predecessors
from ....ir.hercules.schedule import Schedule
from ....ir.hercules.types import is_collection
from ....ir.hercules.versions import is_version_projection
from ..nodes import NodeEmitter, compute
from ..storage import Storage, StoragePlan
from .analysis.body import Body, find_body
from .analysis.shapes import ROW_UNIFORM, UNIFORM, Kind, Shape, Shapes
from .choice.sizing import Gang, NotGanged
from .control.counted_loops import CountedLoops
from .control.flow import Flow
from .control.masks import Masks
from .control.merges import Merges
from .control.private_writes import PrivateWrites
from .control.segment_prefetch import SegmentPrefetch
from .control.versions import BlockVersions
from .memory.addresses import LaneAddress, array_steps
from .memory.atomics import GangAtomic
from .memory.prefixes import Operand
from .memory.records import Record, find_records
from .site import Site
from .values.paired_calls import emit_paired_calls, find_paired_calls
from .values.values import GangValues


class GangEmitter:
    """Writes one fork. Raises NotGanged for what gangs cannot do."""

    def __init__(
        self,
        placed: Schedule,
        gang: Gang,
        nodes: NodeEmitter,
        plan: StoragePlan,
        users: Mapping[h.Node, Sequence[h.Node]],
    ) -> None:
        self._placed = placed
        self._gang = gang
        self._nodes = nodes
        self._plan = plan
        self._users = users
        self._types = placed.types
        self.body: Body = find_body(placed, gang.forks)
        self._private = private = _private_storages(placed, self.body, plan)
        ids = [it for it in placed.function.nodes if isinstance(it, h.ThreadID) and it.fork in gang.forks]
        self._thread_ids = ids
        lane_shapes: dict[h.Node, Shape] = {it: _lane_shape(gang, it) for it in ids}
        self._shapes = shapes = Shapes(
            placed, self.body, plan, private, lane_shapes, lanes=gang.lanes, has_whole_rows=gang.has_whole_rows
        )
        self._fork = fork = gang.forks[0]
        self._site = site = Site(fork, shapes.keys[fork], gang.lanes, gang.parts)
        self._values = values = GangValues(placed, gang, shapes, private, nodes, users, site)
        self._masks = masks = Masks(placed, self.body, shapes, values, site)
        self._private_writes = private_writes = PrivateWrites(placed, plan, private, shapes, users, masks, site)
        self._merges = Merges(
            placed, gang, self.body, plan, private, shapes, nodes.memory, values, masks, private_writes, site
        )
        versions = BlockVersions(
            placed, gang, self.body, plan, private, shapes, values, masks, site, users, self._emit_early
        )
        segment_prefetch = SegmentPrefetch(placed, plan, users, values, site)
        self._records: dict[h.Node, Record] = {}
        self._paired_calls: dict[h.Node, tuple[h.Intrinsic, ...]] = {}
        """Both are those of the block that is written."""
        counted = CountedLoops(placed, plan, private, shapes, values, site, self._emit_early)
        self._flow = Flow(
            placed,
            shapes,
            nodes,
            values,
            masks,
            self._merges,
            versions,
            segment_prefetch,
            counted,
            site,
            self._emit_block,
            self._emit_nodes,
        )
        self._early: set[h.Node] = set()
        """Values of the block that is written that are there already."""

    # The fork

    def emit(self, label: str, before: Callable[[], str], after: str) -> None:
        """The whole fork, from the block `label`, whose predecessor is `before`, to the jump to `after`."""
        out = self._values.out
        count, threads = self._gang.count, self._gang.threads
        out.open(label)
        if count <= threads:
            self._emit_gang("0", count)
            out.do(f"br label %{after}")
            return
        ways = [("0", before)]
        index = out.phi("i64", lambda: [(value, block()) for value, block in ways])
        self._emit_gang(index, count)
        following = out.value(f"add nuw i64 {index}, {threads}")
        latch = out.current
        ways.append((following, lambda: latch))
        going = self._values.one.binary("icmp ult", "i64", following, str(count))
        out.do(f"br i1 {going}, label %{label}, label %{after}")

    def _emit_gang(self, index: str, count: int) -> None:
        self._site.base = index
        self._values.define_thread_ids(self._thread_ids)
        room = self._room()
        masks = [self._values.within(self._tail(count), room) for _ in self._site.parts()]
        key = self._shapes.keys[self._fork]
        self._masks.set(key, masks)
        self._masks.set_full_tests(key, self._all_threads(count, room))
        self._flow.emit_level(self.body.top)

    def _tail(self, count: int) -> str | None:
        """The lanes of the part that are threads."""
        first = self._values.first_number()
        if count % self._gang.lanes == 0 or (first.isdigit() and int(first) + self._gang.lanes <= count):
            return None
        vec = self._values.vec
        return vec.binary("icmp ult", "i64", self._values.lane_numbers(), vec.constant("i64", count))

    def _room(self) -> str | None:
        """How many threads there are in each row."""
        limit = self._gang.limit
        if limit is None:
            return None
        one, memory = self._values.one, self._nodes.memory
        before = one.binary("mul", "i64", self._nodes.indices[limit.outer], str(limit.size))
        return one.binary("sub", "i64", memory.dynamic(limit.count), before)

    def _all_threads(self, count: int, room: str | None) -> tuple[str, ...] | None:
        """Tests that all lanes are threads; None if some never are."""
        if count % self._gang.threads:
            return None
        if room is None:
            return ()
        return (self._values.one.binary("icmp uge", "i64", room, str(self._gang.factors[-1])),)

    # Blocks

    def _emit_block(self, leader: h.Node, omitted: Collection[h.Node]) -> None:
        self._site.here, self._site.key = leader, self._shapes.keys[leader]
        if self.body.level_of[leader].header is not leader:
            self._merges.begin(leader)
        nodes = self._placed.blocks[leader]
        self._records = find_records(nodes, self._shared_storage, self._is_uniform, self._users)
        left = [it for it in nodes if it not in self._early and it not in omitted]
        self._paired_calls = find_paired_calls(left, self._is_computed_by_lane, self._site.count)
        for node in self._in_order(left):
            self._emit_node(node)
        self._merges.leave_block(leader)

    def _emit_nodes(self, leader: h.Node, nodes: Sequence[h.Node]) -> None:
        """Some of a block that were left out."""
        self._site.here, self._site.key = leader, self._shapes.keys[leader]
        self._paired_calls = find_paired_calls(nodes, self._is_computed_by_lane, self._site.count)
        for node in nodes:
            self._emit_node(node)

    def _emit_early(self, node: h.Node) -> bool:
        """Write a value that is the same for all lanes before the rest of its block, if nothing there changes it."""
        if node in self._early:
            return True
        match node:
            case h.Read(collection=collection):
                is_constant = isinstance(collection, h.Parameter) and not is_collection(self._types[node])
            case h.Binary() | h.Unary() | h.Cast() | h.Bitcast() | h.Select():
                is_constant = True
            case _:
                is_constant = False
        here = self._site.here
        inside = [it for it in predecessors(node) if self._placed.place.get(it) is here]
        if not is_constant or not all(self._is_uniform(it) and self._emit_early(it) for it in inside):
            return False
        self._emit_node(node)
        self._early.add(node)
        return True

    def _in_order(self, nodes: Sequence[h.Node]) -> Generator[h.Node]:
        """The nodes, but scalars are read where they are used, after the tests of other accesses: LLVM then joins their
        loads with the operations on vectors.
        """
        waiting: list[h.Node] = []
        for node in nodes:
            if isinstance(node, h.Read) and not self._values.shape(node).is_vector and node not in self._records:
                waiting.append(node)
            elif isinstance(node, (h.Write, h.Atomic)) or any(it in waiting for it in predecessors(node)):
                yield from waiting
                waiting.clear()
                yield node
            else:
                yield node
        yield from waiting

    def _emit_node(self, node: h.Node) -> None:
        check_compile_time()
        match node:
            case h.ConstantNode() | h.ProductNode():
                pass
            case h.Read(collection=h.Atomic() as atomic):
                if not is_version_projection(node):
                    self._define(node, lambda: self._values.old_value(atomic))
            case h.Read(collection=h.Call() as call) if self._is_uniform(node):
                self._define(node, lambda: self._loaded_result(node, call))
            case h.Call():
                self._call(node)
            case h.Read():
                if is_collection(self._types[node]):
                    raise NotGanged("a copy of a collection")
                if node in self._records:
                    self._load_record(node, self._records[node])
                elif not self._load_transposed(node):
                    self._define(node, lambda: self._loaded(node))
            case h.Write():
                self._merges.transfer(node.collection, node)
                if node not in self._records and self._store_transposed(node):
                    return
                for _ in self._site.parts():
                    if node in self._records:
                        self._store_record(node, self._records[node])
                    else:
                        self._store(node)
            case h.Atomic():
                self._merges.transfer(node.collection, node)
                for _ in self._site.parts():
                    with self._if_any_lane():
                        self._emit_atomic(node)
            case h.Intrinsic() if node in self._paired_calls:
                if node is self._paired_calls[node][-1]:
                    self._call_together(self._paired_calls[node])
            case _ if self._values.shape(node).kind is Kind.SPECULATED:
                for _ in self._site.parts():
                    self._values.define_speculated(node)
                if self._values.is_needed(node):
                    self._define(node, lambda: compute(self._values.vec, node, self._types, self._values.vector))
            case _ if self._values.shape(node).is_vector:
                self._define(node, lambda: compute(self._values.vec, node, self._types, self._values.vector))
            case h.Cast(operand=h.Binary() as operand) if operand in self._site.proved.exact and self._widens(node):
                self._define(node, lambda: self._values.wide(operand))
            case _:
                self._define(node, lambda: compute(self._values.one, node, self._types, self._values.scalar))

    def _widens(self, node: h.Cast) -> bool:
        return (self._types[node.operand], node.type) == (h.Integer(32, signed=False), h.Integer(64, signed=False))

    def _define(self, node: h.Node, text: Callable[[], str]) -> None:
        """Write what stands for a node in each part."""
        for _ in self._values.parts_of(node):
            self._values.define(node, text())
        self._values.keep_if_left_behind(node, self._masks.here)

    def _loaded(self, node: h.Read) -> str:
        memory = self._values.memory
        if isinstance(node.collection, h.ConstantNode):
            place = memory.address_beyond(self._nodes.memory.constant(node.collection.value), node.indices)
        else:
            place = memory.address_of(self._plan.of(node.collection), node.indices)
        value, is_vector = memory.load(place, self._masks.here())
        assert is_vector == self._values.shape(node).is_vector
        return value

    def _transposed_group(self, node: h.Read | h.Write) -> int:
        """How many parts' scalars are accessed at once, since they follow one another in memory; 0 if each apart."""
        storage = self._shared_storage(node)
        if self._site.count == 1 or storage is None or any(it is not None for it in self._masks.all_here()):
            return 0
        total = 0
        for position, extent, stride in array_steps(storage.layout, node.indices):
            step = self._values.part_step(position)
            if step is None or (step and not self._values.is_proved(position, extent)):
                return 0
            total += step * stride
        place = self._values.memory.address_of(storage, node.indices)
        return self._values.memory.transposed_group(place, self._site.count) if total == place.leaf.size else 0

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
        mask = self._private_writes.mask(storage) if storage in self._private else self._masks.here()
        place = memory.address_of(storage, node.indices)
        with self._if_any_lane() if self._is_one_element(place) else nullcontext():
            memory.store(node.value, place, mask)

    @contextmanager
    def _if_any_lane(self) -> Generator[None]:
        """What is written meanwhile is for parts of which a lane passes the block: of several, one may have none."""
        mask = self._masks.here()
        if self._site.count == 1 or mask is None:
            yield
            return
        out = self._values.out
        before = out.current
        some, none = out.fresh_block("part"), out.fresh_block("part.done")
        out.do(f"br i1 {self._values.memory.any(mask)}, label %{some}, label %{none}")
        out.open_arm(some, before)
        with self._values.slots.guarded():
            yield
        out.do(f"br label %{none}")
        out.open_merge(none, before)

    def _shared_storage(self, node: h.Read | h.Write) -> Storage | None:
        """The storage that an access to a scalar is to, if the lanes share it."""
        collection = node.collection if isinstance(node, h.Read) else node
        if isinstance(collection, (h.ConstantNode, h.Atomic)) or is_version_projection(node):
            return None
        storage = None if is_collection(self._types[node]) and node is not collection else self._plan.of(collection)
        return None if storage in self._private else storage

    def _is_uniform(self, node: h.Node) -> bool:
        return self._values.shape(node) == UNIFORM

    def _is_computed_by_lane(self, node: h.Node) -> bool:
        shape = self._values.shape(node)
        return shape.is_vector and shape.kind is not Kind.SPECULATED

    def _call(self, node: h.Call) -> None:
        """Arguments and results are in memory; what is the same for all lanes is passed, or computed, once."""
        given = {index: it for index, it in enumerate(node.arguments) if not is_collection(self._types[it])}
        uniform = frozenset(index for index, it in given.items() if self._is_uniform(it))
        if self._shapes.is_uniform_call(node):
            self._call_once(node)
            return
        calls, values, memory = self._nodes.calls, self._values, self._values.memory
        site = calls.find(node, self._gang.lanes, uniform)
        for index, place in site.uniform.items():
            self._nodes.memory.store(values.scalar(given[index]), place)
        for _ in self._site.parts():
            with self._if_any_lane():
                for index, place in site.varying.items():
                    memory.store_private(values.vector(given[index]), place)
                memory.store_private(self._masks.here() or "splat (i1 true)", site.mask)
                calls.call(node, site, memory.private_pointer(self._plan.of(node)))

    def _call_once(self, node: h.Call) -> None:
        calls, memory = self._nodes.calls, self._nodes.memory
        site = calls.find(node, 1)
        for index, place in site.varying.items():
            memory.store(self._values.scalar(node.arguments[index]), place)
        calls.call(node, site, calls.common_results(node, site.way)[0])

    def _loaded_result(self, node: h.Read, call: h.Call) -> str:
        """A result that all lanes have in common."""
        (index,) = node.indices
        assert isinstance(index, h.FieldIndex)
        calls = self._nodes.calls
        return self._nodes.memory.load(calls.common_results(call, calls.find(call, 1).way)[1][index.field])

    def _call_together(self, nodes: Sequence[h.Intrinsic]) -> None:
        """What stands for each of some calls of one function, in each part."""
        values = self._values
        places = [(node, part) for node in nodes for part in self._site.parts()]
        operands = [[values.vector(it) for it in node.arguments] for node in nodes for _ in self._site.parts()]
        results = emit_paired_calls(values.memory, nodes[0].function, nodes[0].type, operands)
        for node in nodes:
            for part in self._site.parts():
                values.define(node, results[places.index((node, part))])
            values.keep_if_left_behind(node, self._masks.here)

    def _load_record(self, node: h.Node, record: Record) -> None:
        """All of a record where its first Read is."""
        if node is not record.members[0].node:
            return
        memory = self._values.memory
        for _ in self._site.parts():
            places = [memory.address_of(record.storage, it.node.indices) for it in record.members]
            vectors = memory.load_record(places, self._masks.here())
            for member, vector in zip(record.members, vectors, strict=True):
                self._values.define(member.node, vector)
        for member in record.members:
            self._values.keep_if_left_behind(member.node, self._masks.here)

    def _store_record(self, node: h.Node, record: Record) -> None:
        """All of a record where its last Write is."""
        if node is not record.members[-1].node:
            return
        memory = self._values.memory
        places = [memory.address_of(record.storage, it.node.indices) for it in record.members]
        values = [self._values.vector(it.node.value) for it in record.members if isinstance(it.node, h.Write)]
        memory.store_record(values, places, self._masks.here())

    @staticmethod
    def _is_one_element(place: LaneAddress) -> bool:
        """Whether the lanes of a part store into one place, for which there must be one."""
        return not place.varying and not place.is_private

    def _scalar_if_uniform(self, node: h.Node) -> str | None:
        return self._values.scalar(node) if self._is_uniform(node) else None

    def _emit_atomic(self, node: h.Atomic) -> None:
        memory, storage, values = self._values.memory, self._plan.of(node), self._values
        place = memory.address_of(storage, node.indices)
        operands = [Operand(values.vector(it), self._scalar_if_uniform(it)) for it in node.operands]
        old = [it for it in self._users[node] if it in self._placed.live and not is_version_projection(it)]
        result = GangAtomic(
            memory,
            self._nodes.memory,
            node.op,
            place,
            operands,
            self._masks.here(),
            is_shared=storage.is_shared,
            is_used=any(isinstance(it, h.Read) and it.indices == [h.FieldIndex(1)] for it in old),
        ).emit()
        if result is not None:
            self._values.define_old_value(node, result)
            if self._values.is_left_behind(node):
                self._values.keep(node, result, self._masks.here())


def _lane_shape(gang: Gang, thread_id: h.ThreadID) -> Shape:
    if len(gang.forks) == 1:
        return Shape(Kind.AFFINE, 1)
    return Shape(Kind.ROWS, 1) if thread_id.fork is gang.forks[-1] else ROW_UNIFORM


def _private_storages(placed: Schedule, body: Body, plan: StoragePlan) -> frozenset[Storage]:
    """The storages that exist only inside the fork: each lane has its own."""
    inside: set[Storage] = set()
    outside: set[Storage] = set()
    for node in placed.function.nodes:
        if node not in placed.live or isinstance(node, (h.ConstantNode, h.ProductNode)):
            continue
        if not isinstance(node, h.Atomic) and not is_collection(placed.types.get(node)):
            continue
        if is_version_projection(node):
            continue
        storage = plan.of(node)
        own = isinstance(node, h.Reduce) and isinstance(node.join, h.Join) and placed.nest.forks[node.join] is body.fork
        is_outside = own or isinstance(node, h.Collect) or placed.place.get(node) not in body.level_of
        (outside if is_outside else inside).add(storage)
    return frozenset(inside - outside)
