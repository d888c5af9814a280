"""Follows a plan any number of times, on memory that it keeps.

Each allocation of the plan has a memory. In a repetition, rotations let memories change places, so that an allocation
has another one in each *phase*; the steps of a phase are prepared when it first comes.

`until` is exact. On the host the flag is looked at after each execution. On a GPU the flags of a chunk of executions
are kept there and read at once; if one before the last is set, the chunk runs again from the state that it began with,
up to that execution.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..base.errors import DeviceError
from ..sessions import Buffer, Copy, Session
from .gpu_steps import GpuMemory, GpuSteps
from .host_steps import Act, Bytes, HostSteps, aligned_zeros, seconds_left
from .linking import Links
from .machine import NodeTiming
from .plan import HOST, Dispatch, Piece, Plan, PlanOutput, Step, Transfer
from .planner import Packed

EVERY: Final = 16
"""The executions on a GPU after which flags are read, if the caller does not say."""

_MOST_RECORDED: Final = 512
"""The steps after which what is recorded for GPUs is sent, so that they begin."""

Flag = PlanOutput


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Turns:
    """How often a plan is followed: `most` times, or without a limit, or until the output `until` is not zero, which is
    looked at each `every` times on a GPU. Between two executions `should_stop` is asked, and ends the run.
    """

    most: int | None = 1
    until: str | None = None
    every: int | None = None
    should_stop: Callable[[], bool] = _never


@dataclass(slots=True)
class Record:
    """What a run has done."""

    executions: int = 0
    copies: list[Copy] = field(default_factory=list[Copy])
    timings: dict[tuple[str, ...], NodeTiming] = field(default_factory=dict[tuple[str, ...], NodeTiming])


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a buffer held: bytes, or a buffer of its GPU."""

    buffer: int
    data: Bytes | Buffer


@dataclass(slots=True)
class _Constants:
    """The bytes of an allocation, and the pieces of inputs that are written over them, with their offsets."""

    data: Bytes
    pieces: list[tuple[Piece, int]] = field(default_factory=list["tuple[Piece, int]"])


