"""Positions that are linear functions of a thread's or an iteration's number.

`linear` gives such a function where no two numbers share a position. Arithmetic is modulo a power of two, so the
functions are compared modulo the narrowest type that the position passes through: positions of an array, which has
fewer than 2^32 elements, are equal if they are equal so. A multiple by an odd factor never repeats then; one by 2^k,
in 64 bits, only after 2^(64 - k) numbers, which nothing counts to while k is at most 16.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import assert_never

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
    Type,
    ZeroConstant,
)

_WORD = 64
_NARROWEST = 32
"""Bits that surely hold every number of a thread."""
_SHIFT = 16
_MOST = 64
"""Nodes of a sum that are taken apart; others are terms as they are."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`factor * number + constant + ` the sum of `others`, nodes that are the same in all iterations, with their
    factors, modulo 2^`bits`.
    """

    factor: int = 1
    constant: int = 0
    others: frozenset[tuple[Node, int]] = field(default_factory=frozenset[tuple[Node, int]])
    bits: int = _WORD


def linear(
    position: Node, numbers: Collection[Node], types: Mapping[Node, Type], is_fixed: Callable[[Node], bool]
) -> tuple[Node, Linear] | None:
    """One of the numbers, and the position as a function of it that gives each number a position of its own; None if
    it is not such a function. `is_fixed` says of a node whether all iterations see the same value.
    """
    sum = _Sum(frozenset(numbers), types)
    if not sum.add(position, 1):
        return None
    own = [it for it in sum.terms if it in numbers]
    others = frozenset((it, factor) for it, factor in sum.terms.items() if it not in numbers and factor)
    if len(own) != 1 or not all(is_fixed(it) for it, _ in others):
        return None
    factor = sum.terms[own[0]]
    if not _is_injective(factor, sum.bits):
        return None
    is_plain = factor == 1 and sum.constant == 0 and not others
    return own[0], Linear(factor, sum.constant, others, _WORD if is_plain else sum.bits)


def _is_injective(factor: int, bits: int) -> bool:
    twos = (factor & -factor).bit_length() - 1
    return factor != 0 and (twos == 0 or (bits == _WORD and twos <= _SHIFT))


@dataclass(slots=True)
class _Sum:
    """A sum of nodes with factors, and a constant."""

    numbers: Collection[Node]
    types: Mapping[Node, Type]
    terms: Counter[Node] = field(default_factory=Counter[Node])
    constant: int = 0
    bits: int = _WORD

    left: int = _MOST

    def add(self, node: Node, factor: int) -> bool:
        """Add a multiple of a node; whether it is an integer of a type that holds all numbers."""
        type, count = self.types.get(node), _literal(node)
        if not isinstance(type, Integer) or type.bits < _NARROWEST:
            return False
        self.bits = min(self.bits, type.bits)
        self.left -= 1
        if count is not None:
            self.constant += factor * count
        elif node in self.numbers or self.left < 0:
            self.terms[node] += factor
        else:
            return self._add_operands(node, factor)
        return True

    def _add_operands(self, node: Node, factor: int) -> bool:
        match node:
            case Cast(operand=operand) | Bitcast(operand=operand) if isinstance(self.types.get(operand), Integer):
                return self.add(operand, factor)
            case Binary(BinaryOp.ADD, lhs, rhs):
                return self.add(lhs, factor) and self.add(rhs, factor)
            case Binary(BinaryOp.SUB, lhs, rhs):
                return self.add(lhs, factor) and self.add(rhs, -factor)
            case Binary(BinaryOp.MUL, lhs, rhs) if (count := _literal(rhs)) is not None:
                return self.add(lhs, factor * count)
            case Binary(BinaryOp.MUL, lhs, rhs) if (count := _literal(lhs)) is not None:
                return self.add(rhs, factor * count)
            case Binary(BinaryOp.SHIFT_LEFT, lhs, rhs) if (count := _literal(rhs)) is not None and count <= _SHIFT:
                return self.add(lhs, factor << count)
            case FloatingNode() | PinnedNode() | ControlNode():
                self.terms[node] += factor
                return True
            case _:
                assert_never(node)


def _literal(node: Node) -> int | None:
    match node:
        case ConstantNode(IntegerConstant(value=value)) | DynamicConstantNode(DynamicLiteral(value)):
            return value
        case ConstantNode(ZeroConstant()):
            return 0
        case _:
            return None
