"""Atomic operations of a gang: one combined operation where nobody asks for old values, else lane after lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir.hercules import nodes as h
from ..data import llvm_type
from ..layout import ScalarLayout
from ..memory import Address, Memory
from .memory import GangMemory
from .moves import Lanes
from .places import Place

_REDUCTIONS = {
    h.AtomicOp.ADD: "add",
    h.AtomicOp.SUB: "add",
    h.AtomicOp.AND: "and",
    h.AtomicOp.OR: "or",
    h.AtomicOp.XOR: "xor",
}


def emit_atomic(
    gang: GangMemory,
    memory: Memory,
    op: h.AtomicOp,
    place: Place,
    operands: Sequence[str],
    mask: str | None,
    *,
    is_shared: bool,
    is_used: bool,
) -> str | None:
    """The old values as a vector, if they are used. Operands are vectors; the mask is not empty."""
    if not place.parts and not is_used and (op in _REDUCTIONS or op in (h.AtomicOp.MIN, h.AtomicOp.MAX)):
        total = _combined(gang, op, place.leaf, operands[0], mask)
        memory.atomic(op, Address(place.pointer, place.leaf), [total], is_shared=is_shared)
        return None
    lanes = gang.lanes_of(place) if place.parts else None
    access = _Access(gang, memory, op, place, lanes, operands, is_shared, is_used)
    if mask is None:
        return _unrolled(access)
    out = gang.vec.out
    every, some, done = (out.fresh_block(name) for name in ("every", "some", "atomics.done"))
    is_full = gang.one.binary("icmp eq", f"i{gang.lanes}", gang.bits(mask), "-1")
    out.do(f"br i1 {is_full}, label %{every}, label %{some}")
    ways: list[tuple[str, str]] = []
    for block in (every, some):
        out.open(block)
        ways.append((_unrolled(access) if block is every else _loop(access, mask), out.current))
        out.do(f"br label %{done}")
    out.open(done)
    return out.phi(gang.vec.type(llvm_type(place.leaf.type)), lambda: ways) if is_used else None


@dataclass(frozen=True, slots=True)
class _Access:
    """One operation of each lane; `lanes` says where, None for one place for all."""

    gang: GangMemory
    memory: Memory
    op: h.AtomicOp
    place: Place
    lanes: Lanes | None
    operands: Sequence[str]
    is_shared: bool
    is_used: bool

    def of_lane(self, number: str, old: str) -> str:
        """The operation of a lane; puts what it found into the vector `old`."""
        gang, out = self.gang, self.gang.vec.out
        scalar, pointer = llvm_type(self.place.leaf.type), self.place.pointer
        if self.lanes is not None:
            lanes = self.lanes
            index = gang.lane(lanes.index_type, lanes.index, number)
            pointer = out.value(f"getelementptr [{lanes.unit} x i8], ptr {pointer}, {lanes.index_type} {index}")
        mine = [gang.lane(scalar, it, number) for it in self.operands]
        found = self.memory.atomic(self.op, Address(pointer, self.place.leaf), mine, is_shared=self.is_shared)
        if not self.is_used:
            return old
        return out.value(f"insertelement {gang.vec.type(scalar)} {old}, {scalar} {found}, i64 {number}")


def _unrolled(access: _Access) -> str:
    """All lanes, one after another."""
    old = "zeroinitializer"
    for number in range(access.gang.lanes):
        old = access.of_lane(str(number), old)
    return old


def _combined(gang: GangMemory, op: h.AtomicOp, leaf: ScalarLayout, operand: str, mask: str | None) -> str:
    """What all lanes together add, or the least of their operands, and so on."""
    scalar, vec = llvm_type(leaf.type), gang.vec
    is_signed = isinstance(leaf.type, h.Integer) and leaf.type.signed
    if op in _REDUCTIONS:
        name, identity = _REDUCTIONS[op], -1 if op is h.AtomicOp.AND else 0
    else:
        name = f"{'s' if is_signed else 'u'}{op.value}"
        identity = {"smin": (1 << 31) - 1, "smax": -(1 << 31), "umin": -1, "umax": 0}[name]
    if mask is not None:
        operand = vec.select(mask, scalar, operand, vec.constant(scalar, identity))
    full = f"llvm.vector.reduce.{name}.{vec.suffix(scalar)}"
    vec.out.module.declare(f"{scalar} @{full}({vec.type(scalar)})")
    return vec.out.value(f"call {scalar} @{full}({vec.type(scalar)} {operand})")


def _loop(access: _Access, mask: str) -> str:
    """A loop over the lanes of a mask that is not empty."""
    gang = access.gang
    vec, one, out = gang.vec, gang.one, gang.vec.out
    scalar, width = llvm_type(access.place.leaf.type), f"i{gang.lanes}"
    bits = gang.bits(mask)
    before, loop, done = out.current, out.fresh_block("lane"), out.fresh_block("lanes.done")
    out.do(f"br label %{loop}")
    out.open(loop)
    turns = [(bits, before)]
    old_values = [("zeroinitializer", before)]
    left = out.phi(width, lambda: turns)
    old = out.phi(vec.type(scalar), lambda: old_values)
    number = one.intrinsic("llvm.cttz", width, left, flags=("true",))
    if gang.lanes < 64:
        number = one.convert("zext", width, number, "i64")
    after = access.of_lane(number, old)
    rest = one.binary("and", width, left, one.binary("sub", width, left, "1"))
    turns.append((rest, out.current))
    old_values.append((after, out.current))
    out.do(f"br i1 {one.binary('icmp ne', width, rest, '0')}, label %{loop}, label %{done}")
    out.open(done)
    return after
