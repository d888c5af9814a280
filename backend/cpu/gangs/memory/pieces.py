"""Loads of lanes whose elements lie in a few pieces, each a row of consecutive elements, as where a tile is filled.

Where threads' numbers are known, a position is a sum of numbers that all lanes share, such as the corner of a tile and
the length of a row of a picture, each times a known number of each lane. Lanes whose numbers agree but for one that
counts are a piece, which is loaded as a vector under a constant mask. So no lane's address is computed, and nothing is
gathered. Clamps are passed over: one test for all lanes of a gang says that they change nothing, that nothing wraps
round, and that all positions are in range. It fails at the border of a problem, where elements are gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from .....ir.hercules import nodes as h
from ...layout import ScalarLayout
from ..analysis.bounds import constant_value
from ..analysis.selects import likely_truth
from ..analysis.shapes import UNIFORM
from ..analysis.spans import Span, Spans, all_of
from ..context import GangContext
from ..values.vectors import LaneVectors, mask_text
from .addresses import LaneAddress, ValueQueries
from .vector_memory import VectorMemory, memory_type

_WORD = 4
_ONE = "1"

_Sum = Mapping[str, Sequence[int]]
"""Numbers that all lanes share, i64, each with what it is multiplied by in each lane."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lanes whose elements are consecutive, with the index of the first one's, an i64."""

    lanes: range
    index: str


class Pieces:
    """Loads in pieces, in the current part."""

    def __init__(
        self, context: GangContext, vectors: LaneVectors, vector_memory: VectorMemory, values: ValueQueries
    ) -> None:
        self._context, self._site = context, context.site
        self._vectors, self._vector_memory, self._values = vectors, vector_memory, values
        self._one, self._out = vectors.one, vectors.out

    def load(self, read: h.Read, address: LaneAddress, mask: str | None, gather: Callable[[], str]) -> str | None:
        """The lanes' words, as a vector of memory's type: in pieces, or by `gather` where a test fails. None if there
        are no pieces, or too many.
        """
        if not self._may_apply(read, address):
            return None
        (varying,) = address.varying
        interior, extent = _Interior(self._context, self._values), self._context.nodes.memory.dynamic(varying.extent)
        sum = interior.sum(varying.position)
        tests = None if sum is None else interior.tests(varying.position, extent)
        if sum is None or tests is None:
            return None
        pieces = self._pieces(sum)
        costs = self._out.module.costs
        if len(pieces) * costs.masked_store >= costs.gather:
            return None
        return self._vectors.either(
            all_of(self._one, tests),
            [memory_type(address.leaf)],
            lambda: [self._loaded(pieces, address.pointer, address.leaf, mask)],
            lambda: [gather()],
        )[0]

    def _may_apply(self, read: h.Read, address: LaneAddress) -> bool:
        is_word = len(address.varying) == 1 and address.varying[0].stride == address.leaf.size == _WORD
        is_known = self._site.known is not None and self._site.repeat is None
        return is_word and is_known and isinstance(read.collection, h.Parameter) and not self._values.is_brief()

    def _pieces(self, sum: _Sum) -> list[_Piece]:
        """The pieces of the lanes that may access; lanes between them are part of one of them."""
        found: list[range] = []
        for lane in self._live():
            last = found[-1] if found else None
            if last is not None and self._are_consecutive(sum, last.start, lane):
                found[-1] = range(last.start, lane + 1)
            else:
                found.append(range(lane, lane + 1))
        return [_Piece(it, self._index(sum, it.start)) for it in found]

    def _live(self) -> list[int]:
        live = self._values.live()
        return [it for it in range(self._vectors.lanes) if live is None or live[it] is not False]

    @staticmethod
    def _are_consecutive(sum: _Sum, first: int, lane: int) -> bool:
        """Whether the element of a lane is as far from that of another one as the lanes are from each other."""
        steps = {number: factors[lane] - factors[first] for number, factors in sum.items()}
        return steps.pop(_ONE, 0) == lane - first and not any(steps.values())

    def _index(self, sum: _Sum, lane: int) -> str:
        total = "0"
        for number, factors in sum.items():
            factor = str(factors[lane])
            term = factor if number == _ONE else self._one.binary("mul", "i64", number, factor)
            total = self._one.binary("add", "i64", total, term)
        return total

    def _loaded(self, pieces: Sequence[_Piece], pointer: str, leaf: ScalarLayout, mask: str | None) -> str:
        data = "zeroinitializer"
        for piece in pieces:
            index = self._one.binary("sub", "i64", piece.index, str(piece.lanes.start))
            at = self._out.pure(f"getelementptr [{_WORD} x i8], ptr {pointer}, i64 {index}")
            own = mask_text(it in piece.lanes for it in range(self._vectors.lanes))
            taken = own if mask is None else self._vectors.vec.binary("and", "i1", own, mask)
            data = self._vector_memory.load(at, leaf, taken, otherwise=data)
        return data


