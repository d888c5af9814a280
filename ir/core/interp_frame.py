"""The data of compiled interpreter code: frames, blocks, invocations, and the requests of an invocation that
waits.

A frame is a list with a slot for each value of a function. Slots hold raw values (`constants`); a pointer is a pair of
a buffer and an offset into it. All memory, including private and function memory, is bytes in WGSL's layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from ...base.deadline import Deadline
from ...base.errors import InputError
from ...base.records import dataclass, field
from ..constants import RawValue
from . import nodes

Memory: TypeAlias = bytearray | memoryview
PointerValue: TypeAlias = tuple[Memory, int]
Frame: TypeAlias = list[Any]
"""Slot 0 is the Invocation, slot 1 the function's result; the parameters follow, then all other values."""

INVOCATION, RESULT, FIRST_PARAMETER = 0, 1, 2

Operation: TypeAlias = Callable[[Frame], None]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """An invocation waits at `instruction`: without `arguments` at a barrier, with them for the result of a subgroup
    operation.
    """

    instruction: nodes.BuiltinCall
    arguments: tuple[RawValue, ...] | None = None


Waiting: TypeAlias = Generator[Request, RawValue, None]
PausingOperation: TypeAlias = Callable[[Frame], Waiting]


@dataclass(slots=True, eq=False)
class CompiledBlock:
    """`operations` up to each pausing one, and `leave`, which assigns the arguments of the branch and returns the next
    block, or None at the end of the function. `order` numbers the blocks of a function as they follow in the text;
    `loops` are the numbers of the first blocks of the loops around the block, and `starts_turn` says whether it is such
    a block itself.
    """

    segments: list[tuple[tuple[Operation, ...], PausingOperation | None]] = field(
        default_factory=list[tuple[tuple[Operation, ...], PausingOperation | None]]
    )
    leave: Callable[[Frame], CompiledBlock | None] = lambda frame: None
    steps: int = 1
    order: int = 0
    loops: tuple[int, ...] = ()
    starts_turn: bool = False

    def iterations(self, before: CompiledBlock, counts: tuple[int, ...]) -> tuple[int, ...]:
        """The iteration of each loop around this block, given the block before it and the iterations of the loops
        around that block; these may be followed by others, of loops that were left.
        """
        depth = len(self.loops)
        if not self.starts_turn:
            return counts[:depth]
        is_next = before.loops[:depth] == self.loops
        return (*counts[: depth - 1], counts[depth - 1] + 1 if is_next else 0)


class Steps:
    """Counts instructions up to a limit, and polls the clock at intervals."""

    __slots__ = ("deadline", "limit", "pause", "taken")

    def __init__(self, limit: int | None, deadline: Deadline) -> None:
        self.taken = 0
        self.limit = math.inf if limit is None else limit
        self.deadline = deadline
        self.pause: float = 0

    def take(self, count: int) -> None:
        """Count; raises InputError past the limit, DeviceError past the deadline."""
        self.taken += count
        if self.taken > self.pause:
            self._check()

    def _check(self) -> None:
        if self.taken > self.limit:
            raise InputError(f"the shader takes more than {self.limit} steps")
        self.deadline.check()
        self.pause = min(self.limit, self.taken + _STEPS_BETWEEN_CHECKS)


_STEPS_BETWEEN_CHECKS = 5000


@dataclass(slots=True, eq=False)
class Invocation:
    """One invocation: its builtin inputs, and pointers to its private and workgroup variables, indexed by
    `Compiler.variable_number`.

    `path` is where it waits: for each function that is being called, the loops around the place with their iterations,
    the block and the operation. Of two invocations, the one with the smaller path is behind the other.
    """

    builtins: dict[str, RawValue]
    variables: list[PointerValue]
    path: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])

    def __str__(self) -> str:
        """The name of the invocation in messages."""
        return f"invocation {self.builtins['local_invocation_id']} of workgroup {self.builtins['workgroup_id']}"


@dataclass(slots=True, eq=False)
class CompiledFunction:
    """A function ready to run. `imports` are pairs of a slot and the number of the private or workgroup variable it
    holds.
    """

    steps: Steps
    template: Frame = field(default_factory=list[Any])
    imports: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    start: CompiledBlock = field(default_factory=CompiledBlock)
    pauses: bool = False

    def frame(self, invocation: Invocation, arguments: Sequence[RawValue | PointerValue]) -> Frame:
        """A new frame."""
        frame = self.template.copy()
        frame[INVOCATION] = invocation
        frame[FIRST_PARAMETER : FIRST_PARAMETER + len(arguments)] = arguments
        for slot, number in self.imports:
            frame[slot] = invocation.variables[number]
        return frame

    def run(self, frame: Frame) -> None:
        """Run a function that never pauses to its end."""
        block: CompiledBlock | None = self.start
        take = self.steps.take
        while block is not None:
            take(block.steps)
            for operation in block.segments[0][0]:
                operation(frame)
            block = block.leave(frame)

    def run_pausing(self, frame: Frame) -> Waiting:
        """Run a function that may pause; each pause yields a Request and takes its answer."""
        block: CompiledBlock | None = self.start
        take, path = self.steps.take, frame[INVOCATION].path
        before, counts = self.start, tuple[int, ...]()
        while block is not None:
            take(block.steps)
            if block.starts_turn:  # other blocks only leave loops, the iterations of which do no harm
                counts = block.iterations(before, counts)
            before = block
            for number, (operations, pausing) in enumerate(block.segments):
                for operation in operations:
                    operation(frame)
                if pausing is not None:
                    its_counts = counts[: len(block.loops)]
                    loops = (it for pair in zip(block.loops, its_counts, strict=True) for it in pair)
                    path.append((*loops, block.order, number))
                    yield from pausing(frame)
                    path.pop()
            block = block.leave(frame)
