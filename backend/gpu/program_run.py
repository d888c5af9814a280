"""Runs a program on wgpu. Lives in the worker process only.

What is recorded is submitted when the host must read a flag, and at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

import numpy as np

from . import webgpu
from .binding_headers import BindingHeader
from .driver_threads import DriverThreads
from .model import BufferKind
from .program_messages import BoundHeader, BufferHeader, DispatchHeader, ProgramRequest, StepHeader
from .recorder import BoundPipeline, Entry, PipelineOf, Recorder, bind
from .resources import new_buffer, rounded
from .shared_bytes import Blob

_NUMBERS: Final = 1 << 16
"""The numbers that one buffer of counts holds."""

_WORD: Final = 4
_ROUNDING: Final = 16


@dataclass(slots=True)
class ProgramRun:
    """One run of a program. `prepare` comes first, then `run`, then `outputs`, and always `destroy`."""

    wgpu: webgpu.WebGpu
    device: webgpu.Device
    request: ProgramRequest
    threads: DriverThreads | None
    _buffers: list[webgpu.Buffer] = field(default_factory=list[webgpu.Buffer])
    _numbers: dict[int, webgpu.Buffer] = field(default_factory=dict[int, webgpu.Buffer])
    _prepared: dict[int, BoundPipeline] = field(default_factory=dict[int, BoundPipeline])
    _recorder: Recorder = field(init=False)

    def __post_init__(self) -> None:
        self._recorder = Recorder(self.device, self.threads)

    def prepare(self, blobs: Sequence[Blob], pipeline_of: PipelineOf) -> None:
        """Create the buffers with what they start as, compile all kernels, and bind the buffers."""
        remaining = iter(blobs)
        for header in self.request["buffers"]:
            self._buffers.append(self._new_buffer(header, next(remaining) if header["has_data"] else b""))
        for step in _dispatches(self.request["steps"]):
            self._prepared[id(step)] = self._prepare(step, pipeline_of)

    def _new_buffer(self, header: BufferHeader, blob: Blob) -> webgpu.Buffer:
        return new_buffer(self.wgpu, self.device, header["size"], blob if header["has_data"] else None)

    def _prepare(self, step: DispatchHeader, pipeline_of: PipelineOf) -> BoundPipeline:
        kernel, bindings = self.request["kernels"][step["kernel"]], step["bindings"]
        headers: list[BindingHeader] = [
            {"group": it["group"], "binding": it["binding"], "kind": it["kind"]} for it in bindings
        ]
        return bind(self.device, pipeline_of(kernel["wgsl"], kernel["entry"], headers), map(self._entry, bindings))

    def _entry(self, bound: BoundHeader) -> Entry:
        size = _bound_size(self.request["buffers"][bound["buffer"]]["size"], bound["kind"])
        resource = {"buffer": self._buffers[bound["buffer"]], "offset": 0, "size": size}
        return Entry(bound["group"], bound["binding"], resource)

    def run(self) -> None:
        """Run all steps, and wait for the last one."""
        self._run(self.request["steps"])
        self._recorder.submit()
        if self._buffers:
            self._recorder.read(self._buffers[0], _WORD)  # waits for all work that was submitted

    def outputs(self) -> list[memoryview]:
        """The bytes of the outputs."""
        headers = zip(self.request["buffers"], self._buffers, strict=True)
        wanted = [(header["size"], buffer) for header, buffer in headers if header["is_output"]]
        return [self.device.queue.read_buffer(buffer)[:size] for size, buffer in wanted]

    def destroy(self) -> None:
        """Free all buffers."""
        for buffer in (*self._buffers, *self._numbers.values()):
            buffer.destroy()

    def _run(self, steps: Sequence[StepHeader]) -> None:
        for step in steps:
            self._step(step)

    def _step(self, step: StepHeader) -> None:
        match step["step"]:
            case "dispatch":
                self._recorder.dispatch(self._prepared[id(step)], step["workgroups"])
            case "repeat":
                for number in range(step["count"]):
                    self._set_counter(step["counter"], number)
                    self._run(step["steps"])
            case "loop":
                self._run(step["steps"])
                while self._is_set(step["flag"]):
                    self._run(step["then"])
                    self._run(step["steps"])
            case "branch":
                self._run(step["if_true"] if self._is_set(step["flag"]) else step["if_false"])
            case "copy":
                source, target = self._buffers[step["source"]], self._buffers[step["target"]]
                size = min(source.size, target.size)
                self._recorder.copy(source, 0, target, 0, size)
            case "clear":
                self._recorder.clear(self._buffers[step["buffer"]])
            case _:
                assert_never(step["step"])

    def _set_counter(self, counter: int, number: int) -> None:
        """Copy the number from a buffer of numbers, since writes by the queue would come before all commands."""
        chunk, place = divmod(number, _NUMBERS)
        if chunk not in self._numbers:
            data = np.arange(chunk * _NUMBERS, (chunk + 1) * _NUMBERS, dtype=np.uint32)
            usage = self.wgpu.BufferUsage.COPY_SRC
            self._numbers[chunk] = self.device.create_buffer_with_data(data=data.data.cast("B"), usage=usage)
        self._recorder.copy(self._numbers[chunk], _WORD * place, self._buffers[counter], 0, _WORD)

    def _is_set(self, flag: int) -> bool:
        return any(self._recorder.read(self._buffers[flag], _WORD))


def _dispatches(steps: Sequence[StepHeader]) -> list[DispatchHeader]:
    found: list[DispatchHeader] = []
    for step in steps:
        match step["step"]:
            case "dispatch":
                found.append(step)
            case "repeat":
                found += _dispatches(step["steps"])
            case "loop":
                found += [*_dispatches(step["steps"]), *_dispatches(step["then"])]
            case "branch":
                found += [*_dispatches(step["if_false"]), *_dispatches(step["if_true"])]
            case "copy" | "clear":
                pass
            case _:
                assert_never(step["step"])
    return found


def _bound_size(size: int, kind: BufferKind) -> int:
    """The bytes of a buffer that a binding covers: whole rows for uniforms, whole words for storage."""
    return rounded(size, _ROUNDING if kind == "uniform" else _WORD)