class Executor:
    """The memory and the prepared steps of a plan. For one run at a time."""

    def __init__(self, plan: Plan, links: Links) -> None:
        self.plan = plan
        self._links = links
        self._session = Session()
        self._gpus: dict[str, GpuMemory] = {}
        self._host: list[Bytes | None] = []
        self._buffers: list[Buffer | None] = []
        for number, it in enumerate(plan.allocations):
            self._host.append(aligned_zeros(it.size) if it.device == HOST else None)
            self._buffers.append(None if it.device == HOST else self._gpu(it.device).new(it.size, self._label(number)))
        self._order = list(range(len(plan.allocations)))
        """The physical memory of each allocation, now."""
        self._phases: dict[tuple[int, ...], _Phase] = {}
        self._rooms: dict[int, Buffer] = {}
        """For inputs that change on a GPU, memory for copies, by their buffers."""
        self._constants = self._constant_data()
        self._recorded_steps = 0
        self._should_stop: Callable[[], bool] = _never

    def close(self) -> None:
        """Free all memory."""
        self._phases.clear()
        self._session.close()

    @property
    def is_whole(self) -> bool:
        """Whether no memory was lost with a GPU's process."""
        for it in self._gpus.values():
            it.session.gpu(it.device).queue()
        return not any(it is not None and it.memory.problem for it in self._buffers)

    def run(self, given: Mapping[str, Packed], turns: Turns, deadline: float | None, record: Record | None) -> int:
        """Write the inputs and follow the plan; the number of executions. `record` gets times and copies, for which
        each step is waited for. Raises DeviceError, ShaderError and InputError; then the memory is of no more use.
        """
        self._order, self._should_stop = list(range(len(self.plan.allocations))), turns.should_stop
        self._write(given, record)
        if turns.until is None:
            assert turns.most is not None
            self._repeat(turns.most, deadline, record)
            return turns.most
        flag = next(it for it in self.plan.outputs if it.name == turns.until)
        if self.plan.device(flag.buffer) == HOST:
            return self._until_on_host(flag, turns.most, deadline, record)
        return self._until_on_gpu(flag, turns, deadline, record)

    def output(self, output: PlanOutput, record: Record | None) -> Bytes:
        """The bytes of an output, which may change in the next run."""
        if record is not None and self.plan.device(output.buffer) != HOST:
            place = self.plan.buffers[output.buffer]
            device = self.plan.device(output.buffer)
            record.copies.append(Copy(place.label, place.size, device, HOST, "the program reads it"))
        return self._phase().read(output.buffer)

    # Inputs

    def _write(self, given: Mapping[str, Packed], record: Record | None) -> None:
        phase = self._phase()
        for it in self.plan.inputs:
            for buffer, why in zip(it.buffers, it.reasons, strict=True):
                phase.write(buffer, np.frombuffer(given[it.name], np.uint8))
                device = self.plan.device(buffer)
                if device != HOST and record is not None:
                    record.copies.append(Copy(it.name, it.size, HOST, device, why))
        for allocation, constants in self._constants.items():
            for piece, start in constants.pieces:
                source = np.frombuffer(given[piece.input], np.uint8, piece.size, piece.start)
                constants.data[start : start + piece.size] = source
            self._write_allocation(allocation, constants.data)

    def _write_allocation(self, allocation: int, data: Bytes) -> None:
        memory, buffer = self._host[allocation], self._buffers[allocation]
        if memory is not None:
            memory[:] = data
        if buffer is not None:
            self._gpu(self.plan.allocations[allocation].device).upload(buffer.memory, 0, data)

    def _constant_data(self) -> dict[int, _Constants]:
        """What a run writes to the allocations of constants."""
        found: dict[int, _Constants] = {}
        for it in self.plan.constants:
            place = self.plan.buffers[it.buffer]
            size = self.plan.allocations[place.allocation].size
            into = found.setdefault(place.allocation, _Constants(np.zeros(size, np.uint8)))
            into.data[place.offset : place.offset + place.size] = np.frombuffer(it.data, np.uint8)
            into.pieces += [(piece, place.offset + piece.offset) for piece in it.pieces]
        return found

    # Executions

    def _repeat(self, most: int, deadline: float | None, record: Record | None) -> None:
        for number in range(most):
            if number:
                self._turn()
            self._execute(deadline, record)

    def _until_on_host(self, flag: Flag, most: int | None, deadline: float | None, record: Record | None) -> int:
        done = 0
        while most is None or done < most:
            if done:
                self._turn()
            self._execute(deadline, record)
            done += 1
            if _is_set(self._phase().read(flag.buffer)):
                break
        return done

    def _until_on_gpu(self, flag: Flag, turns: Turns, deadline: float | None, record: Record | None) -> int:
        every, done = turns.every or EVERY, 0
        memory = self._gpu(self.plan.device(flag.buffer))
        flags = memory.new(4 * every, "flags")
        while turns.most is None or done < turns.most:
            if done:
                self._turn()
            chunk = every if turns.most is None else min(every, turns.most - done)
            saved, order = self._saved(record) if chunk > 1 else [], list(self._order)
            self._execute_flagged(chunk, flag, flags, deadline, record)
            found = np.flatnonzero(memory.download(flags.memory, 0, 4 * chunk).view(np.uint32))
            seconds_left(deadline)
            if not found.size:
                done += chunk
                continue
            exact = int(found[0]) + 1
            if exact < chunk:
                self._order = order
                self._restore(saved, record)
                self._repeat(exact, deadline, record)
            return done + exact
        return done

    def _execute_flagged(
        self, chunk: int, flag: Flag, flags: Buffer, deadline: float | None, record: Record | None
    ) -> None:
        for number in range(chunk):
            if number:
                self._turn()
            self._execute(deadline, record)
            self._phase().keep(flag.buffer, flags, 4 * number, 4)

    def _saved(self, record: Record | None) -> list[_Saved]:
        """Copies of the inputs that change."""
        fed = {name for _, name in self.plan.feeds}
        saved: list[_Saved] = []
        for buffer in (buffer for it in self.plan.inputs if it.name in fed for buffer in it.buffers):
            device, size = self.plan.device(buffer), self.plan.buffers[buffer].size
            if device == HOST:
                saved.append(_Saved(buffer, self._phase().read(buffer).copy()))
            else:
                room = self._rooms.setdefault(buffer, self._gpu(device).new(size, "a saved input"))
                self._phase().keep(buffer, room, 0, size)
                saved.append(_Saved(buffer, room))
            self._copied(buffer, "the executions after it may have to run again", record)
        return saved

    def _restore(self, saved: Sequence[_Saved], record: Record | None) -> None:
        for it in saved:
            if isinstance(it.data, Buffer):
                self._phase().take(it.buffer, it.data)
            else:
                self._phase().write(it.buffer, it.data)
            self._copied(it.buffer, "executions run again up to the one that was asked for", record)

    def _copied(self, buffer: int, why: str, record: Record | None) -> None:
        if record is not None:
            place, device = self.plan.buffers[buffer], self.plan.device(buffer)
            record.copies.append(Copy(place.label, place.size, device, device, why))

    def _execute(self, deadline: float | None, record: Record | None) -> None:
        if self._should_stop():
            raise DeviceError("the run was given up")
        self._recorded_steps += len(self.plan.steps)
        if self._recorded_steps > _MOST_RECORDED:
            self._recorded_steps = 0
            for it in self._gpus.values():
                it.submit()
        if record is None:
            for act in self._phase().acts:
                act(deadline)
            return
        for step, act in zip(self.plan.steps, self._phase().acts, strict=True):
            self._recorded(step, act, deadline, record)
        record.executions += 1

    def _recorded(self, step: Step, act: Act, deadline: float | None, record: Record) -> None:
        if isinstance(step, Transfer):
            devices = self.plan.device(step.source), self.plan.device(step.target)
            record.copies.append(Copy(self.plan.buffers[step.target].label, step.size, *devices, step.why))
        if not isinstance(step, Dispatch):
            act(deadline)
            return
        compilation = self._links.kernels[step.leaf].compilation(self._links.constants[step.leaf])
        start, compiled = time.perf_counter(), sum(compilation.seconds.values())
        act(deadline)
        self._session.wait()
        seconds = time.perf_counter() - start
        compiling = min(sum(compilation.seconds.values()) - compiled, seconds)
        timing = record.timings.setdefault(step.path, NodeTiming())
        timing.compile += compiling
        timing.run += seconds - compiling
        timing.dispatches += 1

    # Memory

    def _phase(self) -> _Phase:
        """The prepared steps for the memories that allocations are now."""
        key = tuple(self._order)
        if key not in self._phases:
            hosts, buffers = [self._host[it] for it in key], [self._buffers[it] for it in key]
            gpus = {name: GpuSteps(self.plan, self._links, it, buffers) for name, it in self._gpus.items()}
            self._phases[key] = _Phase(self.plan, HostSteps(self.plan, self._links, hosts), gpus)
        return self._phases[key]

    def _turn(self) -> None:
        """Let memories change places for the next execution."""
        now = list(self._order)
        for rotation in self.plan.rotations:
            for one, following in zip(rotation, (*rotation[1:], rotation[0]), strict=True):
                self._order[following] = now[one]

    def _gpu(self, device: str) -> GpuMemory:
        if device not in self._gpus:
            self._gpus[device] = GpuMemory(self._session, device)
        return self._gpus[device]

    def _label(self, allocation: int) -> str:
        """The labels of what lies in an allocation, for messages."""
        labels = [it.label for it in self.plan.buffers if it.allocation == allocation]
        return ", ".join(dict.fromkeys(labels)) or "nothing"


