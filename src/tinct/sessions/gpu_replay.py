"""Steps on the memories of one GPU that are prepared once, and executed any number of times by one message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .gpu_launch import GpuLaunch
from .gpu_side import GpuPlace, GpuSide
from .launches import Launch
from .memory import Memory

if TYPE_CHECKING:
    from ..backend.gpu import GpuQueue, Prepared, QueuedStep


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """A dispatch on buffers. With `arguments`, the numbers of workgroups are three u32 of that memory, at `offset`."""

    launch: GpuLaunch
    arguments: Memory | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ClearStep:
    """Zeros for `size` bytes of a memory from `start` on; both are multiples of 4."""

    target: Memory
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class CopyStep:
    """A copy of `size` bytes between two memories; all numbers are multiples of 4. Or of a texture, as a whole."""

    source: Memory
    start: int
    target: Memory
    target_start: int
    size: int


ReplayStep: TypeAlias = DispatchStep | ClearStep | CopyStep


class GpuReplay:
    """Steps of a first execution, of a second one, and so on in turn: of two or more where memories change places.

    `name` is what messages call it. What steps fill is no texture.
    """

    def __init__(self, side: GpuSide, name: str, phases: Sequence[Sequence[ReplayStep]]) -> None:
        self._side = side
        self._name = name
        self._phases = tuple(map(tuple, phases))
        steps = [step for phase in self._phases for step in phase]
        self._memories = {id(memory): memory for step in steps for memory in _memories(step)}
        self._written = {id(memory): memory for step in steps for memory in _written(step)}
        self._numbers = tuple(sorted(memory.number for memory in self._written.values()))
        self._queue: GpuQueue | None = None
        self._prepared: Prepared | None = None

    def prepare(self) -> bool:
        """Compile and bind all that the steps need. False if one of them must be looked after whenever it runs: see
        `GpuLaunch.prepared`. Raises ShaderError, InputError and DeviceError.
        """
        queue = self._side.queue()
        for memory in self._memories.values():
            memory.need(self._place, f"{self._name} needs it")
        if self._queue is queue and self._prepared is not None:
            return True
        phases: list[list[QueuedStep]] = []
        for phase in self._phases:
            queued = [self._queued(step) for step in phase]
            known = [it for it in queued if it is not None]
            if len(known) < len(queued):
                return False
            phases.append(known)
        with self._side.watched():
            self._prepared, self._queue = queue.sequence(phases), queue
        return True

    def run(self, executions: int, *, phase: int = 0, timeout: float | None = None) -> None:
        """Record executions, of which the first has the steps of the given phase; `prepare` comes first.

        With a limit, what is recorded before is waited for, and then the executions. A process that is stopped leaves
        what the steps write torn.
        """
        queue, prepared = self._started()
        if timeout is not None:
            self._side.wait()
        with self._side.watched():
            self._side.writes(self._numbers, self._name)
            queue.replay(prepared, executions, phase=phase)
        self._mark_written()
        if timeout is not None:
            self._side.wait(timeout)

    def seconds(self, executions: int, *, timeout: float | None = None) -> float:
        """The time that executions take from the first phase on, as `GpuQueue.seconds` measures it; `prepare` comes
        first. All that is recorded before is waited for.
        """
        queue, prepared = self._started()
        with self._side.watched():
            self._side.writes(self._numbers, self._name)
            found = queue.seconds(prepared, executions, timeout=timeout)
        self._side.done()
        self._mark_written()
        return found

    def _started(self) -> tuple[GpuQueue, Prepared]:
        queue, prepared = self._side.queue(), self._prepared
        assert prepared is not None
        assert queue is self._queue
        return queue, prepared

    def _mark_written(self) -> None:
        for memory in self._written.values():
            memory.wrote(self._place)

    @property
    def _place(self) -> GpuPlace:
        return self._side.buffers

    def _queued(self, step: ReplayStep) -> QueuedStep | None:
        from ..backend.gpu import BoundDispatch, ClearRange, CopyRange, IndirectDispatch

        resident = self._place.resident
        match step:
            case ClearStep(target, start, size):
                return ClearRange(resident(target), start, size)
            case CopyStep(source, start, target, target_start, size):
                return CopyRange(resident(source), start, resident(target), target_start, size)
            case DispatchStep(launch, arguments, offset):
                bound = launch.prepared()
                if bound is None:
                    return None
                if arguments is not None:
                    return IndirectDispatch(bound, resident(arguments), offset)
                return BoundDispatch(bound, launch.plan.workgroups)


def replay_of(side: GpuSide, name: str, launches: Iterable[Launch]) -> GpuReplay | None:
    """Dispatches on a GPU, one after another, prepared to be replayed. None if one of them cannot be: see
    `GpuReplay.prepare`, which this may raise the errors of.
    """
    steps = [DispatchStep(it) for it in launches if isinstance(it, GpuLaunch)]
    replay = GpuReplay(side, name, [steps])
    return replay if len(steps) == len(list(launches)) and replay.prepare() else None


def _memories(step: ReplayStep) -> list[Memory]:
    match step:
        case ClearStep(target):
            return [target]
        case CopyStep(source, _, target):
            return [source, target]
        case DispatchStep(launch, arguments):
            bound = [it.memory for it in launch.plan.arguments]
            return bound if arguments is None else [*bound, arguments]


def _written(step: ReplayStep) -> tuple[Memory, ...]:
    match step:
        case ClearStep(target) | CopyStep(_, _, target):
            return (target,)
        case DispatchStep(launch):
            return launch.plan.written
