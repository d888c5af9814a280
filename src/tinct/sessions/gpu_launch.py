"""A dispatch on a GPU that is prepared once and recorded any number of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from ..base.deadline import Deadline
from ..gpu import (
    check_filterable,
    check_room_for_watch,
    cut_error,
    gpu_binding,
    is_cut,
    kernel_for,
    kind_of,
    memory_binding,
)
from ..ir.layout_sizes import minimum_size
from ..ir.samplers import read_sampler
from ..ir.textures import HEADER_BYTES, storage_type
from ..ir.types import Sampler, Texture
from .arguments import Argument
from .copies import Copy
from .gpu_side import GpuPlace, GpuSide
from .launches import Launch, Plan
from .memory import Ledger

if TYPE_CHECKING:
    from ..backend.gpu import GpuQueue, Part, Resident
    from ..pipeline import GpuKernel

_LIMITS: Final = {
    "uniform": "max-uniform-buffer-binding-size",
    "storage": "max-storage-buffer-binding-size",
    "read-only-storage": "max-storage-buffer-binding-size",
}
_ROUNDING: Final = {"uniform": 16, "storage": 4, "read-only-storage": 4}


class GpuLaunch(Launch):
    """A recorded dispatch. What it reads and writes stays on the GPU.

    With a time limit, what is recorded before is waited for, and then the dispatch.
    """

    def __init__(self, plan: Plan, ledger: Ledger, side: GpuSide, *, via_hercules: bool) -> None:
        super().__init__(plan, ledger)
        self._side = side
        self._via_hercules = via_hercules
        self._written = tuple(memory.number for memory in plan.written)
        self._kernel: GpuKernel | None = None
        self._queue: GpuQueue | None = None
        """The queue whose process has what follows."""
        self._packed = b""
        self._kept: Resident | None = None
        """What is bound."""
        self._scratch: dict[int, Resident] = {}
        """For an argument that is read, beside another part of the same memory that is written, a copy to bind: WebGPU
        allows no such use of one buffer (WebGPU, "Usage Scopes").
        """

    def start(self, timeout: float | None) -> None:
        """See `Launch.start`. A process that has died is noticed first, with the memories that are lost."""
        self._side.queue()
        super().start(timeout)

    def run(self, timeout: float | None) -> None:
        """Upload what is stale, and record the dispatch."""
        for argument in self.plan.arguments:
            self._check_limit(argument)
        if timeout is not None:
            self._side.wait()
        limit = Deadline(timeout)
        if self._kernel is None:
            self._kernel = self._compiled(self.plan.compilation.loop_effort, limit)
        for argument in self.plan.arguments:
            argument.memory.need(self._place(argument), self.why(argument))
        if self._kernel.watch is not None:
            self._run_watched(self._kernel, limit)
        else:
            self._record(self._kernel, limit)
            if timeout is not None:
                self._side.wait(limit.left())

    def failure(self, error: BaseException) -> BaseException:
        """The error that names what is torn or lost."""
        return self._side.failure(error)

    def _record(self, kernel: GpuKernel, limit: Deadline) -> None:
        queue = self._side.queue()
        with self._side.watched():
            if self._queue is not queue:
                self._packed = self._bound(queue, kernel, (), limit)
                self._queue = queue
            self._fill_scratch(queue)
            self._side.writes(self._written, self.plan.compilation.entry)
            queue.dispatch(self._packed)
        for argument in self.plan.arguments:
            if argument.is_written:
                argument.memory.wrote(self._place(argument))
        if not self._scratch:
            self.go, self.epoch = self._recording(queue), self.ledger.epoch

    def _recording(self, queue: GpuQueue) -> Callable[[], None]:
        """A function that records the dispatch again."""
        pending, written, entry = self._side.pending, self._written, self.plan.compilation.entry
        dispatch, packed = queue.dispatch, self._packed

        def go() -> None:
            pending[written] = entry
            dispatch(packed)

        return go

    # Preparing

    def prepared(self, timeout: float | None = None) -> Resident | None:
        """What is bound, with the newest bytes of all memories on the GPU, for steps that are replayed.

        None for a dispatch that must be looked after whenever it runs: one whose loops the driver may end early, or
        that reads copies. `timeout` is for compiling. Raises what `start` raises.
        """
        queue, limit = self._side.queue(), Deadline(timeout)
        for argument in self.plan.arguments:
            argument.memory.check()
            self._check_limit(argument)
        if self._kernel is None:
            self._kernel = self._compiled(self.plan.compilation.loop_effort, limit)
        if self._kernel.watch is not None:
            return None
        for argument in self.plan.arguments:
            argument.memory.need(self._place(argument), self.why(argument))
        with self._side.watched():
            if self._queue is not queue:
                self._packed = self._bound(queue, self._kernel, (), limit)
                self._queue = queue
        return None if self._scratch else self._kept

    def _compiled(self, effort: int, limit: Deadline) -> GpuKernel:
        return kernel_for(
            self._side.device,
            self.plan.compilation,
            effort=effort,
            via_hercules=self._via_hercules,
            timeout=limit.left(),
        )

    def _place(self, argument: Argument) -> GpuPlace:
        return self._side.place_of(argument.memory, via_hercules=self._via_hercules)

    def _bound(self, queue: GpuQueue, kernel: GpuKernel, more: tuple[Part, ...], limit: Deadline) -> bytes:
        """The dispatch with everything bound; `more` are storage buffers beside the arguments."""
        from ..backend.gpu import BufferBinding
        from ..backend.gpu.binding_headers import header_of

        self._make_scratch(queue)
        bind = memory_binding if self._via_hercules else gpu_binding
        bindings = [bind(it.info, _header(it)) for it in self.plan.arguments]
        extra = [BufferBinding(it.group, it.binding, "storage", b"") for it in more]
        check_filterable(self._side.adapter, bindings)
        headers = [header_of(it) for it in (*bindings, *extra)]
        pipeline = queue.pipeline(kernel.wgsl, kernel.entry, headers, timeout=limit.left())
        bound = queue.bind(pipeline, (*(self._part(number) for number in range(len(bindings))), *more))
        self._kept = bound
        return queue.packed(bound, self.plan.workgroups)

    def _part(self, number: int) -> Part:
        from ..backend.gpu import Part

        argument = self.plan.arguments[number]
        info, size = argument.info, argument.size
        resident = self._place(argument).resident(argument.memory)
        if isinstance(info.type, Texture):
            size = max(size, minimum_size(storage_type(info.type)))
            return Part(info.group, info.binding, resident, 0, size + -size % 4)
        if isinstance(info.type, Sampler) and not self._via_hercules:
            made = self._side.queue().new_sampler(read_sampler(argument.host().tobytes()))
            return Part(info.group, info.binding, made, 0, size)
        size += -size % _ROUNDING[kind_of(info)]
        if number in self._scratch:
            return Part(info.group, info.binding, self._scratch[number], 0, size)
        return Part(info.group, info.binding, resident, argument.offset, size)

    def _make_scratch(self, queue: GpuQueue) -> None:
        for number, argument in enumerate(self.plan.arguments):
            if not argument.is_written and argument.memory.number in self._written:
                self._scratch[number] = queue.new_buffer(argument.size)

    def _fill_scratch(self, queue: GpuQueue) -> None:
        for number, target in self._scratch.items():
            argument = self.plan.arguments[number]
            source = self._place(argument).resident(argument.memory)
            queue.copy(source, target, argument.size, start=argument.offset)
            self._copied(argument, f"'{self.plan.compilation.entry}' reads it beside another part that it writes")

    def _copied(self, argument: Argument, why: str) -> None:
        name = self._side.name
        self.ledger.copies.add(Copy(argument.memory.label, argument.size, name, name, why))

    def _check_limit(self, argument: Argument) -> None:
        from ..backend.gpu import GpuError

        if isinstance(argument.info.type, Texture):
            return
        most = self._side.adapter.limits[_LIMITS[kind_of(argument.info)]]
        if argument.size > most:
            raise GpuError("limit", f"{argument.info.name} has {argument.size} bytes; {self._side.name} allows {most}")

    # Drivers that end loops early

    def _run_watched(self, kernel: GpuKernel, limit: Deadline) -> None:
        """Run at once, and again from its inputs while the driver cuts loops (see `backend.gpu.faults`)."""
        from ..transforms.pipelines import LOOP_EFFORTS

        compilation, adapter = self.plan.compilation, self._side.adapter
        storages = sum(kind_of(it.info) != "uniform" for it in self.plan.arguments)
        check_room_for_watch(adapter, storages)
        self._side.wait()
        before = self._backups()
        for effort in range(compilation.loop_effort, len(LOOP_EFFORTS)):
            kernel = self._compiled(effort, limit)
            if not self._is_cut(kernel, limit):
                compilation.loop_effort, self._kernel = effort, kernel
                break
            self._restore(before)
        else:
            raise cut_error(adapter, compilation.entry)
        for argument in self.plan.arguments:
            if argument.is_written:
                argument.memory.wrote(self._place(argument))

    def _is_cut(self, kernel: GpuKernel, limit: Deadline) -> bool:
        """Whether the driver has cut a loop in a run that is waited for."""
        from ..backend.gpu import Part
        from ..transforms.core.watch_loops import WATCH_BEFORE

        queue, words = self._side.queue(), np.array(WATCH_BEFORE, np.uint32)
        with self._side.watched():
            watch, at = queue.new_buffer(words.nbytes, words.tobytes()), kernel.watch
            more = () if at is None else (Part(at.group, at.binding, watch, 0, words.nbytes),)
            packed = self._bound(queue, kernel, more, limit)
            self._fill_scratch(queue)
            self._side.writes(self._written, self.plan.compilation.entry)
            queue.dispatch(packed)
            after = queue.read(watch, words.nbytes, timeout=limit.left())
        self._side.done()
        return kernel.watch is not None and is_cut(after)

    def _backups(self) -> dict[int, Resident | bytes]:
        """What the written arguments hold, by their numbers: a copy on the GPU, or on the host for textures."""
        queue, kept = self._side.queue(), dict[int, "Resident | bytes"]()
        with self._side.watched():
            for number, argument in enumerate(self.plan.arguments):
                if not argument.is_written:
                    continue
                memory, source = argument.memory, self._place(argument).resident(argument.memory)
                if source.texture is not None:
                    kept[number] = bytes(queue.read(source, memory.size))
                else:
                    copy = kept[number] = queue.new_buffer(memory.size)
                    queue.copy(source, copy, memory.size + -memory.size % 4)
                self._copied(argument, "the driver may end loops early, and then the dispatch runs again")
        return kept

    def _restore(self, backups: dict[int, Resident | bytes]) -> None:
        queue = self._side.queue()
        with self._side.watched():
            for number, kept in backups.items():
                argument = self.plan.arguments[number]
                memory, target = argument.memory, self._place(argument).resident(argument.memory)
                if isinstance(kept, bytes):
                    queue.write(target, kept)
                else:
                    queue.copy(kept, target, memory.size + -memory.size % 4)


def _header(argument: Argument) -> bytes:
    """What the layout of a binding follows from: for a texture its extents, for a sampler all of it."""
    if isinstance(argument.info.type, Sampler):
        return argument.host().tobytes()
    return argument.memory.host()[:HEADER_BYTES].tobytes() if isinstance(argument.info.type, Texture) else b""
