"""The debugger's engine: stepping forward and back, breakpoints, watches, and what is visible where a run stands.

The machine is deterministic. To go back, the engine restores an earlier state and runs forward to the event that is
wanted. Saved states are kept at growing intervals, so that there are at most `_STATES`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias, cast

from ..base.deadline import Deadline
from ..base.errors import DeviceError, InputError, TinctError
from ..ir import layout
from ..ir.core import nodes
from ..ir.core.interp import Triple
from ..ir.core.interp_frame import Memory, Steps
from ..ir.source import Position
from ..ir.types import Array, Buffer, Matrix, Pointer, Sampler, Struct, Texture, Type, Vector
from ..ir.wgsl.program import Variable
from ..print_lines import Line
from ..transforms.from_wgsl.marks import Mark, Role, statements_of
from .expressions import Evaluator, Shown, as_pointer, as_value, module_pointers, read_pointer
from .launch import Launch, Prepared
from .machine import Activation, Event, MachineLane, Saved
from .prints import PrintReader
from .texts import SHOWN_ELEMENTS, handle_text, parts_of, value_text

_STATES = 24
_FIRST_INTERVAL = 2000
"""Events between the first saved states."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Stops before a line, if `condition` is true there, from the `after`-th time on. `any_invocation`: in whichever
    invocation arrives, else only in the chosen one.
    """

    number: int
    line: int
    condition: str = ""
    after: int = 1
    any_invocation: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and where a run stopped. `reason` is entry, step, breakpoint, watch, pause, start (of the workgroup, when
    going back), ended (the invocation), exited (the workgroup), or error.
    """

    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """A call that has not returned: its function, and the line and column of the statement that runs."""

    function: str
    position: Position


@dataclass(frozen=True, slots=True)
class Named:
    """A variable or a part of one, with its value."""

    name: str
    type: str
    text: str
    value: Shown | None = None


Wanted: TypeAlias = "Callable[[MachineLane], Stop | None]"


@dataclass(slots=True)
class _Counters:
    """What saved states hold besides the machine: hits of breakpoints, and the last values of watches."""

    hits: dict[int, int] = field(default_factory=dict[int, int])
    watched: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class _State:
    time: int
    saved: Saved
    counters: _Counters


