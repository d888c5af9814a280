"""Reductions and exclusive prefix scans of atomic operations over the lanes of a gang."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ...layout import ScalarLayout
from ...llvm import Ops
from ...memory import updated
from .gang_memory import GangMemory

_REDUCTIONS = {
    h.AtomicOp.ADD: "add",
    h.AtomicOp.SUB: "add",
    h.AtomicOp.AND: "and",
    h.AtomicOp.OR: "or",
    h.AtomicOp.XOR: "xor",
}


@dataclass(frozen=True, slots=True)
class Operand:
    """The operands of all lanes; `one` is the operand if all lanes have the same."""

    lanes: str
    one: str | None


@dataclass(frozen=True, slots=True)
class LaneReduction:
    """Combines the operands of an operation on scalars of a layout. Only lanes of a mask take part; None is all."""

    gang: GangMemory
    op: h.AtomicOp
    leaf: ScalarLayout

    def combine(self, value: str, operand: str) -> str:
        """The operation on two vectors, lane by lane."""
        return updated(self.gang.vec, self.op, self.leaf, value, [operand])

    def joined(self, totals: Sequence[str]) -> str:
        """The combined operand of several groups of lanes."""
        result, *others = totals
        for other in others:
            result = updated(self.gang.one, self._sums.op, self.leaf, result, [other])
        return result

    def total(self, operand: Operand, mask: str | None) -> str:
        """The combined operand of all lanes."""
        if self._is_sum and operand.one is not None:
            return self._multiple(operand.one, self._count(mask))
        scalar, vec = llvm_type(self.leaf.type), self.gang.vec
        lanes = self.or_identity(operand, mask)
        full = f"llvm.vector.reduce.{self._name}.{vec.suffix(scalar)}"
        vec.out.module.declare(f"{scalar} @{full}({vec.type(scalar)})")
        return vec.out.value(f"call {scalar} @{full}({vec.type(scalar)} {lanes})")

    def total_and_prefixes(self, operand: Operand, mask: str | None) -> tuple[str, str]:
        """The combined operand of all lanes, and for each lane that of the lanes before it."""
        if not self._is_sum or operand.one is None:
            return self._scan(self.or_identity(operand, mask))
        gang, scalar = self.gang, llvm_type(self.leaf.type)
        count = self._count(mask)
        before = gang.lane_numbers(scalar) if mask is None else _lanes_before(gang, gang.bits(mask), scalar)
        total = self._multiple(operand.one, count)
        return total, gang.vec.binary("mul", scalar, before, gang.splat(operand.one, scalar))

    @property
    def _is_sum(self) -> bool:
        return self.op in (h.AtomicOp.ADD, h.AtomicOp.SUB)

    @property
    def _sums(self) -> LaneReduction:
        """What combines operands: what several lanes subtract is added up."""
        return replace(self, op=h.AtomicOp.ADD) if self.op is h.AtomicOp.SUB else self

    @property
    def _name(self) -> str:
        """The reduction's name in LLVM."""
        if self.op in _REDUCTIONS:
            return _REDUCTIONS[self.op]
        type = self.leaf.type
        return f"{'s' if isinstance(type, h.Integer) and type.signed else 'u'}{self.op.value}"

    @property
    def _identity(self) -> int:
        """The operand that changes no value."""
        return {"smin": (1 << 31) - 1, "smax": -(1 << 31), "umin": -1, "and": -1}.get(self._name, 0)

    def or_identity(self, operand: Operand, mask: str | None) -> str:
        """The operands of a mask's lanes, and the identity in other lanes."""
        if mask is None:
            return operand.lanes
        scalar, vec = llvm_type(self.leaf.type), self.gang.vec
        return vec.select(mask, scalar, operand.lanes, vec.constant(scalar, self._identity))

    def _multiple(self, operand: str, count: str) -> str:
        """The sum of as many equal operands."""
        return self.gang.one.binary("mul", llvm_type(self.leaf.type), count, operand)

    def _count(self, mask: str | None) -> str:
        """The number of lanes in a mask."""
        gang, lanes = self.gang, self.gang.lanes
        if mask is None:
            return str(lanes)
        width, scalar = f"i{lanes}", llvm_type(self.leaf.type)
        found = gang.one.intrinsic("llvm.ctpop", width, gang.bits(mask))
        return found if lanes == 32 else gang.one.convert("zext" if lanes < 32 else "trunc", width, found, scalar)

    def _scan(self, lanes: str) -> tuple[str, str]:
        """The total and the exclusive prefixes, in a logarithmic number of steps."""
        scalar, vec = llvm_type(self.leaf.type), self.gang.vec
        distance = 1
        while distance < vec.lanes:
            lanes = self._sums.combine(lanes, _shifted(vec, scalar, lanes, distance, self._identity))
            distance *= 2
        return self.gang.lane(scalar, lanes, str(vec.lanes - 1)), _shifted(vec, scalar, lanes, 1, self._identity)


def _lanes_before(gang: GangMemory, bits: str, scalar: str) -> str:
    """The number of lanes in a mask before each lane."""
    one, vec, lanes = gang.one, gang.vec, gang.lanes
    wide = "i32" if lanes <= 32 else "i64"
    if f"i{lanes}" != wide:
        bits = one.convert("zext", f"i{lanes}", bits, wide)
    earlier = ", ".join(f"{wide} {(1 << lane) - 1}" for lane in range(lanes))
    mine = vec.binary("and", wide, gang.splat(bits, wide), f"<{earlier}>")
    count = vec.intrinsic("llvm.ctpop", wide, mine)
    return vec.convert("trunc", wide, count, scalar)


def _shifted(vec: Ops, scalar: str, lanes: str, distance: int, filling: int) -> str:
    """The lanes shifted up by a distance; the first ones get the filling."""
    type = vec.type(scalar)
    sources: Sequence[int] = [lane - distance if lane >= distance else vec.lanes + lane for lane in range(vec.lanes)]
    numbers = ", ".join(f"i32 {it}" for it in sources)
    fill = vec.constant(scalar, filling)
    return vec.out.pure(f"shufflevector {type} {lanes}, {type} {fill}, <{vec.lanes} x i32> <{numbers}>")
