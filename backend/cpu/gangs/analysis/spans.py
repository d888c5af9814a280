"""Bounds of the values of all lanes of a gang, computed at run time: one test covers all lanes.

Bounds follow from those of the operands by interval arithmetic in i64. Where a result might exceed its type, a test
says that it does not: the arithmetic did not wrap in any lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from ...data import llvm_type
from ...llvm import Ops
from .bounds import constant_value, greatest
from .strongest import ImpliedTests

_UNSIGNED = 0, (1 << 32) - 1
_SIGNED = -(1 << 31), (1 << 31) - 1
_BITS = 32
_DEPTH = 24

NEGATED = {
    h.BinaryOp.LESS: h.BinaryOp.GREATER_EQUAL,
    h.BinaryOp.LESS_EQUAL: h.BinaryOp.GREATER,
    h.BinaryOp.GREATER: h.BinaryOp.LESS_EQUAL,
    h.BinaryOp.GREATER_EQUAL: h.BinaryOp.LESS,
}
_LIMITED = ("min", "max", "clamp")
NEVER = "false"
"""The test that is known to fail: no version of code is written for it."""


@dataclass(frozen=True, slots=True)
class Span:
    """All lanes' values are between `least` and `most`, both i64, if all tests hold. `low` and `high` are bounds of
    these known at compile time.
    """

    least: str
    most: str
    low: int
    high: int
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stepless:
    """A remainder or a quotient where no lane crosses a multiple of the divisor: `operand` less `offset`, an i64; the
    opposite of the offset if there is no operand.
    """

    operand: h.Node | None
    offset: str


class Spans:
    """Writes the bounds and tests of spans at the current position. Methods return None where no span is known."""

    def __init__(
        self,
        one: Ops,
        types: Mapping[h.Node, h.Type],
        counter: Callable[[h.Node], Span | None],
        uniform: Callable[[h.Node], str | None],
        least_divisor: int | None = None,
        known: Callable[[h.Node], Span | None] = lambda _: None,
    ) -> None:
        """`counter` gives the span of a thread number that differs between lanes, or of a Phi, `uniform` the value of a
        node that is the same for all lanes and available here. With a `least_divisor`, spans of remainders and
        quotients by as much have tests that no lane crosses a multiple of the divisor. `known` gives the span of a
        value that is known in each lane.
        """
        self._of_known = known
        self._least_divisor = least_divisor
        self.stepless: dict[h.Node, Stepless] = {}
        """The remainders and quotients that have such tests."""
        self._one = one
        self._types = types
        self._counter = counter
        self._uniform = uniform
        self._known: dict[h.Node, Span | None] = {}
        self._followed: set[h.Node] = set()
        self._implied = ImpliedTests()

    def of(self, node: h.Node, depth: int = _DEPTH) -> Span | None:
        """The span of an integer."""
        if node not in self._known:
            type = self._types.get(node)
            is_known = isinstance(type, h.Integer) and type.bits in (32, 64) and depth > 0
            found = self._find(node, depth - 1) if is_known else None
            self._known[node] = None if found is None else self._within(found, type)
        return self._known[node]

    def before_step(self, node: h.Binary) -> str | None:
        """By how much the operand of a remainder or quotient may grow, from the most that it is, until it comes to a
        multiple of the divisor; an i64.
        """
        left, right = self.of(node.lhs), self.of(node.rhs)
        if left is None or right is None:
            return None
        _, right = _as_division(node.op, right)
        divisor = self._extreme("smax", right.least, "1")
        return self._i64("sub", divisor, self._i64("urem", left.most, divisor))

    def followed(self, node: h.Node) -> Iterator[h.Node]:
        """The operations that compute a value and that do not wrap if the tests of its span hold."""
        match node:
            case h.Cast(operand=operand):
                yield from self.followed(operand)
            case h.Binary(lhs=lhs, rhs=rhs) if node in self._followed:
                yield node
                yield from self.followed(lhs)
                yield from self.followed(rhs)
            case _:
                pass

    def tested(self, node: h.Node) -> set[h.Node]:
        """A value with a span, and all that it is computed from: what the tests of its span are about."""
        found, pending = set[h.Node](), [node]
        while pending:
            node = pending.pop()
            if node in found:
                continue
            found.add(node)
            is_known = constant_value(node) is not None or self._uniform(node) is not None
            if not is_known and isinstance(node, (h.Cast, h.Bitcast, h.Binary, h.Intrinsic)):
                pending += predecessors(node)
            elif not is_known and isinstance(node, h.Select):
                pending += node.if_true, node.if_false
        return found

    def _within(self, span: Span, type: h.Type | None) -> Span:
        """Adds tests that all values are in the range of the type; 64-bit integers hold 32-bit values."""
        assert isinstance(type, h.Integer)
        low, high = _SIGNED if type.signed else _UNSIGNED
        tests: list[str] = []
        if span.low < low:
            tests.append(self._compare("sge", span.least, str(low)))
        if span.high > high:
            tests.append(self._compare("ule" if span.low >= 0 else "sle", span.most, str(high)))
        return replace(span, low=max(low, span.low), high=min(high, span.high), tests=(*span.tests, *tests))

    def _find(self, node: h.Node, depth: int) -> Span | None:
        value = constant_value(node)
        if value is not None:
            return _constant(value)
        known = self._of_known(node)
        if known is not None:
            return known
        uniform = self._uniform(node)
        if uniform is not None:
            return self._one_value(node, uniform)
        match node:
            case h.ThreadID() | h.Phi():
                return self._counter(node)
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self.of(operand, depth)
            case h.Select(if_true=if_true, if_false=if_false):
                return self._either(self.of(if_true, depth), self.of(if_false, depth))
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                self._followed.add(node)
                left, right = self.of(lhs, depth), self.of(rhs, depth)
                if left is None or right is None:
                    return None
                return self._without_steps(node, op, left, right) or self._binary(op, left, right)
            case h.Intrinsic(function=name, arguments=arguments) if name in _LIMITED:
                return self._limited(name, [self.of(it, depth) for it in arguments])
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)

    def _one_value(self, node: h.Node, text: str) -> Span:
        type = self._types[node]
        assert isinstance(type, h.Integer)
        wide = self._one.convert("sext" if type.signed else "zext", llvm_type(type), text, "i64")
        low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if type.signed else (0, (1 << type.bits) - 1)
        bound = greatest(node, self._types)
        return Span(wide, wide, low, high if bound is None else min(high, bound))

    def _either(self, left: Span | None, right: Span | None) -> Span | None:
        if left is None or right is None:
            return None
        return self._made(
            (left, right),
            self._extreme("smin", left.least, right.least),
            self._extreme("smax", left.most, right.most),
            min(left.low, right.low),
            max(left.high, right.high),
        )

    def _without_steps(self, node: h.Binary, op: h.BinaryOp, left: Span, right: Span) -> Span | None:
        """The span of a remainder or quotient by one divisor if all lanes are between two multiples of it."""
        op, right = _as_division(op, right)
        is_division = op in (h.BinaryOp.REM, h.BinaryOp.DIV) and right.least == right.most
        if self._least_divisor is None or not is_division or 0 <= right.high < self._least_divisor:
            return None
        if right.low == right.high and right.low <= 0:
            return None
        left, divisor = self._natural(left), self._extreme("smax", right.least, "1")
        rest, quotient = (self._i64(it, left.least, divisor) for it in ("urem", "udiv"))
        last = self._i64("add", rest, self._i64("sub", left.most, left.least))
        tests = (*left.tests, *right.tests, self._compare("slt", last, right.least))
        if op is h.BinaryOp.REM:
            self.stepless[node] = Stepless(node.lhs, self._i64("sub", left.least, rest))
            return Span(rest, last, 0, min(left.high, max(right.high - 1, 0)), tests)
        self.stepless[node] = Stepless(None, self._i64("sub", "0", quotient))
        return Span(quotient, quotient, 0, left.high, tests)

    def _binary(self, op: h.BinaryOp, left: Span, right: Span) -> Span | None:
        given = left, right
        match op:
            case h.BinaryOp.ADD:
                least, most = (self._i64("add", *it) for it in ((left.least, right.least), (left.most, right.most)))
                return self._made(given, least, most, left.low + right.low, left.high + right.high)
            case h.BinaryOp.SUB:
                least, most = (self._i64("sub", *it) for it in ((left.least, right.most), (left.most, right.least)))
                return self._made(given, least, most, left.low - right.high, left.high - right.low)
            case h.BinaryOp.MUL:
                given = left, right = self._natural(left), self._natural(right)
                least, most = (self._i64("mul", *it) for it in ((left.least, right.least), (left.most, right.most)))
                return self._made(given, least, most, left.low * right.low, left.high * right.high)
            case h.BinaryOp.SHIFT_LEFT if left.low >= 0 and 0 <= right.low == right.high < 32:
                least, most = (self._i64("shl", it, str(right.low)) for it in (left.least, left.most))
                return self._made(given, least, most, left.low << right.low, left.high << right.low)
            case h.BinaryOp.SHIFT_RIGHT if left.low >= 0 and 0 <= right.low == right.high < 32:
                least, most = (self._i64("lshr", it, str(right.low)) for it in (left.least, left.most))
                return self._made(given, least, most, left.low >> right.low, left.high >> right.low)
            case h.BinaryOp.DIV if left.low >= 0 and right.low == right.high > 0:
                least, most = (self._i64("udiv", it, str(right.low)) for it in (left.least, left.most))
                return self._made(given, least, most, left.low // right.low, left.high // right.low)
            case h.BinaryOp.AND if left.low >= 0 and right.low >= 0:
                return self._made(
                    given, "0", self._extreme("umin", left.most, right.most), 0, min(left.high, right.high)
                )
            case h.BinaryOp.REM if left.low >= 0 and right.low >= 0:
                rest = self._i64("sub", self._extreme("umax", right.most, "1"), "1")
                most = self._extreme("umin", left.most, rest)
                return self._made(given, "0", most, 0, min(left.high, max(right.high - 1, 0)))
            case _:
                return None

    def _limited(self, name: str, spans: list[Span | None]) -> Span | None:
        """The span of min, max and clamp."""
        result, *others = spans
        names = [name] if name != "clamp" else ["max", "min"]
        for which, other in zip(names, others, strict=True):
            if result is None or other is None:
                return None
            choose = min if which == "min" else max
            least, most = (
                self._extreme(f"s{which}", *it) for it in ((result.least, other.least), (result.most, other.most))
            )
            bounds = choose(result.low, other.low), choose(result.high, other.high)
            result = self._made((result, other), least, most, *bounds)
        return result

    def _natural(self, span: Span) -> Span:
        """A span, with a test that no value is negative."""
        if span.low >= 0:
            return span
        return replace(span, low=0, high=max(span.high, 0), tests=(*span.tests, self._compare("sge", span.least, "0")))

    @staticmethod
    def _made(given: tuple[Span, Span], least: str, most: str, low: int, high: int) -> Span:
        return Span(least, most, low, high, tuple(dict.fromkeys([*given[0].tests, *given[1].tests])))

    def _i64(self, instruction: str, left: str, right: str) -> str:
        result = self._one.binary(instruction, "i64", left, right)
        self._implied.made(instruction, left, right, result)
        return result

    def _compare(self, order: str, left: str, right: str) -> str:
        test = self._one.binary(f"icmp {order}", "i64", left, right)
        self._implied.compared(order, left, right, test)
        return test

    def strongest(self, tests: Iterable[str]) -> list[str]:
        """Some of the tests, which imply the others."""
        return self._implied.strongest(tests)

    def _extreme(self, name: str, left: str, right: str) -> str:
        return self._one.intrinsic(f"llvm.{name}", "i64", left, right)

    # Tests for all lanes

    def all(self, condition: h.Node, *, truth: bool) -> tuple[str, ...] | None:
        """Tests that imply that a condition has one value for all lanes. They are sufficient, not necessary."""
        uniform = self._uniform(condition)
        if uniform is not None:
            return (uniform if truth else self._one.binary("xor", "i1", uniform, "true"),)
        match condition:
            case h.Unary(op=h.UnaryOp.NOT, operand=operand):
                return self.all(operand, truth=not truth)
            case h.Binary(op=h.BinaryOp.AND | h.BinaryOp.OR as op, lhs=lhs, rhs=rhs) if truth == (op is h.BinaryOp.AND):
                left, right = self.all(lhs, truth=truth), self.all(rhs, truth=truth)
                return None if left is None or right is None else (*left, *right)
            case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in NEGATED:
                return self._ordered(op if truth else NEGATED[op], self.of(lhs), self.of(rhs))
            case h.Binary(op=h.BinaryOp.EQUAL | h.BinaryOp.NOT_EQUAL as op, lhs=lhs, rhs=rhs):
                is_equal = truth == (op is h.BinaryOp.EQUAL)
                return None if is_equal else self._apart(self.of(lhs), self.of(rhs))
            case _:
                return None

    def _ordered(self, op: h.BinaryOp, left: Span | None, right: Span | None) -> tuple[str, ...] | None:
        if left is None or right is None:
            return None
        match op:
            case h.BinaryOp.LESS:
                test = self._compare("slt", left.most, right.least)
            case h.BinaryOp.LESS_EQUAL:
                test = self._compare("sle", left.most, right.least)
            case h.BinaryOp.GREATER:
                test = self._compare("sgt", left.least, right.most)
            case _:
                test = self._compare("sge", left.least, right.most)
        return (*left.tests, *right.tests, test)

    def _apart(self, left: Span | None, right: Span | None) -> tuple[str, ...] | None:
        """Tests that imply that no lane has equal values."""
        if left is None or right is None:
            return None
        below, above = self._compare("slt", left.most, right.least), self._compare("sgt", left.least, right.most)
        return (*left.tests, *right.tests, self._one.binary("or", "i1", below, above))

    def in_range(self, position: h.Node, extent: str) -> tuple[str, ...] | None:
        """Tests that imply that all lanes' positions are below an i64."""
        span = self.of(position)
        return None if span is None or span.low < 0 else (*span.tests, self._compare("ult", span.most, extent))

    def unlimited(self, node: h.Intrinsic) -> tuple[str, ...] | None:
        """Tests that imply that min, max or clamp change no lane's value."""
        moving = [it for it in node.arguments if self._uniform(it) is None and constant_value(it) is None]
        if len(moving) != 1:
            return None
        span, tests = self.of(moving[0]), list[str]()
        for number, limit in enumerate(node.arguments):
            other = None if limit is moving[0] else self.of(limit)
            if limit is moving[0]:
                continue
            if span is None or other is None:
                return None
            if node.function == "min" or (node.function == "clamp" and number == 2):
                tests += [*other.tests, self._compare("sle", span.most, other.least)]
            else:
                tests += [*other.tests, self._compare("sge", span.least, other.most)]
        return None if span is None else (*span.tests, *tests)


def all_of(one: Ops, tests: Iterable[str]) -> str:
    """An i1: whether all tests hold; NEVER if one is known to fail."""
    result = "true"
    for test in dict.fromkeys(tests):
        result = test if result == "true" else one.binary("and", "i1", result, test)
    return result


def _as_division(op: h.BinaryOp, right: Span) -> tuple[h.BinaryOp, Span]:
    """A shift or a mask by constants as a division by a power of two."""
    if right.low != right.high:
        return op, right
    if op is h.BinaryOp.SHIFT_RIGHT and 0 <= right.low < _BITS:
        return h.BinaryOp.DIV, _constant(1 << right.low)
    if op is h.BinaryOp.AND and right.low > 0 and right.low & (right.low + 1) == 0:
        return h.BinaryOp.REM, _constant(right.low + 1)
    return op, right


def _constant(value: int) -> Span:
    return Span(str(value), str(value), value, value)
