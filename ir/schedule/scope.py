"""What the names of a nest stand for, and the iteration dimensions of its values.

The iteration dimensions of an instruction's value are those of the instruction; of a Fby those of its next value; of
a Last those of its value, less those that it is the last of; of a Map those of its value, with others in their places.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from .nodes import (
    Array,
    Compute,
    Constant,
    Dimension,
    ElementType,
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

Value: TypeAlias = Load | Gather | Index | Compute | Fby | Last | Map
Instruction: TypeAlias = Load | Gather | Index | Compute
Writing: TypeAlias = Store | Scatter
"""What writes to an output, and is no value."""


@dataclass(slots=True)
class Scope:
    """The names of a nest; the first of several declarations of a name is kept."""

    nest: Nest
    sizes: frozenset[str] = field(init=False)
    dimensions: dict[str, Dimension] = field(default_factory=dict[str, Dimension])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    _iterated: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def __post_init__(self) -> None:
        self.sizes = frozenset(self.nest.sizes)
        for dimension in self.nest.dimensions:
            self.dimensions.setdefault(dimension.name, dimension)
        for array in self.nest.arrays:
            self.arrays.setdefault(array.name, array)
        for statement in self.nest.body:
            if not isinstance(statement, (Store, Scatter)):
                self.values.setdefault(statement.name, statement)
        for value in self.values.values():
            self._iterated[value.name] = self._iteration_dimensions(value)

    def _iteration_dimensions(self, value: Value) -> frozenset[str]:
        match value:
            case Load() | Gather() | Index() | Compute():
                return frozenset(value.dimensions)
            case Fby(next=following):
                after = self.values.get(following)
                return frozenset(after.dimensions if isinstance(after, Instruction) else ())
            case Last(value=source, dimensions=dimensions):
                return self.dimensions_of(source) - set(dimensions)
            case Map(value=source, pairs=pairs):
                targets = {it.source: it.target for it in pairs}
                return frozenset(targets.get(it, it) for it in self.dimensions_of(source))
            case _:
                assert_never(value)

    def dimensions_of(self, name: str) -> frozenset[str]:
        """The iteration dimensions of a value; none for one that does not exist."""
        return self._iterated.get(name, frozenset())

    def dimensions_at(self, statement: Statement) -> frozenset[str]:
        """The dimensions that a statement is executed in."""
        if isinstance(statement, (Store, Scatter)):
            return frozenset(statement.dimensions)
        return self.dimensions_of(statement.name)

    def type_of(self, operand: Operand) -> ElementType:
        """The type of an operand whose value exists."""
        return operand.type if isinstance(operand, Constant) else self.values[operand.name].type

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Dimensions in the order of their declarations."""
        wanted = set(names)
        return tuple(it for it in self.dimensions if it in wanted)

    def needed(self, statement: Statement) -> tuple[str, ...]:
        """The values that must be complete before a statement is executed: those that it uses in the same iteration,
        and for the last of a Fby its next value, too.
        """
        used = used_by(statement)
        source = self.values.get(statement.value) if isinstance(statement, Last) else None
        return (*used, source.next) if isinstance(source, Fby) else used


def used_by(statement: Statement) -> tuple[str, ...]:
    """The values that a statement uses in the same iteration: all but the next value of a Fby."""
    match statement:
        case Load() | Index():
            return ()
        case Compute(operands=operands):
            return tuple(it.name for it in operands if isinstance(it, Use))
        case Fby(first=operand) | Store(value=operand):
            return (operand.name,) if isinstance(operand, Use) else ()
        case Gather(subscripts=subscripts):
            return tuple(it.name for it in subscripts if isinstance(it, Use))
        case Scatter(subscripts=subscripts, value=operand):
            return tuple(it.name for it in (*subscripts, operand) if isinstance(it, Use))
        case Last(value=value) | Map(value=value):
            return (value,)
        case _:
            assert_never(statement)
