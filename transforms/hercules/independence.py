"""Whether the iterations of a loop, or the threads of a fork, are independent in the values they carry.

A carried value (a Phi of a header, or a Reduce) has a *chain* of values in each iteration: itself, the values computed
from it, and finally its update. Iterations may run in any order if each chain is

- a *fold*: the chain is an integer or a bool that each iteration combines with a value of its own by one associative
  and commutative operation, and nothing else uses the intermediate values; also the minimum or maximum of floats,
  and any fold of floats where those may be reassociated;
- in its *own slots*: the chain is the versions of an array, and each iteration reads and writes only elements with
  its own number, or one linear function of it (see `own_positions`), among the positions, proved to be in range (a
  clamped position would belong to another iteration).

Both also hold if an iteration does so under a branch, in a loop or in an inner fork.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bool,
    Float,
    Integer,
    Intrinsic,
    Node,
    Phi,
    PositionIndex,
    Read,
    Reduce,
    Write,
)
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import is_collection
from .own_positions import OwnPosition, own_position

FOLDS = frozenset({BinaryOp.ADD, BinaryOp.MUL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR})
Fold: TypeAlias = BinaryOp | str
"""An operation that folds: `str` for the intrinsics `min` and `max`. A value that is subtracted is folded by ADD."""
_FOLDING_FUNCTIONS = frozenset({"min", "max"})


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A level of a path, and the function of an iteration's number that is the position there."""

    level: int
    number: Node
    form: OwnPosition


@dataclass(frozen=True, slots=True)
class Iterations:
    """The iterations of a loop or the threads of a fork. `proved` are the accesses in range (`ranges.in_range`);
    `is_inside` says whether a user uses its operands within an iteration. No data node of the function is dead.
    """

    placed: Placement
    users: Mapping[Node, Sequence[Node]]
    proved: Collection[tuple[Node, int]]
    is_inside: Callable[[Node], bool]

    def fold(self, carried: Node, update: Node, *, reassociate: bool = False) -> Fold | None:
        """The operation that a carried scalar is folded by, if it is. With `reassociate`, floats are added and
        multiplied, too; `min` and `max` of floats give the same in any order, but for the sign of a zero, which WGSL
        leaves open ("Differences from IEEE-754").
        """
        type = self.placed.types[carried]
        if not isinstance(type, (Bool, Integer, Float)):
            return None
        chain = self._chain(carried, update, _folds)
        if chain is None:
            return None
        found = {_operation(it) for it in chain} - {None}
        fold = found.pop() if len(found) == 1 else None
        is_exact = not isinstance(type, Float) or fold in _FOLDING_FUNCTIONS
        return fold if is_exact or reassociate else None

    def has_own_slots(self, carried: Node, update: Node, numbers: Collection[Node]) -> bool:
        """Whether each iteration accesses only elements with one of its numbers at the same level of their path."""
        return self.own_place(carried, update, numbers) is not None

    def own_place(self, carried: Node, update: Node, numbers: Collection[Node]) -> OwnPlace | None:
        """Where every path has the same function of one of an iteration's numbers; None if there is no such level."""
        chain = self.versions(carried, update)
        if chain is None:
            return None
        places = [self.places(it, numbers) for version in chain for it in self.accesses(version)]
        if not places:
            return next((OwnPlace(0, it, OwnPosition()) for it in numbers), None)
        common = [it for it in places[0] if all(it in them for them in places)]
        return min(common, key=lambda it: it.level, default=None)

    def versions(self, carried: Node, update: Node) -> list[Node] | None:
        """The versions of a carried collection within an iteration; None if one is used but for Reads and Writes."""
        if not is_collection(self.placed.types[carried]):
            return None
        return self._chain(carried, update, _writes)

    def accesses(self, version: Node) -> list[Read | Write]:
        """The Reads and Writes of a version within an iteration."""
        inside = [it for it in self.users[version] if self.is_inside(it)]
        return [it for it in inside if isinstance(it, (Read, Write)) and it.collection is version]

    def places(self, access: Read | Write, numbers: Collection[Node]) -> list[OwnPlace]:
        """The levels of a path that have a function of one of the numbers, in range, which no two iterations share."""
        found: list[OwnPlace] = []
        for level, index in enumerate(access.indices):
            if isinstance(index, PositionIndex) and (access, level) in self.proved:
                own = own_position(index.position, numbers, self.placed.types, self._is_fixed)
                found += [] if own is None else [OwnPlace(level, *own)]
        return found

    def _is_fixed(self, node: Node) -> bool:
        """Whether a node is computed outside, so that all iterations see the same value."""
        return not self.is_inside(node)

    def _chain(self, carried: Node, update: Node, continues: Callable[[Node, Node], bool | None]) -> list[Node] | None:
        """The chain of an iteration from `carried` to `update`; None if its values have other uses.

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


def _operation(node: Node) -> Fold | None:
    match node:
        case Binary(BinaryOp.SUB):
            return BinaryOp.ADD
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
        case Binary(BinaryOp.SUB, lhs, rhs) if lhs is value and rhs is not value:
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
