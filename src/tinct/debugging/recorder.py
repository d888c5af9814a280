"""Records what one invocation does, statement by statement. The turns of a loop are folded while it runs: only the
first and the last ones are kept, so that memory stays bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from ..ir import layout
from ..ir.core import nodes
from ..ir.core.interp_frame import Frame, Operation
from ..ir.core.interp_observer import Observer
from ..ir.core.sanitizer.texels import TexelAccess
from ..ir.core.values import Value
from ..ir.diagnostics import Diagnostic
from ..ir.types import VOID, AddressSpace, Atomic, Pointer, Texture, Type
from ..ir.wgsl import ast
from ..ir.wgsl.program import FunctionInfo
from ..transforms.from_wgsl.marks import Mark, Role
from .launch import Prepared
from .machine import Activation, Code
from .owners import Owners, Place
from .prints import PrintReader


class NoteKind(Enum):
    """What a note says: the value of a name or an expression, a read, a write, an atomic access with the values before
    and after, a returned value, a barrier that all invocations passed, or what was printed.
    """

    VALUE = "value"
    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"
    RETURN = "return"
    BARRIER = "barrier"
    PRINT = "print"


@dataclass(frozen=True, slots=True)
class Note:
    """One value. `before` is the old value of an atomic access; an atomic load has no new `raw` value."""

    kind: NoteKind
    what: str | Place
    type: Type
    raw: object
    before: object = None


@dataclass(slots=True, eq=False)
class Entry:
    """A statement that ran: its notes and calls in order."""

    mark: Mark
    notes: list[Note | CallRecord] = field(default_factory=list["Note | CallRecord"])


@dataclass(slots=True, eq=False)
class CallRecord:
    """A call with its arguments, and its result unless it gives none."""

    function: FunctionInfo
    arguments: list[Note]
    steps: list[Entry | LoopRecord] = field(default_factory=list["Entry | LoopRecord"])
    result: Note | None = None


@dataclass(slots=True, eq=False)
class LoopRecord:
    """A loop: how many turns began, the first ones, and the last ones."""

    mark: Mark
    first: list[Turn]
    last: deque[Turn]
    turns: int = 0


Step: TypeAlias = Entry | LoopRecord
Turn: TypeAlias = "list[Step]"


@dataclass(frozen=True, slots=True)
class Folding:
    """How many turns of each loop are kept at its beginning and at its end."""

    first: int = 2
    last: int = 1


@dataclass(slots=True, eq=False)
class _Open:
    """A call under way: its loops, and the entry of the statement that runs."""

    record: CallRecord
    loops: list[LoopRecord] = field(default_factory=list[LoopRecord])
    steps: list[Step] = field(default_factory=list[Step])
    entry: Entry | None = None


Finish: TypeAlias = Callable[[Frame], Note | None]


class Recorder(Observer):
    """Records one invocation: it watches its reads and atomic accesses, and is told of its marks, calls and returns."""

    def __init__(self, prepared: Prepared, folding: Folding) -> None:
        self.prepared = prepared
        self.folding = folding
        self.owners = Owners()
        self._prints = PrintReader(prepared)
        self.root = CallRecord(prepared.marked.functions[prepared.function], [])
        self._open = [_Open(self.root, [], self.root.steps)]
        self._finishers: dict[Mark, Finish | None] = {}

    # Events of the invocation

    def arrive(self, activation: Activation, mark: Mark) -> None:
        """The invocation is about to run a statement; the one before it is done."""
        if mark.role is Role.PRINT:
            self._add(Note(NoteKind.PRINT, self._prints.text(mark, activation), VOID, None))
            return
        call = self._open[-1]
        self._finish(call, activation)
        while call.loops and not _contains(call.loops[-1].mark, mark):
            call.loops.pop()
            call.steps = _innermost(call)
        if mark.role is Role.TURN:
            self._turn(call, mark)
            return
        call.entry = Entry(mark)
        call.steps.append(call.entry)

    def call(self, activation: Activation) -> None:
        """The invocation has called a function."""
        info = self.prepared.marked.functions[activation.code.function]
        frame, slots = activation.frame, activation.code.slots
        pairs = zip(info.parameters, activation.code.function.parameters, strict=True)
        arguments = [self._value(variable.name, node.type, frame[slots[node]]) for variable, node in pairs]
        record = CallRecord(info, arguments)
        entry = self._open[-1].entry
        if entry is not None:
            entry.notes.append(record)
        self._open.append(_Open(record, [], record.steps))

    def give_back(self, done: Activation, caller: Activation) -> None:
        """The innermost call has returned."""
        call = self._open.pop()
        self._finish(call, done)
        self.owners.drop_locals(done.frame)
        type = done.code.function.return_type
        if type is not VOID:
            call.record.result = self._value("", type, caller.frame[done.target], NoteKind.RETURN)

    def end(self, done: Activation) -> None:
        """The entry point has returned."""
        self._finish(self._open[-1], done)

    def pass_barrier(self, node: nodes.BuiltinCall) -> None:
        """All invocations have arrived."""
        entry = self._open[-1].entry
        if entry is not None:
            entry.notes.append(Note(NoteKind.BARRIER, node.function, VOID, None))

    def start_workgroup(self, memories: object) -> None:
        """Nothing: `owners` knows the memories."""

    def abandon_workgroup(self, problem: Diagnostic) -> None:
        """Nothing: the machine raises the error."""

    def _turn(self, call: _Open, mark: Mark) -> None:
        call.entry = None
        if not call.loops or call.loops[-1].mark is not mark:
            call.loops.append(LoopRecord(mark, [], deque(maxlen=self.folding.last + 1)))
            call.steps.append(call.loops[-1])
        loop = call.loops[-1]
        loop.turns += 1
        call.steps = []
        if len(loop.first) < self.folding.first:
            loop.first.append(call.steps)
        else:
            loop.last.append(call.steps)

    # Values of a statement that is done

    def _finish(self, call: _Open, activation: Activation) -> None:
        entry, call.entry = call.entry, None
        if entry is None:
            return
        if entry.mark not in self._finishers:
            self._finishers[entry.mark] = self._finisher(entry.mark, activation.code)
        finish = self._finishers[entry.mark]
        note = None if finish is None else finish(activation.frame)
        if note is not None:
            entry.notes.append(note)

    def _finisher(self, mark: Mark, code: Code) -> Finish | None:
        marked, node = self.prepared.marked, mark.node
        if isinstance(node, (ast.Let, ast.Var)):
            value = marked.values[marked.program.facts.declared[node]]
            return (
                self._value_note(node.name, value, code)
                if isinstance(node, ast.Let)
                else self._memory_note(value, code)
            )
        if isinstance(node, (ast.Assign, ast.CompoundAssign, ast.Increment, ast.Decrement)):
            return self._memory_note(marked.expressions[node.target], code)
        shown = _expression_of(mark)
        return None if shown is None else self._value_note("", marked.expressions[shown], code)

    def _value_note(self, name: str, value: Value, code: Code) -> Finish | None:
        type = value.type
        if value not in code.slots:
            raw = value.value.value if isinstance(value, nodes.Constant) else None
            return None if raw is None else lambda frame: self._value(name, type, raw)
        slot = code.slots[value]
        return lambda frame: self._value(name, type, frame[slot])

    def _value(self, name: str, type: Type, raw: Any, kind: NoteKind = NoteKind.VALUE) -> Note:
        if isinstance(type, Pointer) and type.space is not AddressSpace.HANDLE:
            memory, offset = raw
            place = self.owners.place(memory, offset, layout.resolve_counts(type.store, self.prepared.root.counts))
            return Note(kind, name, type, place)
        return Note(kind, name, type, raw)

    def _memory_note(self, pointer: Value, code: Code) -> Finish | None:
        if pointer not in code.slots or not isinstance(pointer.type, Pointer):
            return None
        slot = code.slots[pointer]
        type = layout.resolve_counts(pointer.type.store, self.prepared.root.counts)
        read = layout.reader(type)

        def note(frame: Frame) -> Note:
            memory, offset = frame[slot]
            return Note(NoteKind.WRITE, self.owners.place(memory, offset, type), type, read(memory, offset))

        return note

    # Operations

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """Wraps reads of memory that others may see, atomic accesses, and declarations of variables."""
        watch = self._watch(node, arguments, target)
        return run if watch is None else watch(run)

    def _watch(
        self, node: nodes.Instruction, arguments: tuple[int, ...], target: int
    ) -> Callable[[Operation], Operation] | None:
        if isinstance(node, nodes.Var):
            return lambda run: self._watch_var(node, target, run)
        if isinstance(node, nodes.Load):
            is_shown = not isinstance(node.type, Texture) and not _is_own(node.pointer)
            return (lambda run: self._watch_load(node.type, arguments[0], target, run)) if is_shown else None
        if not isinstance(node, nodes.BuiltinCall):
            return None
        if node.function == "workgroupUniformLoad":
            return lambda run: self._watch_load(node.type, arguments[0], target, run)
        if node.function.startswith("atomic"):
            return lambda run: self._watch_atomic(node, arguments[0], run)
        access = TexelAccess.of(node, arguments)
        return None if access is None else lambda run: self._watch_texel(access, arguments, target, run)

    def _watch_var(self, node: nodes.Var, target: int, run: Operation) -> Operation:
        type = self.prepared.store_type(node)

        def declare(frame: Frame) -> None:
            run(frame)
            self.owners.add_local(node, type, frame, frame[target][0])

        return declare

    def _watch_load(self, type: Type, pointer: int, target: int, run: Operation) -> Operation:
        def load(frame: Frame) -> None:
            run(frame)
            memory, offset = frame[pointer]
            self._add(Note(NoteKind.READ, self.owners.place(memory, offset, type), type, frame[target]))

        return load

    def _watch_atomic(self, node: nodes.BuiltinCall, pointer: int, run: Operation) -> Operation:
        type = node.arguments[0].type
        assert isinstance(type, Pointer)
        assert isinstance(type.store, Atomic)
        scalar, place = type.store.element, type.store
        read, changes = layout.reader(scalar), node.function != "atomicLoad"

        def access(frame: Frame) -> None:
            memory, offset = frame[pointer]
            before = read(memory, offset)
            run(frame)
            after = read(memory, offset) if changes else None
            self._add(Note(NoteKind.ATOMIC, self.owners.place(memory, offset, place), scalar, after, before))

        return access

    def _watch_texel(self, access: TexelAccess, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        slot, value = (arguments[-1], access.node.arguments[-1].type) if access.is_store else (target, access.node.type)
        kind = NoteKind.WRITE if access.is_store else NoteKind.READ
        name = _texture_name(access.node.arguments[0])

        def reach(frame: Frame) -> None:
            texel = access.texel(frame)
            run(frame)
            dropped = " (outside: dropped)" if access.is_store and texel.offset is None else ""
            self._add(Note(kind, f"{name}[{str(texel)[1:-1]}]{dropped}", value, frame[slot]))

        return reach

    def _add(self, note: Note) -> None:
        entry = self._open[-1].entry
        if entry is not None:
            entry.notes.append(note)


def _innermost(call: _Open) -> list[Step]:
    """The list that the steps after a loop go into."""
    if not call.loops:
        return call.record.steps
    loop = call.loops[-1]
    return loop.last[-1] if loop.last else loop.first[-1]


def _contains(loop: Mark, mark: Mark) -> bool:
    return loop.span.start <= mark.span.start and mark.span.end <= loop.span.end


def _is_own(pointer: Value) -> bool:
    """Whether a pointer is to a variable of the function itself, whose value was shown when it was written."""
    while isinstance(pointer, nodes.Access):
        pointer = pointer.object
    type = pointer.type
    return isinstance(pointer, nodes.Var) and isinstance(type, Pointer) and type.space is AddressSpace.FUNCTION


def _texture_name(texture: Value) -> str:
    source = texture.pointer if isinstance(texture, nodes.Load) else texture
    return source.name or "a texture"


def _expression_of(mark: Mark) -> ast.Expression | None:
    """The expression whose value is shown at a mark: a condition, or what a statement selects by, returns or drops."""
    node = mark.node
    if isinstance(node, ast.If):
        return node.condition
    if isinstance(node, ast.Switch):
        return node.subject
    if isinstance(node, (ast.Return, ast.PhonyAssign)):
        return node.value
    return node if mark.role is Role.CONDITION and isinstance(node, ast.Expression) else None