class Debugger:
    """A dispatch of which one workgroup is run under control. Raises InputError for an invocation it does not have."""

    def __init__(
        self,
        launch: Launch,
        invocation: Triple = (0, 0, 0),
        timeout: float | None = None,
        *,
        alone: bool = False,
        pause_requested: threading.Event | None = None,
    ) -> None:
        self.prepared = Prepared(launch, Steps(None, Deadline(None)))
        self.timeout = timeout
        self.alone = alone
        self.evaluator = Evaluator(self.prepared)
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[str] = []
        self.pause_requested = threading.Event() if pause_requested is None else pause_requested
        self._next_number = 1
        self.focus: int = 0
        self._marks = statements_of(self.prepared.marked.marks.values())
        self._lines = self._lines_begun()
        self._reader = PrintReader(self.prepared)
        self._lines_printed: list[Line] = []
        self._printed_until = 0
        self.stop = self._begin(invocation)

    def _begin(self, invocation: Triple) -> Stop:
        self.place, self.focus = self.prepared.place_of(invocation)
        self.prepared.reset()
        self.prepared.steps.deadline = Deadline(self.timeout)
        self.group = self.prepared.group(self.place, alone=self.alone)
        self.time = 0
        self._printed_until = 0
        self.counters = _Counters()
        self._interval = _FIRST_INTERVAL
        self._states = [self._state()]
        return self._forward(lambda lane: Stop("entry") if lane is self.lane else None)

    # Where the run stands

    @property
    def lane(self) -> MachineLane:
        """The chosen invocation."""
        return self.group.lanes[self.focus]

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.prepared.launch.program.source.name

    def invocation(self, index: int | None = None) -> Triple:
        """The global id of an invocation of the workgroup, by default of the chosen one."""
        found = self.group.lanes[self.focus if index is None else index].invocation.builtins["global_invocation_id"]
        return cast("Triple", found)

    def position(self, mark: Mark) -> Position:
        """The line and column of a mark."""
        return self.prepared.launch.program.source.position(mark.span.start)

    def frames(self, index: int | None = None) -> list[FrameInfo]:
        """The calls of an invocation, the innermost first."""
        lane = self.group.lanes[self.focus if index is None else index]
        return [self._frame(it) for it in reversed(lane.stack)]

    def _frame(self, activation: Activation) -> FrameInfo:
        info = self.prepared.marked.functions[activation.code.function]
        span = info.node.name_span if activation.mark is None else activation.mark.span
        return FrameInfo(info.name, self.prepared.launch.program.source.position(span.start))

    def state_of(self, index: int) -> str:
        """What an invocation is doing, in words."""
        lane = self.group.lanes[index]
        if lane.has_ended:
            return "has ended"
        line = self.frames(index)[0].position.line
        if lane.request is not None:
            return f"waits at line {line}"
        return "has not begun" if lane.stack[0].mark is None else f"at line {line}"

    # Values

    def evaluate(self, text: str, index: int | None = None, depth: int = 0) -> Named:
        """The value of an expression in an invocation, `depth` calls outside of its innermost. Raises InputError and
        ShaderError.
        """
        lane = self.group.lanes[self.focus if index is None else index]
        activation = lane.stack[-1 - depth] if depth < len(lane.stack) else None
        with_place = activation if activation is not None and activation.mark is not None else None
        return named(text, self.evaluator.evaluate(text, self.group, lane, with_place))

    def locals(self, index: int | None = None, depth: int = 0) -> list[Named]:
        """The variables of a function that are visible and have values, inner ones last."""
        lane = self.group.lanes[self.focus if index is None else index]
        if depth >= len(lane.stack):
            return []
        activation = lane.stack[-1 - depth]
        mark = activation.mark
        visible = () if mark is None else mark.scope
        found = {it.name: it for it in visible}
        return [made for it in found.values() if (made := self._local(it, activation)) is not None]

    def _local(self, variable: Variable, activation: Activation) -> Named | None:
        if variable.constant is not None:
            return named(variable.name, Shown(variable.constant.type, variable.constant.value))
        try:
            value = self.evaluator.local_value(variable, activation)
        except InputError:
            return None
        type = self.prepared.marked.values[variable].type
        if isinstance(type, Pointer):
            store = layout.resolve_counts(type.store, self.prepared.root.counts)
            return named(variable.name, Shown(store, None, as_pointer(value)))
        return named(variable.name, Shown(type, as_value(value)))

    def module_variables(self, index: int | None = None) -> list[Named]:
        """The bound, workgroup and private variables."""
        lane = self.group.lanes[self.focus if index is None else index]
        pointers = module_pointers(self.prepared, self.group, lane)
        known = {node.name: node for node in self.prepared.function.resources if isinstance(node, nodes.Var)}
        found: list[Named] = []
        for name, pointer in pointers.items():
            if name in known and name is not None:
                found.append(named(name, Shown(self.prepared.store_type(known[name]), None, pointer)))
        return found

    def workgroup_variables(self) -> list[Named]:
        """The workgroup variables."""
        shared = {node.name for node in self.group.memories if node not in self.prepared.compiler.buffers}
        return [it for it in self.module_variables() if it.name in shared]

    # Breakpoints

    def add_breakpoint(
        self, line: int, condition: str = "", after: int = 1, *, any_invocation: bool = False
    ) -> Breakpoint:
        """A breakpoint at a line, or at the next line that has code. Raises InputError if none follows."""
        lines = [self.position(mark).line for mark in self._marks]
        following = [it for it in lines if it >= line]
        if line < 1:
            raise InputError(f"lines are counted from 1: there is no line {line}")
        if not following:
            raise InputError(f"there is no code at line {line} or after it")
        made = Breakpoint(self._next_number, min(following), condition, after, any_invocation)
        self._next_number += 1
        self.breakpoints.append(made)
        return made

    def _lines_begun(self) -> dict[Mark, int]:
        """The lines of the marks at which breakpoints stop: the first of each line, and conditions of loops."""
        found: dict[Mark, int] = {}
        for mark in self._marks:
            line = self.position(mark).line
            if mark.role is Role.CONDITION or line not in found.values():
                found[mark] = line
        return found

    def remove_breakpoint(self, number: int) -> None:
        """Remove a breakpoint. Raises InputError."""
        if all(it.number != number for it in self.breakpoints):
            raise InputError(f"there is no breakpoint {number}")
        self.breakpoints = [it for it in self.breakpoints if it.number != number]

    def add_watch(self, text: str) -> None:
        """Stop when the value of an expression has changed in the chosen invocation."""
        self.watches.append(text)
        self.counters.watched[text] = self._watch_text(text)

    # Running

    def select(self, invocation: Triple) -> Stop:
        """Choose another invocation; in another workgroup the run begins anew there. Raises InputError."""
        place, index = self.prepared.place_of(invocation)
        if place != self.place:
            self.stop = self._begin(invocation)
        else:
            self.focus = index
            self.stop = Stop("step")
        return self.stop

    def restart(self) -> Stop:
        """Begin anew."""
        self.stop = self._begin(self.invocation())
        return self.stop

    def step(self) -> Stop:
        """Run the chosen invocation to its next statement, also in a called function."""
        return self._run(lambda lane: Stop("step") if lane is self.lane else None)

    def next(self) -> Stop:
        """Run to the next statement, over calls."""
        depth = len(self.lane.stack)
        return self._run(lambda lane: Stop("step") if lane is self.lane and len(lane.stack) <= depth else None)

    def finish(self) -> Stop:
        """Run to the statement after the call of this function."""
        depth = len(self.lane.stack)
        return self._run(lambda lane: Stop("step") if lane is self.lane and len(lane.stack) < depth else None)

    def resume(self) -> Stop:
        """Run to a breakpoint or to the end of the workgroup."""
        return self._run(lambda lane: None)

    def stop_at_entry(self) -> Stop | None:
        """The stop at a breakpoint on the statement before which the chosen invocation stands."""
        stop = None if self.lane.has_ended else self._broken(self.lane)
        self.stop = stop or self.stop
        return stop

    def step_back(self) -> Stop:
        """Go back to the statement of the chosen invocation before this one, also in a called function."""
        return self._back(lambda lane: Stop("step") if lane is self.lane else None)

    def next_back(self) -> Stop:
        """Go back to the statement before this one, over calls."""
        depth = max(1, len(self.lane.stack))
        return self._back(lambda lane: Stop("step") if lane is self.lane and len(lane.stack) <= depth else None)

    def resume_back(self) -> Stop:
        """Go back to the breakpoint or the change of a watched value before this place, or to the start."""
        return self._back(lambda lane: None)

    def _run(self, wanted: Wanted) -> Stop:
        self.stop = self._forward(lambda lane: self._broken(lane) or wanted(lane))
        return self.stop

    def _forward(self, wanted: Wanted, until: int | None = None) -> Stop:
        """Run until an invocation arrives at a wanted statement, or to the time `until`."""
        ended_before = self.lane.has_ended
        steps = self.prepared.steps
        steps.deadline, steps.pause = Deadline(self.timeout), 0
        while until is None or self.time < until:
            try:
                found = self.group.advance()
            except DeviceError:
                return Stop("pause", f"the time limit of {self.timeout:g} s has passed")
            except TinctError as error:
                return Stop("error", str(error))
            if found is None:
                return Stop("exited", "the workgroup has ended")
            lane, event = found
            if event is Event.ENDED and lane is self.lane and not ended_before and until is None:
                return Stop("ended", f"invocation {self.invocation()} has ended")
            if event is not Event.MARK:
                continue
            if _mark_of(lane).role is Role.PRINT:
                self._print(lane)
            if not _mark_of(lane).role.is_stop:
                continue
            self.time += 1
            self._keep_state()
            stop = wanted(lane)
            if stop is not None:
                return stop
            if self.pause_requested.is_set():
                self.pause_requested.clear()
                return Stop("pause")
        return self.stop

    def _print(self, lane: MachineLane) -> None:
        """Keep the line that an invocation prints, if it was not printed before. There is at most one at each time."""
        if self.time <= self._printed_until:
            return
        self._printed_until = self.time
        mark = _mark_of(lane)
        text = self._reader.text(mark, lane.stack[-1])
        at, source = self.invocation(lane.index), self.prepared.launch.program.source
        self._lines_printed.append(Line(text, at, source, self.position(mark).line))

    def take_printed(self) -> list[Line]:
        """The lines that the workgroup has printed since this was called before, as its invocations came by. What runs
        again after going back does not print again.
        """
        found, self._lines_printed = self._lines_printed, []
        return found

    def _broken(self, lane: MachineLane) -> Stop | None:
        """The stop at a breakpoint or for a watch, if there is one; a breakpoint may choose another invocation."""
        if lane is self.lane and (changed := self._changed()) is not None:
            return changed
        line = self._lines.get(_mark_of(lane)) if self.breakpoints else None
        for it in self.breakpoints:
            if it.line != line or not (it.any_invocation or lane is self.lane):
                continue
            problem = self._refuses(it, lane)
            if problem is None:
                continue
            self.counters.hits[it.number] = self.counters.hits.get(it.number, 0) + 1
            if self.counters.hits[it.number] >= it.after:
                self.focus = lane.index
                return Stop("breakpoint", problem or f"breakpoint {it.number}")
        return None

    def _refuses(self, it: Breakpoint, lane: MachineLane) -> str | None:
        """None if the condition is false; else what is wrong with it, or an empty text."""
        if not it.condition:
            return ""
        try:
            found = self.evaluate(it.condition, lane.index)
        except TinctError as error:
            return f"breakpoint {it.number}: its condition has no value: {error}"
        return "" if found.text == "true" else None

    def _changed(self) -> Stop | None:
        found = None
        for text in self.watches:
            now = self._watch_text(text)
            before = self.counters.watched.get(text, "")
            if now and now != before:
                self.counters.watched[text] = now
                found = Stop("watch", f"{text}: {before or '(no value)'} → {now}")
        return found

    def _watch_text(self, text: str) -> str:
        """The value of a watched expression, empty where it has none."""
        try:
            return self.evaluate(text).text
        except TinctError:
            return ""

    # Going back

    def _back(self, wanted: Wanted) -> Stop:
        """Go back to the last event before this one that is wanted or stops a run; else to the start."""
        now, focus = self.time, self.focus
        if self.stop.reason in ("ended", "exited", "error"):  # the last statement has run, too
            now += 1
        for state in reversed(self._before(now)):
            self._restore(state)
            self.focus = focus
            found: list[tuple[int, Stop, int]] = []
            self._forward(self._noting(wanted, found, focus), until=self._end_of(state, now))
            if found:
                time, stop, chosen = found[-1]
                self._restore(state)
                self.focus = focus
                self._forward(self._noting(wanted, [], focus), until=time)
                self.stop, self.focus = stop, chosen
                return stop
        self._restore(self._states[0])
        self.focus = focus
        self.stop = replace(
            self._forward(lambda lane: Stop("start") if lane is self.lane else None), text="this is the start"
        )
        return self.stop

    def _noting(self, wanted: Wanted, found: list[tuple[int, Stop, int]], focus: int) -> Wanted:
        """Notes the stops on the way, and never stops."""

        def note(lane: MachineLane) -> Stop | None:
            stop = self._broken(lane) or wanted(lane)
            if stop is not None:
                found.append((self.time, stop, self.focus))
            self.focus = focus
            return None

        return note

    def _before(self, time: int) -> list[_State]:
        return [state for state in self._states if state.time < time - 1 or state.time == 0]

    def _end_of(self, state: _State, now: int) -> int:
        """The time up to which a search from a saved state goes: the next state's, or just before now."""
        following = [it.time for it in self._states if it.time > state.time]
        return min([*following, now - 1])

    def _state(self) -> _State:
        counters = _Counters(dict(self.counters.hits), dict(self.counters.watched))
        return _State(self.time, self.group.save(), counters)

    def _restore(self, state: _State) -> None:
        self.group.restore(state.saved)
        self.time = state.time
        self.counters = _Counters(dict(state.counters.hits), dict(state.counters.watched))

    def _keep_state(self) -> None:
        if self.time < self._states[-1].time + self._interval:
            return
        self._states.append(self._state())
        if len(self._states) > _STATES:
            self._states = [self._states[0], *self._states[1:][1::2]]
            self._interval *= 2


