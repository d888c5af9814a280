"""What a builder of graphs computes with: inputs, ports of nodes, whole numbers made of them, transient buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, SupportsIndex, TypeAlias, TypeGuard, cast

import numpy as np

from ..base.errors import InputError
from ..ir.dataflow.nodes import (
    Binary,
    BinaryOp,
    Dimension,
    Element,
    Expression,
    IntegerLiteral,
    Length,
    Member,
    Query,
    Question,
    Reference,
    Selector,
)
from ..ir.dataflow.text import expression_text, parse_expression
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_array, is_flag, is_row, shown
from ..ir.tokens import TextError

if TYPE_CHECKING:
    from .state import GraphState

Number: TypeAlias = "int | str | Operand"
"""A whole number: a number, an expression as in a `.hpvm` file, or what operators make of inputs and ports."""


class Operand:
    """A whole number that is known when a node starts. `+`, `-`, `*`, `//`, `%` and `ceil_div` make others of it."""

    def __init__(self, expression: Expression, state: GraphState | None = None) -> None:
        self.expression = expression
        self.state = state

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {expression_text(self.expression)}>"

    def __add__(self, other: Number) -> Operand:
        return _binary(BinaryOp.ADD, self, other)

    def __radd__(self, other: Number) -> Operand:
        return _binary(BinaryOp.ADD, other, self)

    def __sub__(self, other: Number) -> Operand:
        return _binary(BinaryOp.SUB, self, other)

    def __rsub__(self, other: Number) -> Operand:
        return _binary(BinaryOp.SUB, other, self)

    def __mul__(self, other: Number) -> Operand:
        return _binary(BinaryOp.MUL, self, other)

    def __rmul__(self, other: Number) -> Operand:
        return _binary(BinaryOp.MUL, other, self)

    def __floordiv__(self, other: Number) -> Operand:
        return _binary(BinaryOp.DIV, self, other)

    def __rfloordiv__(self, other: Number) -> Operand:
        return _binary(BinaryOp.DIV, other, self)

    def __mod__(self, other: Number) -> Operand:
        return _binary(BinaryOp.REM, self, other)

    def __rmod__(self, other: Number) -> Operand:
        return _binary(BinaryOp.REM, other, self)

    def ceil_div(self, other: Number) -> Operand:
        """The quotient, rounded up: how many groups of `other` there are."""
        return _binary(BinaryOp.CEIL_DIV, self, other)

    def __bool__(self) -> NoReturn:
        raise _unknown(self, "a condition")

    def __len__(self) -> NoReturn:
        raise InputError(f"{self!r} has no length yet, while the graph is built: its number of elements is .length")

    def __iter__(self) -> Iterator[Operand]:
        raise _unknown(self, "a list")


class Value(Operand):
    """A value in a graph: an input of the graph, or a port of a node. `value["member"]` and `value[3]` are parts of
    it.
    """

    def __init__(self, reference: Reference, state: GraphState) -> None:
        super().__init__(reference, state)
        self.reference = reference

    @property
    def length(self) -> Operand:
        """The number of elements of the array, or of the runtime-sized array that a structure ends in."""
        return Operand(Length(self.reference), self.state)

    def __getitem__(self, selector: str | int) -> Part:
        assert self.state is not None
        return Part(Reference(self.reference.name, (*self.reference.selectors, _selector(selector))), self.state)


class Part(Value):
    """A number inside of a value, or a structure or an array with one in it."""


class Input(Value):
    """An input of the graph."""


class Port(Value):
    """A port of a node: `node["name"]`."""

    def __init__(self, node: str, name: str, state: GraphState) -> None:
        super().__init__(Reference(node, (Member(name),)), state)
        self.node = node
        self.name = name


@dataclass(frozen=True, slots=True)
class Zeros:
    """A transient buffer: zeros, with these extents. `zeros` makes one."""

    extents: tuple[Number, ...]
    name: str | None


def zeros(*extents: Number, name: str | None = None) -> Zeros:
    """A transient buffer of the graph, to be bound to an input of a node, from which it takes its type.

    For a runtime-sized array the extent is its number of elements; for a texture, extents are its width, height and so
    on; other types need none. Each node that it is bound to finds zeros.
    """
    return Zeros(extents, name)


def instance_id(dimension: str = "x", *, level: int = 1) -> Operand:
    """The index of an instance of an ancestor: for a node of a graph, level 1 is the node that executes that graph."""
    return Operand(Query(Question.NODE_INSTANCE_ID, _level(level), _dimension(dimension)))


def num_instances(dimension: str = "x", *, level: int = 1) -> Operand:
    """The number of instances of an ancestor in a dimension; level 0 is the node itself."""
    return Operand(Query(Question.NUM_NODE_INSTANCES, _level(level), _dimension(dimension)))


def num_dims(*, level: int = 1) -> Operand:
    """The number of dimensions of an ancestor; level 0 is the node itself."""
    return Operand(Query(Question.NUM_DIMS, _level(level), None))


def minimum(left: Number, right: Number) -> Operand:
    """The smaller of two numbers."""
    return _binary(BinaryOp.MIN, left, right)


def maximum(left: Number, right: Number) -> Operand:
    """The larger of two numbers."""
    return _binary(BinaryOp.MAX, left, right)


def expression_of(number: object) -> tuple[Expression, GraphState | None]:
    """A number as an expression, and the builder whose names are in it. Raises InputError."""
    if isinstance(number, Operand):
        return number.expression, number.state
    if isinstance(number, str):
        try:
            return parse_expression(number), None
        except TextError as error:
            raise InputError(f"{number!r} is no expression: {error}") from None
    if is_whole(number):
        return IntegerLiteral(number.__index__()), None
    raise InputError(f"expected a whole number, an expression such as 'len(x) / 2', or an input, not {shown(number)}")


def numbers_of(given: object) -> tuple[object, ...]:
    """One number, or several in a list, a tuple or an array."""
    if is_row(given):
        return tuple(given)
    if is_array(given) and given.ndim == 1:
        return tuple(given)
    return (given,)


def is_whole(value: object) -> TypeGuard[SupportsIndex]:
    """Whether a value is an integer of Python or of numpy, and no bool."""
    return isinstance(value, cast("type[int]", (int, np.integer))) and not is_flag(value)


def _selector(given: object) -> Selector:
    if isinstance(given, str):
        return Member(given)
    index = given.__index__() if is_whole(given) else -1
    if index < 0:
        raise InputError(f"a part is selected by the name of a member or the number of an element, not {shown(given)}")
    return Element(index)


def _binary(op: BinaryOp, left: object, right: object) -> Operand:
    (lhs, one), (rhs, other) = expression_of(left), expression_of(right)
    if one is not None and other is not None and one is not other:
        raise InputError(f"{expression_text(lhs)} and {expression_text(rhs)} are of different graphs")
    return Operand(Binary(op, lhs, rhs), one or other)


def _dimension(name: object) -> Dimension:
    known = {it.value: it for it in Dimension}
    if not isinstance(name, str) or name not in known:
        raise InputError(unknown_name(f"there is no dimension {shown(name)}", name, known))
    return known[name]


def _level(level: object) -> int:
    if is_whole(level) and level.__index__() >= 0:
        return level.__index__()
    raise InputError(f"a level counts ancestors: 0, 1, 2 and so on, not {shown(level)}")


def _unknown(operand: Operand, what: str) -> InputError:
    return InputError(f"{operand!r} cannot be {what}: its value is not known before the graph runs")
