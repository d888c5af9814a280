"""Reads of constant tables at positions that threads' numbers decide: vectors of constants instead of gathers.

If all lanes' positions are known, and the same in all gangs, so are their elements. Where a position is a known
number of each lane plus one that all lanes share, such as the counter of a loop, the elements of all lanes are a row
of another table, with a row for each value of the shared number: a whole vector, which LLVM takes for a constant
where it unrolls the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.arithmetic import ScalarValue
from .....ir.hercules.types import constant_type
from ...data import llvm_type, scalar_constant
from ..analysis.known import KnownValues
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import ValueQueries

_MOST_ROWS = 256
"""The most rows of a table, each a vector."""
_WRAP = 1 << 32


@dataclass(frozen=True, slots=True)
class _Position:
    """The sum, modulo 2^32, of a known number of each lane and of one that all lanes `share`, an i32; None for 0."""

    lanes: Sequence[int]
    shared: str | None

    def at(self, shared: int, extent: int) -> list[int]:
        """The positions, clamped, for a value of the shared number."""
        return [min((it + shared) % _WRAP, extent - 1) for it in self.lanes]


class ConstantTables:
    """Writes such Reads, in the current part."""

    def __init__(self, context: GangContext, vectors: LaneVectors, values: ValueQueries) -> None:
        self._site, self._types, self._gang = context.site, context.types, context.gang
        self._numbers = KnownValues(context.types, context.gang.forks, {})
        self._vectors, self._values = vectors, values
        self._one, self._out = vectors.one, vectors.out

    def load(self, read: h.Read, otherwise: Callable[[], str]) -> str | None:
        """The elements of a constant, from a row where there is one, or loaded `otherwise`. None if that is not how the
        Read is made, as where all lanes have one element.
        """
        type, is_vector = self._types[read], self._values.shape(read).is_vector
        if not is_vector or self._site.repeat is not None or self._values.is_brief():
            return None
        if not isinstance(read.collection, h.ConstantNode) or not isinstance(type, (h.Integer, h.Float)):
            return None
        positions = [self._position(it.position) for it in read.indices if isinstance(it, h.PositionIndex)]
        found = [it for it in positions if it is not None]
        moving = [it.shared for it in found if it.shared is not None]
        if len(found) < len(read.indices) or len(moving) > 1:
            return None
        constant, scalar = read.collection.value, llvm_type(type)
        if not moving:
            return self._vector(scalar, _elements(constant, found, 0))
        rows = next(extent for it, extent in zip(found, _extents(constant), strict=True) if it.shared is not None)
        if rows > _MOST_ROWS:
            return None
        table = [self._vector(scalar, _elements(constant, found, row)) for row in range(rows)]
        test = self._one.binary("icmp ult", "i32", moving[0], str(rows))
        return self._vectors.either(
            test, [scalar], lambda: [self._row(scalar, table, moving[0])], lambda: [otherwise()]
        )[0]

    def _row(self, scalar: str, table: Sequence[str], number: str) -> str:
        type = self._vectors.vec.type(scalar)
        rows = ", ".join(f"{type} {it}" for it in table)
        name = self._out.module.constant(f"[{len(table)} x {type}] [{rows}]", self._vectors.lanes * 4)
        at = self._out.pure(f"getelementptr {type}, ptr {name}, i32 {number}")
        return self._out.value(f"load {type}, ptr {at}, !invariant.load !0")

    def _vector(self, scalar: str, elements: Sequence[h.Constant]) -> str:
        return f"<{', '.join(f'{scalar} {scalar_constant(it)}' for it in elements)}>"

    def _position(self, node: h.Node) -> _Position | None:
        """What a position is, as an unsigned number of 32 bits."""
        known, type = self._known(node), self._types[node]
        if known is not None:
            return _Position([int(it) % _WRAP for it in known], None)
        match node:
            case h.Cast(operand=operand) | h.Bitcast(operand=operand) if self._types[operand] in _WORDS:
                return self._position(operand)
            case _ if type in _WORDS and (scalar := self._values.shared_scalar(node)) is not None:
                return _Position([0] * self._vectors.lanes, scalar)
            case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs) if type in _WORDS:
                left, right = self._position(lhs), self._position(rhs)
                return None if left is None or right is None else self._sum(left, right)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)

    def _known(self, node: h.Node) -> Sequence[ScalarValue] | None:
        """The values of the part's lanes, if they are known before the kernel runs."""
        gang = self._gang
        if self._site.known is not None:
            return self._values.known(node)
        found = None if gang.limit is not None or gang.count % gang.threads else self._numbers.of(node)
        if found is None:
            return None
        firsts = range(self._site.first, gang.count, gang.threads)
        alike = {tuple(found[first : first + gang.lanes]) for first in firsts}
        return alike.pop() if len(alike) == 1 else None

    def _sum(self, left: _Position, right: _Position) -> _Position:
        lanes = [(it + other) % _WRAP for it, other in zip(left.lanes, right.lanes, strict=True)]
        if left.shared is None or right.shared is None:
            return _Position(lanes, left.shared or right.shared)
        return _Position(lanes, self._one.binary("add", "i32", left.shared, right.shared))


_WORDS = (h.Integer(32, signed=False), h.Integer(32, signed=True))


def _elements(constant: h.Constant, positions: Sequence[_Position], shared: int) -> list[h.Constant]:
    """The element of each lane, where the shared number has this value."""
    extents = _extents(constant)
    places = [it.at(shared, extent) for it, extent in zip(positions, extents, strict=True)]
    return [_element(constant, place) for place in zip(*places, strict=True)]


def _element(constant: h.Constant, place: Sequence[int]) -> h.Constant:
    for number in place:
        if isinstance(constant, h.ZeroConstant):
            assert isinstance(constant.type, h.Array)
            constant = h.ZeroConstant(constant.type.element)
        else:
            assert isinstance(constant, h.ArrayConstant)
            constant = constant.elements[number]
    return constant


def _extents(constant: h.Constant) -> list[int]:
    """The lengths of arrays of arrays, outermost first."""
    type, found = constant_type(constant), list[int]()
    while isinstance(type, h.Array) and isinstance(type.extent, h.DynamicLiteral):
        found.append(type.extent.value)
        type = type.element
    return found
