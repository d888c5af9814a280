"""The loop over the gangs of a fork's threads.

A gang is one or more parts, each a vector of lanes, whose operations are written one after another: chains of
operations that wait for their operands overlap, and what the parts share is loaded once. Blocks are written in an order
of the levels (`analysis.body`), each under the mask of the lanes that pass it. Scalar values and branches that are the
same for all lanes stay scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir.hercules import nodes as h
from ..nodes import NodeEmitter
from .analysis.analyse import GangAnalysis
from .analysis.known import KnownValues
from .analysis.live import Knowledge
from .context import GangContext
from .control.blocks import BlockEmitter
from .control.flow import Flow
from .control.whole_forks import WholeForks, WholeVersion
from .gang import State
from .site import Repeat


class GangEmitter:
    """Writes one fork, or several perfectly nested ones."""

    def __init__(self, analysis: GangAnalysis, nodes: NodeEmitter) -> None:
        self._analysis, self._nodes = analysis, nodes
        self._states = analysis.gang.states
        self.body = analysis.body

    def emit(self, label: str, before: Callable[[], str], after: str) -> None:
        """The whole fork, from the block `label`, whose predecessor is `before`, to the jump to `after`."""
        if self._analysis.gang.is_straight:
            self.emit_once(label, after, dict(self._states[0]))
        elif self._states:
            self._emit_states(label, after)
        else:
            self._emit_loops(label, after)

    def _emit_loops(self, label: str, after: str) -> None:
        """The loop over gangs; where that is of use, one for the interior of a problem, and one for the rest."""
        out = self._nodes.memory.ops.out
        out.open(label)
        context = GangContext.of(self._analysis, self._nodes)
        whole = WholeForks(context).find(room_of(context))
        if whole is None:
            self._emit_border(context, after)
            return
        start, (inside, border) = out.current, map(out.fresh_block, ("interior", "border"))
        out.do(f"br i1 {whole.test}, label %{inside}, label %{border}, !prof !1")
        out.open_arm(inside, start)
        _Threads(GangContext.of(self._analysis, self._nodes), whole).emit_loop(after)
        out.open_arm(border, start)
        self._emit_border(context, after)

    def _emit_border(self, context: GangContext, after: str) -> None:
        """The loop over gangs that are not in the interior, as far as is known."""
        gang = context.gang
        if len(gang.forks) == 1 and gang.count % gang.threads == 0 and room_of(context) is None:
            one_thread = WholeForks(context, ("0", "0")).find(None)
            if one_thread is not None and one_thread.proved.stepless:
                self._emit_rows(list(one_thread.proved.stepless), after)
                return
        _Threads(context).emit_loop(after)

    def _emit_rows(self, stepless: Sequence[h.Node], after: str) -> None:
        """The gangs of threads that are numbered through all rows of a problem: as many at once as come before a
        remainder or quotient in `stepless` steps, if those are in the interior, or else one.
        """
        gang, out, one = self._analysis.gang, self._nodes.memory.ops.out, self._nodes.memory.ops
        before, row = out.current, out.fresh_block("row")
        inside, border, following = map(out.fresh_block, ("interior", "border", "next"))
        out.do(f"br label %{row}")
        out.open_arm(row, before)
        starts = [("0", before)]
        first = out.phi("i64", lambda: starts)
        context, other = (GangContext.of(self._analysis, self._nodes, has_short_rows=True) for _ in range(2))
        count = self._gangs_of_row(context, stepless, first)
        end = one.binary("add", "i64", first, count)
        found = WholeForks(context, (first, one.binary("sub", "i64", end, "1"))).find(None)
        ways: list[tuple[str, str]] = []
        if found is None:  # one thread alone may divide without steps by what differs from thread to thread
            out.do(f"br label %{border}")
        else:
            out.do(f"br i1 {found.test}, label %{inside}, label %{border}")
            out.open_arm(inside, row)
            ways.append((end, _Threads(context, found).emit_loop(following, first, end)))
        out.open_arm(border, row)
        _Threads(other).emit_from(first)
        ways.append((one.binary("add", "i64", first, str(gang.threads)), out.current))
        out.do(f"br label %{following}")
        out.open_merge(following, row)
        start = out.phi("i64", lambda: ways)
        starts.append((start, following))
        going = one.binary("icmp ult", "i64", start, str(gang.count))
        out.do(f"br i1 {going}, label %{row}, label %{after}")

    def _gangs_of_row(self, context: GangContext, stepless: Sequence[h.Node], first: str) -> str:
        """How many threads those gangs have, from the first thread on, that are in its row; at least those of one gang.
        The last thread of a row is left out, since it is not in the interior of most problems.
        """
        gang, one = self._analysis.gang, self._nodes.memory.ops
        left = one.binary("sub", "i64", WholeForks(context, (first, first)).threads_in_row(stepless), "1")
        whole_gangs = one.binary("sub", "i64", left, one.binary("urem", "i64", left, str(gang.threads)))
        rest = one.binary("sub", "i64", str(gang.count), first)
        at_most = one.intrinsic("llvm.umin", "i64", whole_gangs, rest)
        return one.intrinsic("llvm.umax", "i64", at_most, str(gang.threads))

    def emit_once(
        self, label: str, after: str, counters: Mapping[h.Node, int], repeats: Sequence[range] | None = None
    ) -> None:
        """The whole fork, in one iteration of the loops around it: one with these counters. Gangs whose first
        threads are in one range of `repeats` have one code.
        """
        out, gang, placed = self._nodes.memory.ops.out, self._analysis.gang, self._analysis.placed
        out.open(label)
        known = Knowledge(placed, self.body, KnownValues(placed.types, gang.forks, counters))
        for firsts in repeats or [range(it, it + 1) for it in range(0, gang.count, gang.threads)]:
            _Threads(GangContext.of(self._analysis, self._nodes, known)).emit_repeated(firsts)
        out.do(f"br label %{after}")

    def _emit_states(self, label: str, after: str) -> None:
        """A copy of the code for each state of the counters around the fork."""
        out = self._nodes.memory.ops.out
        out.open(label)
        labels = [out.fresh_block("state") for _ in self._states]
        ways = " ".join(f"i64 {_number(it)}, label %{way}" for it, way in zip(self._states, labels, strict=True))
        out.do(f"switch i64 {self._state()}, label %{labels[-1]} [ {ways} ]")
        for state, way, repeats in zip(self._states, labels, self._analysis.gang.repeats, strict=True):
            out.open_arm(way, label)
            self.emit_once(way, after, dict(state), repeats)

    def _state(self) -> str:
        """The number of the state that the counters are in."""
        one = self._nodes.memory.ops
        number = "0"
        for counter, _ in reversed(self._states[0]):
            value = one.convert("zext", "i32", self._nodes.value(counter), "i64")
            number = one.binary("or", "i64", one.binary("shl", "i64", number, "32"), value)
        return number


def _number(state: State) -> int:
    """The counters' values as 32-bit digits."""
    return sum((value & 0xFFFFFFFF) << 32 * digit for digit, (_, value) in enumerate(state))


