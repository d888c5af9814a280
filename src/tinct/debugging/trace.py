"""What one invocation computed, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..base.deadline import Deadline
from ..base.errors import InputError
from ..ir.core.interp import Triple
from ..ir.core.interp_frame import Steps
from ..ir.source import Source, Span
from ..ir.types import Pointer
from ..ir.wgsl import ast
from ..transforms.from_wgsl.marks import Mark, Role
from .launch import Launch, Prepared
from .machine import Event, Group, MachineLane
from .owners import Place
from .recorder import CallRecord, Entry, Folding, LoopRecord, Note, NoteKind, Recorder, Step, Turn
from .texts import value_text


@dataclass(frozen=True, slots=True)
class TraceValue:
    """A value in a row. `kind` is value, read, write, atomic, return, barrier or print; `name` is what has the value,
    empty for a condition; `text` is the value as WGSL writes it, or what was printed, and `before` the value of an
    atomic variable before the access.
    """

    kind: str
    name: str
    text: str
    before: str = ""

    def __str__(self) -> str:
        match self.kind:
            case "barrier":
                return f"all invocations passed {self.name}"
            case "print":
                return f"prints: {self.text}"
            case "read":
                return f"{self.name} is {self.text}"
            case "atomic":
                return f"{self.name}: {self.before} → {self.text}" if self.text else f"{self.name} is {self.before}"
            case "return":
                return f"→ {self.text}"
            case _:
                return f"{self.name} = {self.text}" if self.name else self.text


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A row of a trace. `kind` is line (a statement ran), call, return, turn (of a loop), or more (turns that are not
    shown). `depth` counts the calls and loops around it; `line` is 0 where there is none.
    """

    kind: str
    depth: int
    line: int
    text: str
    values: tuple[TraceValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What one invocation did. `instructions` is the number of instructions that it took, those of shown and folded
    turns together.
    """

    source: Source
    invocation: Triple
    workgroup: Triple
    instructions: int
    root: CallRecord
    folding: Folding

    @property
    def rows(self) -> list[TraceRow]:
        """All rows, in the order in which the statements ran."""
        return list(_Rows(self.source, self.folding).call(self.root, 0))

    def __str__(self) -> str:
        """The trace for a terminal: line, statement, values."""
        rows = self.rows
        number = len(str(max((row.line for row in rows), default=1)))
        head = f"invocation {self.invocation} of workgroup {self.workgroup}: {self.root.function.name}"
        width = min(max((_width(row) for row in rows), default=0), _WIDEST)
        return "\n".join([head, *(_row_text(row, number, width) for row in rows)])

    def __repr__(self) -> str:
        return f"<Trace of invocation {self.invocation}: {self.instructions} instructions>"


_WIDEST = 60
"""Maximum width of the column of statements, in characters; longer statements are cut off."""


def _width(row: TraceRow) -> int:
    return 2 * row.depth + len(row.text) if row.kind in ("line", "return") else 0


def _row_text(row: TraceRow, number: int, width: int) -> str:
    line = str(row.line) if row.line else ""
    text = "  " * row.depth + row.text
    values = "" if row.kind == "call" else ", ".join(map(str, row.values))
    if row.kind == "line" and len(text) > width:
        text = text[: width - 1] + "…"
    return f"{line:>{number}} | {text:<{width}}   {values}".rstrip()


def statement_text(source: Source, mark: Mark) -> str:
    """A statement without the blocks in it, on one line."""
    node, end = mark.node, mark.span.end
    if isinstance(node, ast.If):
        end = node.body.span.start
    elif isinstance(node, ast.Switch):
        end = node.subject.span.end
    return " ".join(source.text(Span(mark.span.start, end)).split()).removesuffix(";")


class _Rows:
    def __init__(self, source: Source, folding: Folding) -> None:
        self.source = source
        self.folding = folding

    def call(self, record: CallRecord, depth: int) -> Iterator[TraceRow]:
        """The rows of a call."""
        yield from self.steps(record.steps, depth)

    def steps(self, steps: Sequence[Step], depth: int) -> Iterator[TraceRow]:
        for step in steps:
            if isinstance(step, Entry):
                yield from self.entry(step, depth)
            else:
                yield from self.loop(step, depth + 1)

    def entry(self, entry: Entry, depth: int) -> Iterator[TraceRow]:
        """The row of a statement, then the rows of its calls."""
        if entry.mark.role is Role.END:
            return
        values = tuple(_value(note) for note in entry.notes if isinstance(note, Note))
        yield TraceRow("line", depth, self.line(entry.mark.span), statement_text(self.source, entry.mark), values)
        for note in entry.notes:
            if isinstance(note, CallRecord):
                yield from self.inner_call(note, depth + 1)

    def inner_call(self, record: CallRecord, depth: int) -> Iterator[TraceRow]:
        arguments = ", ".join(str(_value(note)) for note in record.arguments)
        line = self.line(record.function.node.name_span)
        yield TraceRow(
            "call", depth, line, f"{record.function.name}({arguments})", tuple(map(_value, record.arguments))
        )
        yield from self.call(record, depth + 1)
        if record.result is not None:
            yield TraceRow("return", depth, 0, f"{record.function.name} returns", (_value(record.result),))

    def loop(self, loop: LoopRecord, depth: int) -> Iterator[TraceRow]:
        """The first turns, how many are left out, the last ones, and the condition that ended the loop."""
        kept = [*loop.first, *loop.last]
        final = [kept.pop()] if kept and _is_only_condition(kept[-1]) else []
        count = loop.turns - len(final)
        first = kept[: len(loop.first)]
        last = kept[len(loop.first) :][-self.folding.last :] if self.folding.last else []
        yield from self.turns(first, 1, depth)
        left_out = count - len(first) - len(last)
        if left_out > 0:
            yield TraceRow("more", depth, 0, f"… {left_out} more {'turn' if left_out == 1 else 'turns'} …")
        yield from self.turns(last, count - len(last) + 1, depth)
        for turn in final:
            yield from self.steps(turn, depth)

    def turns(self, turns: Sequence[Turn], number: int, depth: int) -> Iterator[TraceRow]:
        for index, turn in enumerate(turns, number):
            yield TraceRow("turn", depth, 0, f"turn {index}")
            yield from self.steps(turn, depth)

    def line(self, span: Span) -> int:
        return self.source.position(span.start).line


def _is_only_condition(turn: Turn) -> bool:
    return len(turn) == 1 and isinstance(turn[0], Entry) and turn[0].mark.role is Role.CONDITION


def _value(note: Note) -> TraceValue:
    kind, name = note.kind.value, str(note.what)
    if note.kind is NoteKind.PRINT:
        return TraceValue(kind, "", name)
    before = "" if note.before is None else value_text(note.type, note.before)
    if note.kind is NoteKind.BARRIER or (note.raw is None and note.before is not None):
        return TraceValue(kind, name, "", before)
    if isinstance(note.raw, Place):
        return TraceValue(kind, name, f"&{note.raw}", before)
    text = "a texture" if isinstance(note.type, Pointer) else value_text(note.type, note.raw)
    return TraceValue(kind, name, text, before)


def trace(
    launch: Launch, invocation: Triple, folding: Folding, timeout: float | None = None, *, alone: bool = False
) -> Trace:
    """The trace of an invocation, by its global id. Raises InputError, ShaderError and DeviceError.

    The whole workgroup runs. The workgroups before it run first, unless nothing that they do is read, or `alone`.
    """
    if folding.first < 1 or folding.last < 0:
        raise InputError("at least the first turn of each loop is recorded, and at least 0 of the last ones")
    steps = Steps(None, Deadline(timeout))
    prepared = Prepared(launch, steps)
    place, index = prepared.place_of(invocation)
    recorder = Recorder(prepared, folding)
    group = prepared.group(place, index, recorder, alone=alone)
    recorder.owners.add_module_scope(prepared, group, group.lanes[index])
    instructions = _record(group, group.lanes[index], recorder, steps)
    return Trace(launch.program.source, invocation, place, instructions, recorder.root, folding)


def _record(group: Group, lane: MachineLane, recorder: Recorder, steps: Steps) -> int:
    """Run the workgroup until the invocation has ended. Returns the number of its instructions."""
    innermost, instructions = lane.stack[-1], 0
    while not lane.has_ended:
        before = steps.taken
        found = group.advance()
        assert found is not None
        moved, event = found
        if event is Event.BARRIER and lane.request is not None:
            recorder.pass_barrier(lane.barrier)
        if moved is not lane or event is Event.BARRIER:
            continue
        instructions += steps.taken - before
        match event:
            case Event.MARK:
                mark = innermost.mark
                assert mark is not None
                recorder.arrive(innermost, mark)
            case Event.CALLED:
                innermost = lane.stack[-1]
                recorder.call(innermost)
            case Event.RETURNED:
                done, innermost = innermost, lane.stack[-1]
                recorder.give_back(done, innermost)
            case Event.ENDED:
                recorder.end(innermost)
            case Event.WAITS:
                pass
    return instructions
