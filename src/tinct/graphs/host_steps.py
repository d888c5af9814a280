"""Steps of a plan on the host: machine code and interpreters on arrays of bytes, fills and copies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.errors import DeviceError, InputError
from ..devices import device_named
from ..dispatch import Dispatch as DeviceDispatch
from ..ir.types import BindingPoint
from .linking import Links
from .plan import Dispatch, Fill, Plan, Step, Transfer

if TYPE_CHECKING:
    from ..backend.cpu.bound_dispatch import BoundDispatch

Bytes = npt.NDArray[np.uint8]
Act = Callable[["float | None"], None]
"""Does a step, by a deadline of `time.monotonic`."""

_ALIGNMENT = 64


def aligned_zeros(size: int) -> Bytes:
    """Zeroed bytes at the alignment of a line of the cache."""
    room = np.zeros(size + _ALIGNMENT, np.uint8)
    start = -int(room.__array_interface__["data"][0]) % _ALIGNMENT
    return room[start : start + size]


def seconds_left(deadline: float | None) -> float | None:
    """The seconds until a deadline, at least some. Raises DeviceError when it has passed."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeviceError("the graph did not end in time")
    return left


@dataclass(frozen=True, slots=True)
class HostSteps:
    """Steps on the host's allocations of a plan, `memories`, by the numbers of allocations."""

    plan: Plan
    links: Links
    memories: Sequence[Bytes | None]

    def act(self, step: Step) -> Act:
        """What does a step."""
        match step:
            case Fill(buffer):
                return self._fill(buffer)
            case Transfer():
                return self._copy(step)
            case Dispatch():
                return self._dispatch(step)

    def range(self, buffer: int, offset: int = 0, size: int | None = None) -> Bytes:
        """The bytes of a buffer, or a part of them."""
        place = self.plan.buffers[buffer]
        memory = self.memories[place.allocation]
        assert memory is not None
        start = place.offset + offset
        return memory[start : start + (place.size if size is None else size)]

    def _fill(self, buffer: int) -> Act:
        target = self.range(buffer)

        def fill(deadline: float | None) -> None:
            target[:] = 0

        return fill

    def _copy(self, step: Transfer) -> Act:
        source = self.range(step.source, step.source_offset, step.size)
        target = self.range(step.target, step.target_offset, step.size)

        def copy(deadline: float | None) -> None:
            target[:] = source

        return copy

    def _dispatch(self, step: Dispatch) -> Act:
        assert step.workgroups is not None
        if 0 in step.workgroups:
            return lambda deadline: None
        points = {BindingPoint(it.group, it.binding): self.range(it.buffer) for it in step.bindings}
        written = [BindingPoint(it.group, it.binding) for it in step.bindings if it.is_written]
        run = self._compiled if step.device == "cpu" else self._interpreted
        return named(step, run(step, points, written))

    def _compiled(self, step: Dispatch, points: dict[BindingPoint, Bytes], written: list[BindingPoint]) -> Act:
        from ..backend.cpu.bound_dispatch import BoundDispatch
        from ..backend.cpu.tiered import CpuDispatch

        assert step.workgroups is not None
        compilation = self.links.kernels[step.leaf].compilation(self.links.constants[step.leaf])
        job = CpuDispatch({point: data.data for point, data in points.items()}, written, step.workgroups)
        bound: BoundDispatch = BoundDispatch(compilation.machine_code, job)

        def run(deadline: float | None) -> None:
            if deadline is None:
                bound.go()
                return
            bound.prepare(seconds_left(deadline))
            bound.run(seconds_left(deadline))

        return run

    def _interpreted(self, step: Dispatch, points: dict[BindingPoint, Bytes], written: list[BindingPoint]) -> Act:
        assert step.workgroups is not None
        kernel, workgroups = self.links.kernels[step.leaf], step.workgroups
        compilation, device = kernel.compilation(self.links.constants[step.leaf]), device_named(step.device)

        def run(deadline: float | None) -> None:
            copies = {point: bytearray(data.data) for point, data in points.items()}
            device(DeviceDispatch(compilation, kernel.bindings, copies, workgroups, seconds_left(deadline)))
            for point in written:
                points[point][:] = np.frombuffer(copies[point], np.uint8)

        return run


def named(step: Dispatch, run: Act) -> Act:
    """What names the node in errors."""
    node = "/".join(step.path)

    def act(deadline: float | None) -> None:
        try:
            run(deadline)
        except DeviceError as error:
            raise DeviceError(f"node {node!r}: {error}") from error
        except InputError as error:
            raise InputError(f"node {node!r}: {error}") from error

    return act
