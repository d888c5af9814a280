"""The body of a fork for a gang of its threads.

Blocks are written in an order of the levels (`control`), each under the mask of the lanes that pass it. Code that not
every lane is sure to pass has a jump around it for when none does. A loop runs while any lane is left in it. Scalar
values and branches that are the same for all lanes stay scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from ....ir.hercules import dynamic
from ....ir.hercules import nodes as h
from ....ir.hercules.analyses import Loop, block_leader
from ....ir.hercules.schedule import Schedule
from ....ir.hercules.types import is_collection
from ....ir.hercules.versions import is_version_projection
from .. import data, math
from ..endless import HALVINGS, most_turns
from ..layout import ArrayLayout, ScalarLayout, constant_size, natural_layout
from ..llvm import Ops
from ..memory import STORAGE_ALIGN, Address
from ..nodes import NodeEmitter, compute
from ..storage import Storage, StoragePlan
from .atomics import emit_atomic
from .choose import Gang, NotGanged
from .control import Body, Edge, Item, Level, find_body
from .memory import GangMemory, Place
from .shapes import ROW_UNIFORM, UNIFORM, Key, Kind, Shape, Shapes, greatest
from .slots import Slots

_PRIVATE_LIMIT = 1 << 17
"""The most bytes of a collection that each lane has for itself, on the stack."""
_UNROLLED = 400
"""Loops that turn a known number of times are unrolled up to this many operations in all."""
_SMALL = 10
"""Up to this cost, code under a mask has no jump around it."""


class GangEmitter:
    """Writes one fork. Raises NotGanged for what gangs cannot do."""

    def __init__(
        self,
        placed: Schedule,
        gang: Gang,
        nodes: NodeEmitter,
        plan: StoragePlan,
        users: Mapping[h.Node, Sequence[h.Node]],
        at_end: Callable[[h.Node], None],
    ) -> None:
        """`at_end` is called at the end of each block."""
        out = nodes.memory.ops.out
        self._at_end = at_end
        self._placed = placed
        self._gang = gang
        self._fork = fork = gang.forks[0]
        self._out = out
        self._nodes = nodes
        self._plan = plan
        self._users = users
        self._types = placed.types
        self.body: Body = find_body(placed, gang.forks)
        self.private = _private_storages(placed, self.body, plan)
        self._thread_ids = [it for it in placed.function.nodes if isinstance(it, h.ThreadID) and it.fork in gang.forks]
        self._collects = [
            it
            for it in placed.function.nodes
            if isinstance(it, h.Collect)
            and it in placed.live
            and isinstance(it.join, h.Join)
            and placed.nest.forks[it.join] is gang.forks[-1]
        ]
        lane_shapes: dict[h.Node, Shape] = {it: self._lane_shape(it) for it in self._thread_ids}
        self._shapes = Shapes(placed, self.body, plan, self.private, lane_shapes)
        self._phis: dict[h.Node, list[h.Phi]] = {}
        self._endings: dict[h.Node, list[h.Phi]] = {}
        self._find_phis()
        self._vec = Ops(out, gang.lanes)
        self._one = Ops(out)
        self._slots = Slots(out)
        self._private_at: dict[Storage, str] = {}
        self._memory = GangMemory(self._vec, nodes.memory, placed.types, self, self._private_pointer, gang.row)
        self._masks: dict[Key, str | None] = {}
        """Where a key's mask is None, it is all lanes; else it is defined in the slots."""
        self._acts: dict[Item, bool] = {}
        self._is_exact: dict[Item, bool] = {}
        self._edge_slots: dict[Edge, tuple[str, str]] = {}
        self._phi_slots: dict[h.Phi, tuple[str, str]] = {}
        self._stored: set[tuple[h.Phi, bool]] = set()
        self._out_slots: dict[h.Node, str] = {}
        self._here: h.Node = fork
        self._key: Key = self._shapes.keys[fork]
        self._base = "0"
        self._act = "true"
        """Whether any lane passes the block that is written, where there is no jump around it."""

    def _lane_shape(self, thread_id: h.ThreadID) -> Shape:
        if len(self._gang.forks) == 1:
            return Shape(Kind.AFFINE, 1)
        return Shape(Kind.ROWS, 1) if thread_id.fork is self._gang.forks[-1] else ROW_UNIFORM

    def _find_phis(self) -> None:
        for node in self._placed.function.nodes:
            if node not in self._placed.live:
                continue
            match node:
                case h.Phi(region=h.Region() as region) if region in self.body.level_of:
                    self._phis.setdefault(region, []).append(node)
                    for before in dict.fromkeys(region.predecessors):
                        if before in self._placed.live:
                            self._endings.setdefault(block_leader(before), []).append(node)
                case h.Reduce(join=h.Join() as join):
                    fork = self._placed.nest.forks[join]
                    if fork is self._fork or fork in self.body.level_of:
                        if not is_collection(self._types[node]):
                            raise NotGanged("a number reduced over lanes")
                        if self._plan.needs_transfer(node.update, node) or (
                            fork is not self._fork and self._plan.needs_transfer(node.init, node)
                        ):
                            raise NotGanged("a collection copied in a fork")
                case h.Collect(join=h.Join() as join):
                    fork = self._placed.nest.forks[join]
                    if fork not in self._gang.forks and fork in self.body.level_of:
                        raise NotGanged("a fork inside that collects")
                    if fork in self._gang.forks[:-1]:
                        if not isinstance(node.value, h.Collect) or self._plan.of(
                            node.value
                        ).parent is not self._plan.of(node):
                            raise NotGanged("a collection collected over several forks")
                    elif fork is self._gang.forks[-1] and is_collection(self._types[node.value]):
                        raise NotGanged("collections that are collected")
                case _:
                    pass

    # The fork

    def emit(self, label: str, before: Callable[[], str], after: str) -> None:
        """The whole fork, from the block `label`, whose predecessor is `before`, to the jump to `after`."""
        out = self._out
        count, lanes = prod(self._gang.factors), self._vec.lanes
        out.open(label)
        if count <= lanes:
            self._emit_gang("0", count)
            out.do(f"br label %{after}")
            return
        ways = [("0", before)]
        index = out.phi("i64", lambda: [(value, block()) for value, block in ways])
        self._emit_gang(index, count)
        following = out.value(f"add nuw i64 {index}, {lanes}")
        latch = out.current
        ways.append((following, lambda: latch))
        going = self._one.binary("icmp ult", "i64", following, str(count))
        out.do(f"br i1 {going}, label %{label}, label %{after}")

    def _emit_gang(self, index: str, count: int) -> None:
        self._base = index
        if len(self._gang.forks) == 1:
            self._nodes.indices[self._fork] = index
        else:
            self._define_thread_ids(index)
        mask = None
        if count % self._vec.lanes:
            numbers = self._memory.lane_numbers("i64")
            if index != "0":
                numbers = self._vec.binary("add", "i64", self._memory.splat(index, "i64"), numbers)
            mask = self._vec.binary("icmp ult", "i64", numbers, self._vec.constant("i64", count))
        self._set_mask(self._shapes.keys[self._fork], mask)
        self._emit_level(self.body.top)

    def _define_thread_ids(self, index: str) -> None:
        """The lanes' indices in each fork, from their number in all."""
        numbers = self._memory.lane_numbers("i64")
        if index != "0":
            numbers = self._vec.binary("add", "i64", self._memory.splat(index, "i64"), numbers)
        factors, type = self._gang.factors, self._vec.type("i64")
        for thread_id in self._thread_ids:
            at = next(number for number, fork in enumerate(self._gang.forks) if fork is thread_id.fork)
            inner = prod(factors[at + 1 :])
            value = (
                numbers if inner == 1 else self._vec.binary("udiv", "i64", numbers, self._vec.constant("i64", inner))
            )
            if at > 0:
                value = self._vec.binary("urem", "i64", value, self._vec.constant("i64", factors[at]))
            if at == len(factors) - 1:  # gangs begin with whole rows
                lanes = ", ".join(f"i64 {lane % factors[at]}" for lane in range(self._vec.lanes))
                value = f"<{lanes}>"
            self._slots.define(thread_id, value, type)

    # Masks

    def _set_mask(self, key: Key, mask: str | None) -> None:
        self._masks[key] = mask
        if mask is not None:
            self._slots.define(key, mask, self._vec.type("i1"))

    def _mask(self, key: Key) -> str | None:
        return None if self._masks[key] is None else self._slots.use(key)

    def _mask_text(self, key: Key) -> str:
        return self._mask(key) or self._all

    @property
    def _all(self) -> str:
        return "splat (i1 true)"

    def _edge(self, edge: Edge) -> tuple[str, str]:
        """The slots of whether any lane takes an edge, and of which."""
        if edge not in self._edge_slots:
            level = self.body.level_of[edge.target]
            if edge.target is level.header and edge not in level.back:
                assert level.parent is not None
                level = level.parent
            depth = len(self.body.enclosing(level.header)) - 1
            self._edge_slots[edge] = self._slots.make("i1", depth), self._slots.make(self._vec.type("i1"), depth)
        return self._edge_slots[edge]

    def _take_edges(self, leader: h.Node) -> None:
        """At the end of a block, who goes where."""
        edges = [it for it in self.body.outgoing[leader] if it.target in self.body.level_of]
        mask, exit = self._mask_text(self._key), self._placed.exits[leader]
        masks = self._vec.type("i1")
        for edge in edges:
            act, taken = self._act, mask
            if isinstance(exit, h.If):
                act, taken = self._branch(exit, edge, mask)
                if self._shapes.edge_keys[edge] is not self._key and not self._leaves_divergent(edge):
                    self._set_mask(self._shapes.edge_keys[edge], taken)
            act_slot, mask_slot = self._edge(edge)
            if self._leaves_divergent(edge):
                act = self._one.binary("or", "i1", act, self._slots.load("i1", act_slot))
                taken = self._vec.binary("or", "i1", taken, self._slots.load(masks, mask_slot))
            self._slots.store("i1", act, act_slot)
            self._slots.store(masks, taken, mask_slot)

    def _branch(self, branch: h.If, edge: Edge, mask: str) -> tuple[str, str]:
        """Whether any lane takes a way out of a branch, and which."""
        is_true = isinstance(edge.target, h.Read) and edge.target.indices == [h.ControlIndex(1)]
        if self.shape(branch.condition) == UNIFORM:
            act, type = self.scalar(branch.condition), self._vec.type("i1")
            if not is_true:
                act = self._one.binary("xor", "i1", act, "true")
            taken = self._out.value(f"select i1 {act}, {type} {mask}, {type} zeroinitializer")
            return act if self._act == "true" else self._one.binary("and", "i1", act, self._act), taken
        condition = self.vector(branch.condition)
        if not is_true:
            condition = self._vec.binary("xor", "i1", condition, self._all)
        taken = condition if mask == self._all else self._vec.select(mask, "i1", condition, "zeroinitializer")
        first = self._first_is_below(branch.condition) if is_true and mask == self._all else None
        return first or self._memory.any(taken), taken

    def _first_is_below(self, condition: h.Node) -> str | None:
        """Whether any lane's number is below a limit, where only that of the first needs to be asked."""
        match condition:
            case h.Binary(op=h.BinaryOp.LESS, lhs=lhs, rhs=rhs) if self.shape(rhs) == UNIFORM:
                type, bound = self._types[lhs], greatest(lhs, self._types)
                is_rising = self.shape(lhs) == Shape(Kind.AFFINE, 1) and bound is not None and bound < 1 << 31
                if not is_rising or not self.is_usable(lhs) or not self.is_usable(rhs):
                    return None
                return self._one.binary("icmp ult", data.llvm_type(type), self.scalar(lhs), self.scalar(rhs))
            case _:
                return None

    def _leaves_divergent(self, edge: Edge) -> bool:
        """Whether the edge leaves a loop that lanes leave at different times."""
        levels = self.body.enclosing(edge.source)
        return any(it in self._shapes.divergent and edge.target not in it.leaders for it in levels)

    # Levels

    def _emit_level(self, level: Level) -> None:
        with self._slots.level():
            for item in level.items:
                self._emit_item(item, level)

    def _emit_item(self, item: Item, level: Level) -> None:
        act = self._enter(item, level)
        if act is None:
            self._emit_inside(item)
            return
        out = self._out
        inside, after = out.fresh_block("some"), out.fresh_block("after")
        out.do(f"br i1 {act}, label %{inside}, label %{after}")
        out.open(inside)
        with self._slots.guarded():
            self._emit_inside(item)
        out.do(f"br label %{after}")
        out.open(after)

    def _enter(self, item: Item, level: Level) -> str | None:
        """Whether any lane passes an item; None if that is sure, or the item needs no jump around it."""
        key = self._shapes.item_keys[item]
        if item.leader is level.header:
            self._acts[item], self._is_exact[item], self._act = True, False, "true"
            return None
        if item.twin is not None:
            self._acts[item], self._is_exact[item] = self._acts[item.twin], self._is_exact[item.twin]
            if self._acts[item]:
                self._act = "true"
                return None
            act = self._slots.use(item.twin)
        else:
            slots = [self._edge(edge) for edge in item.incoming]
            self._is_exact[item] = key not in self._masks or self._has_own_mask(item)
            if key not in self._masks:
                taken = [self._slots.load(self._vec.type("i1"), mask) for _, mask in slots]
                self._set_mask(key, self._or(self._vec, taken))
            self._acts[item] = False
            act = self._or(self._one, [self._slots.load("i1", it) for it, _ in slots])
        self._slots.define(item, act, "i1")
        is_small = item.inner is None and self._is_exact[item] and self._cost(item.leader) <= _SMALL
        self._act = act if is_small else "true"
        return None if is_small else act

    def _has_own_mask(self, item: Item) -> bool:
        return len(item.incoming) == 1 and self._shapes.splits(item.incoming[0].source)

    @staticmethod
    def _or(ops: Ops, values: Sequence[str]) -> str:
        result, *others = values
        for other in others:
            result = ops.binary("or", "i1", result, other)
        return result

    def _emit_inside(self, item: Item) -> None:
        if item.inner is None:
            self._emit_block(item.leader)
        elif item.inner.is_loop:
            self._emit_loop(item, item.inner)
        else:
            self._emit_inner_fork(item.inner)

    def _cost(self, leader: h.Node) -> float:
        """What a block costs; infinity if it does something or calls a function."""
        total = 0.0
        for node in self._placed.blocks[leader]:
            match node:
                case h.Write() | h.Atomic():
                    return float("inf")
                case h.Intrinsic(function=name) if math.is_transcendental(name):
                    return float("inf")
                case h.Binary(op=h.BinaryOp.DIV | h.BinaryOp.REM):
                    total += 8
                case h.Read():
                    total += 3
                case _:
                    total += 1
        return total + (float("inf") if self._has_copies(leader) else 0)

    def _has_copies(self, leader: h.Node) -> bool:
        return any(
            is_collection(self._types[phi]) and any(self._transfers(phi, leader))
            for phi in self._endings.get(leader, ())
        )

    def _emit_loop(self, item: Item, level: Level) -> None:
        out, slots, masks = self._out, self._slots, self._vec.type("i1")
        is_divergent = level in self._shapes.divergent
        live = None
        if is_divergent:
            live = slots.make(masks)
            slots.store(masks, self._mask_text(self._shapes.item_keys[item]), live)
        head, done = out.fresh_block("loop"), out.fresh_block("left")
        out.do(f"br label %{head}")
        out.open(head)
        if live is not None:
            self._set_mask(self._shapes.keys[level.header], slots.load(masks, live))
        for phi in self._phis.get(level.header, ()):
            self._begin_phi(phi)
        self._emit_level(level)
        edges = [self._edge(edge) for edge in level.back]
        act = self._or(self._one, [slots.load("i1", it) for it, _ in edges])
        if live is not None:
            slots.store(masks, self._or(self._vec, [slots.load(masks, it) for _, it in edges]), live)
        unrolled = self._unrolled(level)
        out.do(f"br i1 {act}, label %{head}, label %{done}{unrolled}")
        out.open(done)

    def _is_short(self, level: Level) -> bool:
        """Whether a loop, and all in it, turns a small number of times that is known."""
        if not isinstance(level.container, Loop) or level in self._shapes.divergent:
            return False
        turns = most_turns(self._placed, level.container)
        size = sum(len(self._placed.blocks[it]) for it in level.leaders)
        is_counted = turns < HALVINGS and [edge.source for edge in level.exits] == [level.header]
        inner = [it.inner for it in level.items if it.inner is not None]
        return is_counted and turns * size <= _UNROLLED and all(self._is_short(it) for it in inner)

    def _unrolled(self, level: Level) -> str:
        """What tells LLVM to unroll a short loop."""
        if not self._is_short(level):
            return ""
        number = int(self._out.name()[2:]) + 10
        text = f"!{number} = distinct !{{!{number}, !2}}\n"
        self._out.module.add_function(f"loop {number}", text)
        return f", !llvm.loop !{number}"

    def _emit_inner_fork(self, level: Level) -> None:
        fork = level.container
        assert isinstance(fork, h.Fork)
        if not isinstance(fork.factor, h.DynamicLiteral) or fork.factor.value == 0:
            raise NotGanged("a fork inside whose factor is not known")
        out = self._out
        before, head, done = out.current, out.fresh_block("fork"), out.fresh_block("joined")
        out.do(f"br label %{head}")
        out.open(head)
        ways = [("0", before)]
        index = self._nodes.indices[fork] = out.phi("i64", lambda: ways)
        self._emit_level(level)
        following = out.value(f"add nuw i64 {index}, 1")
        ways.append((following, out.current))
        going = self._one.binary("icmp ult", "i64", following, str(fork.factor.value))
        out.do(f"br i1 {going}, label %{head}, label %{done}")
        out.open(done)

    # Blocks

    def _emit_block(self, leader: h.Node) -> None:
        self._here, self._key = leader, self._shapes.keys[leader]
        if self.body.level_of[leader].header is not leader:
            for phi in self._phis.get(leader, ()):
                self._begin_phi(phi)
        for node in self._placed.blocks[leader]:
            self._emit_node(node)
        pending = [(value, phi) for phi in self._endings.get(leader, ()) for value in self._taken(phi, leader)]
        for value, phi in pending:
            if is_collection(self._types[phi]):
                self._copy_to_phi(value, phi, pending)
            else:
                self._store_phi(phi, value, leader)
        self._hand_on_collects(leader)
        self._at_end(leader)
        self._take_edges(leader)

    def _taken(self, phi: h.Phi, leader: h.Node) -> list[h.Node]:
        assert isinstance(phi.region, h.Region)
        pairs = zip(phi.region.predecessors, phi.values, strict=True)
        return [value for it, value in pairs if it in self._placed.live and block_leader(it) is leader]

    def _transfers(self, phi: h.Phi, leader: h.Node) -> Iterator[h.Node]:
        return (it for it in self._taken(phi, leader) if self._plan.needs_transfer(it, phi))

    def _copy_to_phi(self, value: h.Node, phi: h.Phi, all: Sequence[tuple[h.Node, h.Phi]]) -> None:
        """A collection handed on into other storage."""
        if not self._plan.needs_transfer(value, phi):
            return
        target = self._plan.of(phi)
        for other, _ in all:
            is_array = is_collection(self._types[other]) and not isinstance(other, h.ConstantNode)
            if is_array and other is not value and self._plan.of(other) is target:
                raise NotGanged("private arrays that change places")
        self._transfer(value, phi)

    def _transfer(self, source: h.Node, target: h.Node) -> None:
        if not self._plan.needs_transfer(source, target):
            return
        storage = self._plan.of(target)
        if storage not in self.private:
            raise NotGanged("a shared collection copied by lanes")
        mask = self._mask(self._key)
        if isinstance(source, h.ConstantNode):
            if not isinstance(source.value, h.ZeroConstant):
                raise NotGanged("a private array that begins with a table")
            self._memory.fill_zero(storage, mask)
            return
        if self._plan.of(source) not in self.private:
            raise NotGanged("a private copy of a shared collection")
        self._memory.copy(self._plan.of(source), storage, mask)

    def _hand_on_collects(self, leader: h.Node) -> None:
        for node in self._collects:
            assert isinstance(node.join, h.Join)
            if block_leader(node.join.control) is not leader:
                continue
            storage = self._plan.of(node)
            for _ in self._gang.forks[1:]:
                if storage.parent is None:
                    raise NotGanged("a collection collected over several forks")
                storage = storage.parent
            leaf = natural_layout(self._types[node.value])
            assert isinstance(leaf, ScalarLayout)
            first = Address(self._nodes.memory.address(storage).pointer, ArrayLayout(leaf, dynamic.ZERO, leaf.size))
            target = self._nodes.memory.slot(first, self._base)
            place = Place(target.pointer, (), leaf, is_private=False)
            self._memory.store_lanes(self.vector(node.value), place, self._mask(self._key))

    # Phis

    def _phi_slot(self, phi: h.Phi) -> tuple[str, str]:
        if phi not in self._phi_slots:
            assert isinstance(phi.region, h.Region)
            scalar = data.llvm_type(self._types[phi])
            type = self._vec.type(scalar) if self._shapes.at(phi, phi.region).is_vector else scalar
            level = self.body.level_of[phi.region]
            is_header = level.header is phi.region
            depth = None if is_header else len(self.body.enclosing(phi.region)) - 1
            self._phi_slots[phi] = type, self._slots.make(type, depth)
        return self._phi_slots[phi]

    def _begin_phi(self, phi: h.Phi) -> None:
        """At the beginning of a region, what came in."""
        if not is_collection(self._types[phi]):
            assert isinstance(phi.region, h.Region)
            here, self._here = self._here, phi.region
            key, self._key = self._key, self._shapes.keys[phi.region]
            self._define(phi, self._slots.load(*self._phi_slot(phi)))
            self._here, self._key = here, key

    def _store_phi(self, phi: h.Phi, value: h.Node, leader: h.Node) -> None:
        type, slot = self._phi_slot(phi)
        region = phi.region
        assert isinstance(region, h.Region)
        if not self._shapes.at(phi, region).is_vector:
            self._slots.store(type, self.scalar(value), slot)
            return
        edge = Edge(leader, region)
        is_back = edge in self.body.level_of[region].back
        lanes = self.vector(value)
        mask = self._mask(self._key)
        is_first = (phi, is_back) not in self._stored
        self._stored.add((phi, is_back))
        if mask is not None and (self._leaves_divergent(edge) or not is_first):
            lanes = self._vec.select(mask, data.llvm_type(self._types[phi]), lanes, self._slots.load(type, slot))
        self._slots.store(type, lanes, slot)

    # Nodes

    def _emit_node(self, node: h.Node) -> None:
        match node:
            case h.ConstantNode() | h.ProductNode():
                return
            case h.Read(collection=h.Atomic() as atomic):
                if not is_version_projection(node):
                    self._define(node, self._old_value(atomic))
            case h.Read():
                self._emit_read(node)
            case h.Write():
                self._transfer(node.collection, node)
                place = self._memory.place(self._plan.of(node), node.indices)
                self._memory.store(node.value, place, self._mask(self._key))
            case h.Atomic():
                self._emit_atomic(node)
            case _ if self.shape(node).is_vector:
                self._define(node, compute(self._vec, node, self._types, self.vector))
            case _:
                self._define(node, compute(self._one, node, self._types, self.scalar))

    def _emit_read(self, node: h.Read) -> None:
        if is_collection(self._types[node]):
            raise NotGanged("a copy of a collection")
        if isinstance(node.collection, h.ConstantNode):
            place = self._memory.place_from(self._nodes.memory.constant(node.collection.value), node.indices)
        else:
            place = self._memory.place(self._plan.of(node.collection), node.indices)
        value, is_vector = self._memory.load(place, self._mask(self._key))
        assert is_vector == self.shape(node).is_vector
        self._define(node, value)

    def _emit_atomic(self, node: h.Atomic) -> None:
        self._transfer(node.collection, node)
        storage = self._plan.of(node)
        place = self._memory.place(storage, node.indices)
        operands = [self.vector(it) for it in node.operands]
        old = [it for it in self._users[node] if it in self._placed.live and not is_version_projection(it)]
        result = emit_atomic(
            self._memory,
            self._nodes.memory,
            node.op,
            place,
            operands,
            self._mask(self._key),
            is_shared=storage.is_shared,
            is_used=any(isinstance(it, h.Read) and it.indices == [h.FieldIndex(1)] for it in old),
        )
        if result is not None:
            scalar = data.llvm_type(place.leaf.type)
            self._slots.define(node, result, self._vec.type(scalar))
            if any(self._shapes.is_left_behind(node, it) for it in self._use_blocks(node)):
                self._keep_for_later(node, scalar, result)

    def _old_value(self, atomic: h.Atomic) -> str:
        """What lanes found in memory."""
        if not self._shapes.is_left_behind(atomic, self._here):
            return self._slots.use(atomic)
        element = self._types[atomic]
        assert isinstance(element, h.Product)
        return self._slots.load(self._vec.type(data.llvm_type(element.fields[1])), self._out_slots[atomic])

    def _define(self, node: h.Node, text: str) -> None:
        scalar = data.llvm_type(self._types[node])
        is_vector = self.shape(node).is_vector
        blocks = set(self._use_blocks(node))
        self._slots.define(node, text, self._vec.type(scalar) if is_vector else scalar, is_local=blocks <= {self._here})
        if any(self._shapes.is_left_behind(node, it) for it in blocks):
            self._keep_for_later(node, scalar, self.vector(node))

    def _keep_for_later(self, node: h.Node, scalar: str, lanes: str) -> None:
        """What each lane had last, for after a loop that lanes leave at different times."""
        type = self._vec.type(scalar)
        if node not in self._out_slots:
            self._out_slots[node] = self._slots.make(type)
        slot = self._out_slots[node]
        mask = self._mask(self._key)
        if mask is not None:
            lanes = self._vec.select(mask, scalar, lanes, self._slots.load(type, slot))
        self._slots.store(type, lanes, slot)

    def _use_blocks(self, node: h.Node) -> Iterator[h.Node]:
        """The blocks that use a value."""
        for user in self._users[node]:
            if user not in self._placed.live:
                continue
            match user:
                case h.Phi(region=h.Region() as region, values=values):
                    for value, at in zip(values, region.predecessors, strict=True):
                        if value is node and at in self._placed.live:
                            yield block_leader(at)
                case h.Collect(join=h.Join() as join):
                    yield block_leader(join.control)
                case h.If(control=control) | h.Return(control=control):
                    yield block_leader(control)
                case _:
                    yield self._placed.place[user]

    # Values (see `memory.Values`)

    def shape(self, node: h.Node) -> Shape:
        """As the current block sees it."""
        return self._shapes.at(node, self._here)

    def is_usable(self, node: h.Node) -> bool:
        """Whether code here can name a value that its block need not use."""
        left_behind = self._shapes.is_left_behind(node, self._here)
        return node in self._out_slots if left_behind else self._slots.is_usable(node)

    def is_almost_affine(self, node: h.Node, depth: int = 10) -> bool:
        """See `memory.Values`."""
        shape = self._shapes.at(node, self._placed.place.get(node, self._fork))
        if shape.kind in (Kind.AFFINE, Kind.WIDENED, Kind.ROWS):
            return shape.stride == 1
        if shape == UNIFORM or depth == 0:
            return False
        match node:
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self.is_almost_affine(operand, depth - 1)
            case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs):
                return self.is_almost_affine(lhs, depth - 1) or self.is_almost_affine(rhs, depth - 1)
            case h.Binary(op=h.BinaryOp.SUB | h.BinaryOp.REM, lhs=lhs):
                return self.is_almost_affine(lhs, depth - 1)
            case h.Intrinsic(function="clamp" | "min" | "max", arguments=arguments):
                return any(self.is_almost_affine(it, depth - 1) for it in arguments)
            case h.Select(if_true=if_true, if_false=if_false):
                return self.is_almost_affine(if_true, depth - 1) and self.is_almost_affine(if_false, depth - 1)
            case h.Phi(values=values):
                return any(self.is_almost_affine(it, depth - 5) for it in values if depth > 5)
            case _:
                return False

    def scalar(self, node: h.Node) -> str:
        """The value of one that does not vary; of an affine one that of the first lane."""
        assert not self.shape(node).is_vector, f"{node} varies"
        if node not in self._slots:
            return self._nodes.value(node)
        text = self._slots.use(node)
        self._nodes.values[node] = text
        return text

    def vector(self, node: h.Node) -> str:
        """The value in all lanes."""
        shape, scalar = self.shape(node), data.llvm_type(self._types[node])
        if self._shapes.is_left_behind(node, self._here):
            return self._slots.load(self._vec.type(scalar), self._out_slots[node])
        if shape.is_vector:
            return self._slots.use(node)
        if shape == UNIFORM:
            return self._memory.splat(self.scalar(node), scalar)
        if shape.kind is Kind.WIDENED:
            first = self._one.convert("trunc", "i64", self.scalar(node), "i32")
            return self._vec.convert("zext", "i32", self._affine(first, "i32", shape.stride), "i64")
        return self._affine(self.scalar(node), scalar, shape.stride)

    def _affine(self, first: str, scalar: str, stride: int) -> str:
        numbers = self._memory.lane_numbers(scalar, stride)
        return numbers if first == "0" else self._vec.binary("add", scalar, self._memory.splat(first, scalar), numbers)

    # Lane-private memory

    def _private_pointer(self, storage: Storage) -> str | None:
        if storage not in self.private:
            return None
        if storage not in self._private_at:
            size = constant_size(storage.layout)
            if size is None or size * self._vec.lanes > _PRIVATE_LIMIT:
                raise NotGanged("a large private array")
            with self._nodes.memory.at_entry():
                self._private_at[storage] = self._out.value(
                    f"alloca [{max(size, 1) * self._vec.lanes} x i8], align {STORAGE_ALIGN}"
                )
        return self._private_at[storage]


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
