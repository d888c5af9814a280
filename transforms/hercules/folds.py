"""Folds that may be done in parts: what a fork carries, and how the results of two parts are combined.

A fork's threads can be divided into parts, each of which starts from a neutral value. The results of the parts can be
combined in any order:

- An `OperationFold` is one scalar that is folded by an associative and commutative operation (see `independence`).
- A `Selection` is several scalars that are replaced together where a comparison says so, as in the search for the
  greatest value and its position (see `selections`). Of equal ones the first thread's is kept, or the last thread's if
  equal keys are accepted. So a part also says which thread it has kept, by a number from 1; 0 is the value with which
  the fold started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, assert_never

from ...ir.hercules.arithmetic import integer_range
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_predecessor
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bool,
    BoolConstant,
    Cast,
    Constant,
    ConstantNode,
    Float,
    FloatConstant,
    Fork,
    Integer,
    IntegerConstant,
    Intrinsic,
    Node,
    Reduce,
    Select,
    ThreadID,
    Type,
)
from ...ir.hercules.types import U32, U64, is_scalar
from .fork_tiling import Numbering, Tiles, tile
from .forks import ForkBody, Forks
from .independence import Fold
from .selections import Key, selected

Add: TypeAlias = "Callable[[Node], None]"
_STRICT: Final = {
    BinaryOp.LESS: BinaryOp.LESS,
    BinaryOp.LESS_EQUAL: BinaryOp.LESS,
    BinaryOp.GREATER: BinaryOp.GREATER,
    BinaryOp.GREATER_EQUAL: BinaryOp.GREATER,
}


@dataclass(frozen=True, slots=True)
class OperationFold:
    """A scalar that is folded by one operation."""

    reduce: Reduce
    operation: Fold
    type: Type

    @property
    def reduces(self) -> tuple[Reduce, ...]:
        """What the fork carries for the fold."""
        return (self.reduce,)

    def starts(self) -> list[Node]:
        """What a part starts from: the value that changes no other."""
        if self._starts_from_init:
            return [self.reduce.init]
        return [ConstantNode(_identity(self.operation, self.type))]

    @property
    def _starts_from_init(self) -> bool:
        """Whether each part starts as the fold does: the minimum of NaNs is a NaN, so that no number is neutral, and
        twice is as good as once.
        """
        return isinstance(self.type, Float) and isinstance(self.operation, str)

    def after_start(self, values: Sequence[Node], add: Add) -> list[Node]:
        """The results of the fold, given those of all parts as one. `add` is told of all nodes that are made."""
        if self._starts_from_init:
            return [*values]
        return self.combined([self.reduce.init], values, add)

    def combined(self, current: Sequence[Node], other: Sequence[Node], add: Add) -> list[Node]:
        """The results of two parts as those of one. `add` is told of all nodes that are made."""
        operands = [*current, *other]
        op = self.operation
        made = Binary(op, *operands) if isinstance(op, BinaryOp) else Intrinsic(op, self.type, operands)
        add(made)
        return [made]


@dataclass(frozen=True, slots=True)
class Selection:
    """Scalars that are replaced together: by the operands of their Selects if `condition` is true, or, `is_negated`,
    if it is false. `order` has the keys, the first one first.

    `thread` carries the number of the thread that was kept, if equal keys do not mean that all scalars are equal.
    """

    members: tuple[Reduce, ...]
    order: tuple[Key, ...]
    condition: Node
    is_negated: bool
    thread: Reduce | None = None

    @property
    def reduces(self) -> tuple[Reduce, ...]:
        """What the fork carries for the fold."""
        return self.members if self.thread is None else (*self.members, self.thread)

    def starts(self) -> list[Node]:
        """What a part starts from: what the fold starts from, since a value may be offered several times."""
        return [it.init for it in self.reduces]

    def after_start(self, values: Sequence[Node], add: Add) -> list[Node]:
        """The results of the fold, given those of all parts as one."""
        del add
        return [*values]

    def combined(self, current: Sequence[Node], other: Sequence[Node], add: Add) -> list[Node]:
        """The results of two parts as those of one. `add` is told of all nodes that are made."""
        at = {reduce: number for number, reduce in enumerate(self.reduces)}
        order = [Key(it.reduce, _STRICT[it.accepts]) for it in self.order]
        if self.thread is not None:
            keeps_first = self.order[-1].accepts in _STRICT.values()
            order.append(Key(self.thread, BinaryOp.LESS if keeps_first else BinaryOp.GREATER))
        pairs = [(it.accepts, other[at[it.reduce]], current[at[it.reduce]]) for it in order]
        accepted = _is_accepted(pairs, add)
        chosen: list[Node] = [Select(accepted, new, old) for new, old in zip(other, current, strict=True)]
        for node in chosen:
            add(node)
        return chosen


def _is_accepted(pairs: Sequence[tuple[BinaryOp, Node, Node]], add: Add) -> Node:
    """Whether new values replace old ones; each pair has the strict comparison by which, if those before are equal."""
    (op, new, old), *others = pairs
    better = Binary(op, new, old)
    add(better)
    if not others:
        return better
    tied = Binary(BinaryOp.AND, equal := Binary(BinaryOp.EQUAL, new, old), _is_accepted(others, add))
    either = Binary(BinaryOp.OR, better, tied)
    for node in (equal, tied, either):
        add(node)
    return either


Group: TypeAlias = OperationFold | Selection


def _identity(fold: Fold, type: Type) -> Constant:
    """The value that changes no other by a fold."""
    assert is_scalar(type)
    match type:
        case Bool():
            return BoolConstant(fold is BinaryOp.AND)
        case Integer():
            return IntegerConstant(type, _integer_identity(fold, type))
        case Float():
            return FloatConstant(type, 1.0 if fold is BinaryOp.MUL else -0.0)
        case _:
            assert_never(type)


def _integer_identity(fold: Fold, type: Integer) -> int:
    low, high = integer_range(type)
    match fold:
        case BinaryOp.MUL:
            return 1
        case BinaryOp.AND:
            return -1 if type.signed else high
        case "min":
            return high
        case "max":
            return low
        case _:
            return 0


def folds_of(body: ForkBody, *, reassociate: bool) -> list[Group]:
    """The folds among what a fork carries. With `reassociate`, floats are added and multiplied in any order, too."""
    types = body.forks.placed.types
    found: list[Group] = []
    others: list[Reduce] = []
    for reduce in body.reduces:
        fold = body.iterations.fold(reduce, reduce.update, reassociate=reassociate)
        if fold is not None:
            found.append(OperationFold(reduce, fold, types[reduce]))
        elif is_scalar(types[reduce]):
            others.append(reduce)
    selections = (Selection(it.members, it.order, it.condition, it.is_negated) for it in selected(body, others))
    return [*found, *selections]


def with_thread(body: ForkBody, group: Group, most: int) -> Group:
    """The fold, which also carries the number of the thread that it has kept if it needs that: the fork gets one more
    Reduce. `most` is a number of threads that the fork does not exceed.
    """
    if isinstance(group, OperationFold) or {it.reduce for it in group.order} == {*group.members}:
        return group
    fits = most < 1 << U32.bits
    type = U32 if fits else U64
    thread = body.threads[0] if body.threads else ThreadID(body.fork)
    none, one = (ConstantNode(IntegerConstant(type, it)) for it in (0, 1))
    number = Cast(type, thread) if fits else thread
    following = Binary(BinaryOp.ADD, number, one)
    carried = Reduce(body.join, none, none, label="kept_thread")
    chosen = (carried, following) if group.is_negated else (following, carried)
    carried.update = Select(group.condition, *chosen)
    made = (none, one, thread, number, following, carried, carried.update)
    function = body.forks.placed.function
    function.nodes += [it for it in dict.fromkeys(made) if it not in function.nodes]
    return replace(group, thread=carried)


def divide(
    known: Analyses,
    fork: Fork,
    folds: Sequence[Group],
    takers: Mapping[Reduce, Node],
    tiling: tuple[Tiles, Numbering] | None,
) -> None:
    """Let each thread of a fork make a part of the folds that the fork carries, which it carries no longer.

    `takers` has a node for each Reduce of the folds, which uses the Reduce's update and gets the part instead. With
    `tiling`, the fork is divided into tiles; then a tile is a thread.
    """
    body = Forks.of(known).body(fork)
    updates = {it: it.update for fold in folds for it in fold.reduces}
    if tiling is not None:
        tile(body, *tiling)
        body = Forks.of(known).body(fork)
    function = known.function
    for fold in folds:
        starts = fold.starts()
        function.nodes += [it for it in starts if it not in function.nodes]
        for reduce, start in zip(fold.reduces, starts, strict=True):
            replace_predecessor(takers[reduce], updates[reduce], reduce.update)
            for user in body.inside_users(reduce):
                replace_predecessor(user, reduce, start)
    function.nodes = [it for it in function.nodes if it not in updates]
