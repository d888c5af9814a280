"""Values that are equal to a kept one at other indices become maps of it, so that they share its memory.

A score that two loops over keys need is computed twice in a nest, with dimensions of its own for the sum inside. Two
values are equal if their definitions are, but for the names of dimensions of equal sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ...base.interpreter_state import deep_nesting
from ...ir.schedule.functions import COPY
from ...ir.schedule.nodes import (
    Affine,
    Compute,
    Constant,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Nest,
    Operand,
    Pair,
    Scatter,
    Statement,
    Store,
    Term,
    Use,
)
from ...ir.schedule.scope import Scope, Value, used_by


@deep_nesting()
def with_equal_values(nest: Nest, kept: Collection[str]) -> Nest:
    """The nest with maps or copies of kept values in the place of equal ones."""
    scope = Scope(nest)
    shapes = _shapes(scope)
    body: list[Statement] = []
    done: dict[int, list[Value]] = {}
    for statement in nest.body:
        value = scope.values.get(statement.name) if isinstance(statement, _VALUES) else None
        alike = [] if value is None else done.setdefault(shapes[value.name], [])
        equal = None if value is None or isinstance(value, Map) else _from_kept(value, alike, scope)
        body.append(statement if equal is None else equal)
        if value is not None and value.name in kept and equal is None:
            alike.append(value)
    return nest if body == list(nest.body) else _without_unused(replace(nest, body=tuple(body)), kept)


def needed_again(nest: Nest) -> tuple[str, ...]:
    """The values that other loops need: those of maps, and those that are computed for other dimensions again."""
    equal = computed_before(nest)
    found = {it.value: None for it in nest.body if isinstance(it, Map)}
    used = {name for it in nest.body if not (isinstance(it, _VALUES) and it.name in equal) for name in used_by(it)}
    return tuple(dict.fromkeys([*found, *(one for other, one in equal.items() if other in used)]))


@deep_nesting()
def computed_before(nest: Nest) -> dict[str, str]:
    """For values that are equal to one before them at other indices, the first such value."""
    scope = Scope(nest)
    equal: dict[str, str] = {}
    earlier: dict[int, list[str]] = {}
    for name, shape in _shapes(scope).items():
        alike = earlier.setdefault(shape, [])
        one = next((it for it in alike if _is_elsewhere(it, name, scope)), None)
        if one is None:
            alike.append(name)
        else:
            equal[name] = one
    return equal


def _shapes(scope: Scope) -> dict[str, int]:
    """A number for each value, which equal ones share, and of others few: what a Fby is next, and the terms of sums,
    are not in it. Without it, each value would be compared with all before it.
    """
    numbers: dict[Hashable, int] = {}
    found: dict[str, int] = {}
    for value in scope.values.values():
        names = [it.source for it in value.pairs] if isinstance(value, Map) else value.dimensions
        sizes = tuple(scope.dimensions[it].size for it in names)
        key = type(value), value.type, sizes, _own_parts(value), *(found[it] for it in used_by(value))
        found[value.name] = numbers.setdefault(key, len(numbers))
    return found


def _own_parts(value: Value) -> Hashable:
    match value:
        case Load(array=array, boundary=boundary) | Gather(array=array, boundary=boundary):
            return array, boundary
        case Compute(function=function, operands=operands):
            return function, tuple(it for it in operands if isinstance(it, Constant))
        case Fby(first=first):
            return first if isinstance(first, Constant) else None
        case Index() | Last() | Map():
            return None
        case _:
            assert_never(value)


def _is_elsewhere(one: str, other: str, scope: Scope) -> bool:
    """Whether a value is equal to another at other indices."""
    same = _Renaming(scope)
    return same.are_equal(one, other) and any(name != to for name, to in same.dimensions.items())


def _without_unused(nest: Nest, kept: Collection[str]) -> Nest:
    """The nest without what only replaced values needed."""
    values = Scope(nest).values
    pending = [name for it in nest.body if isinstance(it, (Store, Scatter)) for name in used_by(it)]
    pending += [it for it in kept if it in values]
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        value = values[name]
        if name not in needed:
            needed.add(name)
            pending += (*used_by(value), value.next) if isinstance(value, Fby) else used_by(value)
            pending += (other for it in nest.combines if name in it.carried for other in it.carried)
    body = (it for it in nest.body if isinstance(it, (Store, Scatter)) or it.name in needed)
    return replace(nest, body=tuple(body), combines=tuple(it for it in nest.combines if needed.issuperset(it.carried)))


_VALUES = (Load, Gather, Index, Compute, Fby, Last, Map)


def _from_kept(value: Value, kept: Sequence[Value], scope: Scope) -> Statement | None:
    """A value as a map or a copy of the first kept one that it is equal to."""
    for other in kept:
        same = _Renaming(scope)
        if not same.are_equal(other.name, value.name):
            continue
        dimensions = scope.ordered(scope.dimensions_of(other.name))
        pairs = tuple(Pair(it, same.dimensions[it]) for it in dimensions if same.dimensions.get(it, it) != it)
        if pairs:
            return Map(value.name, value.type, other.name, pairs, span=value.span)
        if not isinstance(value, (Fby, Last)):
            on = scope.ordered(scope.dimensions_of(value.name))
            return Compute(value.name, value.type, COPY, (Use(other.name),), on, span=value.span)
    return None


@dataclass(slots=True)
class _Renaming:
    """Dimensions of one value that stand for those of another, each for one."""

    scope: Scope
    dimensions: dict[str, str] = field(default_factory=dict[str, str])
    _assumed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Values that are compared already: what is carried depends on itself."""

    def are_equal(self, one: str, other: str) -> bool:
        """Whether two values are equal; adds what that takes."""
        if one == other:
            return all(self.stands_for(it, it) for it in self.scope.dimensions_of(one))
        if (one, other) in self._assumed:
            return True
        self._assumed.add((one, other))
        left, right = self.scope.values[one], self.scope.values[other]
        return left.type is right.type and self._same_definition(left, right)

    def _same_definition(self, left: Value, right: Value) -> bool:
        match left, right:
            case Load(), Load():
                is_same = (left.array, left.boundary) == (right.array, right.boundary)
                return (
                    is_same
                    and self._all_stand(left.dimensions, right.dimensions)
                    and self._same_subscripts(left, right)
                )
            case Gather(), Gather():
                is_same = (left.array, left.boundary) == (right.array, right.boundary)
                return (
                    is_same
                    and self._all_stand(left.dimensions, right.dimensions)
                    and all(map(self._same_operand, left.subscripts, right.subscripts))
                )
            case Index(), Index():
                return self._all_stand(left.dimensions, right.dimensions) and self._renamed(left.value) == _set(
                    right.value
                )
            case Compute(), Compute():
                is_same = left.function == right.function and len(left.operands) == len(right.operands)
                return (
                    is_same
                    and self._all_stand(left.dimensions, right.dimensions)
                    and all(map(self._same_operand, left.operands, right.operands))
                )
            case Fby(), Fby():
                is_same = self._all_stand(left.dimensions, right.dimensions)
                return is_same and self._same_operand(left.first, right.first) and self.are_equal(left.next, right.next)
            case Last(), Last():
                return self._all_stand(left.dimensions, right.dimensions) and self.are_equal(left.value, right.value)
            case _:
                return False

    def _same_subscripts(self, left: Load, right: Load) -> bool:
        return [self._renamed(it) for it in left.subscripts] == [_set(it) for it in right.subscripts]

    def _same_operand(self, left: Operand, right: Operand) -> bool:
        if isinstance(left, Use) and isinstance(right, Use):
            return self.are_equal(left.name, right.name)
        return left == right

    def _all_stand(self, left: Sequence[str], right: Sequence[str]) -> bool:
        return len(left) == len(right) and all(map(self.stands_for, left, right))

    def stands_for(self, one: str, other: str) -> bool:
        """Whether a dimension may stand for another; it then does."""
        if one in self.dimensions:
            return self.dimensions[one] == other
        sizes = self.scope.dimensions
        if other in self.dimensions.values() or sizes[one].size != sizes[other].size:
            return False
        self.dimensions[one] = other
        return True

    def _renamed(self, affine: Affine) -> object:
        return _set(
            replace(
                affine, terms=tuple(Term(it.coefficient, self.dimensions.get(it.name, it.name)) for it in affine.terms)
            )
        )


def _set(affine: Affine) -> object:
    return frozenset(affine.terms), affine.constant
