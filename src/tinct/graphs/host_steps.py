"""Steps of a plan on the host: sequences of machine code, fills and copies, which one call into C executes, and
interpreters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..devices import device_named
from ..dispatch import Dispatch as DeviceDispatch
from ..ir.handle_facts import HandleFacts, facts_of
from ..ir.limits import MOST_WORKGROUPS
from ..ir.types import BindingPoint
from .arithmetic import failure
from .linking import Links
from .plan import HOST, Computation, DataExtent, Dispatch, Fill, Plan, Step, Transfer
from .time_limit import node_named, seconds_left

if TYPE_CHECKING:
    from ..backend.cpu.sequence_steps import GridFromMemory, Range, SequenceRun
    from ..backend.cpu.sequence_steps import Step as HostStep

Bytes = npt.NDArray[np.uint8]
Act: TypeAlias = "Callable[[float | None], None]"
"""Does a step, by a deadline of `time.monotonic`."""


def is_host_step(plan: Plan, step: Step) -> bool:
    """Whether a sequence can have the step."""
    match step:
        case Fill(buffer):
            return plan.device(buffer) == HOST
        case Transfer():
            return plan.device(step.source) == plan.device(step.target) == HOST
        case Dispatch():
            return step.device == "cpu"


class HostSequence:
    """Consecutive steps on the host's allocations of a plan. If they are all of the plan, its rotations are between the
    executions of a run.
    """

    def __init__(self, plan: Plan, links: Links, steps: Sequence[Step]) -> None:
        from ..backend.cpu.sequence import Sequence as CpuSequence

        self.plan = plan
        self.allocations = [number for number, it in enumerate(plan.allocations) if it.device == HOST]
        """Those whose memories `run` takes, in this order."""
        self.steps = [it for it in steps if not isinstance(it, Dispatch) or 0 not in (it.workgroups or ())]
        self._links = links
        self._position = {number: index for index, number in enumerate(self.allocations)}
        swaps: dict[int, int] = {}
        if len(steps) == len(plan.steps):
            for rotation in plan.rotations:
                places = [self._position[it] for it in rotation]
                swaps.update(zip((*places[1:], places[0]), places, strict=True))
        sizes = [plan.allocations[it].size for it in self.allocations]
        self._sequence = CpuSequence([self._step(it) for it in self.steps], sizes=sizes, swaps=swaps)

    def run(
        self,
        memories: Sequence[Bytes],
        executions: int = 1,
        *,
        until: int | None = None,
        deadline: float | None = None,
        timed: bool = False,
    ) -> SequenceRun:
        """Execute the steps; `until` is the buffer of a flag that ends this. Raises DeviceError and ShaderError."""
        found = self._sequence.run(
            memories,
            executions=executions,
            until=None if until is None else self._range(until, 0, 4),
            timeout=seconds_left(deadline),
            timed=timed,
        )
        if found.refused is not None:
            step = self.steps[found.refused.step]
            assert isinstance(step, Dispatch)
            raise refused(step, found.refused.extents)
        return found

    def _step(self, step: Step) -> HostStep:
        from ..backend.cpu.sequence_steps import CopyStep, DispatchStep, FillStep

        match step:
            case Fill(buffer):
                return FillStep(self._range(buffer))
            case Transfer():
                source = self._range(step.source, step.source_offset, step.size)
                return CopyStep(source, self._range(step.target, step.target_offset, step.size))
            case Dispatch():
                compilation = self._links.compilation(step.leaf).suited_to(self._facts(step))
                ranges = {BindingPoint(it.group, it.binding): self._range(it.buffer) for it in step.bindings}
                written = [BindingPoint(it.group, it.binding) for it in step.bindings if it.is_written]
                return DispatchStep(compilation.machine_code, ranges, written, step.workgroups or self._grid(step))

    def _facts(self, step: Dispatch) -> HandleFacts:
        """What is true of the textures and samplers of a dispatch."""
        handles = {BindingPoint(it.group, it.binding): self.plan.buffers[it.buffer].handle for it in step.bindings}
        heads = {point: it.head for point, it in handles.items() if it is not None}
        types = {it.point: it.type for it in self._links.kernel(step.leaf).bindings if it.point in heads}
        return facts_of(types, heads)

    def _grid(self, step: Dispatch) -> GridFromMemory:
        from ..backend.cpu.sequence_steps import ExtentInMemory, GridFromMemory

        extents = [
            it if isinstance(it, int) else ExtentInMemory(*self._at(it.buffer, it.offset), it.is_signed)
            for it in step.extents
        ]
        return GridFromMemory(tuple(extents), step.workgroup_size, step.capacity)

    def _at(self, buffer: int, offset: int) -> tuple[int, int]:
        place = self.plan.buffers[buffer]
        return self._position[place.allocation], place.offset + offset

    def _range(self, buffer: int, offset: int = 0, size: int | None = None) -> Range:
        from ..backend.cpu.sequence_steps import Range

        place = self.plan.buffers[buffer]
        length = place.size if size is None else size
        return Range(self._position[place.allocation], place.offset + offset, length)


@dataclass(frozen=True, slots=True)
class HostMemory:
    """The host's allocations of a plan, by their numbers, in one phase."""

    plan: Plan
    links: Links
    memories: Sequence[Bytes | None]

    def range(self, buffer: int, offset: int = 0, size: int | None = None) -> Bytes:
        """The bytes of a buffer, or a part of them."""
        place = self.plan.buffers[buffer]
        memory = self.memories[place.allocation]
        assert memory is not None
        start = place.offset + offset
        return memory[start : start + (place.size if size is None else size)]

    def interpreted(self, step: Dispatch) -> Act:
        """What runs a dispatch on an interpreter, on copies."""
        assert step.workgroups is not None
        kernel, workgroups = self.links.kernel(step.leaf), step.workgroups
        points = {BindingPoint(it.group, it.binding): self.range(it.buffer) for it in step.bindings}
        written = [BindingPoint(it.group, it.binding) for it in step.bindings if it.is_written]
        compilation, device = self.links.compilation(step.leaf), device_named(step.device)

        def run(deadline: float | None) -> None:
            copies = {point: bytearray(data.data) for point, data in points.items()}
            device(DeviceDispatch(compilation, kernel.bindings, copies, workgroups, seconds_left(deadline)))
            for point in written:
                points[point][:] = np.frombuffer(copies[point], np.uint8)

        return (lambda deadline: None) if 0 in workgroups else named(step, run)


