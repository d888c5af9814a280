"""Records dispatches and copies for wgpu. Lives in the worker process only.

Commands are recorded into one encoder, which is submitted on demand and from time to time, so that no command buffer
grows without bounds. Dispatches in a row share a pass: wgpu makes each see what those before it have written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from . import webgpu
from .binding_headers import BindingHeader
from .clock import DeviceClock
from .driver_threads import DriverThreads
from .shared_bytes import Blob

_DISPATCH: Final = struct.Struct("<4I")
_COMMANDS: Final = 2048
"""The commands after which an encoder is submitted."""


class Pipeline(Protocol):
    """A compiled entry point with the layouts of its bind groups."""

    @property
    def handle(self) -> webgpu.Handle: ...  # noqa: D102
    @property
    def group_layouts(self) -> Sequence[webgpu.Handle]: ...  # noqa: D102


class PipelineOf(Protocol):
    """Compiles a WGSL text, or finds what was made of it."""

    def __call__(self, wgsl: str, entry: str, bindings: Sequence[BindingHeader], /) -> Pipeline:
        """The pipeline of an entry point with these bindings."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """What is bound at `@group(group) @binding(binding)`, as WebGPU describes a resource."""

    group: int
    binding: int
    resource: object


@dataclass(frozen=True, slots=True)
class BoundPipeline:
    """A pipeline with its bind groups 0, 1, …"""

    pipeline: webgpu.Handle
    groups: Sequence[webgpu.Handle]


def bind(device: webgpu.Device, pipeline: Pipeline, entries: Iterable[Entry]) -> BoundPipeline:
    """The pipeline with what is bound for it."""
    groups: list[list[webgpu.Descriptor]] = [[] for _ in pipeline.group_layouts]
    for entry in entries:
        groups[entry.group].append({"binding": entry.binding, "resource": entry.resource})
    pairs = zip(pipeline.group_layouts, groups, strict=True)
    return BoundPipeline(
        pipeline.handle, [device.create_bind_group(layout=layout, entries=group) for layout, group in pairs]
    )


class Recorder:
    """The encoder of a device, and the pass that is open in it. `threads` are those of a software driver."""

    def __init__(self, device: webgpu.Device, threads: DriverThreads | None) -> None:
        self._device = device
        self._threads = threads
        self._encoder: webgpu.CommandEncoder | None = None
        self._pass: webgpu.DirectPass | None = None
        self._set: BoundPipeline | None = None
        self._commands = 0

    def dispatch(self, bound: BoundPipeline, workgroups: tuple[int, int, int]) -> None:
        """Record a dispatch; none if one of the numbers is 0."""
        if 0 in workgroups:
            return
        self._count(1)
        compute_pass = self._inside_pass()
        if bound is not self._set:
            self._change(compute_pass, bound)
        compute_pass.dispatch_workgroups(*workgroups)

    def dispatch_indirect(self, bound: BoundPipeline, arguments: webgpu.Buffer, offset: int) -> None:
        """Record a dispatch whose numbers of workgroups are in a buffer when it begins: three u32 from `offset` on."""
        self._count(1)
        compute_pass = self._inside_pass()
        if bound is not self._set:
            self._change(compute_pass, bound)
        compute_pass.dispatch_workgroups_indirect(arguments, offset)

    def dispatch_all(self, bound: Mapping[int, BoundPipeline], packed: Blob) -> None:
        """Record dispatches, each four u32: the number of a bound pipeline, then of workgroups, of which none is 0."""
        self._count(len(packed) // _DISPATCH.size)
        compute_pass = self._inside_pass()
        dispatch, change, current = compute_pass.dispatch_workgroups, self._change, self._set
        for number, x, y, z in _DISPATCH.iter_unpack(packed):
            wanted = bound[number]
            if wanted is not current:
                change(compute_pass, wanted)
                current = wanted
            dispatch(x, y, z)

    def _change(self, compute_pass: webgpu.DirectPass, bound: BoundPipeline) -> None:
        """Set the pipeline and the bind groups, where another was set."""
        if self._set is None or bound.pipeline is not self._set.pipeline:
            compute_pass.set_pipeline(bound.pipeline)
        for index, group in enumerate(bound.groups):
            compute_pass.set_bind_group(index, group)
        self._set = bound

    def copy(self, source: webgpu.Buffer, start: int, target: webgpu.Buffer, target_start: int, size: int) -> None:
        """Record a copy of `size` bytes between buffers; `start` and `target_start` are the first ones."""
        self._outside_passes().copy_buffer_to_buffer(source, start, target, target_start, size)

    def copy_texture(self, source: webgpu.Texture, target: webgpu.Texture, size: tuple[int, int, int]) -> None:
        """Record a copy of the first level of a texture, of that size."""
        self._outside_passes().copy_texture_to_texture(_first_level(source), _first_level(target), size)

    def clear(self, buffer: webgpu.Buffer, start: int = 0, size: int | None = None) -> None:
        """Record that a buffer, or `size` bytes of it from `start` on, is filled with zeros."""
        self._outside_passes().clear_buffer(buffer, start, size)

    def stamp(self, clock: DeviceClock, number: int) -> None:
        """Record a stamp of a clock: 0, or 1 for the end."""
        clock.stamp(self._outside_passes(), number)

    def elapsed(self, clock: DeviceClock) -> float:
        """Submit what is recorded, wait until it is done, and return the seconds between the stamps."""
        clock.resolve(self._outside_passes())
        self.submit()
        return clock.between()

    def submit(self) -> None:
        """Hand what is recorded to the queue."""
        self._end_pass()
        if self._encoder is not None:
            if self._threads is not None:
                self._threads.submitted(self._commands)
            self._device.queue.submit([self._encoder.finish()])
        self._encoder, self._commands = None, 0

    def read(self, buffer: webgpu.Buffer, size: int) -> memoryview:
        """Submit what is recorded, wait until it is done, and read bytes from the start of a buffer."""
        self.submit()
        read = self._device.queue.read_buffer(buffer, 0, size)
        if self._threads is not None:
            self._threads.finished()
        return read

    def abandon(self) -> None:
        """Forget what is recorded, after an error."""
        self._encoder, self._pass, self._set, self._commands = None, None, None, 0

    def _outside_passes(self) -> webgpu.CommandEncoder:
        """The encoder, for a command that is no dispatch."""
        self._count(1)
        self._end_pass()
        return self._encoder_now()

    def _inside_pass(self) -> webgpu.DirectPass:
        """The pass, for a dispatch. Each dispatch sees what those before it have written."""
        if self._pass is None:
            self._pass = webgpu.DirectPass(self._encoder_now().begin_compute_pass())
        return self._pass

    def _count(self, commands: int) -> None:
        if self._commands >= _COMMANDS:
            self.submit()
        self._commands += commands

    def _encoder_now(self) -> webgpu.CommandEncoder:
        if self._encoder is None:
            self._encoder = self._device.create_command_encoder()
        return self._encoder

    def _end_pass(self) -> None:
        if self._pass is not None:
            self._pass.end()
        self._pass = self._set = None


def _first_level(texture: webgpu.Texture) -> webgpu.Descriptor:
    return {"texture": texture, "mip_level": 0, "origin": (0, 0, 0)}
