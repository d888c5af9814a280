"""The numbers of a gang's threads: in all of its forks, and in each."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ..analysis.shapes import Progression
from ..analysis.spans import Span
from ..context import GangContext
from .vectors import LaneVectors


class ThreadNumbers:
    """Writes thread numbers of the current part."""

    def __init__(self, context: GangContext, vectors: LaneVectors) -> None:
        self._gang, self._site = context.gang, context.site
        self._thread_ids = context.shapes.thread_ids
        self._indices_of_forks = context.nodes.indices
        self._vec, self._one, self._slots = context.vec, context.one, context.slots
        self._vectors = vectors

    def span(self, node: h.Node) -> Span | None:
        """The span of the gang's thread numbers in one of its forks; None for other nodes."""
        if not isinstance(node, h.ThreadID) or node.fork not in self._gang.forks:
            return None
        factor, inner, is_outermost = self._gang.steps(node.fork)
        threads, period, base = self._gang.threads, factor * inner, self.base()
        if threads >= period or (period % threads and not is_outermost):
            return Span("0", str(factor - 1), 0, factor - 1)
        last = self._one.binary("add", "i64", base, str(threads - 1))
        ends = [self._one.binary("udiv", "i64", it, str(inner)) for it in (base, last)]
        if not is_outermost:
            ends = [self._one.binary("urem", "i64", it, str(factor)) for it in ends]
        return Span(ends[0], ends[1], 0, factor - 1)

    def define(self) -> None:
        """Define the lanes' thread numbers in each fork from their number in all forks."""
        if len(self._gang.forks) == 1:
            self._indices_of_forks[self._gang.forks[0]] = self.base()
            return
        for _ in self._site.parts():
            for thread_id in self._thread_ids:
                if self._gang.has_whole_rows:
                    self._slots.define((thread_id, self._site.part), self._index_of_row(thread_id), "i64")
                else:
                    self._slots.define((thread_id, self._site.part), self._indices(thread_id), self._vec.type("i64"))

    def base(self) -> str:
        """The number of the gang's first lane."""
        base, repeat = self._site.base, self._site.repeat
        if repeat is None:
            return base
        return self._one.binary("add", "i64", base, self._one.binary("mul", "i64", repeat.number, str(repeat.distance)))

    def lanes(self) -> str:
        """The numbers of the part's lanes among the fork's threads."""
        numbers = self._vectors.lane_numbers("i64")
        first = self.first()
        return numbers if first == "0" else self._vec.binary("add", "i64", self._vectors.splat(first, "i64"), numbers)

    def first(self) -> str:
        """The number of the part's first lane."""
        base, first = self.base(), self._site.first
        if base.isdigit():
            return str(int(base) + first)
        return base if first == 0 else self._one.binary("add", "i64", base, str(first))

    def number(self, type: h.Type, progression: Progression) -> str:
        """The integer of a progression in the part's first lane."""
        assert isinstance(type, h.Integer)
        scalar, one = llvm_type(type), self._one
        first = one.convert("trunc", "i64", self.first(), scalar)
        return one.binary(
            "add", scalar, one.binary("mul", scalar, first, str(progression.stride)), str(progression.start)
        )

    def _index_of_row(self, thread_id: h.ThreadID) -> str:
        """The index of the part's first lane."""
        factor, inner, is_outermost = self._gang.steps(thread_id.fork)
        number = self.first()
        if number.isdigit():
            return str(int(number) // inner % factor)
        if inner > 1:
            number = self._one.binary("udiv", "i64", number, str(inner))
        return number if is_outermost else self._one.binary("urem", "i64", number, str(factor))

    def _indices(self, thread_id: h.ThreadID) -> str:
        factor, inner, is_outermost = self._gang.steps(thread_id.fork)
        if inner == 1:  # parts begin with whole rows
            return f"<{', '.join(f'i64 {lane % factor}' for lane in range(self._vec.lanes))}>"
        value = self._vec.binary("udiv", "i64", self.lanes(), self._vec.constant("i64", inner))
        return value if is_outermost else self._vec.binary("urem", "i64", value, self._vec.constant("i64", factor))

    def within(self, mask: str | None, room: str | None) -> str | None:
        """The lanes of a mask that are among the first `room` lanes of their row; None for all lanes."""
        if room is None:
            return mask
        inner = self._vec.binary("icmp ult", "i64", self._numbers_in_row(), self._vectors.splat(room, "i64"))
        return inner if mask is None else self._vec.binary("and", "i1", inner, mask)

    def _numbers_in_row(self) -> str:
        numbers, row = self.lanes(), self._gang.factors[-1]
        return (
            numbers
            if len(self._gang.forks) == 1
            else self._vec.binary("urem", "i64", numbers, self._vec.constant("i64", row))
        )
