"""Follows a plan any number of times, on memory that it keeps.

Each allocation of the plan has a memory. In a repetition, rotations let memories change places, so that an allocation
has another one in each *phase*. Consecutive steps on the CPU are a sequence, which is one call into C; where these are
all steps of the plan, so is a run of many executions. Other steps are prepared for a phase when it first comes.

`until` is exact. On the host the flag is looked at after each execution. On a GPU the flags of a chunk of executions
are kept there and read at once; if one before the last is set, the chunk runs again from the state that it began with,
up to that execution.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..base.errors import DeviceError
from ..compilation import Compilation
from ..sessions import Buffer, Copy, Session
from .gpu_steps import GpuMemory, GpuSteps
from .host_steps import Act, Bytes, HostMemory, HostSequence, aligned_zeros, is_host_step, named, seconds_left
from .linking import Links
from .machine import NodeTiming
from .plan import HOST, Dispatch, Piece, Plan, PlanOutput, Step, Transfer
from .plan_memory import named_by
from .planner import Packed

EVERY: Final = 16
"""The executions on a GPU after which flags are read, if the caller does not say."""

_MOST_RECORDED: Final = 512
"""The steps after which what is recorded for GPUs is sent, so that they begin."""

_SHORT_RUN: Final = 2e-2
"""A call into C of fewer seconds is followed by one with four times as many executions."""

if TYPE_CHECKING:
    from ..backend.cpu.sequence_steps import SequenceRun

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
        self._parts = _parts(plan, links)
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
        flag = next((it for it in self.plan.outputs if it.name == turns.until), None)
        if len(self._parts) == 1 and isinstance(self._parts[0], _HostPart):
            return self._run_whole(self._parts[0], flag, turns.most, deadline, record)
        if flag is None:
            assert turns.most is not None
            self._repeat(turns.most, deadline, record)
            return turns.most
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

    def _run_whole(
        self, part: _HostPart, flag: Flag | None, most: int | None, deadline: float | None, record: Record | None
    ) -> int:
        """Executions of a plan that is one sequence, several at once as long as they are short."""
        done, chunk, until = 0, 1, None if flag is None else flag.buffer
        while most is None or done < most:
            if done:
                self._turn()
            self._check_wanted(deadline)
            start = time.perf_counter()
            if deadline is not None and not done:  # names the node that does not end
                self._step_by_step(part, deadline, record)
                done += 1
            else:
                count = chunk if most is None else min(chunk, most - done)
                found = self._run_part(part, count, until, deadline, record)
                order = [self._order[it] for it in part.sequence.allocations]
                for allocation, place in zip(part.sequence.allocations, found.places, strict=True):
                    self._order[allocation] = order[place]
                done += found.executions
            if flag is not None and _is_set(self._phase().read(flag.buffer)):
                break
            chunk = chunk * 4 if time.perf_counter() - start < _SHORT_RUN else chunk
        return done

    def _step_by_step(self, part: _HostPart, deadline: float, record: Record | None) -> None:
        for single in part.singles():
            act = named(single.sequence.plan.steps[single.numbers[0]], partial(self._run_single, single, record))
            act(deadline)

    def _run_single(self, single: _HostPart, record: Record | None, deadline: float | None) -> None:
        self._run_part(single, 1, None, deadline, record)

    def _run_part(
        self, part: _HostPart, executions: int, until: int | None, deadline: float | None, record: Record | None
    ) -> SequenceRun:
        memories = [self._host[self._order[number]] for number in part.sequence.allocations]
        known = [it for it in memories if it is not None]
        if record is None:
            return part.sequence.run(known, executions, until=until, deadline=deadline)
        compilations = {
            step.path: self._compilation(step) for step in part.sequence.steps if isinstance(step, Dispatch)
        }
        before = {id(it): sum(it.seconds.values()) for it in compilations.values()}
        found = part.sequence.run(known, executions, until=until, deadline=deadline, timed=True)
        for step, seconds in zip(part.sequence.steps, found.seconds, strict=True):
            if isinstance(step, Transfer):
                self._record_transfer(step, record, found.executions)
            if isinstance(step, Dispatch):
                compilation = compilations[step.path]
                now = sum(compilation.seconds.values())
                _time(record, step, seconds, now - before[id(compilation)], found.executions)
                before[id(compilation)] = now
        return found

    def _compilation(self, step: Dispatch) -> Compilation:
        return self._links.kernels[step.leaf].compilation(self._links.constants[step.leaf])

    def _check_wanted(self, deadline: float | None) -> None:
        seconds_left(deadline)
        if self._should_stop():
            raise DeviceError("the run was given up")

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
        self._check_wanted(deadline)
        self._recorded_steps += len(self.plan.steps)
        if self._recorded_steps > _MOST_RECORDED:
            self._recorded_steps = 0
            for it in self._gpus.values():
                it.submit()
        phase = self._phase()
        for part in self._parts:
            if isinstance(part, _HostPart):
                if deadline is None:
                    self._run_part(part, 1, None, deadline, record)
                else:
                    self._step_by_step(part, deadline, record)
            elif record is None:
                phase.act(part)(deadline)
            else:
                self._recorded(self.plan.steps[part], phase.act(part), deadline, record)

    def _recorded(self, step: Step, act: Act, deadline: float | None, record: Record) -> None:
        if isinstance(step, Transfer):
            self._record_transfer(step, record)
        if not isinstance(step, Dispatch):
            act(deadline)
            return
        compilation = self._compilation(step)
        start, compiled = time.perf_counter(), sum(compilation.seconds.values())
        act(deadline)
        self._session.wait()
        seconds = time.perf_counter() - start
        compiling = min(sum(compilation.seconds.values()) - compiled, seconds)
        _time(record, step, seconds - compiling, compiling, 1)

    def _record_transfer(self, step: Transfer, record: Record, executions: int = 1) -> None:
        devices = self.plan.device(step.source), self.plan.device(step.target)
        record.copies += [Copy(self.plan.buffers[step.target].label, step.size, *devices, step.why)] * executions

    # Memory

    def _phase(self) -> _Phase:
        """The prepared steps for the memories that allocations are now."""
        key = tuple(self._order)
        if key not in self._phases:
            hosts, buffers = [self._host[it] for it in key], [self._buffers[it] for it in key]
            gpus = {name: GpuSteps(self.plan, self._links, it, buffers) for name, it in self._gpus.items()}
            self._phases[key] = _Phase(self.plan, HostMemory(self.plan, self._links, hosts), gpus)
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


def _time(record: Record, step: Dispatch, seconds: float, compiling: float, executions: int) -> None:
    timing = record.timings.setdefault(step.path, NodeTiming())
    timing.compile += compiling
    timing.run += seconds
    timing.dispatches += executions


@dataclass(slots=True)
class _HostPart:
    """Consecutive steps on the CPU, with their numbers."""

    sequence: HostSequence
    numbers: list[int]
    links: Links
    _singles: list[_HostPart] | None = None

    def singles(self) -> list[_HostPart]:
        """Its steps, each as a sequence of its own."""
        if self._singles is None:
            plan = self.sequence.plan
            self._singles = [_host_part(plan, self.links, [number]) for number in self.numbers]
        return self._singles


_Part: TypeAlias = "_HostPart | int"
"""Steps on the CPU, or the number of another step."""


def _host_part(plan: Plan, links: Links, numbers: list[int]) -> _HostPart:
    return _HostPart(HostSequence(plan, links, [plan.steps[it] for it in numbers]), numbers, links)


def _parts(plan: Plan, links: Links) -> list[_Part]:
    """The steps of a plan, consecutive ones on the CPU together."""
    parts: list[_Part] = []
    for is_host, group in groupby(range(len(plan.steps)), lambda it: is_host_step(plan, plan.steps[it])):
        numbers = list(group)
        parts += [_host_part(plan, links, numbers)] if is_host else numbers
    return parts


class _Phase:
    """The steps of a plan, prepared for the memories that its allocations are in this phase."""

    def __init__(self, plan: Plan, host: HostMemory, gpus: Mapping[str, GpuSteps]) -> None:
        self._plan = plan
        self._host = host
        self._gpus = gpus
        self._acts: dict[int, Act] = {}

    def act(self, number: int) -> Act:
        """What does a step that is in no sequence of the CPU."""
        if number not in self._acts:
            self._acts[number] = self._new_act(self._plan.steps[number])
        return self._acts[number]

    def _new_act(self, step: Step) -> Act:
        if isinstance(step, Transfer) and self._plan.device(step.source) != self._plan.device(step.target):
            return lambda deadline: self._cross(step)
        if isinstance(step, Dispatch) and step.device not in self._gpus:
            return self._host.interpreted(step)
        buffer = step.target if isinstance(step, Transfer) else named_by(step)[0]
        return self._gpus[step.device if isinstance(step, Dispatch) else self._plan.device(buffer)].act(step)

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
