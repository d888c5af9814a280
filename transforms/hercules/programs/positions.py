"""Positions in arrays as linear forms, and whether threads of a fork can meet at one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from ....ir.hercules import dynamic
from ....ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Cast,
    ConstantNode,
    ControlNode,
    DynamicConstantNode,
    FloatingNode,
    Integer,
    IntegerConstant,
    Node,
    PinnedNode,
    ThreadID,
    Type,
    ZeroConstant,
)

_MOST_TERMS: Final = 16
"""Forms with more terms are not taken apart further."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`sum of coefficient * term + constant`, equal to the value modulo 2^bits.

    A term is a node; a fork stands for the number of its thread.
    """

    terms: Mapping[Node, int]
    constant: int
    bits: int

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """`self + factor * other`."""
        terms = dict(self.terms)
        for node, coefficient in other.terms.items():
            terms[node] = terms.get(node, 0) + factor * coefficient
        kept = {node: coefficient for node, coefficient in terms.items() if coefficient}
        return Linear(kept, self.constant + factor * other.constant, min(self.bits, other.bits))

    def times(self, factor: int) -> Linear:
        """`factor * self`."""
        return Linear({}, 0, self.bits).plus(self, factor)


@dataclass(frozen=True, slots=True)
class LinearForms:
    """The linear forms of integers, where the dynamic constants have these values."""

    types: Mapping[Node, Type]
    constants: Sequence[int]

    def of(self, node: Node) -> Linear:
        """The form of an integer."""
        type = self.types[node]
        assert isinstance(type, Integer)
        found = self._parts(node, type)
        if found is None or len(found.terms) > _MOST_TERMS:
            return Linear({node: 1}, 0, type.bits)
        return found

    def _parts(self, node: Node, type: Integer) -> Linear | None:
        match node:
            case ConstantNode(IntegerConstant(value=value)):
                return Linear({}, value, type.bits)
            case ConstantNode(ZeroConstant()):
                return Linear({}, 0, type.bits)
            case DynamicConstantNode(value):
                return Linear({}, dynamic.evaluate(value, self.constants), type.bits)
            case ThreadID(fork):
                return Linear({fork: 1}, 0, type.bits)
            case Cast(operand=operand) if isinstance(self.types[operand], Integer):
                inner = self.of(operand)
                return Linear(inner.terms, inner.constant, min(inner.bits, type.bits))
            case Binary(op, lhs, rhs):
                return self._binary(op, lhs, rhs)
            case FloatingNode() | PinnedNode() | ControlNode():
                return None
            case _:
                assert_never(node)

    def _binary(self, op: BinaryOp, lhs: Node, rhs: Node) -> Linear | None:
        if op not in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.SHIFT_LEFT):
            return None
        left, right = self.of(lhs), self.of(rhs)
        match op:
            case BinaryOp.ADD:
                return left.plus(right)
            case BinaryOp.SUB:
                return left.plus(right, -1)
            case BinaryOp.MUL if not right.terms:
                return left.times(right.constant)
            case BinaryOp.MUL if not left.terms:
                return right.times(left.constant)
            case BinaryOp.SHIFT_LEFT if not right.terms and 0 <= right.constant < left.bits:
                return left.times(1 << right.constant)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Spread:
    """A set of positions: a coefficient for the thread of one fork, terms that all threads of it share, and the least
    and the greatest of everything else.
    """

    coefficient: int
    shared: Mapping[Node, int]
    low: int
    high: int
    bits: int

    def join(self, other: Spread) -> Spread | None:
        """Both sets; None if they are not of one form."""
        if self.coefficient != other.coefficient or self.shared != other.shared:
            return None
        bits = min(self.bits, other.bits)
        return Spread(self.coefficient, self.shared, min(self.low, other.low), max(self.high, other.high), bits)

    def keeps_apart(self, threads: int) -> bool:
        """Whether different threads have different positions."""
        step, width = abs(self.coefficient), self.high - self.low
        return step > width and step * (threads - 1) + width < 1 << self.bits
