"""Speculated values: they likely rise evenly from lane to lane, which is tested before code relies on it.

For `x % n`, `min(x, n)` and the like, where `x` rises by a stride and `n` is uniform, most gangs see no step: all lanes
are between two multiples of `n`, or on one side of the limit. The first lane's value then determines all.
"""

from __future__ import annotations

from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from ...data import llvm_type
from ...nodes import compute
from ..analysis.shapes import UNIFORM, Kind
from ..analysis.spans import Stepless
from ..context import GangContext
from ..memory.addresses import ValueQueries
from .divisions import divide_number
from .vectors import LaneVectors

_FEWEST = 4
"""The fewest divisions by one number for which its reciprocal is worth a division of 64 bits."""


class SpeculationEmitter:
    """Writes the first lane's values and the tests; `values` has the operands."""

    def __init__(self, context: GangContext, values: ValueQueries, vectors: LaneVectors) -> None:
        self._vectors = vectors
        self._one = context.one
        self._placed, self._site = context.placed, context.site
        self._lanes = context.gang.lanes
        self._types = context.types
        self._values = values

    def emit(self, node: h.Node, *, is_proved: bool, same: h.Node | None = None) -> tuple[str, str]:
        """The first lane's value of a speculated node, and an i1: whether the node is affine. It may be proved that it
        is, and that an operand is the `same`.
        """
        if same is not None and is_proved:
            return self._values.scalar(same), "true"
        arm = self._values.likely_arm(node) if isinstance(node, h.Select) else None
        if arm is None:
            first = self._first(node)
        else:
            first = self._values.scalar(arm)
        if is_proved:
            return first, "true"
        tests = [
            self._values.holds(it)
            for it in dict.fromkeys(predecessors(node) if arm is None else [arm])
            if self._values.shape(it).kind is Kind.SPECULATED
        ]
        tests += self._tests(node, first) if arm is None else [self._all_take(node, arm)]
        result, *others = tests
        for other in others:
            result = self._one.binary("and", "i1", result, other)
        return first, result

    def _first(self, node: h.Node) -> str:
        """The first lane's value."""
        if isinstance(node, h.Binary) and self._divides_often(node):
            return divide_number(self._one, node.op, self._values.scalar(node.lhs), self._values.scalar(node.rhs))
        return compute(self._one, node, self._types, self._values.scalar)

    def _divides_often(self, node: h.Binary) -> bool:
        """Whether a u32 is divided by a number that is the same in several parts of a gang, or iterations of a loop."""
        if node.op not in (h.BinaryOp.DIV, h.BinaryOp.REM) or self._types[node] != h.Integer(32, signed=False):
            return False
        divisor, loops = node.rhs, self._placed.loops.around[self._site.here]
        if isinstance(divisor, h.ConstantNode) or self._values.shape(divisor) != UNIFORM:
            return False
        is_from_outside = bool(loops) and self._placed.place.get(divisor) not in loops[-1].body
        return is_from_outside or self._site.count >= _FEWEST

    def without_steps(self, node: h.Node, found: Stepless) -> str:
        """The first lane's value of a remainder or quotient where no lane crosses a step."""
        type = llvm_type(self._types[node])
        operand = "0" if found.operand is None else self._values.scalar(found.operand)
        return self._one.binary("sub", type, operand, self.offset_of(found, type))

    def offset_of(self, found: Stepless, type: str) -> str:
        """The offset, of this LLVM type."""
        return found.offset if type == "i64" else self._one.convert("trunc", "i64", found.offset, type)

    def _all_take(self, node: h.Node, arm: h.Node) -> str:
        """An i1: whether all lanes take an arm of a select."""
        assert isinstance(node, h.Select)
        condition, is_true = node.condition, arm is node.if_true
        if self._values.shape(condition) == UNIFORM:
            taken = self._values.scalar(condition)
            return taken if is_true else self._one.binary("xor", "i1", taken, "true")
        taken = self._values.vector(condition)
        return self._vectors.is_full(taken) if is_true else self._vectors.is_empty(taken)

    def _tests(self, node: h.Node, first: str) -> list[str]:
        """The tests of the node itself; its operands have their own."""
        match node:
            case h.Cast(type=h.Integer(bits=64), operand=operand):
                return self._no_wrap(operand)
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                moving, fixed = (rhs, lhs) if self._values.shape(lhs) == UNIFORM else (lhs, rhs)
                return self._binary(node, op, moving, fixed, first)
            case h.Intrinsic(function=name, arguments=arguments):
                return self._limited(name, arguments)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return []
            case _:
                assert_never(node)

    def _binary(self, node: h.Node, op: h.BinaryOp, moving: h.Node, fixed: h.Node, first: str) -> list[str]:
        one, type, span = self._one, llvm_type(self._types[moving]), self._span(moving)
        match op:
            case h.BinaryOp.REM:
                return [*self._natural(moving), *self._before_step(type, first, fixed, span)]
            case h.BinaryOp.DIV:
                below = one.binary("mul", type, first, self._values.scalar(fixed))
                rest = one.binary("sub", type, self._values.scalar(moving), below)
                return [*self._natural(moving), *self._before_step(type, rest, fixed, span)]
            case h.BinaryOp.SHIFT_RIGHT:
                last = self._last(moving)
                other = compute(one, node, self._types, lambda it: last if it is moving else self._values.scalar(it))
                return [*self._no_wrap(moving), one.binary("icmp eq", type, first, other)]
            case h.BinaryOp.AND:
                mask = self._values.scalar(fixed)
                above = one.binary("and", type, mask, one.binary("add", type, mask, "1"))
                left = one.binary("sub", type, mask, first)
                return [one.binary("icmp eq", type, above, "0"), one.binary("icmp uge", type, left, str(span))]
            case h.BinaryOp.OR | h.BinaryOp.XOR:
                bits = one.binary("or", type, self._values.scalar(moving), self._values.scalar(fixed))
                low = one.binary("and", type, bits, str((1 << span.bit_length()) - 1))
                return [one.binary("icmp eq", type, low, "0")]
            case _:
                return []

    def _before_step(self, type: str, rest: str, divisor: h.Node, span: int) -> list[str]:
        """Tests that all lanes are below the next multiple of a divisor; `rest` is the first lane's remainder.

        They fail for a divisor that is not positive: the remainder need not be below it.
        """
        value = self._values.scalar(divisor)
        left = self._one.binary("sub", type, value, rest)
        tests = [self._one.binary("icmp ugt", type, left, str(span))]
        if self._is_signed(divisor):
            tests.append(self._one.binary("icmp sgt", type, value, "0"))
        else:
            tests.append(self._one.binary("icmp ne", type, value, "0"))
        return tests

    def _limited(self, name: str, arguments: list[h.Node]) -> list[str]:
        """Tests that no lane is beyond the limits of min, max or clamp."""
        moving = next(it for it in arguments if self._values.shape(it) != UNIFORM)
        type, sign = llvm_type(self._types[moving]), "s" if self._is_signed(moving) else "u"
        tests = self._no_wrap(moving)
        for number, limit in enumerate(arguments):
            if limit is moving:
                continue
            if name == "min" or (name == "clamp" and number == 2):
                tests.append(self._one.binary(f"icmp {sign}le", type, self._last(moving), self._values.scalar(limit)))
            else:
                tests.append(
                    self._one.binary(f"icmp {sign}ge", type, self._values.scalar(moving), self._values.scalar(limit))
                )
        return tests

    def _span(self, node: h.Node) -> int:
        """The difference between the last lane's value and the first's."""
        return self._values.shape(node).stride * (self._lanes - 1)

    def _last(self, node: h.Node) -> str:
        """The last lane's value, modulo 2^bits."""
        return self._one.binary("add", llvm_type(self._types[node]), self._values.scalar(node), str(self._span(node)))

    def _is_signed(self, node: h.Node) -> bool:
        type = self._types[node]
        return isinstance(type, h.Integer) and type.signed

    def _most(self, node: h.Node) -> int:
        """The greatest value of the first lane for which the last lane's value does not overflow."""
        type = self._types[node]
        assert isinstance(type, h.Integer)
        return (1 << (type.bits - type.signed)) - 1 - self._span(node)

    def _no_wrap(self, node: h.Node) -> list[str]:
        """Tests that the lanes' values do not wrap."""
        if self._span(node) == 0:
            return []
        order = "sle" if self._is_signed(node) else "ule"
        return [
            self._one.binary(
                f"icmp {order}", llvm_type(self._types[node]), self._values.scalar(node), str(self._most(node))
            )
        ]

    def _natural(self, node: h.Node) -> list[str]:
        """Tests that the lanes' values do not wrap and are not negative."""
        if not self._is_signed(node):
            return self._no_wrap(node)
        return [
            self._one.binary("icmp ule", llvm_type(self._types[node]), self._values.scalar(node), str(self._most(node)))
        ]
