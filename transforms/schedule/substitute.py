"""Substitution in statements of nests: other names for arrays and values, and sums for sizes and dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from ...ir.schedule.nodes import (
    Affine,
    Compute,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Operand,
    Pair,
    Scatter,
    Statement,
    Store,
    Term,
    Use,
)


@dataclass(slots=True)
class Substitution:
    """What stands for names; a name that is not here stays."""

    values: dict[str, Operand] = field(default_factory=dict[str, Operand])
    arrays: dict[str, str] = field(default_factory=dict[str, str])
    sums: dict[str, Affine] = field(default_factory=dict[str, Affine])
    """For sizes and dimensions. For a dimension that a `fby`, `last` or `map` names, this is another dimension."""

    def statement(self, statement: Statement) -> Statement:
        """The statement; its own name changes too. Where a statement needs a value, it must not be a constant."""
        made: Load | Gather | Index | Compute | Fby | Last
        match statement:
            case Load():
                made = replace(statement, array=self.array(statement.array), subscripts=self.all(statement.subscripts))
            case Gather():
                subscripts = tuple(map(self.operand, statement.subscripts))
                made = replace(statement, array=self.array(statement.array), subscripts=subscripts)
            case Index():
                made = replace(statement, value=self.sum(statement.value))
            case Compute():
                made = replace(statement, operands=tuple(map(self.operand, statement.operands)))
            case Fby():
                made = replace(statement, first=self.operand(statement.first), next=self.name(statement.next))
            case Last():
                made = replace(statement, value=self.name(statement.value))
            case Map():
                pairs = tuple(Pair(self.dimension(it.source), self.dimension(it.target)) for it in statement.pairs)
                return replace(statement, name=self.name(statement.name), value=self.name(statement.value), pairs=pairs)
            case Store():
                return replace(
                    statement,
                    array=self.array(statement.array),
                    subscripts=self.all(statement.subscripts),
                    value=self.operand(statement.value),
                    dimensions=self.dimensions(statement.dimensions),
                )
            case Scatter():
                return replace(
                    statement,
                    array=self.array(statement.array),
                    subscripts=tuple(map(self.operand, statement.subscripts)),
                    value=self.operand(statement.value),
                    dimensions=self.dimensions(statement.dimensions),
                )
            case _:
                assert_never(statement)
        return replace(made, name=self.name(made.name), dimensions=self.dimensions(made.dimensions))

    def sum(self, affine: Affine) -> Affine:
        """A sum of sizes and indices."""
        terms: dict[str, int] = {}
        constant = affine.constant
        for term in affine.terms:
            inner = self.sums.get(term.name, plain(term.name))
            constant += term.coefficient * inner.constant
            for it in inner.terms:
                terms[it.name] = terms.get(it.name, 0) + term.coefficient * it.coefficient
        return Affine(tuple(Term(number, name) for name, number in terms.items() if number), constant)

    def all(self, sums: Iterable[Affine]) -> tuple[Affine, ...]:
        """Several sums."""
        return tuple(map(self.sum, sums))

    def dimension(self, name: str) -> str:
        """The name of a dimension that another one stands for."""
        return name_of_plain(self.sums.get(name, plain(name))) or name

    def dimensions(self, names: Iterable[str]) -> tuple[str, ...]:
        """The dimensions that the sums for dimensions have, once each."""
        found = (it.name for name in names for it in self.sums.get(name, plain(name)).terms)
        return tuple(dict.fromkeys(found))

    def array(self, name: str) -> str:
        """The name of an array."""
        return self.arrays.get(name, name)

    def name(self, value: str) -> str:
        """The name of a value that is not replaced by a constant."""
        found = self.values.get(value)
        return found.name if isinstance(found, Use) else value

    def operand(self, operand: Operand) -> Operand:
        """An operand."""
        return self.values.get(operand.name, operand) if isinstance(operand, Use) else operand


def plain(name: str) -> Affine:
    """A name as a sum."""
    return Affine((Term(1, name),), 0)


def name_of_plain(affine: Affine) -> str | None:
    """The name that a sum is, if it is nothing else."""
    is_plain = len(affine.terms) == 1 and affine.terms[0].coefficient == 1 and affine.constant == 0
    return affine.terms[0].name if is_plain else None


def are_equal(one: Affine, other: Affine) -> bool:
    """Whether two sums have the same terms, in any order."""
    return one.constant == other.constant and set(one.terms) == set(other.terms)
