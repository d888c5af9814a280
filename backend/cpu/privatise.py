"""Finds bindings of which each worker may have a private copy; the copies are merged when all workers have ended.

WGSL's atomics are relaxed ("Atomic Operations", "Memory Model"): all that is fixed is one order of the operations on
each atomic object. If a dispatch touches a binding only by operations of one commutative and associative kind (all add
or subtract, all `and`, …), and no old value is ever used, then no invocation can observe that order, and what the
objects hold in the end is the same in every order: what they held before, combined with all operands. So the operands
may as well be combined worker by worker first, each starting from the identity of the operation, in plain memory that
no other thread sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir.hercules import nodes as h
from ...ir.hercules.placement import Placement
from ...ir.hercules.versions import consumed, is_version_projection, looked_at
from .emitted import Private
from .extents import extent_of
from .layout import Layout, constant_size, dynamic_size
from .storage import StoragePlan

LARGEST = 1 << 20
"""Maximum size of a private copy, in bytes."""

_KINDS = {
    h.AtomicOp.ADD: "add",
    h.AtomicOp.SUB: "add",
    h.AtomicOp.AND: "and",
    h.AtomicOp.OR: "or",
    h.AtomicOp.XOR: "xor",
}
_ORDERED = {h.AtomicOp.MIN: "min", h.AtomicOp.MAX: "max"}


def private_bindings(placed: Placement, plan: StoragePlan, bindings: Mapping[int, Layout]) -> Iterator[Private]:
    """The bindings of a function that its workers may have copies of."""
    kinds: dict[int, set[str]] = {}
    excluded: set[int] = set()
    for node in placed.function.nodes:
        if node not in placed.live:
            continue
        kind = kind_of(node, placed) if isinstance(node, h.Atomic) else None
        parameter = None if kind is None else plan.of(node).parameter
        if kind is not None and parameter is not None:
            kinds.setdefault(parameter, set()).add(kind)
        else:
            excluded |= _otherwise_used(node, placed.types, plan, placed.nest.forks)
    for parameter, found in kinds.items():
        size = constant_size(bindings[parameter])
        if parameter not in excluded and len(found) == 1 and (size is None or size <= LARGEST):
            yield Private(parameter, found.pop(), extent_of(dynamic_size(bindings[parameter])))


def kind_of(node: h.Atomic, placed: Placement) -> str | None:
    """How the operands of an atomic operation combine; None if a program can observe their order."""
    if any(it in placed.live and isinstance(it, h.Read) and not is_version_projection(it) for it in placed.users[node]):
        return None
    if node.op in _ORDERED:
        operand = placed.types[node.operands[0]]
        is_signed = isinstance(operand, h.Integer) and operand.signed
        return f"{'s' if is_signed else 'u'}{_ORDERED[node.op]}"
    return _KINDS.get(node.op)


def _otherwise_used(
    node: h.Node, types: Mapping[h.Node, h.Type], plan: StoragePlan, fork_of: Mapping[h.Join, h.Fork]
) -> set[int]:
    """The bindings that a node reads, copies or changes."""
    touched = [it for it, _ in looked_at(node, types)]
    if isinstance(node, (h.Write, h.Atomic, h.Collect)):
        touched += [it for it, _ in consumed(node, types, fork_of)]
    elif copied := plan.copied(node, types, fork_of):
        touched += [*copied, node]
    storages = [plan.of(it) for it in touched if not isinstance(it, h.ConstantNode)]
    return {it.parameter for it in storages if it.parameter is not None}
