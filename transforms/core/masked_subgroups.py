"""Subgroup operations of some lanes, as operations of all: the other lanes add what changes no result.

A lane that reads from one that takes no part gets its own value, as in the interpreter (`ir.core.interp_subgroups`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ir.builtins import Mode
from ...ir.constants import RawValue
from ...ir.core import nodes
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.scalars import convert_scalar
from ...ir.types import I32, U32, Scalar, Type, Vector, scalar_of
from .replacing import copy_constant

_NO_LANE: Final = 0xFFFFFFFF
_FOLDS = ("Add", "Mul", "And", "Or", "Xor")


def masked(builder: Builder, call: nodes.BuiltinCall, takes_part: Value) -> Value:
    """The result of a subgroup operation of the lanes where `takes_part` holds; other lanes' results mean nothing.

    All lanes of the subgroup must come here. The call itself is not changed.
    """
    arguments = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in call.arguments]
    made = _Masked(builder, takes_part)
    word = call.function.removeprefix("subgroup").removeprefix("Inclusive").removeprefix("Exclusive")
    match word:
        case "Elect":
            return builder.binary(BinaryOp.EQUAL, made.lane(), made.first())
        case "Ballot" | "Any":
            return builder.builtin_call(call.function, [builder.binary(BinaryOp.AND, arguments[0], takes_part)])
        case "All":
            others = builder.unary(UnaryOp.NOT, takes_part)
            return builder.builtin_call(call.function, [builder.binary(BinaryOp.OR, arguments[0], others)])
        case "BroadcastFirst":
            return made.at_first(arguments[0])
        case "Min" | "Max":
            return builder.builtin_call(call.function, [made.or_else(arguments[0], made.at_first(arguments[0]))])
        case _ if word in _FOLDS:
            return builder.builtin_call(call.function, [made.or_else(arguments[0], _identity(word, call.type))])
        case _:
            return made.moved(call.function, arguments)


class _Masked:
    def __init__(self, builder: Builder, takes_part: Value) -> None:
        self.builder = builder
        self.takes_part = takes_part

    def or_else(self, value: Value, other: Value) -> Value:
        """The value in lanes that take part, the other elsewhere."""
        return self.builder.builtin_call("select", [other, value, self.takes_part])

    def lane(self) -> Value:
        """The lane's number in the subgroup."""
        return self.builder.builtin_call("subgroupExclusiveAdd", [u32(1)])

    def first(self) -> Value:
        """The number of the first lane that takes part."""
        return self.builder.builtin_call("subgroupMin", [self.or_else(self.lane(), u32(_NO_LANE))])

    def at_first(self, value: Value) -> Value:
        """The value in the first lane that takes part."""
        return self.builder.builtin_call("subgroupShuffle", [value, self.first()])

    def moved(self, function: str, arguments: list[Value]) -> Value:
        """The value of another lane if that one takes part, else the lane's own."""
        value, *rest = arguments
        builder = self.builder
        moved = builder.builtin_call(function, arguments)
        operands = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in rest]
        vote = builder.builtin_call("select", [u32(0), u32(1), self.takes_part])
        source = builder.builtin_call(function, [vote, *operands])
        own = copy_constant(value) if isinstance(value, nodes.Constant) else value
        return builder.builtin_call("select", [own, moved, builder.binary(BinaryOp.EQUAL, source, u32(1))])


_IDENTITIES: Mapping[str, int] = {"Mul": 1, "And": -1, "Or": 0, "Xor": 0}


def _identity(word: str, type: Type) -> nodes.Constant:
    """What combined with a value gives that value: of a float sum -0, since 0 + -0 is 0."""
    scalar = scalar_of(type)
    assert scalar is not None
    raw: RawValue = -0.0 if word == "Add" and scalar.is_float else _converted(_IDENTITIES.get(word, 0), scalar)
    return constant(type, (raw,) * type.width if isinstance(type, Vector) else raw)


def _converted(number: int, scalar: Scalar) -> RawValue:
    return number & _NO_LANE if scalar is U32 else convert_scalar(number, I32, scalar, Mode.RUNTIME)
