"""Steps of a plan on a GPU, in a session: dispatches, fills and copies, and data that cross to and from the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ir import types as wgsl
from ..ir.samplers import Sampler, read_sampler
from ..sessions import Buffer, Session
from ..sessions.calls import Options
from ..sessions.gpu_launch import GpuLaunch
from ..sessions.gpu_replay import ClearStep, CopyStep, DispatchStep, GpuReplay, ReplayStep
from ..sessions.launches import Launch
from ..sessions.memory import Memory
from .host_steps import Act, Bytes, named
from .indirect import ARGUMENT_BYTES, indirect_buffers, indirect_kernel
from .linking import Links
from .machine import described
from .plan import Arguments, Dispatch, Fill, Handle, Plan, Step, Transfer
from .time_limit import seconds_left

if TYPE_CHECKING:
    from ..backend.gpu import Resident
    from ..sessions.gpu_side import GpuPlace

_ZEROS: Final = 1 << 20
"""The bytes of a buffer of zeros, from which others are filled."""


@dataclass(slots=True)
class GpuMemory:
    """The allocations of a plan on one GPU: buffers of a session, by the numbers of allocations."""

    session: Session
    device: str
    _zeros: Resident | None = None

    @property
    def place(self) -> GpuPlace:
        """The GPU."""
        return self.session.gpu(self.device).buffers

    def new(self, size: int, label: str) -> Buffer:
        """An allocation, which the GPU has at once. Raises DeviceError."""
        made = self.session.empty(np.uint8, max(size, 4), label=label)
        place = self.place
        made.memory.need(place, "")
        made.memory.wrote(place)
        return made

    def new_texture(self, handle: Handle, size: int, label: str) -> Buffer | None:
        """An allocation that is a texture of zeros, which the GPU has at once; None for a sampler.

        Raises DeviceError.
        """
        if isinstance(handle.type, wgsl.Sampler):
            return None
        made = self.session.texture(described(label, handle.type), handle.head.ljust(size, b"\0"), label=label)
        made.memory.need(self.place, "")
        made.memory.wrote(self.place)
        return made

    def fill(self, memory: Memory, offset: int, size: int) -> None:
        """Zeros for a range."""
        place = self.place
        queue = place.side.queue()
        with place.side.watched():
            if self._zeros is None:
                self._zeros = queue.new_buffer(_ZEROS)
            for start in range(0, size, _ZEROS):
                part = min(size - start, _ZEROS)
                queue.copy(self._zeros, place.resident(memory), part, target_start=offset + start)

    def copy(self, source: Memory, start: int, target: Memory, target_start: int, size: int) -> None:
        """Copy between two allocations."""
        place = self.place
        with place.side.watched():
            place.side.queue().copy(
                place.resident(source), place.resident(target), size, start=start, target_start=target_start
            )

    def upload(self, memory: Memory, offset: int, data: Bytes) -> None:
        """Bytes of the host for a range."""
        place = self.place
        if offset == 0 and data.nbytes == memory.size:
            place.upload(memory, data)
            return
        queue = place.side.queue()
        with place.side.watched():
            room = queue.new_buffer(data.nbytes, data.tobytes())
            queue.copy(room, place.resident(memory), data.nbytes, target_start=offset)

    def replay(self, graph: str, phases: Sequence[Sequence[ReplayStep]]) -> GpuReplay:
        """Steps that are sent once; see `GpuReplay`."""
        return GpuReplay(self.session.gpu(self.device), f"graph {graph!r}", phases)

    def submit(self) -> None:
        """Send what is recorded, so that the GPU begins."""
        place = self.place
        with place.side.watched():
            place.side.queue().submit()

    def download(self, memory: Memory, offset: int, size: int) -> Bytes:
        """The bytes of a range, after all that was recorded."""
        place = self.place
        queue, resident = place.side.queue(), place.resident(memory)
        with place.side.watched():
            if offset:
                room = queue.new_buffer(size)
                queue.copy(resident, room, size, start=offset)
                resident = room
            data = queue.read(resident, size)
        place.side.done()
        return np.frombuffer(data, np.uint8)


@dataclass(frozen=True, slots=True)
class GpuSteps:
    """Steps on a GPU's allocations of a plan, `buffers`, by the numbers of allocations."""

    plan: Plan
    links: Links
    memory: GpuMemory
    buffers: Sequence[Buffer | None]
    _views: dict[int, Buffer] = field(default_factory=dict[int, Buffer])
    _launches: dict[int, Launch] = field(default_factory=dict[int, Launch])
    """By the identities of steps, which the plan keeps."""

    def act(self, step: Step) -> Act:
        """What does a step."""
        match step:
            case Fill(buffer):
                place = self.plan.buffers[buffer]
                memory = self._memory(place.allocation)
                return lambda deadline: self.memory.fill(memory, place.offset, place.size)
            case Transfer():
                source, start = self.at(step.source, step.source_offset)
                target, target_start = self.at(step.target, step.target_offset)
                return lambda deadline: self.memory.copy(source, start, target, target_start, step.size)
            case Dispatch():
                made = step.arguments
                return named(step, self._dispatch(step) if made is None else self._indirect(step, made))

    def replays(self, steps: Sequence[Step]) -> list[Act]:
        """What does steps in order, without a deadline, by as few messages as can be."""
        acts: list[Act] = []
        run: list[ReplayStep] = []
        for step in steps:
            queued = self._queued(step)
            if queued is not None:
                run += queued
                continue
            acts += [*self._replay(run), self.act(step)]
            run = []
        return [*acts, *self._replay(run)]

    def queued(self, steps: Sequence[Step]) -> list[ReplayStep] | None:
        """Steps that are replayed; None if one of them must be looked after whenever it runs. Raises ShaderError,
        InputError and DeviceError.
        """
        found: list[ReplayStep] = []
        for step in steps:
            queued = self._queued(step)
            if queued is None:
                return None
            found += queued
        return found

    def _replay(self, run: Sequence[ReplayStep]) -> list[Act]:
        if not run:
            return []
        replay = self.memory.replay(self.plan.graph, [run])

        def act(deadline: float | None) -> None:
            replay.prepare()
            replay.run(1, timeout=seconds_left(deadline))

        return [act]

    def _queued(self, step: Step, deadline: float | None = None) -> list[ReplayStep] | None:
        """A step of a replay; none for a dispatch of no workgroups. The deadline is for compiling. None for one that is
        done by itself.
        """
        match step:
            case Fill(buffer):
                memory, start = self.at(buffer)
                size = self.plan.buffers[buffer].size
                return [ClearStep(memory, start, size)] if size else []
            case Transfer():
                places = self.at(step.source, step.source_offset), self.at(step.target, step.target_offset)
                return [CopyStep(*places[0], *places[1], step.size)]
            case Dispatch():
                launch, made = self._launch(step), step.arguments
                if not isinstance(launch, GpuLaunch):
                    return []
                if made is None:
                    return self._prepared(step, [DispatchStep(launch)], deadline)
                indirect = DispatchStep(launch, *self.at(made.workgroups))
                return self._prepared(step, [DispatchStep(self._maker(step, made)), indirect], deadline)

    def _prepared(
        self, step: Dispatch, dispatches: Sequence[DispatchStep], deadline: float | None
    ) -> list[ReplayStep] | None:
        """Dispatches that a step consists of, or None if one of them must be looked after."""
        are_prepared: list[bool] = []

        def prepare(deadline: float | None) -> None:
            prepared = (it.launch.prepared(seconds_left(deadline)) for it in dispatches)
            are_prepared.extend(it is not None for it in prepared)

        named(step, prepare)(deadline)
        return list(dispatches) if all(are_prepared) else None

    def at(self, buffer: int, offset: int = 0) -> tuple[Memory, int]:
        """The memory in which a part of a buffer lies, and where in it."""
        place = self.plan.buffers[buffer]
        return self._memory(place.allocation), place.offset + offset

    def _memory(self, allocation: int) -> Memory:
        found = self.buffers[allocation]
        assert found is not None
        return found.memory

    def _bound(self, buffer: int) -> Buffer | Sampler:
        """A buffer or a sampler, as the session binds it."""
        handle = self.plan.buffers[buffer].handle
        if handle is None:
            return self._view(buffer)
        if isinstance(handle.type, wgsl.Sampler):
            return read_sampler(handle.head)
        found = self.buffers[self.plan.buffers[buffer].allocation]
        assert found is not None
        return found

    def _view(self, buffer: int) -> Buffer:
        """A part of an allocation, as the session binds it."""
        if buffer not in self._views:
            place = self.plan.buffers[buffer]
            whole = self.buffers[place.allocation]
            assert whole is not None
            self._views[buffer] = whole.view(place.offset, dtype=np.uint8, shape=place.size)
        return self._views[buffer]

    def _launch(self, step: Dispatch) -> Launch:
        if id(step) not in self._launches:
            self._launches[id(step)] = self._new_launch(step, step.workgroups or (1, 1, 1))
        return self._launches[id(step)]

    def _new_launch(self, step: Dispatch, workgroups: tuple[int, int, int]) -> Launch:
        kernel, constants = self.links.kernel(step.leaf), self.links.constants.get(step.leaf)
        bound = {it.name: self._bound(it.buffer) for it in step.bindings}
        return self.memory.session.prepared(kernel, bound, Options(workgroups, None, constants, step.device))

    def _maker(self, step: Dispatch, arguments: Arguments) -> GpuLaunch:
        """What makes the numbers of workgroups of a step."""
        views = {name: self._view(buffer) for name, buffer in indirect_buffers(step, arguments).items()}
        found = self.memory.session.prepared(indirect_kernel(), views, Options((1, 1, 1), None, None, step.device))
        assert isinstance(found, GpuLaunch)
        return found

    def _dispatch(self, step: Dispatch) -> Act:
        launch = self._launch(step)

        def run(deadline: float | None) -> None:
            if deadline is None:
                launch.again()
            else:
                launch.start(seconds_left(deadline))

        return run

    def _indirect(self, step: Dispatch, arguments: Arguments) -> Act:
        """A dispatch whose extents are in buffers, which the first run compiles."""
        acts: list[Act] = []

        def run(deadline: float | None) -> None:
            if not acts:
                queued = self._queued(step, deadline)
                acts.extend([self._waiting(step, arguments)] if queued is None else self._replay(queued))
            acts[0](deadline)

        return run

    def _waiting(self, step: Dispatch, arguments: Arguments) -> Act:
        """A dispatch that must be looked after, and waits for its workgroups."""
        maker = self._maker(step, arguments)

        def run(deadline: float | None) -> None:
            maker.again()
            data = self.memory.download(*self.at(arguments.workgroups), ARGUMENT_BYTES)
            x, y, z = map(int, data.view(np.uint32))
            self._new_launch(step, (x, y, z)).start(seconds_left(deadline))

        return run
