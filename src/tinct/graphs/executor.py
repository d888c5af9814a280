"""Follows a plan any number of times, on memory that it keeps.

Each allocation of the plan has a memory. In a repetition, rotations let memories change places, so that an allocation
has another one in each *phase*. Consecutive steps on the CPU are a sequence, which is one call into C; where these are
all steps of the plan, so is a run of many executions. Consecutive steps on a GPU are a replay, which is one message;
where these are all steps of the plan, so are many executions. Kernels that must be looked after run singly. Steps are
prepared for a phase when it first comes. With a deadline, or if they are timed, they run one by one.

`until` is exact. On the host the flag is looked at after each execution. On a GPU the flags of a chunk of executions
are kept there and read at once; if one before the last is set, the chunk runs again from the state that it began with,
up to that execution.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from ..backend.cpu.aligned import aligned_zeros
from ..base.errors import DeviceError, InputError
from ..compilation import Compilation
from ..sessions import Buffer, Copy, Session
from ..sessions.gpu_replay import CopyStep, GpuReplay, ReplayStep
from .gpu_steps import GpuMemory, GpuSteps
from .host_steps import Act, Bytes, HostMemory, named, refused
from .indirect import ERROR_BYTES, refusal
from .linking import Links
from .machine import NodeTiming
from .numbers_in import Packed
from .phases import GpuPart, HostPart, Phase, SinglePart, parts_of
from .plan import HOST, Dispatch, Piece, Plan, PlanOutput, Step, Transfer
from .time_limit import seconds_left

if TYPE_CHECKING:
    from ..backend.cpu.sequence_steps import SequenceRun

EVERY: Final = 16
"""The executions on a GPU after which flags are read, if the caller does not say."""

_MOST_RECORDED: Final = 512
"""The steps after which what is recorded for GPUs is sent, so that they begin."""

_LONGEST_CYCLE: Final = 64
"""The most phases, after which allocations have their first memories again, of a repetition that is replayed."""

_SHORT_RUN: Final = 2e-2
"""A call into C of fewer seconds is followed by one with four times as many executions."""

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


@dataclass(frozen=True, slots=True)
class _Cycle:
    """Executions that are replayed: the memories of allocations in each, until they are the first ones again."""

    orders: list[tuple[int, ...]]
    steps: list[list[ReplayStep]]
    replay: GpuReplay


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
        self._phases: dict[tuple[int, ...], Phase] = {}
        self._cycles: dict[tuple[int, ...], _Cycle | None] = {}
        self._flags: dict[int, Buffer] = {}
        """The flags of a chunk of executions on a GPU, by their number."""
        self._chunks: dict[tuple[tuple[int, ...], Buffer, int], GpuReplay] = {}
        """Replays of chunks of executions with flags, by the memories that they begin with."""
        self._rooms: dict[int, Buffer] = {}
        """For inputs that change on a GPU, memory for copies, by their buffers."""
        self._constants = self._constant_data()
        self._parts = parts_of(plan, links)
        self._recorded_steps = 0
        self._should_stop: Callable[[], bool] = _never

    def close(self) -> None:
        """Free all memory."""
        self._phases.clear()
        self._cycles.clear()
        self._chunks.clear()
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
        try:
            executions = self._run(flag, turns, deadline, record)
        except InputError:
            self._check_extents()
            raise
        self._check_extents()
        return executions

    def _run(self, flag: Flag | None, turns: Turns, deadline: float | None, record: Record | None) -> int:
        if len(self._parts) == 1 and isinstance(self._parts[0], HostPart):
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

    def _check_extents(self) -> None:
        """Raise InputError if a step on a GPU had extents that are refused: of several, the first one's."""
        found = [refusal(self._phase().read(it).tobytes()) for it in self.plan.errors]
        number, words = min((it for it in found if it is not None), default=(0, None))
        if words is not None:
            step = self.plan.steps[number]
            assert isinstance(step, Dispatch)
            raise refused(step, words)

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
        cycle = self._cycle() if deadline is None and record is None else None
        if cycle is not None:
            self._replay(cycle, most)
            return
        for number in range(most):
            if number:
                self._turn()
            self._execute(deadline, record)

    def _replay(self, cycle: _Cycle, most: int) -> None:
        """Executions of a plan whose steps are all on one GPU, many by one message."""
        orders, done = cycle.orders, 0
        at_once = max(1, _MOST_RECORDED // max(1, len(self.plan.steps)))
        while done < most:
            self._check_wanted(None)
            count = min(at_once, most - done)
            cycle.replay.prepare()
            cycle.replay.run(count, phase=done % len(orders))
            done += count
        self._order = list(orders[(done - 1) % len(orders)])

    def _cycle(self) -> _Cycle | None:
        """The replay of executions from the memories on that allocations are now; None if there can be none."""
        (part,) = self._parts if len(self._parts) == 1 else (None,)
        if not isinstance(part, GpuPart):
            return None
        first = tuple(self._order)
        if first not in self._cycles:
            self._cycles[first] = self._new_cycle(part)
        return self._cycles[first]

    def _new_cycle(self, part: GpuPart) -> _Cycle | None:
        first, orders, phases = list(self._order), list[tuple[int, ...]](), list[list[ReplayStep]]()
        try:
            while tuple(self._order) not in orders and len(orders) <= _LONGEST_CYCLE:
                queued = self._phase().queued(part)
                if queued is None:
                    return None
                orders.append(tuple(self._order))
                phases.append(queued)
                self._turn()
        finally:
            self._order = first
        if len(orders) > _LONGEST_CYCLE:
            return None
        return _Cycle(orders, phases, self._gpu(part.device).replay(self.plan.graph, phases))

    def _run_whole(
        self, part: HostPart, flag: Flag | None, most: int | None, deadline: float | None, record: Record | None
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

    def _step_by_step(self, part: HostPart, deadline: float, record: Record | None) -> None:
        for single in part.singles():
            act = named(single.sequence.plan.steps[single.numbers[0]], partial(self._run_single, single, record))
            act(deadline)

    def _run_single(self, single: HostPart, record: Record | None, deadline: float | None) -> None:
        self._run_part(single, 1, None, deadline, record)

    def _run_part(
        self, part: HostPart, executions: int, until: int | None, deadline: float | None, record: Record | None
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
            self._check_extents()  # without what refused steps would have written, the flag may never be set
            if _is_set(self._phase().read(flag.buffer)):
                break
        return done

    def _until_on_gpu(self, flag: Flag, turns: Turns, deadline: float | None, record: Record | None) -> int:
        every, done = 1 if self._may_refuse_at_once() else turns.every or EVERY, 0
        memory = self._gpu(self.plan.device(flag.buffer))
        if every not in self._flags:
            self._flags[every] = memory.new(4 * every, "flags")
        flags = self._flags[every]
        while turns.most is None or done < turns.most:
            if done:
                self._turn()
            chunk = every if turns.most is None else min(every, turns.most - done)
            saved, order = self._saved(record) if chunk > 1 else [], list(self._order)
            self._execute_flagged(chunk, flag, flags, deadline, record)
            found = np.flatnonzero(memory.download(flags.memory, 0, 4 * chunk).view(np.uint32))
            seconds_left(deadline)
            if not found.size:
                self._check_extents()
                done += chunk
                continue
            exact = int(found[0]) + 1
            if exact < chunk:
                self._order = order
                self._forget_extents()
                self._restore(saved, record)
                self._repeat(exact, deadline, record)
            return done + exact
        return done

    def _forget_extents(self) -> None:
        """Forget refused extents, which may be of executions after the one that was asked for."""
        for it in self.plan.errors:
            self._phase().write(it, np.zeros(ERROR_BYTES, np.uint8))

    def _may_refuse_at_once(self) -> bool:
        """Whether a step on the CPU may end a run, which it must not do in an execution after the exact one."""
        dispatches = (it for it in self.plan.steps if isinstance(it, Dispatch))
        return any(it.workgroups is None and it.arguments is None for it in dispatches)

    def _execute_flagged(
        self, chunk: int, flag: Flag, flags: Buffer, deadline: float | None, record: Record | None
    ) -> None:
        cycle = self._cycle() if deadline is None and record is None else None
        if cycle is not None and chunk * len(self.plan.steps) <= _MOST_RECORDED:
            self._check_wanted(None)
            replay = self._flagged(cycle, chunk, flag, flags)
            replay.prepare()
            replay.run(1)
            self._order = list(cycle.orders[(chunk - 1) % len(cycle.orders)])
            return
        for number in range(chunk):
            if number:
                self._turn()
            self._execute(deadline, record)
            self._phase().keep(flag.buffer, flags, 4 * number, 4)

    def _flagged(self, cycle: _Cycle, chunk: int, flag: Flag, flags: Buffer) -> GpuReplay:
        """So many executions, each of which leaves its flag in `flags`."""
        key = cycle.orders[0], flags, chunk
        if key not in self._chunks:
            device, steps = self.plan.device(flag.buffer), list[ReplayStep]()
            for number in range(chunk):
                phase = number % len(cycle.orders)
                memory, start = self._phases[cycle.orders[phase]].place(flag.buffer)
                steps += [*cycle.steps[phase], CopyStep(memory, start, flags.memory, 4 * number, 4)]
            self._chunks[key] = self._gpu(device).replay(self.plan.graph, [steps])
        return self._chunks[key]

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
            if isinstance(part, HostPart):
                if deadline is None:
                    self._run_part(part, 1, None, deadline, record)
                else:
                    self._step_by_step(part, deadline, record)
            elif isinstance(part, GpuPart) and record is None and deadline is None:
                for act in phase.together(part):
                    act(None)
            else:
                self._one_by_one(phase, part, deadline, record)

    def _one_by_one(
        self, phase: Phase, part: GpuPart | SinglePart, deadline: float | None, record: Record | None
    ) -> None:
        for number in part.numbers if isinstance(part, GpuPart) else (part.number,):
            if record is None:
                phase.act(number)(deadline)
            else:
                self._recorded(self.plan.steps[number], phase.act(number), deadline, record)

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

    def _phase(self) -> Phase:
        """The prepared steps for the memories that allocations are now."""
        key = tuple(self._order)
        if key not in self._phases:
            hosts, buffers = [self._host[it] for it in key], [self._buffers[it] for it in key]
            gpus = {name: GpuSteps(self.plan, self._links, it, buffers) for name, it in self._gpus.items()}
            self._phases[key] = Phase(self.plan, HostMemory(self.plan, self._links, hosts), gpus)
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
