"""Elements at scattered positions that are changed where they are, as in `counts[digit]++`.

A gather, an operation and a scatter take longer on some machines than one operation in memory for each lane. Lanes that
have one address, which is a race, change it one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ...machine import AccessCosts
from ...nodes import compute
from ..values.vectors import LaneVectors
from .addresses import LaneAddress
from .vector_memory import LaneIndices

_WORD = 4
OPERATIONS = (h.BinaryOp.ADD, h.BinaryOp.SUB, h.BinaryOp.AND, h.BinaryOp.OR, h.BinaryOp.XOR)


@dataclass(frozen=True, slots=True)
class Change:
    """`operation` of an element, which a Read has, and an operand."""

    operation: h.Binary
    read: h.Read

    @property
    def operand(self) -> h.Node:
        """What the element is combined with."""
        return self.operation.rhs if self.operation.lhs is self.read else self.operation.lhs


def change_of(write: h.Write, users: Mapping[h.Node, Sequence[h.Node]]) -> Change | None:
    """The change that a Write stores, if nothing else uses the old or the new value."""
    operation = write.value
    if not isinstance(operation, h.Binary) or operation.op not in OPERATIONS or len(users[operation]) != 1:
        return None
    read = operation.lhs if is_element(operation.lhs, write) else operation.rhs
    is_left = read is operation.lhs or operation.op is not h.BinaryOp.SUB
    is_one = isinstance(read, h.Read) and is_element(read, write) and len(users[read]) == 1 and is_left
    return Change(operation, read) if is_one and isinstance(read, h.Read) else None


def is_element(node: h.Node, write: h.Write) -> bool:
    """Whether a value is what an element holds before a Write to it."""
    return isinstance(node, h.Read) and node.collection is write.collection and node.indices == write.indices


def are_changed_by_lane(address: LaneAddress, costs: AccessCosts) -> bool:
    """Whether changes of the lanes' words, one after another, take less time than a gather and a scatter."""
    return address.leaf.size == _WORD and costs.counters < costs.gather + costs.scatter


def change_by_lane(
    vectors: LaneVectors, lanes: LaneIndices, change: Change, types: Mapping[h.Node, h.Type], operand: Sequence[str]
) -> None:
    """Change each lane's element; `operand` has the lanes' scalars."""
    out, scalar = vectors.out, llvm_type(types[change.operation])
    for index, value in zip(vectors.all_lanes(lanes.index_type, lanes.index), operand, strict=True):
        pointer = out.pure(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {lanes.index_type} {index}")
        found = out.value(f"load {scalar}, ptr {pointer}, align {_WORD}")
        given = {change.read: found, change.operand: value}
        changed = compute(vectors.one, change.operation, types, given.__getitem__)
        out.do(f"store {scalar} {changed}, ptr {pointer}, align {_WORD}")