def _mark_of(lane: MachineLane) -> Mark:
    mark = lane.stack[-1].mark
    assert mark is not None
    return mark


def named(name: str, shown: Shown) -> Named:
    """A value under a name, as text; of a runtime-sized array, the first elements."""
    return Named(name, str(shown.type), text_of(shown), shown)


def text_of(shown: Shown) -> str:
    """The text of a value."""
    if isinstance(shown.type, (Texture, Sampler)):
        return handle_text(shown.type, cast("Memory", shown.raw) if shown.pointer is None else shown.pointer[0])
    if isinstance(shown.type, Buffer):
        return f"a {shown.type}"
    if shown.pointer is None:
        return value_text(shown.type, shown.raw)
    if layout.runtime_array(shown.type) is None:
        return value_text(shown.type, read_pointer(shown))
    parts = list(first_parts(shown, SHOWN_ELEMENTS + 1))
    texts = [f"{it.name[1:]}={it.text}" if it.name.startswith(".") else it.text for it in parts[:SHOWN_ELEMENTS]]
    more = ["…"] if len(parts) > SHOWN_ELEMENTS else []
    return f"[{', '.join([*texts, *more])}]"


def first_parts(shown: Shown, count: int) -> Iterable[Named]:
    """The first parts of a value, with names such as `[0]` or `.pos`."""
    return islice(_parts(shown), count)


