"""Executions of a plan whose steps are all on one GPU, many by one message.

In a repetition, memories change places, and after some executions they are in their first places again. The steps of
all executions up to there, a *cycle*, are sent once, and replayed from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..sessions import Buffer
from ..sessions.gpu_replay import CopyStep, GpuReplay, ReplayStep
from .executor_memory import ExecutorMemory
from .phases import GpuPart
from .plan import PlanOutput

MOST_RECORDED: Final = 512
"""The steps after which what is recorded for GPUs is sent, so that they begin."""

_LONGEST_CYCLE: Final = 64
"""The most executions of a cycle."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """Executions that are replayed: the memories of allocations in each, until they are the first ones again."""

    orders: list[tuple[int, ...]]
    steps: list[list[ReplayStep]]
    replay: GpuReplay


class GpuCycles:
    """The cycles of a plan that is the one part `part`, by the memories that they begin with."""

    def __init__(self, memory: ExecutorMemory, part: GpuPart) -> None:
        self._memory = memory
        self._part = part
        self._cycles: dict[tuple[int, ...], Cycle | None] = {}
        self._flagged: dict[tuple[tuple[int, ...], Buffer, int], GpuReplay] = {}

    def now(self) -> Cycle | None:
        """The cycle that begins with the memories that allocations are now; None if there can be none."""
        first = tuple(self._memory.order)
        if first not in self._cycles:
            self._cycles[first] = self._new()
        return self._cycles[first]

    def replay(self, cycle: Cycle, start: int, most: int) -> int:
        """Replay executions, the first of which is number `start`; how many, at most `most`."""
        memory = self._memory
        count = min(max(1, MOST_RECORDED // max(1, len(memory.plan.steps))), most)
        cycle.replay.prepare()
        cycle.replay.run(count, phase=start % len(cycle.orders))
        memory.order = list(cycle.orders[(start + count - 1) % len(cycle.orders)])
        return count

    def replay_flagged(self, cycle: Cycle, count: int, flag: PlanOutput, flags: Buffer) -> None:
        """Replay so many executions, each of which leaves its flag in `flags`."""
        replay = self._with_flags(cycle, count, flag, flags)
        replay.prepare()
        replay.run(1)
        self._memory.order = list(cycle.orders[(count - 1) % len(cycle.orders)])

    def _with_flags(self, cycle: Cycle, count: int, flag: PlanOutput, flags: Buffer) -> GpuReplay:
        memory = self._memory
        key = cycle.orders[0], flags, count
        if key not in self._flagged:
            steps = list[ReplayStep]()
            for number in range(count):
                index = number % len(cycle.orders)
                memory.order = list(cycle.orders[index])
                source, start = memory.phase().place(flag.buffer)
                steps += [*cycle.steps[index], CopyStep(source, start, flags.memory, 4 * number, 4)]
            gpu = memory.gpu(memory.plan.device(flag.buffer))
            self._flagged[key] = gpu.replay(memory.plan.graph, [steps])
        return self._flagged[key]

    def _new(self) -> Cycle | None:
        memory = self._memory
        first, orders, phases = list(memory.order), list[tuple[int, ...]](), list[list[ReplayStep]]()
        try:
            while tuple(memory.order) not in orders and len(orders) <= _LONGEST_CYCLE:
                queued = memory.phase().queued(self._part)
                if queued is None:
                    return None
                orders.append(tuple(memory.order))
                phases.append(queued)
                memory.turn()
        finally:
            memory.order = first
        if len(orders) > _LONGEST_CYCLE:
            return None
        return Cycle(orders, phases, memory.gpu(self._part.device).replay(memory.plan.graph, phases))