class _Interior:
    """Sums of positions, and the tests that they are what positions are."""

    def __init__(self, context: GangContext, values: ValueQueries) -> None:
        self._site, self._types, self._values = context.site, context.types, values
        self._one = context.one
        self._tests: dict[str, None] = {}
        self._spans = Spans(context.one, context.types, lambda _: None, values.shared_scalar, known=self._known)

    def tests(self, position: h.Node, extent: str) -> list[str] | None:
        """Those of a position with a sum; None if there are none."""
        in_range = self._spans.in_range(position, extent)
        return None if in_range is None else self._spans.strongest(dict.fromkeys((*self._tests, *in_range)))

    def sum(self, node: h.Node) -> _Sum | None:
        """The value of an integer as a sum, if the tests hold."""
        known = self._values.known(node)
        if known is not None:
            return {_ONE: known}
        shared = self._values.shared_scalar(node)
        if shared is not None:
            return {self._wide(node, shared): [1] * self._site.lanes}
        match node:
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self.sum(operand) if self._is_counted(node) and self._is_counted(operand) else None
            case h.Binary(op=op, lhs=lhs, rhs=rhs) if self._is_counted(node):
                left, right = self.sum(lhs), self.sum(rhs)
                return None if left is None or right is None else self._combined(op, left, right, constant_value(rhs))
            case h.Intrinsic(arguments=arguments):
                moving = [it for it in arguments if self._values.shape(it) != UNIFORM]
                unlimited = self._spans.unlimited(node) if node.function in _LIMITS and len(moving) == 1 else None
                return self._with(unlimited, moving[0]) if moving else None
            case h.Select(condition=condition, if_true=if_true, if_false=if_false):
                truth = likely_truth(node, lambda it: self._values.shape(it) == UNIFORM)
                tests = None if truth is None else self._spans.all(condition, truth=truth)
                return self._with(tests, if_true if truth else if_false)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)

    def _with(self, tests: Sequence[str] | None, node: h.Node) -> _Sum | None:
        """The sum of another node, if tests hold."""
        self._tests |= dict.fromkeys(tests or ())
        return None if tests is None else self.sum(node)

    def _is_counted(self, node: h.Node) -> bool:
        """Whether a node is an integer whose tests say that it did not wrap round."""
        span = self._spans.of(node)
        self._tests |= dict.fromkeys(() if span is None else span.tests)
        return span is not None

    def _combined(self, op: h.BinaryOp, left: _Sum, right: _Sum, constant: int | None) -> _Sum | None:
        match op:
            case h.BinaryOp.ADD:
                return _added(left, right, 1)
            case h.BinaryOp.SUB:
                return _added(left, right, -1)
            case h.BinaryOp.MUL:
                return self._product(left, right) or self._product(right, left)
            case h.BinaryOp.SHIFT_LEFT if constant is not None and 0 <= constant < 32:
                return self._product(left, {_ONE: [1 << constant] * self._site.lanes})
            case _:
                return None

    def _product(self, left: _Sum, right: _Sum) -> _Sum | None:
        """The product with a number that all lanes share."""
        if len(right) != 1:
            return None
        ((number, factors),) = right.items()
        if len(set(factors)) != 1:
            return None
        result: _Sum = {}
        for other, own in left.items():
            term = {self._times(other, number): [it * factors[0] for it in own]}
            result = _added(result, term, 1)
        return result

    def _times(self, left: str, right: str) -> str:
        if _ONE in (left, right):
            return right if left == _ONE else left
        return self._one.binary("mul", "i64", left, right)

    # What spans are made of

    def _wide(self, node: h.Node, scalar: str) -> str:
        type = self._types[node]
        assert isinstance(type, h.Integer)
        return scalar if type.bits == 64 else self._one.convert("sext" if type.signed else "zext", "i32", scalar, "i64")

    def _known(self, node: h.Node) -> Span | None:
        """The span of all threads of the gang that may pass the block."""
        found, live = self._site.known_threads(node), self._site.live_threads()
        if found is None or live is None or isinstance(found[0], bool):
            return None
        numbers = [int(it) for it, passes in zip(found, live, strict=True) if passes is not False]
        low, high = min(numbers, default=0), max(numbers, default=0)
        return Span(str(low), str(high), low, high)


_LIMITS = ("min", "max", "clamp")


def _added(left: _Sum, right: _Sum, sign: int) -> _Sum:
    result = {number: list(factors) for number, factors in left.items()}
    for number, factors in right.items():
        before = result.get(number, [0] * len(factors))
        result[number] = [it + sign * other for it, other in zip(before, factors, strict=True)]
    return result
