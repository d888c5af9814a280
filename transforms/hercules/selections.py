"""Scalars of a fork that are replaced together, where a comparison with the ones that are carried says so.

    is_greater = greater(x, best)
    next_best = select(is_greater, x, best)
    next_index = select(is_greater, i, index)

The condition compares keys as tuples are compared: by one comparison of a value with a carried key, or by a strict one
`or` both keys being equal `and` a condition on the next keys. Only the first key may be a float: a NaN there is never
accepted, but one behind an accepted first key would have no place in an order. Nothing else in a thread uses the
carried values, the condition or the values that are kept. So a thread offers values that do not depend on other
threads, and of all that are offered the greatest in the order of keys is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir.hercules.conditions import MIRRORED, OPPOSITE
from ...ir.hercules.nodes import Binary, BinaryOp, Float, Intrinsic, Node, Reduce, Select, Unary, UnaryOp
from .forks import ForkBody

_ORDERS: Final = frozenset({BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL})
_STRICT: Final = frozenset({BinaryOp.LESS, BinaryOp.GREATER})
_EXTREMES: Final = {"max": (BinaryOp.GREATER, BinaryOp.GREATER_EQUAL), "min": (BinaryOp.LESS, BinaryOp.LESS_EQUAL)}
"""The comparisons by which an intrinsic replaces a first key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A scalar that is compared: `accepts` is the comparison of an offered value with the one that is carried."""

    reduce: Reduce
    accepts: BinaryOp


@dataclass(frozen=True, slots=True)
class Selected:
    """Scalars that are replaced if `condition` is true, or, `is_negated`, if it is false."""

    members: tuple[Reduce, ...]
    order: tuple[Key, ...]
    condition: Node
    is_negated: bool


def selected(body: ForkBody, reduces: Sequence[Reduce]) -> Iterator[Selected]:
    """The groups of scalars, among what a fork carries, that are replaced together."""
    conditions = dict.fromkeys(it.update.condition for it in reduces if isinstance(it.update, Select))
    for condition in conditions:
        for is_negated in (False, True):
            found = _Parser(body, reduces, condition, is_negated).parse()
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Term:
    """A comparison of the value `offered` with the carried `key`."""

    key: Reduce
    accepts: BinaryOp
    offered: Node


@dataclass(frozen=True)
class _Parser:
    body: ForkBody
    reduces: Sequence[Reduce]
    condition: Node
    is_negated: bool

    def parse(self) -> Selected | None:
        members = [it for it in self.reduces if self._offered(it) is not None]
        nodes: list[Node] = []
        order = self._order(self.condition, nodes, is_negated=self.is_negated)
        if not members or order is None:
            return None
        first = order[0]
        if first.key not in members and self._is_extreme(first):
            members.append(first.key)
        if any(self._offered(it.key) is not it.offered for it in order if it.key is not first.key):
            return None
        if first.key not in members or self._offered(first.key) not in (first.offered, None):
            return None
        if len({it.key for it in order}) < len(order) or not self._are_private(members, nodes):
            return None
        keys = tuple(Key(it.key, it.accepts) for it in order)
        return Selected(tuple(members), keys, self.condition, self.is_negated)

    def _offered(self, reduce: Reduce) -> Node | None:
        """The value that replaces a scalar by a Select of the condition."""
        match reduce.update:
            case Select(condition, taken, kept) if condition is self.condition:
                if self.is_negated:
                    taken, kept = kept, taken
                return taken if kept is reduce and taken is not reduce else None
            case _:
                return None

    def _is_extreme(self, term: _Term) -> bool:
        """Whether an integer becomes the greater or lesser of itself and what is offered: as if it were selected."""
        match term.key.update:
            case Intrinsic(str() as name, arguments=arguments) if name in _EXTREMES:
                both = {*arguments} == {term.key, term.offered}
                return both and not self._is_float(term.key) and term.accepts in _EXTREMES[name]
            case _:
                return False

    def _order(self, condition: Node, nodes: list[Node], *, is_negated: bool) -> list[_Term] | None:
        """The comparisons that a condition makes, one after another; `nodes` gets those that compute it."""
        nodes.append(condition)
        match condition:
            case Unary(UnaryOp.NOT, operand):
                return self._order(operand, nodes, is_negated=not is_negated)
            case Binary(BinaryOp.OR, lhs, rhs) if not is_negated:
                return self._either(lhs, rhs, nodes) or self._either(rhs, lhs, nodes)
            case Binary(op, lhs, rhs) if op in _ORDERS:
                term = self._term(op, lhs, rhs, is_negated=is_negated)
                return None if term is None else [term]
            case _:
                return None

    def _either(self, first: Node, second: Node, nodes: list[Node]) -> list[_Term] | None:
        """The order of `first or (equal and rest)`."""
        before = self._order(first, nodes, is_negated=False)
        if before is None or len(before) != 1 or before[0].accepts not in _STRICT:
            return None
        match second:
            case Binary(BinaryOp.AND, lhs, rhs):
                pairs = ((lhs, rhs), (rhs, lhs))
            case _:
                return None
        for equal, rest in pairs:
            if self._is_equality(equal, before[0]):
                after = self._order(rest, nodes, is_negated=False)
                nodes += [second, equal]
                if after is None or any(self._is_float(it.key) for it in after):
                    return None
                return before + after
        return None

    def _is_equality(self, node: Node, term: _Term) -> bool:
        match node:
            case Binary(BinaryOp.EQUAL, lhs, rhs):
                return {lhs, rhs} == {term.key, term.offered}
            case _:
                return False

    def _term(self, op: BinaryOp, lhs: Node, rhs: Node, *, is_negated: bool) -> _Term | None:
        """A comparison of what is offered with a carried key. A negated one accepts NaNs, which have no place in an
        order.
        """
        if lhs in self.reduces:
            lhs, rhs, op = rhs, lhs, MIRRORED[op]
        if not isinstance(rhs, Reduce) or rhs not in self.reduces or lhs in self.reduces:
            return None
        if is_negated and self._is_float(rhs):
            return None
        return _Term(rhs, OPPOSITE[op] if is_negated else op, lhs)

    def _is_float(self, node: Node) -> bool:
        return isinstance(self.body.forks.placed.types[node], Float)

    def _are_private(self, members: Sequence[Reduce], nodes: Sequence[Node]) -> bool:
        """Whether a thread uses the carried values and the condition for nothing but the selection."""
        updates = {it.update for it in members}
        if any(self._offered(it) in nodes for it in members):
            return False
        if any(user not in nodes and user not in updates for it in nodes for user in self.body.inside_users(it)):
            return False
        if any(not {*self.body.inside_users(it)} <= {*nodes, it, it.update} for it in members):
            return False
        return all(user is it for it in members for user in self.body.forks.users[it.update])
