"""Atomic operations of a gang.

WGSL allows any interleaving of the lanes ("Atomic Operations" are relaxed); gangs choose the order of lanes. If all
lanes have one address, in all parts of the gang, there is one operation with the combined operands: a lane's old value
is the one in memory, combined with the operands of the lanes before it. Whether the lanes of a part have one address is
tested at run time where that is likely. Memory that no other thread sees is accessed by vectors if the lanes'
addresses are distinct. All other operations are done lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .....ir.hercules import nodes as h
from ...counter_tables import CounterTables
from ...data import llvm_type
from ...memory import Address, Memory, updated
from .addresses import LaneAddress
from .gang_memory import GangMemory
from .prefixes import LaneReduction, Operand
from .vector_memory import LaneIndices

_COMBINED = (
    h.AtomicOp.ADD,
    h.AtomicOp.SUB,
    h.AtomicOp.AND,
    h.AtomicOp.OR,
    h.AtomicOp.XOR,
    h.AtomicOp.MIN,
    h.AtomicOp.MAX,
)

_SETTLING = (h.AtomicOp.AND, h.AtomicOp.OR, h.AtomicOp.MIN, h.AtomicOp.MAX)
"""Idempotent operations: the same operation again changes nothing."""
_FEW = 3
"""So many lanes of a mask are gone through by a loop, whose number of turns is hard to predict; else all lanes are."""


@dataclass(frozen=True, slots=True)
class GangAtomic:
    """An operation of the lanes of a mask that is not empty; None stands for all lanes. If it `is_shared`, other
    threads may access the memory; if it `is_used`, old values are needed. Lanes may count in several `tables` instead.
    """

    gang: GangMemory
    memory: Memory
    op: h.AtomicOp
    address: LaneAddress
    operands: Sequence[Operand]
    mask: str | None
    is_shared: bool
    is_used: bool
    tables: CounterTables | None = None

    def emit(self) -> str | None:
        """Write the operation. The vector of old values, if they are used."""
        if self.address.is_private:  # each lane has elements of its own
            return self._at_several_places()
        if not self.address.varying:
            return self._at_one_place()
        if self.op in _COMBINED and self.gang.is_likely_one_place(self.address):
            return self._likely_at_one_place()
        return self._at_several_places()

    def _likely_at_one_place(self) -> str | None:
        """Where lanes have one address unless they cross a step of a quotient, as in a mask of a bit for each lane."""
        scalars = [llvm_type(self.address.leaf.type)] if self.is_used else []

        def once(pointer: str) -> list[str]:
            one_place = replace(self.address, pointer=pointer, varying=())
            return _listed(replace(self, address=one_place).emit())

        results = self.gang.where_at_one_place(self.address, scalars, once, lambda: _listed(self._at_several_places()))
        return results[0] if results else None

    def _at_several_places(self) -> str | None:
        if self.is_shared:
            return self._at_several_shared_places()
        if self.op is h.AtomicOp.LOAD:
            return self.gang.load(self.address, self.mask)[0]
        if self.op is h.AtomicOp.STORE:
            self.gang.store_lanes(self.operands[0].lanes, self.address, self.mask)
            return None
        return self._in_own_memory()

    def _at_several_shared_places(self) -> str | None:
        """Plain accesses if no other worker is there: an operation that others may see takes ten times as long."""
        if self.op is h.AtomicOp.LOAD:
            return self._lane_by_lane(self.gang.lanes_of(self.address))
        scalars = [llvm_type(self.address.leaf.type)] if self.is_used else []
        self.gang.out.module.is_quicker_alone = True
        results = self.gang.either(
            self.memory.is_shared,
            scalars,
            lambda: _listed(self._lane_by_lane(self.gang.lanes_of(self.address))),
            lambda: _listed(replace(self, is_shared=False)._at_several_places()),
            is_likely=False,
        )
        return results[0] if results else None

    # One address for all lanes

    def _at_one_place(self) -> str | None:
        scalar, gang = llvm_type(self.address.leaf.type), self.gang
        match self.op:
            case h.AtomicOp.LOAD:
                return gang.splat(self.once([]), scalar)
            case h.AtomicOp.STORE:
                self.once([gang.a_lane(scalar, self.operands[0].lanes, self.mask)])
                return None
            case op if op in _COMBINED:
                results = combined([self])
                return results[0] if results else None
            case _:
                return self._lane_by_lane(None)

    def without_old_value(self, total: str) -> None:
        """An operation whose old value is unused.

        If it would not change the value in memory, as most minima do not, or as where no lane takes part, it is at most
        a load: the cache line stays shared by all processors instead of moving from one to the next.
        """
        if not self.is_shared:
            self.once([total])
            return
        out, one, leaf = self.gang.out, self.gang.one, self.address.leaf
        scalar, is_settling = llvm_type(leaf.type), self.op in _SETTLING
        if is_settling:
            found = self.memory.atomic(h.AtomicOp.LOAD, Address(self.address.pointer, leaf), [], is_shared=True)
            stays = one.binary("icmp eq", scalar, updated(one, self.op, leaf, found, [total]), found)
        else:
            stays = one.binary("icmp eq", scalar, total, "0")
        change, done = out.fresh_block("change"), out.fresh_block("settled")
        before = out.current
        out.do(f"br i1 {stays}, label %{done}, label %{change}" + (", !prof !1" if is_settling else ""))
        out.open_arm(change, before)
        self.once([total])
        out.do(f"br label %{done}")
        out.open_merge(done, before)

    def once(self, operands: Sequence[str]) -> str:
        """The operation at the address of all lanes. Its old value."""
        address = Address(self.address.pointer, self.address.leaf)
        return self.memory.atomic(self.op, address, operands, is_shared=self.is_shared)

    # Addresses that differ, in memory of this thread alone

    def _in_own_memory(self) -> str | None:
        """By vectors if the addresses are consecutive, as those of private elements at one place, else lane by lane."""
        if self.address.is_private and not self.address.varying:
            old = self._as_vector(self.address.pointer)
            return old if self.is_used else None
        scalars = [llvm_type(self.address.leaf.type)] if self.is_used else []

        def by_lane() -> list[str]:
            return _listed(self._lane_by_lane(self.gang.lanes_of(self.address)))

        def as_vector(pointer: str) -> list[str]:
            return [self._as_vector(pointer)][: len(scalars)]

        results = self.gang.where_consecutive(self.address, scalars, as_vector, by_lane)
        return results[0] if results else None

    def _as_vector(self, pointer: str) -> str:
        """Lanes that are not in the mask store what is in memory, if that is there, since masked stores may be slow."""
        vec, leaf, mask = self.gang.vec, self.address.leaf, self.mask
        operands = [it.lanes for it in self.operands]
        if mask is not None and self.op in _COMBINED and self.gang.are_all_in_range(self.address):
            operands = [LaneReduction(self.gang, self.op, leaf).or_identity(self.operands[0], mask)]
            mask = None
        old = self.gang.load_vector(pointer, leaf, mask)
        new = updated(vec, self.op, leaf, old, operands)
        self.gang.store_lanes(new, LaneAddress(pointer, (), leaf, is_private=False), mask)
        return old

    # Lane after lane

    def _lane_by_lane(self, lanes: LaneIndices | None) -> str | None:
        """The operation at each lane's address, or at one address if `lanes` is None."""
        mask = self.mask
        if mask is None:
            return self._unrolled(lanes)
        out, gang = self.gang.vec.out, self.gang
        width, bits = f"i{gang.lanes}", gang.bits(mask)
        is_full = gang.one.binary("icmp eq", width, bits, "-1")
        ways: list[tuple[str, Callable[[], str | None]]] = [(is_full, lambda: self._unrolled(lanes))]
        if lanes is not None and not self.is_shared and not self.is_used and self.op in _COMBINED:
            count = gang.one.intrinsic("llvm.ctpop", width, bits)
            has_many = gang.one.binary("icmp ugt", width, count, str(_FEW))
            ways.append((has_many, lambda: self._with_others(lanes, mask)))
        done, values = out.fresh_block("atomics.done"), list[tuple[str, str]]()
        before = out.current
        for test, way in ways:
            chosen, other = out.fresh_block("every"), out.fresh_block("some")
            out.do(f"br i1 {test}, label %{chosen}, label %{other}")
            out.open_arm(chosen, before)
            old = way()
            values.append((old or "", out.current))
            out.do(f"br label %{done}")
            out.open_arm(other, before)
        old = self._loop(lanes, mask)
        values.append((old or "", out.current))
        out.do(f"br label %{done}")
        out.open_merge(done, before)
        if not self.is_used:
            return None
        return out.phi(self.gang.vec.type(llvm_type(self.address.leaf.type)), lambda: values)

    def _with_others(self, lanes: LaneIndices, mask: str) -> None:
        """All lanes one after another. Those that are not in the mask change nothing, where a lane of the mask does."""
        gang, type = self.gang, lanes.index_type
        operand = LaneReduction(gang, self.op, self.address.leaf).or_identity(self.operands[0], mask)
        place = gang.splat(gang.a_lane(type, lanes.index, mask), type)
        safe = replace(lanes, index=gang.vec.select(mask, type, lanes.index, place))
        replace(self, operands=[Operand(operand, None)], mask=None)._unrolled(safe)

    def _of_lane(self, pointer: str, lanes: LaneIndices | None, number: str, index: str, old: str) -> str:
        """The operation of one lane at its index from a pointer on; gives `old` with the lane's old value."""
        gang, out = self.gang, self.gang.vec.out
        scalar = llvm_type(self.address.leaf.type)
        if lanes is not None:
            pointer = out.pure(f"getelementptr [{lanes.unit} x i8], ptr {pointer}, {lanes.index_type} {index}")
        mine = [it.one or gang.lane(scalar, it.lanes, number) for it in self.operands]
        found = self.memory.atomic(self.op, Address(pointer, self.address.leaf), mine, is_shared=self.is_shared)
        if not self.is_used:
            return old
        return out.pure(f"insertelement {gang.vec.type(scalar)} {old}, {scalar} {found}, i64 {number}")

    def _unrolled(self, lanes: LaneIndices | None) -> str | None:
        """All lanes, one after another."""
        old = "zeroinitializer"
        indices = [""] * self.gang.lanes if lanes is None else self.gang.all_lanes(lanes.index_type, lanes.index)
        for number, index in enumerate(indices):
            pointer = self.address.pointer if lanes is None else self._pointer(number)
            old = self._of_lane(pointer, lanes, str(number), index, old)
        return old if self.is_used else None

    def _pointer(self, lane: int) -> str:
        """Where a lane's index counts from: with several tables, neighbouring lanes use different ones."""
        return self.address.pointer if self.tables is None else self.memory.table(self.tables, lane)

    def _loop(self, lanes: LaneIndices | None, mask: str) -> str | None:
        """A loop over the lanes of a mask that is not empty."""
        gang = self.gang
        vec, one, out = gang.vec, gang.one, gang.vec.out
        width = f"i{gang.lanes}"
        bits = gang.bits(mask)
        before, loop, done = out.current, out.fresh_block("lane"), out.fresh_block("lanes.done")
        out.do(f"br label %{loop}")
        out.open_arm(loop, before)
        remaining = [(bits, before)]
        old_values = [("zeroinitializer", before)]
        left = out.phi(width, lambda: remaining)
        old = "zeroinitializer"
        if self.is_used:
            old = out.phi(vec.type(llvm_type(self.address.leaf.type)), lambda: old_values)
        number = one.intrinsic("llvm.cttz", width, left, flags=("true",))
        if gang.lanes < 64:
            number = one.convert("zext", width, number, "i64")
        index = "" if lanes is None else gang.lane(lanes.index_type, lanes.index, number)
        after = self._of_lane(self.address.pointer, lanes, number, index, old)
        rest = one.binary("and", width, left, one.binary("sub", width, left, "1"))
        remaining.append((rest, out.current))
        old_values.append((after, out.current))
        out.do(f"br i1 {one.binary('icmp ne', width, rest, '0')}, label %{loop}, label %{done}")
        out.open_merge(done, before)
        return after if self.is_used else None


def is_combined(op: h.AtomicOp) -> bool:
    """Whether operations at one address can be one operation with the combined operands."""
    return op in _COMBINED


def combined(parts: Sequence[GangAtomic]) -> list[str]:
    """One operation for the parts of a gang, which have one address, and of which some may have no lanes. The vectors
    of old values of each part, if they are used.
    """
    first = parts[0]
    gang, leaf = first.gang, first.address.leaf
    reduction = LaneReduction(gang, first.op, leaf)
    if not first.is_used:
        first.without_old_value(reduction.joined([reduction.total(it.operands[0], it.mask) for it in parts]))
        return []
    found = [reduction.total_and_prefixes(it.operands[0], it.mask) for it in parts]
    old = first.once([reduction.joined([total for total, _ in found])])
    results: list[str] = []
    for total, prefixes in found:
        results.append(reduction.combine(gang.splat(old, llvm_type(leaf.type)), prefixes))
        old = updated(gang.one, first.op, leaf, old, [total])
    return results


def _listed(old: str | None) -> list[str]:
    return [] if old is None else [old]