def _parts(shown: Shown) -> Iterator[Named]:
    type: Type = shown.type
    if isinstance(type, Texture):
        return
    if shown.pointer is not None:
        memory, offset = shown.pointer
        if isinstance(type, Array) and type.count is None:
            count = max(0, len(memory) - offset) // layout.stride_of(type)
            parts: Iterator[tuple[str, int]] = ((f"[{index}]", index) for index in range(count))
        else:
            parts = parts_of(type)
        for name, index in parts:
            inner, distance = layout_part(type, index)
            yield named(name, Shown(inner, None, (memory, offset + distance)))
        return
    for name, index in parts_of(type):
        assert shown.raw is not None
        assert not isinstance(shown.raw, (int, float))
        yield named(name, Shown(layout_part(type, index)[0], shown.raw[index]))


def layout_part(type: Type, index: int) -> tuple[Type, int]:
    """The type of a part, and its distance from the start of the whole in bytes."""
    match type:
        case Struct(members=members):
            return members[index].type, layout.member_offsets(type)[index]
        case Array(element=element):
            return element, index * layout.stride_of(type)
        case Matrix():
            return type.column, index * layout.stride_of(type)
        case Vector(element=element):
            return element, index * layout.size_of(element)
        case _:
            raise AssertionError(f"{type} has no parts")
