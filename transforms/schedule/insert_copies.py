"""Inserts copies into a nest where a value would be consumed twice, consumed under a broadcast, or read too late.

Copies are instructions: a copy is a value of its own, which may be consumed in place of the other. One copy serves all
statements that read a value too late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ...ir.schedule.dependence import Closure, root_of
from ...ir.schedule.functions import COPY
from ...ir.schedule.nodes import (
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
    Scatter,
    Statement,
    Store,
    Use,
)
from ...ir.schedule.scope import Instruction, Scope, used_by
from .names import names_of


def insert_copies(nest: Nest) -> Nest:
    """The nest with the copies that it needs. Its names and types are right; its dimensions may still be wrong."""
    return _Late(_Consumed(nest).copied()).copied()


@dataclass(slots=True)
class _Copies:
    """A nest that gets further statements."""

    nest: Nest
    scope: Scope = field(init=False)
    body: list[Statement] = field(default_factory=list[Statement])
    taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        nest = self.nest
        self.scope = Scope(nest)
        self.taken = names_of(nest)

    def copy_of(self, name: str, dimensions: frozenset[str]) -> Compute:
        """A new copy of a value on these dimensions."""
        number = 1
        while f"{name}_copy{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}_copy{number}")
        value = self.scope.values[name]
        on = self.scope.ordered(dimensions)
        return Compute(f"{name}_copy{number}", value.type, COPY, (Use(name),), on, span=value.span)


@dataclass(slots=True)
class _Consumed(_Copies):
    """Copies for values that a Fby cannot take over."""

    seen: set[str] = field(default_factory=set[str])

    def copied(self) -> Nest:
        renamed = {it.name: self._next(it) for it in self.nest.body if isinstance(it, Fby)}
        for statement in self.nest.body:
            if isinstance(statement, Fby):
                statement = replace(statement, first=self._first(statement), next=self._next_name(renamed, statement))
            self.body.append(statement)
            if isinstance(statement, (Store, Scatter)):
                continue
            for copy in renamed.values():
                if copy is not None and copy.operands == (Use(statement.name),):
                    self.body.append(copy)
        return replace(self.nest, body=tuple(self.body))

    def _next_name(self, renamed: dict[str, Compute | None], fby: Fby) -> str:
        copy = renamed[fby.name]
        return fby.next if copy is None else copy.name

    def _next(self, fby: Fby) -> Compute | None:
        """A copy of the next value, if the Fby cannot take that over."""
        root = root_of(fby.next, self.scope)
        is_instruction = isinstance(self.scope.values[fby.next], Instruction)
        if is_instruction and root not in self.seen:
            self.seen.add(root)
            return None
        return self.copy_of(fby.next, self.scope.dimensions_of(fby.next))

    def _first(self, fby: Fby) -> Use | Constant:
        """The first value, or a new copy of it."""
        if isinstance(fby.first, Constant):
            return fby.first
        outer = self.scope.dimensions_of(fby.next) - set(fby.dimensions)
        found = self.scope.dimensions_of(fby.first.name)
        root = root_of(fby.first.name, self.scope)
        if found == outer and root not in self.seen:
            self.seen.add(root)
            return fby.first
        copy = self.copy_of(fby.first.name, outer)
        self.body.append(copy)
        return Use(copy.name)


@dataclass(slots=True)
class _Late(_Copies):
    """Copies for statements that read a value when its content is destroyed."""

    def copied(self) -> Nest:
        closure = Closure(self.scope)
        fbys = [it for it in self.nest.body if isinstance(it, Fby)]
        consumed = {root_of(name, self.scope) for it in fbys for name in _consumes(it)}
        killers = {it.name: it for it in fbys}
        killers |= {it.first.name: it for it in fbys if isinstance(it.first, Use)}
        copies: dict[str, Compute] = {}
        changed: dict[int, Statement] = {}
        for statement in self.nest.body:
            for name in used_by(statement):
                fby = killers.get(name)
                is_late = fby is not None and self._is_late(statement, name, fby, closure)
                is_mapped = isinstance(statement, Map) and (name in consumed or name in killers)
                if is_late or is_mapped:
                    copies.setdefault(name, self.copy_of(name, self.scope.dimensions_of(name)))
                    changed[id(statement)] = _reading(changed.get(id(statement), statement), name, copies[name].name)
        for statement in self.nest.body:
            self.body.append(changed.get(id(statement), statement))
            if not isinstance(statement, (Store, Scatter)) and statement.name in copies:
                self.body.append(copies[statement.name])
        return replace(self.nest, body=tuple(self.body))

    def _is_late(self, statement: Statement, name: str, fby: Fby, closure: Closure) -> bool:
        if statement is fby or isinstance(statement, Last):
            return False
        inside = name != fby.name and not self.scope.dimensions_at(statement).isdisjoint(fby.dimensions)
        return inside or closure.needs(statement, fby.next)


def _consumes(fby: Fby) -> tuple[str, ...]:
    return (fby.next, fby.first.name) if isinstance(fby.first, Use) else (fby.next,)


def _reading(statement: Statement, name: str, other: str) -> Statement:
    """The statement with another value in the place of one that it uses."""
    match statement:
        case Compute(operands=operands):
            return replace(statement, operands=_with(operands, name, other))
        case Gather(subscripts=subscripts):
            return replace(statement, subscripts=_with(subscripts, name, other))
        case Fby():
            return replace(statement, first=Use(other))
        case Store():
            return replace(statement, value=Use(other))
        case Last() | Map():
            return replace(statement, value=other)
        case Scatter(subscripts=subscripts, value=value):
            (read,) = _with((value,), name, other)
            return replace(statement, subscripts=_with(subscripts, name, other), value=read)
        case Load() | Index():
            return statement
        case _:
            assert_never(statement)


def _with(operands: Sequence[Operand], name: str, other: str) -> tuple[Operand, ...]:
    return tuple(Use(other) if it == Use(name) else it for it in operands)
