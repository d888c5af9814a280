"""A machine that runs one workgroup event by event, and can be put back to an earlier state.

The interpreter of core IR makes its closures (`ir.core.interp_compile`). Here they are held together by explicit stacks
instead of Python's, so that every invocation can pause before any statement, and the state of all is data. The order is
the interpreter's: invocations run one after another, each to its end or to where it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain
from typing import Any, Final, TypeAlias

from ..ir.builtins import builtin
from ..ir.constants import RawValue
from ..ir.core import nodes
from ..ir.core.interp import Dispatch, Triple
from ..ir.core.interp_compile import Compiler, FunctionCompiler
from ..ir.core.interp_frame import (
    RESULT,
    CompiledBlock,
    CompiledFunction,
    Frame,
    Invocation,
    Memory,
    Operation,
    PointerValue,
    Request,
    Steps,
)
from ..ir.core.interp_lanes import Lane, answered, not_uniform
from ..ir.core.interp_observer import Observer
from ..ir.core.root_values import RootValues
from ..ir.core.values import Value
from ..ir.diagnostics import ShaderError
from ..ir.source import Source
from ..ir.types import VOID
from ..transforms.from_wgsl.marks import Mark, MarkedModule


@dataclass(frozen=True, slots=True, eq=False)
class Enter:
    """A call."""

    node: nodes.Call
    code: Code
    arguments: tuple[int, ...]
    target: int


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A barrier, or a subgroup operation if there are a target and arguments."""

    node: nodes.BuiltinCall
    arguments: tuple[int, ...] | None
    target: int


Item: TypeAlias = "tuple[Operation, ...] | Mark | Enter | Wait"


@dataclass(slots=True, eq=False)
class CodeBlock(CompiledBlock):
    """A block as a list of items: runs of operations, marks, calls and waits."""

    items: tuple[Item, ...] = ()


@dataclass(slots=True, eq=False)
class Code:
    """The code of a function, and the frame slots of its values."""

    function: nodes.Function
    made: CompiledFunction
    slots: dict[Value, int]


class MachineCompiler(Compiler):
    """Compiles functions with their marks."""

    def __init__(
        self,
        marked: MarkedModule,
        root: RootValues,
        buffers: Mapping[nodes.Var, PointerValue],
        steps: Steps,
    ) -> None:
        super().__init__(root, buffers, steps)
        self.marked = marked
        self._codes: dict[tuple[nodes.Function, Observer | None], Code] = {}

    def code(self, function: nodes.Function, observer: Observer | None = None) -> Code:
        """The code of a function, whose operations the observer may wrap; its callees are compiled too."""
        key = (function, observer)
        if key not in self._codes:
            compiler = _CodeCompiler(self, function, observer)
            self._codes[key] = Code(function, compiler.compile(), compiler.slots)
        return self._codes[key]


class _CodeCompiler(FunctionCompiler):
    def __init__(self, compiler: MachineCompiler, function: nodes.Function, observer: Observer | None) -> None:
        super().__init__(compiler, function)
        self.codes = compiler
        self.observer = observer
        self.marks = compiler.marked.marks

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """The operation as the observer of this code wants it."""
        return run if self.observer is None else self.observer.watched(node, arguments, target, run)

    def new_block(self) -> CompiledBlock:
        """A block with items."""
        return CodeBlock()

    def block(self, block: nodes.Block) -> None:
        """Compile a block into items."""
        made = self.blocks[id(block)]
        assert isinstance(made, CodeBlock)
        items: list[Item] = []
        start = 0
        for index, mark in self.marks.get(id(block), ()):
            items += self._items(block.instructions[start:index])
            items.append(mark)
            start = index
        items += self._items(block.instructions[start:])
        made.items = tuple(items)
        made.steps = len(block.instructions) + 1
        assert block.branch is not None
        self.leave(made, block.branch)

    def _items(self, instructions: Sequence[nodes.Instruction]) -> Iterator[Item]:
        ready: list[Operation] = []
        for instruction in instructions:
            pause = list(self._pause(instruction))
            if not pause:
                ready.append(self.operation(instruction))
                continue
            if ready:
                yield tuple(ready)
            ready = []
            yield from pause
        if ready:
            yield tuple(ready)

    def _pause(self, node: nodes.Instruction) -> Iterator[Item]:
        arguments = tuple(map(self.slot, node.operands))
        if isinstance(node, nodes.Call):
            yield Enter(node, self.codes.code(node.callee, self.observer), arguments, self.slot(node))
            return
        found = builtin(node.function) if isinstance(node, nodes.BuiltinCall) else None
        if found is None or not (found.flags.is_barrier or found.flags.is_subgroup):
            return
        assert isinstance(node, nodes.BuiltinCall)
        if node.function == "workgroupUniformLoad":
            yield Wait(node, None, 0)
            yield (self.uniform_load(node, arguments),)
            yield Wait(node, None, 0)
        else:
            yield Wait(node, None if node.type is VOID else arguments, self.slot(node))