class _Threads:
    """Writes the code of the threads of one context."""

    def __init__(self, context: GangContext, whole: WholeVersion | None = None) -> None:
        self._context, self._whole = context, whole
        self._body, self._gang, self._shapes, self._site = context.body, context.gang, context.shapes, context.site
        blocks = BlockEmitter(context)
        self._values, self._threads, self._masks = blocks.values, blocks.values.threads, blocks.masks
        self._flow = Flow(context, blocks, whole)

    def emit_loop(self, after: str, first: str = "0", end: str | None = None) -> str:
        """The gangs from the `first` thread to the `end`, or all, from the current position to the jump to `after`.
        Returns the block that jumps.
        """
        out = self._values.out
        count, threads = self._gang.count, self._gang.threads
        if count <= threads:
            self.emit_from("0")
            out.do(f"br label %{after}")
            return out.current
        before, label = out.current, out.fresh_block("gangs")
        out.do(f"br label %{label}")
        out.open_arm(label, before)
        ways = [(first, before)]
        index = out.phi("i64", lambda: ways)
        self.emit_from(index)
        following = out.value(f"add nuw i64 {index}, {threads}")
        ways.append((following, out.current))
        going = self._values.one.binary("icmp ult", "i64", following, end or str(count))
        out.do(f"br i1 {going}, label %{label}, label %{after}")
        return out.current

    def emit_repeated(self, firsts: range) -> None:
        """The gangs with these first threads, which have one code."""
        if len(firsts) == 1:
            self.emit_from(str(firsts.start))
            return
        out = self._values.out
        before, label, done = out.current, out.fresh_block("gangs"), out.fresh_block("done")
        out.do(f"br label %{label}")
        out.open_arm(label, before)
        ways = [("0", before)]
        number = out.phi("i64", lambda: ways)
        self._site.repeat = Repeat(number, firsts.step)
        self.emit_from(str(firsts.start))
        following = out.value(f"add nuw i64 {number}, 1")
        ways.append((following, out.current))
        going = self._values.one.binary("icmp ult", "i64", following, str(len(firsts)))
        out.do(f"br i1 {going}, label %{label}, label %{done}")
        out.open_merge(done, before)

    def emit_from(self, first: str) -> None:
        """One gang, whose first thread has this number."""
        count = self._gang.count
        self._site.base = first
        self._threads.define()
        key = self._shapes.keys[self._body.fork]
        if self._whole is not None:
            self._masks.set(key, [None] * self._site.count)
            self._flow.emit_level(self._body.top)
            return
        room = room_of(self._context)
        masks = [self._threads.within(self._tail(count), room) for _ in self._site.parts()]
        self._masks.set(key, masks)
        self._masks.set_full_tests(key, self._all_threads(count, room))
        self._flow.emit_level(self._body.top)

    def _tail(self, count: int) -> str | None:
        """The lanes of the part that are threads."""
        first = self._threads.first()
        if count % self._gang.lanes == 0 or (first.isdigit() and int(first) + self._gang.lanes <= count):
            return None
        vec = self._values.vec
        return vec.binary("icmp ult", "i64", self._threads.lanes(), vec.constant("i64", count))

    def _all_threads(self, count: int, room: str | None) -> tuple[str, ...] | None:
        """Tests that all lanes are threads; None if some never are."""
        if count % self._gang.threads:
            return None
        if room is None:
            return ()
        return (self._values.one.binary("icmp uge", "i64", room, str(self._gang.factors[-1])),)


def room_of(context: GangContext) -> str | None:
    """How many threads there are in each row; None if all exist."""
    limit = context.gang.limit
    if limit is None:
        return None
    one, memory = context.one, context.nodes.memory
    before = one.binary("mul", "i64", context.nodes.indices[limit.outer], str(limit.size))
    return one.binary("sub", "i64", memory.dynamic(limit.count), before)
