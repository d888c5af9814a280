"""Values that likely rise evenly from lane to lane: what a gang tests before it relies on that.

Of `x % n`, `min(x, n)` and the like, where `x` rises by a stride and `n` is one number, most gangs see no step: all
lanes lie between two multiples, or on one side of the limit. The first lane's value then says all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from ...data import llvm_type
from ...llvm import Ops
from ...nodes import compute
from ..analysis.shapes import UNIFORM, Kind, Shape


@dataclass(frozen=True, slots=True)
class SpeculationEmitter:
    """Writes tests for gangs of so many lanes; `one` computes with scalars."""

    one: Ops
    lanes: int
    types: Mapping[h.Node, h.Type]
    shape: Callable[[h.Node], Shape]
    scalar: Callable[[h.Node], str]
    """The value of a node in the first lane."""
    holds: Callable[[h.Node], str]
    """Whether a node that is likely affine is that."""

    def emit(self, node: h.Node, *, is_proved: bool) -> tuple[str, str]:
        """The value of a likely node in the first lane, and whether the other lanes' follow by its stride."""
        first = compute(self.one, node, self.types, self.scalar)
        if is_proved:
            return first, "true"
        tests = [self.holds(it) for it in dict.fromkeys(predecessors(node)) if self.shape(it).kind is Kind.SPECULATED]
        tests += self._tests(node, first)
        result, *others = tests
        for other in others:
            result = self.one.binary("and", "i1", result, other)
        return first, result

    def _tests(self, node: h.Node, first: str) -> list[str]:
        """What must hold besides what the operands need."""
        match node:
            case h.Cast(type=h.Integer(bits=64), operand=operand):
                return self._no_wrap(operand)
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                moving, fixed = (rhs, lhs) if self.shape(lhs) == UNIFORM else (lhs, rhs)
                return self._binary(node, op, moving, fixed, first)
            case h.Intrinsic(function=name, arguments=arguments):
                return self._limited(name, arguments)
            case _:
                return []

    def _binary(self, node: h.Node, op: h.BinaryOp, moving: h.Node, fixed: h.Node, first: str) -> list[str]:
        one, type, span = self.one, llvm_type(self.types[moving]), self._span(moving)
        match op:
            case h.BinaryOp.REM:
                return [*self._natural(moving), *self._before_step(type, first, fixed, span)]
            case h.BinaryOp.DIV:
                below = one.binary("mul", type, first, self.scalar(fixed))
                rest = one.binary("sub", type, self.scalar(moving), below)
                return [*self._natural(moving), *self._before_step(type, rest, fixed, span)]
            case h.BinaryOp.SHIFT_RIGHT:
                last = self._last(moving)
                other = compute(one, node, self.types, lambda it: last if it is moving else self.scalar(it))
                return [*self._no_wrap(moving), one.binary("icmp eq", type, first, other)]
            case h.BinaryOp.AND:
                mask = self.scalar(fixed)
                above = one.binary("and", type, mask, one.binary("add", type, mask, "1"))
                left = one.binary("sub", type, mask, first)
                return [one.binary("icmp eq", type, above, "0"), one.binary("icmp uge", type, left, str(span))]
            case h.BinaryOp.OR | h.BinaryOp.XOR:
                bits = one.binary("or", type, self.scalar(moving), self.scalar(fixed))
                low = one.binary("and", type, bits, str((1 << span.bit_length()) - 1))
                return [one.binary("icmp eq", type, low, "0")]
            case _:
                return []

    def _before_step(self, type: str, rest: str, divisor: h.Node, span: int) -> list[str]:
        """Whether the lanes' numbers, of which the first leaves a rest, lie before the next multiple of a divisor.

        A divisor that is not positive is none of these: its `rest` need not be below it.
        """
        value = self.scalar(divisor)
        left = self.one.binary("sub", type, value, rest)
        tests = [self.one.binary("icmp ugt", type, left, str(span))]
        if self._is_signed(divisor):
            tests.append(self.one.binary("icmp sgt", type, value, "0"))
        else:
            tests.append(self.one.binary("icmp ne", type, value, "0"))
        return tests

    def _limited(self, name: str, arguments: list[h.Node]) -> list[str]:
        """Whether no lane is beyond the limits."""
        moving = next(it for it in arguments if self.shape(it) != UNIFORM)
        type, sign = llvm_type(self.types[moving]), "s" if self._is_signed(moving) else "u"
        tests = self._no_wrap(moving)
        for number, limit in enumerate(arguments):
            if limit is moving:
                continue
            if name == "min" or (name == "clamp" and number == 2):
                tests.append(self.one.binary(f"icmp {sign}le", type, self._last(moving), self.scalar(limit)))
            else:
                tests.append(self.one.binary(f"icmp {sign}ge", type, self.scalar(moving), self.scalar(limit)))
        return tests

    def _span(self, node: h.Node) -> int:
        """How much the last lane's value is above the first's."""
        return self.shape(node).stride * (self.lanes - 1)

    def _last(self, node: h.Node) -> str:
        """The last lane's value, modulo 2^bits."""
        return self.one.binary("add", llvm_type(self.types[node]), self.scalar(node), str(self._span(node)))

    def _is_signed(self, node: h.Node) -> bool:
        type = self.types[node]
        return isinstance(type, h.Integer) and type.signed

    def _most(self, node: h.Node) -> int:
        """The greatest value of the first lane with which the last lane's is still in the type."""
        type = self.types[node]
        assert isinstance(type, h.Integer)
        return (1 << (type.bits - type.signed)) - 1 - self._span(node)

    def _no_wrap(self, node: h.Node) -> list[str]:
        """Whether the lanes' values rise without wrapping round."""
        if self._span(node) == 0:
            return []
        order = "sle" if self._is_signed(node) else "ule"
        return [self.one.binary(f"icmp {order}", llvm_type(self.types[node]), self.scalar(node), str(self._most(node)))]

    def _natural(self, node: h.Node) -> list[str]:
        """Whether they rise so and are not negative."""
        if not self._is_signed(node):
            return self._no_wrap(node)
        return [self.one.binary("icmp ule", llvm_type(self.types[node]), self.scalar(node), str(self._most(node)))]