def _is_set(flag: Bytes) -> bool:
    return bool(flag[:4].any())


class _Phase:
    """The steps of a plan, prepared for the memories that its allocations are in this phase."""

    def __init__(self, plan: Plan, host: HostSteps, gpus: Mapping[str, GpuSteps]) -> None:
        self._plan = plan
        self._host = host
        self._gpus = gpus
        self._acts: list[Act] | None = None

    @property
    def acts(self) -> list[Act]:
        """What does each step."""
        if self._acts is None:
            self._acts = [self._act(it) for it in self._plan.steps]
        return self._acts

    def _act(self, step: Step) -> Act:
        if isinstance(step, Transfer):
            devices = self._plan.device(step.source), self._plan.device(step.target)
            if devices[0] != devices[1]:
                return lambda deadline: self._cross(step)
            device = devices[0]
        elif isinstance(step, Dispatch):
            device = HOST if step.device not in self._gpus else step.device
        else:
            device = self._plan.device(step.buffer)
        return (self._host if device == HOST else self._gpus[device]).act(step)

    def _cross(self, step: Transfer) -> None:
        """Copy from one device to another."""
        self.write(step.target, self.read(step.source, step.source_offset, step.size), step.target_offset)

    def read(self, buffer: int, offset: int = 0, size: int | None = None) -> Bytes:
        """The bytes of a buffer, or a part of them; on the host, those that steps write."""
        device = self._plan.device(buffer)
        if device == HOST:
            return self._host.range(buffer, offset, size)
        memory, start = self._gpus[device].at(buffer, offset)
        return self._gpus[device].memory.download(memory, start, size or self._plan.buffers[buffer].size)

    def write(self, buffer: int, data: Bytes, offset: int = 0) -> None:
        """Write bytes of a buffer."""
        device = self._plan.device(buffer)
        if device == HOST:
            self._host.range(buffer, offset, data.nbytes)[:] = data
            return
        memory, start = self._gpus[device].at(buffer, offset)
        self._gpus[device].memory.upload(memory, start, data)

    def keep(self, buffer: int, target: Buffer, offset: int, size: int) -> None:
        """Copy the first bytes of a buffer of a GPU to another one there."""
        steps = self._gpus[self._plan.device(buffer)]
        memory, start = steps.at(buffer)
        steps.memory.copy(memory, start, target.memory, offset, size)

    def take(self, buffer: int, source: Buffer) -> None:
        """Copy another buffer of a GPU to a buffer there."""
        steps = self._gpus[self._plan.device(buffer)]
        memory, start = steps.at(buffer)
        steps.memory.copy(source.memory, 0, memory, start, source.nbytes)
