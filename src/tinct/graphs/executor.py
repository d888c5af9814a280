"""Follows a plan any number of times, on memory that it keeps.

Where all steps are a sequence on the CPU, so is a run of many executions, and where all are on one GPU, many executions
are one message (`gpu_cycles`). All others are followed one by one (`execution`).

`until` is exact. On the host the flag is looked at after each execution. On a GPU the flags of a chunk of executions
are kept there and read at once; if one before the last is set, the chunk runs again from the state that it began with,
up to that execution.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

import numpy as np

from ..base.errors import InputError
from ..sessions import Buffer
from .execution import Execution
from .executor_memory import ExecutorMemory, lendable
from .gpu_cycles import MOST_RECORDED, Cycle, GpuCycles
from .host_steps import Bytes, failed, refused
from .indirect import refusal
from .linking import Links
from .numbers_in import Packed
from .phases import GpuPart, HostPart, parts_of
from .plan import HOST, Dispatch, Plan, PlanOutput
from .run_record import Record, Turns
from .time_limit import seconds_left

EVERY: Final = 16
"""The executions on a GPU after which flags are read, if the caller does not say."""

_SHORT_RUN: Final = 2e-2
"""A call into C of fewer seconds is followed by one with four times as many executions."""


class Executor:
    """The memory and the prepared steps of a plan. For one run at a time."""

    def __init__(self, plan: Plan, links: Links) -> None:
        self.plan = plan
        self._links = links
        self._parts = parts_of(plan, links)
        (part,) = self._parts if len(self._parts) == 1 else (None,)
        self._whole = part if isinstance(part, HostPart) else None
        """The part that is all of the plan, if that is a sequence on the CPU."""
        self._memory = ExecutorMemory(plan, links, lendable(plan) if self._whole is not None else frozenset())
        self._cycles = GpuCycles(self._memory, part) if isinstance(part, GpuPart) else None
        self._flags: dict[int, Buffer] = {}
        """The flags of a chunk of executions on a GPU, by their number."""

    def close(self) -> None:
        """Free all memory."""
        self._cycles = None
        self._memory.close()

    @property
    def is_whole(self) -> bool:
        """Whether no memory was lost with a GPU's process."""
        return self._memory.is_whole

    def run(self, given: Mapping[str, Packed], turns: Turns, deadline: float | None, record: Record | None) -> int:
        """Write the inputs and follow the plan; the number of executions. `record` gets times and copies, for which
        each step is waited for. Raises DeviceError, ShaderError and InputError; then the memory is of no more use.
        """
        self._memory.begin(given, record)
        flag = next((it for it in self.plan.outputs if it.name == turns.until), None)
        execution = Execution(
            self._memory, self._links, self._parts, deadline=deadline, record=record, should_stop=turns.should_stop
        )
        try:
            executions = self._run(execution, flag, turns)
        except InputError:
            self._check_extents()
            raise
        finally:
            self._memory.end()
        self._check_extents()
        return executions

    def _run(self, execution: Execution, flag: PlanOutput | None, turns: Turns) -> int:
        if self._whole is not None:
            return self._run_whole(execution, self._whole, flag, turns.most)
        if flag is None:
            assert turns.most is not None
            self._repeat(execution, turns.most)
            return turns.most
        if self.plan.device(flag.buffer) == HOST:
            return self._until_on_host(execution, flag, turns.most)
        return self._until_on_gpu(execution, flag, turns)

    def output(self, output: PlanOutput, record: Record | None) -> Bytes:
        """The bytes of an output, which may change in the next run."""
        return self._memory.output(output, record)

    def _check_extents(self) -> None:
        """Raise InputError for the first step that had extents that are refused, or whose computation failed."""
        found = [refusal(self._memory.phase().read(it).tobytes()) for it in self.plan.errors]
        number, words = min((it for it in found if it is not None), default=(0, None))
        if words is not None:
            step = self.plan.steps[number]
            assert isinstance(step, Dispatch)
            raise refused(step, words) if step.computes is None else failed(step, step.computes, words)

    # A number of executions

    def _repeat(self, execution: Execution, most: int) -> None:
        cycle = self._cycle(execution)
        if cycle is not None:
            self._replay(execution, cycle, most)
            return
        for number in range(most):
            if number:
                self._memory.turn()
            execution.once()

    def _cycle(self, execution: Execution) -> Cycle | None:
        return self._cycles.now() if self._cycles is not None and execution.is_free else None

    def _replay(self, execution: Execution, cycle: Cycle, most: int) -> None:
        assert self._cycles is not None
        done = 0
        while done < most:
            execution.check_wanted()
            done += self._cycles.replay(cycle, done, most - done)

    def _run_whole(self, execution: Execution, part: HostPart, flag: PlanOutput | None, most: int | None) -> int:
        """Executions of a plan that is one sequence, several at once as long as they are short."""
        memory = self._memory
        done, chunk, until = 0, 1, None if flag is None else flag.buffer
        while most is None or done < most:
            if done:
                memory.turn()
            execution.check_wanted()
            start = time.perf_counter()
            if execution.deadline is not None and not done:  # names the node that does not end
                execution.step_by_step(part)
                done += 1
            else:
                found = execution.sequence(part, chunk if most is None else min(chunk, most - done), until)
                order = [memory.order[it] for it in part.sequence.allocations]
                for allocation, place in zip(part.sequence.allocations, found.places, strict=True):
                    memory.order[allocation] = order[place]
                done += found.executions
            if flag is not None:
                if memory.is_set(flag):
                    break
                self._check_extents()
            chunk = chunk * 4 if time.perf_counter() - start < _SHORT_RUN else chunk
        return done

    # Until a flag is set

    def _until_on_host(self, execution: Execution, flag: PlanOutput, most: int | None) -> int:
        done = 0
        while most is None or done < most:
            if done:
                self._memory.turn()
            execution.once()
            done += 1
            self._check_extents()  # without what refused steps would have written, the flag may never be set
            if self._memory.is_set(flag):
                break
        return done

    def _until_on_gpu(self, execution: Execution, flag: PlanOutput, turns: Turns) -> int:
        every, done = 1 if self._may_refuse_at_once() else turns.every or EVERY, 0
        memory, record = self._memory, execution.record
        gpu = memory.gpu(self.plan.device(flag.buffer))
        if every not in self._flags:
            self._flags[every] = gpu.new(4 * every, "flags")
        flags = self._flags[every]
        while turns.most is None or done < turns.most:
            if done:
                memory.turn()
            chunk = every if turns.most is None else min(every, turns.most - done)
            saved, order = memory.saved_inputs(record) if chunk > 1 else [], list(memory.order)
            self._execute_flagged(execution, chunk, flag, flags)
            found = np.flatnonzero(gpu.download(flags.memory, 0, 4 * chunk).view(np.uint32))
            seconds_left(execution.deadline)
            if not found.size:
                self._check_extents()
                done += chunk
                continue
            exact = int(found[0]) + 1
            if exact < chunk:
                memory.order = order
                memory.forget_refusals()
                memory.restore(saved, record)
                self._repeat(execution, exact)
            return done + exact
        return done

    def _may_refuse_at_once(self) -> bool:
        """Whether a step on the CPU may end a run, which it must not do in an execution after the exact one."""
        dispatches = (it for it in self.plan.steps if isinstance(it, Dispatch))
        return any(it.workgroups is None and it.arguments is None for it in dispatches)

    def _execute_flagged(self, execution: Execution, chunk: int, flag: PlanOutput, flags: Buffer) -> None:
        """Execute the plan so many times, each of which leaves its flag in `flags`."""
        cycle = self._cycle(execution)
        if self._cycles is not None and cycle is not None and chunk * len(self.plan.steps) <= MOST_RECORDED:
            execution.check_wanted()
            self._cycles.replay_flagged(cycle, chunk, flag, flags)
            return
        for number in range(chunk):
            if number:
                self._memory.turn()
            execution.once()
            self._memory.phase().keep(flag.buffer, flags, 4 * number, 4)
