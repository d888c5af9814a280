"""Expressions of numbers: their parts, their values, and whether two of them are equal for all values.

Two expressions are compared by their normal forms, which are polynomials with integer coefficients. The variables are
references, lengths and queries, and the operations that are no ring operations, with normalised operands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Protocol, TypeAlias, assert_never, cast

from .nodes import (
    Binary,
    BinaryOp,
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Expression,
    FloatLiteral,
    IntegerLiteral,
    Length,
    Malloc,
    Query,
    Reference,
    Split,
    Statement,
)

Monomial: TypeAlias = frozenset[tuple[Hashable, int]]
"""Variables with their powers; the empty one is 1."""
Polynomial: TypeAlias = frozenset[tuple[Monomial, int]]
"""Monomials with their coefficients, none of which is zero."""

_ONE: Final[Monomial] = frozenset()
_MOST_TERMS: Final = 64
"""A product with more terms than this is a variable, so that comparing stays fast; two equal ones may then seem to be
different.
"""


class Facts(Protocol):
    """The values of an expression's leaves."""

    def number(self, reference: Reference) -> int:
        """The number that a reference leads to."""
        ...

    def length(self, reference: Reference) -> int:
        """The number of elements of the array that a reference names."""
        ...

    def answer(self, query: Query) -> int:
        """The answer to a query."""
        ...


class LaterNumber(ABC):
    """A whole number that whoever answers `Facts` knows only later: it stands in the place of an int."""

    @abstractmethod
    def combined(self, op: BinaryOp, lhs: int | LaterNumber, rhs: int | LaterNumber) -> LaterNumber:
        """The result of an operation of which it is an operand."""


def depth(expression: Expression) -> int:
    """How deep the expression's operations nest; 1 for one without any."""
    deepest, level = 0, [expression]
    while level:
        deepest += 1
        level = [part for it in level if isinstance(it, Binary) for part in (it.lhs, it.rhs)]
    return deepest


def leaves(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression that are no operations, from left to right."""
    pending = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, Binary):
            pending += [part.rhs, part.lhs]
        else:
            yield part


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions in a statement."""
    match statement:
        case CreateNode(extents=extents, repeat=repeat):
            return extents if repeat is None else (*extents, repeat)
        case Malloc():
            return statement.extents
        case BindInput():
            return (statement.source,)
        case Split() | CreateEdge() | BindOutput():
            return ()
        case _:
            assert_never(statement)


def references(expression: Expression) -> Iterator[Reference]:
    """The references in an expression, those whose length it takes included."""
    for part in leaves(expression):
        if isinstance(part, Reference):
            yield part
        elif isinstance(part, Length):
            yield part.value


def evaluate(expression: Expression, facts: Facts) -> int:
    """The value of an expression without float literals. Raises ZeroDivisionError."""
    match expression:
        case IntegerLiteral(value):
            return value
        case Reference():
            return facts.number(expression)
        case Length(value):
            return facts.length(value)
        case Query():
            return facts.answer(expression)
        case Binary(op, lhs, rhs):
            return _applied(op, evaluate(lhs, facts), evaluate(rhs, facts))
        case FloatLiteral():
            raise TypeError("arithmetic is on whole numbers")
        case _:
            assert_never(expression)


def _applied(op: BinaryOp, lhs: int | LaterNumber, rhs: int | LaterNumber) -> int:
    for operand in (lhs, rhs):
        if isinstance(operand, LaterNumber):
            return cast(int, operand.combined(op, lhs, rhs))
    return OPERATIONS[op](cast(int, lhs), cast(int, rhs))


OPERATIONS: Final[dict[BinaryOp, Callable[[int, int], int]]] = {
    BinaryOp.ADD: lambda lhs, rhs: lhs + rhs,
    BinaryOp.SUB: lambda lhs, rhs: lhs - rhs,
    BinaryOp.MUL: lambda lhs, rhs: lhs * rhs,
    BinaryOp.DIV: lambda lhs, rhs: lhs // rhs,
    BinaryOp.REM: lambda lhs, rhs: lhs % rhs,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
    BinaryOp.CEIL_DIV: lambda lhs, rhs: -(-lhs // rhs),
}


def difference(lhs: Expression, rhs: Expression) -> int | None:
    """`lhs - rhs` where it is the same number for all values of the variables; None where that is not known."""
    rest = sum_of(normal_form(lhs), normal_form(rhs), -1)
    if not rest:
        return 0
    (monomial, coefficient), *others = rest
    return None if monomial or others else coefficient


def normal_form(expression: Expression) -> Polynomial:
    """The expression as a polynomial."""
    match expression:
        case IntegerLiteral(value):
            return constant_form(value)
        case Binary(BinaryOp.ADD, lhs, rhs):
            return sum_of(normal_form(lhs), normal_form(rhs))
        case Binary(BinaryOp.SUB, lhs, rhs):
            return sum_of(normal_form(lhs), normal_form(rhs), -1)
        case Binary(op, lhs, rhs):
            return _combined(op, normal_form(lhs), normal_form(rhs))
        case FloatLiteral() | Reference() | Length() | Query():
            return variable_form(expression)
        case _:
            assert_never(expression)


def _combined(op: BinaryOp, lhs: Polynomial, rhs: Polynomial) -> Polynomial:
    """The product, the value of an operation on two constants, or a variable for any other operation."""
    left, right = constant_of(lhs), constant_of(rhs)
    if op is BinaryOp.MUL and len(lhs) * len(rhs) <= _MOST_TERMS:
        return product_of(lhs, rhs)
    if left is not None and right is not None and (right or op in (BinaryOp.MIN, BinaryOp.MAX)):
        return constant_form(OPERATIONS[op](left, right))
    if right == 1 and op in (BinaryOp.DIV, BinaryOp.CEIL_DIV):
        return lhs
    is_commutative = op in (BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX)
    return variable_form((op, frozenset((lhs, rhs)) if is_commutative and lhs != rhs else (lhs, rhs)))


def constant_form(value: int) -> Polynomial:
    """A number as a polynomial."""
    return frozenset({(_ONE, value)}) if value else frozenset()


def constant_of(polynomial: Polynomial) -> int | None:
    """The number that a polynomial without variables is; None for another."""
    if not polynomial:
        return 0
    (monomial, coefficient), *others = polynomial
    return None if monomial or others else coefficient


def variable_form(variable: Hashable) -> Polynomial:
    """A variable as a polynomial."""
    return frozenset({(frozenset({(variable, 1)}), 1)})


def sum_of(lhs: Polynomial, rhs: Polynomial, sign: int = 1) -> Polynomial:
    """`lhs + sign * rhs`."""
    terms = Counter[Monomial](dict(lhs))
    for monomial, coefficient in rhs:
        terms[monomial] += sign * coefficient
    return frozenset((it, coefficient) for it, coefficient in terms.items() if coefficient)


def product_of(lhs: Polynomial, rhs: Polynomial) -> Polynomial:
    """`lhs * rhs`."""
    terms = Counter[Monomial]()
    for left, factor in lhs:
        for right, other in rhs:
            powers = Counter[Hashable](dict(left))
            powers.update(dict(right))
            terms[frozenset(powers.items())] += factor * other
    return frozenset((it, coefficient) for it, coefficient in terms.items() if coefficient)
