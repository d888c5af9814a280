"""Reductions and exclusive prefix scans of atomic operations over the lanes of a gang."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


def combine(ops: Ops, op: h.AtomicOp, leaf: ScalarLayout, value: str, operand: str) -> str:
    """The operation on two vectors, lane by lane."""
    return updated(ops, op, leaf, value, [operand])


def total_and_prefixes(
    gang: GangMemory, op: h.AtomicOp, leaf: ScalarLayout, operand: Operand, mask: str | None, *, with_prefixes: bool
) -> tuple[str, str | None]:
    """The combined operand of all lanes of a mask and, with prefixes, the combined operand of the lanes before each
    lane.
    """
    if op in (h.AtomicOp.ADD, h.AtomicOp.SUB) and operand.one is not None:
        return _multiples(gang, leaf, operand.one, mask, with_prefixes=with_prefixes)
    identity = _identity(op, leaf)
    scalar, vec = llvm_type(leaf.type), gang.vec
    lanes = operand.lanes
    if mask is not None:
        lanes = vec.select(mask, scalar, lanes, vec.constant(scalar, identity))
    if with_prefixes:
        return _scan(gang, op, leaf, lanes, identity)
    name = _reduction(op, leaf)
    full = f"llvm.vector.reduce.{name}.{vec.suffix(scalar)}"
    vec.out.module.declare(f"{scalar} @{full}({vec.type(scalar)})")
    return vec.out.value(f"call {scalar} @{full}({vec.type(scalar)} {lanes})"), None


def _reduction(op: h.AtomicOp, leaf: ScalarLayout) -> str:
    if op in _REDUCTIONS:
        return _REDUCTIONS[op]
    return f"{'s' if isinstance(leaf.type, h.Integer) and leaf.type.signed else 'u'}{op.value}"


def _identity(op: h.AtomicOp, leaf: ScalarLayout) -> int:
    """The identity of the operation."""
    least = {"smin": (1 << 31) - 1, "smax": -(1 << 31), "umin": -1, "and": -1}
    return least.get(_reduction(op, leaf), 0)


def _multiples(
    gang: GangMemory, leaf: ScalarLayout, operand: str, mask: str | None, *, with_prefixes: bool
) -> tuple[str, str | None]:
    """Sums of one operand for all lanes: products with the number of lanes."""
    scalar, vec, one, lanes = llvm_type(leaf.type), gang.vec, gang.one, gang.lanes
    if mask is None:
        count, before = str(lanes), gang.lane_numbers(scalar)
    else:
        bits, width = gang.bits(mask), f"i{lanes}"
        found = one.intrinsic("llvm.ctpop", width, bits)
        count = one.convert("zext" if lanes < 32 else "trunc", width, found, scalar) if lanes != 32 else found
        before = _lanes_before(gang, bits, scalar) if with_prefixes else ""
    total = one.binary("mul", scalar, count, operand)
    if not with_prefixes:
        return total, None
    return total, vec.binary("mul", scalar, before, gang.splat(operand, scalar))


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


def _scan(gang: GangMemory, op: h.AtomicOp, leaf: ScalarLayout, lanes: str, identity: int) -> tuple[str, str]:
    """The total and the exclusive prefixes, in a logarithmic number of steps."""
    scalar, vec = llvm_type(leaf.type), gang.vec
    combination = h.AtomicOp.ADD if op is h.AtomicOp.SUB else op
    distance = 1
    while distance < gang.lanes:
        earlier = _shifted(vec, scalar, lanes, distance, identity)
        lanes = combine(vec, combination, leaf, lanes, earlier)
        distance *= 2
    return gang.lane(scalar, lanes, str(gang.lanes - 1)), _shifted(vec, scalar, lanes, 1, identity)


def _shifted(vec: Ops, scalar: str, lanes: str, distance: int, filling: int) -> str:
    """The lanes shifted up by a distance; the first ones get the filling."""
    type = vec.type(scalar)
    sources: Sequence[int] = [lane - distance if lane >= distance else vec.lanes + lane for lane in range(vec.lanes)]
    numbers = ", ".join(f"i32 {it}" for it in sources)
    fill = vec.constant(scalar, filling)
    return vec.out.pure(f"shufflevector {type} {lanes}, {type} {fill}, <{vec.lanes} x i32> <{numbers}>")