@dataclass(slots=True, eq=False)
class Activation:
    """A call that has not returned. `mark` is the statement that runs, None before the first; `iterations` are those of
    the loops around the block.
    """

    code: Code
    frame: Frame
    block: CodeBlock
    target: int
    next: int = 0
    mark: Mark | None = None
    iterations: tuple[int, ...] = ()

    @property
    def place(self) -> tuple[int, ...]:
        """Its part of the path (`Invocation.path`)."""
        pairs = zip(self.block.loops, self.iterations, strict=True)
        return (*chain.from_iterable(pairs), self.block.order, self.next)

    def go_to(self, following: CodeBlock) -> None:
        """Go on at the start of a block."""
        self.iterations = following.iterations(self.block, self.iterations)
        self.block, self.next = following, 0


@dataclass(slots=True, kw_only=True, eq=False)
class MachineLane(Lane):
    """An invocation with its calls, the innermost last; without any, the invocation has ended."""

    stack: list[Activation]

    @property
    def path(self) -> list[tuple[int, ...]]:
        """Where it waits."""
        return [activation.place for activation in self.stack]

    @property
    def has_ended(self) -> bool:
        """Whether the entry point has returned."""
        return not self.stack


class Event(Enum):
    """What an invocation did last: arrived at a mark, called, returned, waits, has ended; or all passed a barrier."""

    MARK = auto()
    CALLED = auto()
    RETURNED = auto()
    WAITS = auto()
    ENDED = auto()
    BARRIER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """The state of a machine."""

    ready: tuple[int, ...]
    position: int
    lanes: tuple[tuple[RawState, ...], ...]
    requests: tuple[tuple[Request | None, RawValue | None], ...]
    memories: tuple[tuple[Memory, bytes], ...]


RawState: TypeAlias = "tuple[Activation, list[object], CodeBlock, int, Mark | None, tuple[int, ...]]"


@dataclass(slots=True, eq=False)
class Group:
    """A workgroup under way. `memories` are the bound buffers and the workgroup variables."""

    lanes: list[MachineLane]
    memories: Mapping[nodes.Var, Memory]
    written: Sequence[Memory]
    source: Source
    subgroup_size: int
    ready: list[MachineLane] = field(default_factory=list[MachineLane])
    position: int = 0

    @property
    def current(self) -> MachineLane:
        """The invocation that runs next."""
        return self.ready[self.position]

    def run_only(self, index: int) -> None:
        """Let one invocation of a group that has not begun run to its end before the others."""
        self.ready = [self.lanes[index]]

    def advance(self) -> tuple[MachineLane, Event] | None:
        """Run to the next event; None when all invocations have ended.

        Raises ShaderError for a barrier that some invocations do not reach, and what `Steps` raises.
        """
        if self.position == len(self.ready):
            return self._resume()
        lane = self.ready[self.position]
        event = _run(lane)
        if event is Event.WAITS or event is Event.ENDED:
            self.position += 1
        return lane, event

    def _resume(self) -> tuple[MachineLane, Event] | None:
        """All have paused: go on with those whose subgroup has answered, else past the barrier."""
        alive = [lane for lane in self.lanes if not lane.has_ended]
        if not alive:
            return None
        self.position = 0
        self.ready = answered(alive, self.subgroup_size)
        if self.ready:
            return self.advance()
        problem = not_uniform(alive, [lane for lane in self.lanes if lane.has_ended])
        if problem is not None:
            raise ShaderError([problem], self.source)
        self.ready = alive
        return alive[0], Event.BARRIER

    def save(self) -> Saved:
        """The state, which `restore` puts back."""
        lanes = tuple(
            tuple((it, list(it.frame), it.block, it.next, it.mark, it.iterations) for it in lane.stack)
            for lane in self.lanes
        )
        memories = {id(it): it for it in (*self.written, *self._reached())}
        return Saved(
            tuple(lane.index for lane in self.ready),
            self.position,
            lanes,
            tuple((lane.request, lane.answer) for lane in self.lanes),
            tuple((memory, bytes(memory)) for memory in memories.values()),
        )

    def restore(self, saved: Saved) -> None:
        """Put back a state that `save` returned."""
        for lane, states, waiting in zip(self.lanes, saved.lanes, saved.requests, strict=True):
            lane.request, lane.answer = waiting
            lane.stack = [state[0] for state in states]
            for activation, frame, block, position, mark, iterations in states:
                activation.frame[:] = frame
                activation.block, activation.next, activation.mark = block, position, mark
                activation.iterations = iterations
        for memory, content in saved.memories:
            memory[:] = content
        self.ready, self.position = [self.lanes[index] for index in saved.ready], saved.position

    def _reached(self) -> Iterator[Memory]:
        """The memories that frames and invocations point to, and that may be written."""
        frames = (it.frame for lane in self.lanes for it in lane.stack)
        pointers = (value for frame in frames for value in frame if _is_pointer(value))
        variables = (pointer for lane in self.lanes for pointer in lane.invocation.variables)
        return (memory for memory, _ in (*variables, *pointers) if isinstance(memory, bytearray))


