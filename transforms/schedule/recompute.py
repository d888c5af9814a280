"""Computes mapped values again where they need what is known at the end of loops inside of the mapped dimensions.

Such a value, as a score that is itself a sum, is not kept in memory for the second loop. Instead of `map v on [j -> k]`
there is a second computation of `v`, on k instead of j, with dimensions of its own for the loops inside. What is
carried along j itself cannot be computed at one index: that map stays, and no decisions are legal for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ...ir.schedule.nodes import Affine, Combine, Dimension, Fby, Last, Map, Nest, Scatter, Statement, Store, Term, Use
from ...ir.schedule.scope import Scope, Value, used_by
from .names import Names, names_of
from .substitute import Substitution
from .tasks import demand


def recompute(nest: Nest) -> Nest:
    """The nest with second computations in the place of maps that need them. The names of maps stay."""
    names = Names(names_of(nest) | {nest.name})
    for name in [it.name for it in nest.body if isinstance(it, Map)]:
        again = _Again(nest, Scope(nest), names, name)
        nest = again.nest_with_it() if again.is_needed() else nest
    return nest


@dataclass(slots=True)
class _Again:
    """The second computation for one map."""

    nest: Nest
    scope: Scope
    names: Names
    map: str
    dimensions: dict[str, str] = field(default_factory=dict[str, str])
    """For dimensions those of the second computation."""
    made: set[str] = field(default_factory=set[str])
    """The values that are computed again."""

    def __post_init__(self) -> None:
        self.dimensions = {it.source: it.target for it in self.mapped.pairs}

    @property
    def mapped(self) -> Map:
        """The map."""
        found = self.scope.values[self.map]
        assert isinstance(found, Map)
        return found

    def is_needed(self) -> bool:
        """Whether the value needs ends of loops inside of the mapped dimensions, and nothing that is carried there."""
        if any(name not in self.scope.values for it in self.nest.body for name in used_by(it)):
            return False
        used = demand([self.mapped.value], self.scope)
        inside = any(self._is_inside(it) for it in used.ends)
        return inside and not used.reads and self._find(self.mapped.value)

    def _is_inside(self, name: str) -> bool:
        return not self.scope.dimensions_of(name).isdisjoint(self.dimensions)

    def _find(self, root: str) -> bool:
        """Find all that is computed again. False if something is carried along a mapped dimension."""
        pending = [root]
        while pending:
            value = self.scope.values[pending.pop()]
            if value.name in self.made or not self._is_inside(value.name):
                continue
            self.made.add(value.name)
            if isinstance(value, Fby) and not self._begins(value):
                return False
            pending += self._needed(value)
        return True

    def _begins(self, fby: Fby) -> bool:
        sources = {it.source for it in self.mapped.pairs}
        if not sources.isdisjoint(fby.dimensions):
            return False
        for name in fby.dimensions:
            if name not in self.dimensions:
                self.dimensions[name] = self.names.fresh(name)
        return True

    def _needed(self, value: Value) -> Iterable[str]:
        if isinstance(value, Last) and isinstance(self.scope.values[value.value], Fby):
            for name in value.dimensions:
                if name not in self.dimensions:
                    self.dimensions[name] = self.names.fresh(name)
        if not isinstance(value, Fby):
            return used_by(value)
        together = (it for combine in self._combines(value.name) for it in combine.carried)
        return (*used_by(value), value.next, *together)

    def _combines(self, carried: str) -> list[Combine]:
        return [it for it in self.nest.combines if carried in it.carried]

    # The nest

    def nest_with_it(self) -> Nest:
        """The nest with the second computation."""
        new = Substitution(sums={it: Affine((Term(1, to),), 0) for it, to in self.dimensions.items()})
        for name in (it for it in self.scope.values if it in self.made):
            new.values[name] = Use(self.map if name == self.mapped.value else self.names.fresh(name))
        body: list[Statement] = []
        for statement in self.nest.body:
            if statement is self.mapped:
                body += [new.statement(it) for it in self.nest.body if self._is_made(it)]
            else:
                body.append(statement)
        sizes = {it.name: it.size for it in self.nest.dimensions}
        known = {it.name for it in self.nest.dimensions}
        more = tuple(Dimension(to, sizes[it]) for it, to in self.dimensions.items() if to not in known)
        combines = [it for it in self.nest.combines if self.made.issuperset(it.carried)]
        again = tuple(replace(it, carried=tuple(map(new.name, it.carried))) for it in combines)
        return replace(
            self.nest,
            dimensions=(*self.nest.dimensions, *more),
            body=tuple(body),
            combines=(*self.nest.combines, *again),
        )

    def _is_made(self, statement: Statement) -> bool:
        return not isinstance(statement, (Store, Scatter)) and statement.name in self.made