def refused(step: Dispatch, words: Sequence[int]) -> InputError:
    """The error of a dispatch whose extents, which were read as u32, are too many, or negative."""
    read = zip(step.extents, words, strict=False)
    extents = [_extent(of, word) for of, word in read]
    numbers, node = " x ".join(map(str, extents)), f"node {'/'.join(step.path)!r}"
    if min(extents) < 0:
        return InputError(f"{node}: an extent is negative: {numbers}")
    if step.capacity is not None and prod(extents) > step.capacity:
        return InputError(f"{node}: {numbers} invocations are more than its capacity, {step.capacity}")
    return InputError(f"{node}: {numbers} invocations are more than {MOST_WORKGROUPS} workgroups in a dimension")


def failed(step: Dispatch, computation: Computation, words: tuple[int, int, int]) -> InputError:
    """The error of a computation that has failed."""
    return InputError(f"node {'/'.join(step.path)!r}: {failure(computation.text, computation.form, words)}")


def _extent(of: int | DataExtent, word: int) -> int:
    if isinstance(of, int):
        return of
    return word - (1 << 32) if of.is_signed and word >= 1 << 31 else word


def named(step: Step, run: Act) -> Act:
    """What names the node in errors."""
    if not isinstance(step, Dispatch):
        return run

    def act(deadline: float | None) -> None:
        try:
            with node_named(step.path, deadline):
                run(deadline)
        except InputError as error:
            raise InputError(f"node {'/'.join(step.path)!r}: {error}") from error

    return act
