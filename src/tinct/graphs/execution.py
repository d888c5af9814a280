"""One execution of a plan: its parts, one after another.

Consecutive steps on the CPU are one call into C. Consecutive steps on a GPU are a replay, which is one message. Kernels
that must be looked after run singly. With a deadline, or if they are timed, steps run one by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..base.errors import DeviceError
from ..compilation import Compilation
from .executor_memory import ExecutorMemory
from .gpu_cycles import MOST_RECORDED
from .host_steps import Act, named
from .linking import Links
from .phases import GpuPart, HostPart, Part, Phase, SinglePart
from .plan import Dispatch, Step, Transfer
from .run_record import Record
from .time_limit import seconds_left

if TYPE_CHECKING:
    from ..backend.cpu.sequence_steps import SequenceRun


class Execution:
    """Executes the parts of a plan. `deadline` and `record` are those of one run, which `should_stop` ends."""

    def __init__(
        self,
        memory: ExecutorMemory,
        links: Links,
        parts: Sequence[Part],
        *,
        deadline: float | None,
        record: Record | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._memory = memory
        self._plan = memory.plan
        self._links = links
        self._parts = parts
        self._recorded_steps = 0
        self._should_stop = should_stop
        self.deadline = deadline
        self.record = record

    @property
    def is_free(self) -> bool:
        """Whether steps need not run one by one."""
        return self.deadline is None and self.record is None

    def check_wanted(self) -> None:
        """Raise DeviceError if the run is to end."""
        seconds_left(self.deadline)
        if self._should_stop():
            raise DeviceError("the run was given up")

    def once(self) -> None:
        """Execute the plan."""
        self.check_wanted()
        self._submit_much()
        phase = self._memory.phase()
        for part in self._parts:
            if isinstance(part, HostPart):
                self._host_part(part)
            elif isinstance(part, GpuPart) and self.is_free:
                for act in phase.together(part):
                    act(None)
            else:
                self._one_by_one(phase, part)

    def _submit_much(self) -> None:
        self._recorded_steps += len(self._plan.steps)
        if self._recorded_steps > MOST_RECORDED:
            self._recorded_steps = 0
            for it in self._memory.gpus.values():
                it.submit()

    # On the CPU

    def _host_part(self, part: HostPart) -> None:
        if self.deadline is None:
            self.sequence(part, 1)
        else:
            self.step_by_step(part)

    def step_by_step(self, part: HostPart) -> None:
        """Execute a part so that an error of the time limit names its node."""
        for single in part.singles():
            act = named(single.sequence.plan.steps[single.numbers[0]], partial(self._single, single))
            act(self.deadline)

    def _single(self, single: HostPart, deadline: float | None) -> None:
        self.sequence(single, 1)

    def sequence(self, part: HostPart, executions: int, until: int | None = None) -> SequenceRun:
        """Execute a part so many times, or until the flag in the buffer `until` is set."""
        memories, record = self._memory.host_memories(part.sequence.allocations), self.record
        if record is None:
            return part.sequence.run(memories, executions, until=until, deadline=self.deadline)
        compilations = {
            step.path: self._compilation(step) for step in part.sequence.steps if isinstance(step, Dispatch)
        }
        before = {id(it): sum(it.seconds.values()) for it in compilations.values()}
        found = part.sequence.run(memories, executions, until=until, deadline=self.deadline, timed=True)
        for step, seconds in zip(part.sequence.steps, found.seconds, strict=True):
            if isinstance(step, Transfer):
                record.transferred(self._plan, step, found.executions)
            if isinstance(step, Dispatch):
                compilation = compilations[step.path]
                now = sum(compilation.seconds.values())
                compiling = now - before[id(compilation)]
                record.timed(step, seconds, compiling=compiling, executions=found.executions)
                before[id(compilation)] = now
        return found

    # One by one

    def _one_by_one(self, phase: Phase, part: GpuPart | SinglePart) -> None:
        for number in part.numbers if isinstance(part, GpuPart) else (part.number,):
            if self.record is None:
                phase.act(number)(self.deadline)
            else:
                self._timed(self._plan.steps[number], phase.act(number), self.record)

    def _timed(self, step: Step, act: Act, record: Record) -> None:
        if isinstance(step, Transfer):
            record.transferred(self._plan, step)
        if not isinstance(step, Dispatch):
            act(self.deadline)
            return
        compilation = self._compilation(step)
        start, compiled = time.perf_counter(), sum(compilation.seconds.values())
        act(self.deadline)
        self._memory.session.wait()
        seconds = time.perf_counter() - start
        compiling = min(sum(compilation.seconds.values()) - compiled, seconds)
        record.timed(step, seconds - compiling, compiling=compiling)

    def _compilation(self, step: Dispatch) -> Compilation:
        return self._links.compilation(step.leaf)