def _is_pointer(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], bytearray)  # pyright: ignore


def _run(lane: MachineLane) -> Event:
    """Run an invocation to its next event."""
    top = lane.stack[-1]
    if lane.request is not None:
        _take_answer(lane, top)
    frame = top.frame
    while True:
        if top.next == len(top.block.items):
            following = top.block.leave(frame)
            if following is None:
                return _return(lane)
            assert isinstance(following, CodeBlock)
            top.go_to(following)
            top.code.made.steps.take(following.steps)
            continue
        item = top.block.items[top.next]
        top.next += 1
        if isinstance(item, tuple):
            for operation in item:
                operation(frame)
        elif isinstance(item, Mark):
            top.mark = item
            return Event.MARK
        else:
            return _pause(lane, frame, item)


def _take_answer(lane: MachineLane, top: Activation) -> None:
    if lane.answer is not None:
        wait = top.block.items[top.next - 1]
        assert isinstance(wait, Wait)
        top.frame[wait.target] = lane.answer
    lane.request = lane.answer = None


def _pause(lane: MachineLane, frame: Frame, item: Enter | Wait) -> Event:
    if isinstance(item, Enter):
        lane.stack.append(activation(item.code, lane.invocation, [frame[it] for it in item.arguments], item.target))
        item.code.made.steps.take(item.code.made.start.steps)
        return Event.CALLED
    values = None if item.arguments is None else tuple([frame[it] for it in item.arguments])
    lane.request = Request(item.node, values)
    return Event.WAITS


def _return(lane: MachineLane) -> Event:
    done = lane.stack.pop()
    if not lane.stack:
        return Event.ENDED
    lane.stack[-1].frame[done.target] = done.frame[RESULT]
    return Event.RETURNED


def activation(
    code: Code, invocation: Invocation, arguments: Sequence[RawValue | PointerValue], target: int = RESULT
) -> Activation:
    """A call of a function that is about to begin."""
    frame = code.made.frame(invocation, arguments)
    assert isinstance(code.made.start, CodeBlock)
    return Activation(code, frame, code.made.start, target)


CodeOf: TypeAlias = Callable[[int], Code]
"""The code that the invocation of that index in its workgroup runs."""

_NOTHING: Final[Sequence[Memory]] = ()


def start_group(
    dispatch: Dispatch, place: Triple, code_of: CodeOf, source: Source, written: Sequence[Memory] = _NOTHING
) -> Group:
    """A workgroup whose invocations are about to begin. `written` are the buffers that the shader may write."""
    shared = dispatch.workgroup_memory()
    lanes = [
        MachineLane(index=index, invocation=it, stack=[activation(code_of(index), it, dispatch.arguments(it))])
        for index, it in enumerate(dispatch.invocations(place, shared))
    ]
    bound = {variable: memory for variable, (memory, _) in dispatch.compiler.buffers.items()}
    return Group(lanes, {**bound, **shared}, [*written, *shared.values()], source, dispatch.subgroup_size, list(lanes))
