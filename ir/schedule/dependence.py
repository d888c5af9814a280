"""Which values a statement needs, directly or by way of others, and which values share their content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .nodes import Fby, Last, Map, Statement, Use
from .scope import Scope


@dataclass(slots=True)
class Closure:
    """The values that each statement of a nest needs in its iteration. The nest's values are in order."""

    scope: Scope
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _needed: dict[str, int] = field(default_factory=dict[str, int])
    """For each value a bit set of the numbers of the values that it needs, itself included."""

    def __post_init__(self) -> None:
        for number, (name, value) in enumerate(self.scope.values.items()):
            self._numbers[name] = number
            self._needed[name] = self._bits(value) | 1 << number

    def _bits(self, statement: Statement) -> int:
        bits = 0
        for name in self.scope.needed(statement):
            bits |= self._needed[name]
        return bits

    def needs(self, statement: Statement, name: str) -> bool:
        """Whether the statement needs the value, other than itself."""
        return bool(self._bits(statement) >> self._numbers[name] & 1)

    def all_of(self, statement: Statement) -> Iterator[str]:
        """The values that the statement needs, in order; not itself."""
        bits = self._bits(statement)
        return (name for name, number in self._numbers.items() if bits >> number & 1)

    def ends(self, statement: Statement) -> Iterator[Last | Map]:
        """The needed values that are known only when dimensions have ended."""
        for name in self.all_of(statement):
            value = self.scope.values[name]
            if isinstance(value, (Last, Map)):
                yield value


def ends_of(value: Last | Map) -> tuple[str, ...]:
    """The dimensions at whose end the value is known."""
    return value.dimensions if isinstance(value, Last) else tuple(it.source for it in value.pairs)


def root_of(name: str, scope: Scope) -> str:
    """The value whose events a value shares: what a `last` or a `map` is of."""
    value = scope.values[name]
    while isinstance(value, (Last, Map)):
        value = scope.values[value.value]
    return value.name


def locations(scope: Scope) -> tuple[frozenset[str], ...]:
    """The values that share a location: a Fby with its first and its next value, and what is `last` or `map` of a value
    with the value. Each location is a set of names; they come in the order of the nest.
    """
    leader = {it: it for it in scope.values}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for value in scope.values.values():
        shared: tuple[str, ...] = ()
        if isinstance(value, Fby):
            shared = (value.next, *((value.first.name,) if isinstance(value.first, Use) else ()))
        elif isinstance(value, (Last, Map)):
            shared = (value.value,)
        for name in shared:
            leader[find(name)] = find(value.name)
    classes: dict[str, set[str]] = {}
    for name in scope.values:
        classes.setdefault(find(name), set()).add(name)
    return tuple(frozenset(it) for it in classes.values())


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A value that statements use in more dimensions than it has."""

    value: str
    dimensions: tuple[str, ...]


def broadcasts(scope: Scope) -> tuple[Broadcast, ...]:
    """All broadcasts, once each, in the order of their first use."""
    found: dict[Broadcast, None] = {}
    for statement in scope.nest.body:
        if isinstance(statement, (Last, Map)):
            continue
        for name in scope.needed(statement):
            extra = scope.dimensions_at(statement) - scope.dimensions_of(name)
            extra -= set(statement.dimensions) if isinstance(statement, Fby) else set()
            if extra:
                found.setdefault(Broadcast(name, scope.ordered(extra)))
    return tuple(found)
