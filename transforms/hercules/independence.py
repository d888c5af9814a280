"""Whether the turns of a loop, or the threads of a fork, get in each other's way through what they carry.

What is carried (a Phi of a header, or a Reduce) has a *chain* of values in each turn: itself, what is made from
it, and at the end its update. Turns may run in any order if each chain is

- a *fold*: the chain is an integer into which each turn puts something of its own by one operation that takes its
  operands in any order, and nobody looks at the values in between;
- in its *own slots*: the chain is the versions of an array, and each turn reads and writes only where the turn's number
  is one of the positions, proved to be in range (a position that is clamped would be another turn's).

Both hold also where a turn does so under a branch, in a loop or in an inner fork.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Cast,
    Integer,
    Intrinsic,
    Node,
    Phi,
    PositionIndex,
    Read,
    Reduce,
    Write,
)
from ...ir.hercules.schedule import Placement
from ...ir.hercules.types import is_collection

FOLDS = frozenset({BinaryOp.ADD, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
_FOLDING_FUNCTIONS = frozenset({"min", "max"})


@dataclass(frozen=True, slots=True)
class Iterations:
    """What runs many times. `proved` are the accesses in range (`ranges.in_range`); `is_inside` tells whether a user
    uses its operands within a turn. No data node of the function is dead.
    """

    placed: Placement
    users: Mapping[Node, Sequence[Node]]
    proved: Collection[tuple[Node, int]]
    is_inside: Callable[[Node], bool]

    def fold(self, carried: Node, update: Node) -> BinaryOp | str | None:
        """The operation that a carried integer is folded by, if it is."""
        if not isinstance(self.placed.types[carried], Integer):
            return None
        chain = self._chain(carried, update, _folds)
        if chain is None:
            return None
        found = {_operation(it) for it in chain} - {None}
        return found.pop() if len(found) == 1 else None

    def has_own_slots(self, carried: Node, update: Node, numbers: Collection[Node]) -> bool:
        """Whether each turn keeps to the elements that have one of its numbers at the same place of their path."""
        return self.own_place(carried, update, numbers) is not None

    def own_place(self, carried: Node, update: Node, numbers: Collection[Node]) -> tuple[int, Node] | None:
        """At which place of every path which of the numbers stands."""
        if not is_collection(self.placed.types[carried]):
            return None
        chain = self._chain(carried, update, _writes)
        if chain is None:
            return None
        accesses = [it for version in chain for it in self.accesses(version)]
        places = [set(self._places(it, numbers)) for it in accesses]
        common = set[tuple[int, Node]].intersection(*places) if places else {(0, it) for it in numbers}
        return min(common, key=lambda it: it[0], default=None)

    def accesses(self, version: Node) -> list[Read | Write]:
        """The Reads and Writes of a version within a turn."""
        inside = [it for it in self.users[version] if self.is_inside(it)]
        return [it for it in inside if isinstance(it, (Read, Write)) and it.collection is version]

    def _places(self, access: Read | Write, numbers: Collection[Node]) -> list[tuple[int, Node]]:
        indices = enumerate(access.indices)
        at = [(place, _plain(it.position)) for place, it in indices if isinstance(it, PositionIndex)]
        return [(place, node) for place, node in at if node in numbers and (access, place) in self.proved]

    def _chain(self, carried: Node, update: Node, continues: Callable[[Node, Node], bool | None]) -> list[Node] | None:
        """The values of a turn from `carried` to `update`; None if it does anything else with them.

        `continues(user, value)`: whether a user makes the next value from one; None if it may not use it at all.
        """
        chain: dict[Node, None] = {carried: None}
        pending = [carried]
        while pending:
            value = pending.pop()
            for user in self.users[value]:
                if user is carried or not self.is_inside(user):
                    continue
                goes_on = isinstance(user, (Phi, Reduce)) or continues(user, value)
                if goes_on is None:
                    return None
                if goes_on and user not in chain:
                    chain[user] = None
                    pending.append(user)
        merges = [it for it in chain if it is not carried and isinstance(it, (Phi, Reduce))]
        if update not in chain or not all(value in chain for it in merges for value in _merged(it)):
            return None
        if any(not self.is_inside(user) for it in chain if it is not carried for user in self.users[it]):
            return None
        return list(chain)


def _merged(node: Phi | Reduce) -> Sequence[Node]:
    return node.values if isinstance(node, Phi) else (node.init, node.update)


def _operation(node: Node) -> BinaryOp | str | None:
    match node:
        case Binary(op):
            return op
        case Intrinsic(name):
            return name
        case _:
            return None


def _folds(user: Node, value: Node) -> bool | None:
    match user:
        case Binary(op, lhs, rhs) if op in FOLDS and (lhs is value) is not (rhs is value):
            return True
        case Intrinsic(name, arguments=[left, right]) if name in _FOLDING_FUNCTIONS:
            return True if (left is value) is not (right is value) else None
        case _:
            return None


def _writes(user: Node, value: Node) -> bool | None:
    match user:
        case Write(collection, written, indices) if collection is value and written is not value and indices:
            return True
        case Read(collection, indices) if collection is value and indices:
            return False
        case _:
            return None


def _plain(number: Node) -> Node:
    """The number behind conversions to types that hold every number that is in range."""
    while isinstance(number, Cast) and isinstance(number.type, Integer) and number.type.bits >= 32:
        number = number.operand
    return number
