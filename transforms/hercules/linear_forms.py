"""Integers as linear forms: a sum of other nodes with factors, and a constant, modulo a power of two.

Arithmetic wraps, so a form equals the value modulo the narrowest type that the value passes through. Positions of an
array, which has fewer than 2^32 elements, are equal if they are equal modulo 2^32.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from ...ir.hercules import dynamic
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    ConstantNode,
    ControlNode,
    DynamicConstantNode,
    DynamicLiteral,
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
"""A value whose form has more terms is a term itself."""
_DEEPEST: Final = 64
"""A value that this many operations are nested above is a term itself."""


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

    def within(self, bits: int) -> Linear:
        """The form of the value converted to an integer of that many bits."""
        return Linear(self.terms, self.constant, min(self.bits, bits))


def term_of(node: Node) -> Node:
    """The term that stands for a node in forms that do not take it apart."""
    return node.fork if isinstance(node, ThreadID) else node


@dataclass(frozen=True, slots=True)
class LinearForms:
    """The linear forms of integers, where the dynamic constants have the values `constants`; if these are None, only
    literals among the dynamic constants have a known value. The nodes in `whole` are not taken apart.
    """

    types: Mapping[Node, Type]
    constants: Sequence[int] | None = None
    whole: Collection[Node] = ()
    _known: dict[Node, Linear] = field(default_factory=dict[Node, Linear], compare=False)

    def of(self, node: Node) -> Linear:
        """The form of an integer."""
        return self._of(node, 0)

    def _of(self, node: Node, depth: int) -> Linear:
        if node not in self._known:
            type = self.types[node]
            assert isinstance(type, Integer)
            found = None if node in self.whole or depth > _DEEPEST else self._parts(node, type, depth + 1)
            if found is None or len(found.terms) > _MOST_TERMS:
                found = Linear({term_of(node): 1}, 0, type.bits)
            self._known[node] = found
        return self._known[node]

    def _parts(self, node: Node, type: Integer, depth: int) -> Linear | None:
        match node:
            case ConstantNode(IntegerConstant(value=value)) | DynamicConstantNode(DynamicLiteral(value)):
                return Linear({}, value, type.bits)
            case ConstantNode(ZeroConstant()):
                return Linear({}, 0, type.bits)
            case DynamicConstantNode(value) if self.constants is not None:
                return Linear({}, dynamic.evaluate(value, self.constants), type.bits)
            case Cast(operand=operand) | Bitcast(operand=operand) if isinstance(self.types[operand], Integer):
                return self._of(operand, depth).within(type.bits)
            case Binary(BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL | BinaryOp.SHIFT_LEFT as op, lhs, rhs):
                return _combined(op, self._of(lhs, depth), self._of(rhs, depth))
            case FloatingNode() | PinnedNode() | ControlNode():
                return None
            case _:
                assert_never(node)


def _combined(op: BinaryOp, left: Linear, right: Linear) -> Linear | None:
    if op is BinaryOp.ADD:
        return left.plus(right)
    if op is BinaryOp.SUB:
        return left.plus(right, -1)
    if op is BinaryOp.MUL and not right.terms:
        return left.times(right.constant)
    if op is BinaryOp.MUL and not left.terms:
        return right.times(left.constant)
    if op is BinaryOp.SHIFT_LEFT and not right.terms and 0 <= right.constant < left.bits:
        return left.times(1 << right.constant)
    return None
