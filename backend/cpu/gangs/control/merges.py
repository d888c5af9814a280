"""Phis, Reduces and Collects: the values that leave a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .....ir.hercules import dynamic
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.types import is_collection
from ... import data
from ...layout import ArrayLayout, ScalarLayout, natural_layout
from ...memory import Address
from ..analysis.body import BlockEdge, Level
from ..analysis.retained import RetainedPhis
from ..context import GangContext
from ..memory.addresses import LaneAddress
from ..values.values import GangValues
from .masks import Masks
from .private_writes import PrivateWrites


class Merges:
    """Writes the Phis, Reduces and Collects of a gang's body."""

    def __init__(self, context: GangContext, values: GangValues, masks: Masks, private_writes: PrivateWrites) -> None:
        self._placed, self._gang, self._body = context.placed, context.gang, context.body
        self._plan, self._private, self._shapes = context.plan, context.private, context.shapes
        self._types = context.types
        self._memory = context.nodes.memory
        self._site = context.site
        self._values = values
        self._masks = masks
        self._private_writes = private_writes
        self._retained = RetainedPhis(context.shapes)
        self._phis: dict[h.Node, Sequence[h.Phi]] = {}
        self._endings: dict[h.Node, list[h.Phi]] = {}
        self._collects: dict[h.Node, Sequence[h.Collect]] = {}
        self._openings: dict[h.Node, list[h.Reduce]] = {}
        """For each block before an inner fork, the fork's Reduces whose collections begin as copies."""
        self._phi_slots: dict[h.Phi, tuple[str, list[str]]] = {}
        self._first: dict[tuple[h.Phi, bool], h.Node] = {}
        for leader in self._body.level_of:
            if isinstance(leader, h.Region):
                self._find_phis(leader)
            elif isinstance(leader, h.Fork) and leader is not self._body.fork:
                self._find_openings(leader)
        innermost = self._gang.forks[-1]
        last = block_leader(self._placed.nest.joins[innermost].control)
        self._collects[last] = self._placed.members.collects.get(innermost, ())

    def _find_phis(self, region: h.Region) -> None:
        self._phis[region] = phis = self._placed.members.phis.get(region, ())
        for before in dict.fromkeys(region.predecessors):
            if before in self._placed.live:
                self._endings.setdefault(block_leader(before), []).extend(phis)

    def _find_openings(self, fork: h.Fork) -> None:
        for reduce in self._placed.members.reduces.get(fork, ()):
            if self._plan.needs_transfer(reduce.init, reduce):
                self._openings.setdefault(block_leader(fork.control), []).append(reduce)

    def has_copies(self, leader: h.Node) -> bool:
        """Whether collections are copied to other storage at the end of a block."""
        return leader in self._openings or any(
            is_collection(self._types[phi])
            and any(self._plan.needs_transfer(it, phi) for it in self._taken(phi, leader))
            for phi in self._endings.get(leader, ())
        )

    def begin_turn(self, level: Level) -> None:
        """The blocks of a loop are written once more. Other ones of them may have no lanes than in the turn before, so
        that another one may be the first to store a Phi.
        """
        entered = {(it, False) for it in self._phis.get(level.header, ())}
        self._first = {
            key: first for key, first in self._first.items() if key in entered or key[0].region not in level.leaders
        }

    # At the beginning of a region

    def begin(self, region: h.Node) -> None:
        """Load the scalar Phis of a region."""
        if region not in self._phis:
            return
        with self._site.at(region):
            for phi in self._phis[region]:
                if not is_collection(self._types[phi]):
                    self._load_phi(phi)

    def _load_phi(self, phi: h.Phi) -> None:
        type, slots = self._slots_of(phi)
        for _ in self._values.parts_of(phi):
            self._values.define(phi, self._values.slots.load(type, slots[self._site.part]))
        if not self._is_retained(phi):
            self._values.keep_if_left_behind(phi, self._masks.here)
            return
        for part in self._site.parts():
            self._values.keep_in(phi, slots[part])

    def _is_retained(self, phi: h.Phi) -> bool:
        """Whether a Phi that is used after its loop keeps its value there (see `analysis.retained`)."""
        values = self._values
        assert isinstance(phi.region, h.Region)
        is_vector = values.is_left_behind(phi) and values.is_vector_at(phi, phi.region)
        return is_vector and self._retained.retains(phi, values.use_blocks(phi))

    def start_of(self, phi: h.Phi) -> str:
        """The vector of a Phi in the current part, where it is not in its region yet: what has been stored for it."""
        type, slots = self._slots_of(phi)
        return self._values.slots.load(type, slots[self._site.part])

    def _slots_of(self, phi: h.Phi) -> tuple[str, list[str]]:
        if phi not in self._phi_slots:
            assert isinstance(phi.region, h.Region)
            type = self._values.type_of(phi, phi.region)
            level = self._body.level_of[phi.region]
            is_header = level.header is phi.region
            depth = None if is_header else len(self._body.enclosing(phi.region)) - 1
            count = 1 if self._values.is_common_at(phi, phi.region) else self._site.count
            self._phi_slots[phi] = type, [self._values.slots.make(type, depth) for _ in range(count)]
        return self._phi_slots[phi]

    # At the end of a block

    def leave_block(self, leader: h.Node) -> None:
        """Write the values that leave a block at its end."""
        for phi in self._endings.get(leader, ()):
            for value in self._taken(phi, leader):
                if is_collection(self._types[phi]):
                    self.transfer(value, phi)
                else:
                    self._store_phi(phi, value, leader)
        for reduce in self._openings.get(leader, ()):
            self.transfer(reduce.init, reduce)
        for collect in self._collects.get(leader, ()):
            self._collect(collect)

    def _taken(self, phi: h.Phi, leader: h.Node) -> list[h.Node]:
        assert isinstance(phi.region, h.Region)
        pairs = zip(phi.region.predecessors, phi.values, strict=True)
        return [value for it, value in pairs if it in self._placed.live and block_leader(it) is leader]

    def _store_phi(self, phi: h.Phi, value: h.Node, leader: h.Node) -> None:
        region = phi.region
        assert isinstance(region, h.Region)
        type, slots = self._slots_of(phi)
        values, edge = self._values, BlockEdge(leader, region)
        is_back = edge in self._body.level_of[region].back
        is_first = self._first.setdefault((phi, is_back), leader) is leader
        leaves = self._masks.leaves_divergent(edge)
        is_vector = values.is_vector_at(phi, region)
        is_kept = leaves or not is_first or (is_back and is_vector and self._is_retained(phi) and value is not phi)
        for part in self._parts(len(slots)):
            mask = self._masks.here()
            stored = values.vector(value) if is_vector else values.scalar(value)
            if is_vector and mask is not None and is_kept:
                scalar, before = data.llvm_type(self._types[phi]), values.slots.load(type, slots[part])
                other = None if leaves else self._changing(phi, leader)
                if other is None:
                    stored = values.vec.select(mask, scalar, stored, before)
                else:
                    stored = values.vec.select(other, scalar, before, stored)
            values.slots.store(type, stored, slots[part])

    def _changing(self, phi: h.Phi, second: h.Node) -> str | None:
        """The mask of the lanes that come by the first of two edges, if only that one brings a value computed there.

        A choice by this mask leaves the value of other lanes as it is, which merges around it then do, too.
        """
        values = {block_leader(it): value for it, value in self._forward(phi)}
        if len(values) != 2 or second not in values:
            return None
        (first,) = (it for it in values if it is not second)
        place, edge = self._placed.place, BlockEdge(first, phi.region)
        is_changed_first = place.get(values[first]) is first and place.get(values[second]) is not second
        return self._masks.taken_here(edge) if is_changed_first else None

    def _forward(self, phi: h.Phi) -> list[tuple[h.Node, h.Node]]:
        """The live predecessors of a Phi's region, apart from back edges, with the values that they bring."""
        region = phi.region
        assert isinstance(region, h.Region)
        back = self._body.level_of[region].back
        pairs = zip(region.predecessors, phi.values, strict=True)
        return [
            (it, value)
            for it, value in pairs
            if it in self._placed.live and BlockEdge(block_leader(it), region) not in back
        ]

    def _parts(self, count: int) -> Iterator[int]:
        yield from self._site.parts() if count > 1 else (0,)

    def transfer(self, source: h.Node, target: h.Node) -> None:
        """Copy a lane-private collection to the storage of the version that continues it, if that is another."""
        if not self._plan.needs_transfer(source, target):
            return
        storage = self._plan.of(target)
        assert storage in self._private  # shared storage gets its contents outside of the fork only (see `sharing`)
        for _ in self._site.parts():
            if isinstance(source, h.ConstantNode):
                self._values.memory.private.fill_zero(storage, self._private_writes.mask(storage))
            else:
                self._values.memory.private.copy(self._plan.of(source), storage, self._private_writes.mask(storage))

    def _collect(self, node: h.Collect) -> None:
        storage = self._plan.of(node)
        for _ in self._gang.forks[1:]:
            assert storage.parent is not None
            storage = storage.parent
        leaf = natural_layout(self._types[node.value])
        assert isinstance(leaf, ScalarLayout)
        first = Address(self._memory.address(storage).pointer, ArrayLayout(leaf, dynamic.ZERO, leaf.size))
        for _ in self._site.parts():
            target = self._memory.slot(first, self._values.threads.first())
            address = LaneAddress(target.pointer, (), leaf, is_private=False)
            self._values.memory.store_lanes(self._values.vector(node.value), address, self._masks.here())
