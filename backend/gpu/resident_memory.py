"""What stays on the device between requests, by id, and the commands on it. Lives in the worker process only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias, assert_never

from . import webgpu
from .clock import DeviceClock
from .driver_threads import DriverThreads
from .recorder import BoundPipeline, Entry, Pipeline, PipelineOf, Recorder, bind
from .resident_messages import (
    SECONDS,
    BindHeader,
    Command,
    CopyHeader,
    CreateHeader,
    EntryHeader,
    FreeHeader,
    ReadHeader,
    SequenceCopy,
    SequenceStep,
    TimeHeader,
)
from .resources import DeviceSampler, DeviceTexture, new_buffer, padded
from .shared_bytes import Blob

_WORD: Final = 4
_MOST_RECORDED: Final = 8192
"""The commands of a sequence after which the device is waited for."""
Act: TypeAlias = Callable[[], None]
"""Records a step."""


class ResidentMemory:
    """Buffers, textures, pipelines and bound pipelines of a device. Without a `clock` of its own, the host's counts."""

    def __init__(
        self,
        wgpu: webgpu.WebGpu,
        device: webgpu.Device,
        pipeline_of: PipelineOf,
        threads: DriverThreads | None,
        clock: DeviceClock | None,
    ) -> None:
        self._clock = clock
        self._wgpu = wgpu
        self._device = device
        self._pipeline_of = pipeline_of
        self._recorder = Recorder(device, threads)
        self._probe = new_buffer(wgpu, device, _WORD, None)
        self._buffers: dict[int, webgpu.Buffer] = {}
        self._textures: dict[int, DeviceTexture] = {}
        self._samplers: dict[int, DeviceSampler] = {}
        self._pipelines: dict[int, Pipeline] = {}
        self._bound: dict[int, BoundPipeline] = {}
        self._sequences: dict[int, list[list[Act]]] = {}

    def perform(self, commands: Sequence[Command], blobs: Sequence[Blob]) -> list[memoryview]:
        """Carry out the commands, and return what was read. After an error the rest of the commands is forgotten."""
        remaining, read = iter(blobs), list[memoryview]()
        try:
            for command in commands:
                self._perform(command, remaining, read)
            self._recorder.submit()
        except BaseException:
            self._recorder.abandon()
            raise
        return read

    def _perform(self, command: Command, blobs: Iterator[Blob], read: list[memoryview]) -> None:
        match command["do"]:
            case "create":
                self._create(command, next(blobs) if command["has_data"] else None)
            case "write":
                self._write(command["id"], next(blobs))
            case "pipeline":
                made = self._pipeline_of(command["wgsl"], command["entry"], command["bindings"])
                self._pipelines[command["id"]] = made
            case "bind":
                self._bind(command)
            case "dispatches":
                self._recorder.dispatch_all(self._bound, next(blobs))
            case "copy":
                self._copy(command)
            case "sequence":
                self._sequences[command["id"]] = [list(map(self._act, phase)) for phase in command["phases"]]
            case "replay":
                self._replay(command["id"], command["phase"], command["executions"])
            case "time":
                read.append(memoryview(SECONDS.pack(self._seconds(command))))
            case "read":
                read.append(self._read(command))
            case "wait":
                self._wait()
            case "free":
                self._free(command)
            case _:
                assert_never(command["do"])

    def _wait(self) -> None:
        self._recorder.read(self._probe, _WORD)

    def _act(self, step: SequenceStep) -> Act:
        """What records a step."""
        recorder = self._recorder
        match step["step"]:
            case "dispatch":
                bound, indirect = self._bound[step["bound"]], step["indirect"]
                if indirect is not None:
                    return partial(recorder.dispatch_indirect, bound, self._buffers[indirect], step["offset"])
                return partial(recorder.dispatch, bound, step["workgroups"])
            case "clear":
                return partial(recorder.clear, self._buffers[step["target"]], step["target_offset"], step["size"])
            case "copy":
                return partial(self._copy, step)
            case _:
                assert_never(step["step"])

    def _replay(self, sequence: int, first: int, executions: int) -> None:
        """Record executions from the first phase given on, and wait now and then, so that the device has a bounded
        number of commands to do.
        """
        phases, recorded = self._sequences[sequence], 0
        for execution in range(executions):
            phase = phases[(first + execution) % len(phases)]
            for act in phase:
                act()
            recorded += len(phase)
            if recorded >= _MOST_RECORDED:
                self._wait()
                recorded = 0

    def _seconds(self, command: TimeHeader) -> float:
        """The seconds that executions of a sequence take on the device; with no clock of its own, until the host knows
        that they are done.
        """
        if self._clock is None:
            self._wait()
            start = time.perf_counter()
            self._replay(command["id"], 0, command["executions"])
            self._wait()
            return time.perf_counter() - start
        self._recorder.stamp(self._clock, 0)
        self._replay(command["id"], 0, command["executions"])
        self._recorder.stamp(self._clock, 1)
        return self._recorder.elapsed(self._clock)

    def _create(self, command: CreateHeader, data: Blob | None) -> None:
        binding, sampler = command.get("texture"), command.get("sampler")
        if sampler is not None:
            facts = sampler.get("sampler")
            assert facts is not None
            self._samplers[command["id"]] = DeviceSampler(self._device, sampler, facts)
            return
        if binding is None:
            self._buffers[command["id"]] = new_buffer(self._wgpu, self._device, command["size"], data)
            return
        texture = binding.get("texture")
        assert texture is not None
        made = DeviceTexture(self._wgpu, self._device, binding, texture, data, stays=True)
        self._textures[command["id"]] = made

    def _write(self, id: int, data: Blob) -> None:
        """Write by the queue, which comes before all that is not submitted."""
        self._recorder.submit()
        if id in self._textures:
            self._textures[id].fill(data)
        else:
            self._device.queue.write_buffer(self._buffers[id], 0, padded(data, len(data) + -len(data) % _WORD))

    def _bind(self, command: BindHeader) -> None:
        entries = map(self._entry, command["entries"])
        self._bound[command["id"]] = bind(self._device, self._pipelines[command["pipeline"]], entries)

    def _entry(self, header: EntryHeader) -> Entry:
        id = header["id"]
        if id in self._textures:
            return Entry(header["group"], header["binding"], self._textures[id].descriptor())
        if id in self._samplers:
            return Entry(header["group"], header["binding"], self._samplers[id].descriptor())
        resource = {"buffer": self._buffers[id], "offset": header["offset"], "size": header["size"]}
        return Entry(header["group"], header["binding"], resource)

    def _copy(self, command: CopyHeader | SequenceCopy) -> None:
        """Copy bytes between buffers, or the first level of a texture to another texture."""
        if command["source"] in self._textures:
            texture, other = self._textures[command["source"]], self._textures[command["target"]]
            self._recorder.copy_texture(texture.texture, other.texture, texture.facts["size"])
            return
        source, target = self._buffers[command["source"]], self._buffers[command["target"]]
        self._recorder.copy(source, command["source_offset"], target, command["target_offset"], command["size"])

    def _read(self, command: ReadHeader) -> memoryview:
        id, size = command["id"], command["size"]
        if id in self._textures:
            self._recorder.submit()
            return self._textures[id].read_back()
        whole = max(_WORD, size + -size % _WORD)
        return self._recorder.read(self._buffers[id], whole)[:size]

    def _free(self, command: FreeHeader) -> None:
        """Free after what uses them is submitted."""
        self._recorder.submit()
        for id in command["ids"]:
            self._pipelines.pop(id, None)
            self._bound.pop(id, None)
            self._samplers.pop(id, None)
            self._sequences.pop(id, None)
            texture = self._textures.pop(id, None)
            if texture is not None:
                texture.destroy()
            buffer = self._buffers.pop(id, None)
            if buffer is not None:
                buffer.destroy()
