"""What a nest is built of in Python: dimensions, sizes, sums of them, and values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from ..base.errors import InputError
from ..ir.layout_numbers import is_number, shown
from ..ir.schedule.nodes import Affine, Term

if TYPE_CHECKING:
    from .builder import Nest

Item = TypeVar("Item")
SumLike: TypeAlias = "int | Sum | Dim"
ValueLike: TypeAlias = "float | Value"
"""A value, or a number, which gets the type of the other operand."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Whole numbers times sizes and indices, added up: a subscript, an extent, or the size of a dimension."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def __add__(self, other: SumLike) -> Sum:
        right = sum_of(other)
        terms = dict(self.terms)
        for name, coefficient in right.terms:
            terms[name] = terms.get(name, 0) + coefficient
        return Sum(tuple((it, number) for it, number in terms.items() if number), self.constant + right.constant)

    def __radd__(self, other: SumLike) -> Sum:
        return sum_of(other) + self

    def __neg__(self) -> Sum:
        return self * -1

    def __sub__(self, other: SumLike) -> Sum:
        return self + -sum_of(other)

    def __rsub__(self, other: SumLike) -> Sum:
        return sum_of(other) - self

    def __mul__(self, factor: int) -> Sum:
        if not isinstance(cast("object", factor), int):
            raise InputError(f"a size or an index is multiplied by a whole number, not by {shown(factor)}")
        return Sum(tuple((it, number * factor) for it, number in self.terms if factor), self.constant * factor)

    def __rmul__(self, factor: int) -> Sum:
        return self * factor

    @property
    def affine(self) -> Affine:
        """The sum in the IR."""
        return Affine(tuple(Term(coefficient, name) for name, coefficient in self.terms), self.constant)


@dataclass(frozen=True, slots=True)
class Dim:
    """An iteration dimension; in arithmetic, its index."""

    name: str
    size: Sum

    def __repr__(self) -> str:
        return f"<Dim {self.name}>"

    def __add__(self, other: SumLike) -> Sum:
        return sum_of(self) + other

    def __radd__(self, other: SumLike) -> Sum:
        return sum_of(other) + self

    def __neg__(self) -> Sum:
        return -sum_of(self)

    def __sub__(self, other: SumLike) -> Sum:
        return sum_of(self) - other

    def __rsub__(self, other: SumLike) -> Sum:
        return sum_of(other) - self

    def __mul__(self, factor: int) -> Sum:
        return sum_of(self) * factor

    def __rmul__(self, factor: int) -> Sum:
        return sum_of(self) * factor


def sum_of(value: object) -> Sum:
    """A number, a dimension or a sum, as a sum. Raises InputError."""
    if isinstance(value, Sum):
        return value
    if isinstance(value, Dim):
        return Sum(((value.name, 1),))
    if is_number(value) and not isinstance(value, float):
        return Sum((), int(cast("int", value)))
    raise InputError(f"expected a whole number, a dimension, a size or a sum of these, not {shown(value)}")


def sum_from(affine: Affine) -> Sum:
    """A sum of the IR."""
    return Sum(tuple((it.name, it.coefficient) for it in affine.terms), affine.constant)


def items_of(value: Iterable[Item], what: str) -> list[Item]:
    """The items of a list or a tuple. Raises InputError for anything else."""
    if not isinstance(cast("object", value), (list, tuple)):
        raise InputError(f"expected a list of {what}, not {shown(value)}")
    return list(value)


class Value:
    """A value of a nest. Operators give new values, `==` and `!=`, too."""

    __slots__ = ("name", "nest")
    __hash__ = object.__hash__

    def __init__(self, nest: Nest, name: str) -> None:
        self.nest = nest
        self.name = name

    def __repr__(self) -> str:
        return f"<Value {self.name} of {self.nest.name}>"

    def __add__(self, other: ValueLike) -> Value:
        return self.nest.call("+", self, other)

    def __radd__(self, other: ValueLike) -> Value:
        return self.nest.call("+", other, self)

    def __sub__(self, other: ValueLike) -> Value:
        return self.nest.call("-", self, other)

    def __rsub__(self, other: ValueLike) -> Value:
        return self.nest.call("-", other, self)

    def __mul__(self, other: ValueLike) -> Value:
        return self.nest.call("*", self, other)

    def __rmul__(self, other: ValueLike) -> Value:
        return self.nest.call("*", other, self)

    def __truediv__(self, other: ValueLike) -> Value:
        return self.nest.call("/", self, other)

    def __rtruediv__(self, other: ValueLike) -> Value:
        return self.nest.call("/", other, self)

    def __mod__(self, other: ValueLike) -> Value:
        return self.nest.call("%", self, other)

    def __rmod__(self, other: ValueLike) -> Value:
        return self.nest.call("%", other, self)

    def __and__(self, other: ValueLike) -> Value:
        return self.nest.call("&", self, other)

    def __rand__(self, other: ValueLike) -> Value:
        return self.nest.call("&", other, self)

    def __or__(self, other: ValueLike) -> Value:
        return self.nest.call("|", self, other)

    def __ror__(self, other: ValueLike) -> Value:
        return self.nest.call("|", other, self)

    def __xor__(self, other: ValueLike) -> Value:
        return self.nest.call("^", self, other)

    def __rxor__(self, other: ValueLike) -> Value:
        return self.nest.call("^", other, self)

    def __lshift__(self, other: ValueLike) -> Value:
        return self.nest.call("<<", self, other)

    def __rlshift__(self, other: ValueLike) -> Value:
        return self.nest.call("<<", other, self)

    def __rshift__(self, other: ValueLike) -> Value:
        return self.nest.call(">>", self, other)

    def __rrshift__(self, other: ValueLike) -> Value:
        return self.nest.call(">>", other, self)

    def __eq__(self, other: ValueLike) -> Value:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        return self.nest.call("==", self, other)

    def __ne__(self, other: ValueLike) -> Value:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        return self.nest.call("!=", self, other)

    def __lt__(self, other: ValueLike) -> Value:
        return self.nest.call("<", self, other)

    def __le__(self, other: ValueLike) -> Value:
        return self.nest.call("<=", self, other)

    def __gt__(self, other: ValueLike) -> Value:
        return self.nest.call(">", self, other)

    def __ge__(self, other: ValueLike) -> Value:
        return self.nest.call(">=", self, other)

    def __neg__(self) -> Value:
        return self.nest.call("-", self)

    def __invert__(self) -> Value:
        return self.nest.call("~", self)

    def __bool__(self) -> bool:
        raise InputError(f"{self.name!r} has no value while a nest is built; nest.call('select', no, yes, condition)")


class Carried(Value):
    """A value that is carried from iteration to iteration; set `next` once."""

    __slots__ = ()

    @property
    def next(self) -> Value | None:
        """What it is in the next iteration; None before that is set."""
        return self.nest.next_of(self)

    @next.setter
    def next(self, value: ValueLike) -> None:
        self.nest.set_next(self, value)
