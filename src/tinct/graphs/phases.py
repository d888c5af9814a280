"""The steps of a plan in parts, prepared for the memories that its allocations are in one phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from ..sessions import Buffer
from ..sessions.gpu_replay import ReplayStep
from ..sessions.memory import Memory
from .gpu_steps import GpuSteps
from .host_steps import Act, Bytes, HostMemory, HostSequence, is_host_step
from .linking import Links
from .plan import HOST, Dispatch, Plan, Step, Transfer
from .plan_memory import named_by


@dataclass(slots=True)
class HostPart:
    """Consecutive steps on the CPU, with their numbers."""

    sequence: HostSequence
    numbers: list[int]
    links: Links
    _singles: list[HostPart] | None = None

    def singles(self) -> list[HostPart]:
        """Its steps, each as a sequence of its own."""
        if self._singles is None:
            plan = self.sequence.plan
            self._singles = [_host_part(plan, self.links, [number]) for number in self.numbers]
        return self._singles


@dataclass(slots=True)
class GpuPart:
    """Consecutive steps on the memories of one GPU, by their numbers."""

    device: str
    numbers: list[int]


@dataclass(slots=True)
class SinglePart:
    """A step by itself, by its number: it crosses from one device to another, or is an interpreter's."""

    number: int


Part: TypeAlias = HostPart | GpuPart | SinglePart


def _host_part(plan: Plan, links: Links, numbers: list[int]) -> HostPart:
    return HostPart(HostSequence(plan, links, [plan.steps[it] for it in numbers]), numbers, links)


def parts_of(plan: Plan, links: Links) -> list[Part]:
    """The steps of a plan, consecutive ones on one device together."""
    parts: list[Part] = []
    for device, group in groupby(range(len(plan.steps)), lambda it: _device_of(plan, plan.steps[it])):
        numbers = list(group)
        if device == HOST:
            parts.append(_host_part(plan, links, numbers))
        elif device is None:
            parts += map(SinglePart, numbers)
        else:
            parts.append(GpuPart(device, numbers))
    return parts


def _device_of(plan: Plan, step: Step) -> str | None:
    """The device on which neighbours of a step are one part with it."""
    if is_host_step(plan, step):
        return HOST
    devices = {plan.device(it) for it in named_by(step)}
    (device,) = devices if len(devices) == 1 else (None,)
    return None if device == HOST else device  # an interpreter works in the host's memory


class Phase:
    """The steps of a plan, prepared for the memories that its allocations are in this phase."""

    def __init__(self, plan: Plan, host: HostMemory, gpus: Mapping[str, GpuSteps]) -> None:
        self._plan = plan
        self._host = host
        self._gpus = gpus
        self._acts: dict[int, Act] = {}
        self._replays: dict[int, list[Act]] = {}

    def act(self, number: int) -> Act:
        """What does a step that is in no sequence of the CPU."""
        if number not in self._acts:
            self._acts[number] = self._new_act(self._plan.steps[number])
        return self._acts[number]

    def together(self, part: GpuPart) -> list[Act]:
        """What does the steps of a part without a deadline: few replays."""
        first = part.numbers[0]
        if first not in self._replays:
            self._replays[first] = self._gpus[part.device].replays(self._steps(part))
        return self._replays[first]

    def queued(self, part: GpuPart) -> list[ReplayStep] | None:
        """The steps of a part for a replay; None if it must be done by `together`."""
        return self._gpus[part.device].queued(self._steps(part))

    def _steps(self, part: GpuPart) -> list[Step]:
        return [self._plan.steps[it] for it in part.numbers]

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

    def place(self, buffer: int) -> tuple[Memory, int]:
        """The memory of a GPU in which a buffer lies, and where in it."""
        return self._gpus[self._plan.device(buffer)].at(buffer)

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
