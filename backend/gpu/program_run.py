"""Runs a program on wgpu. Lives in the worker process only.

Commands are recorded into one encoder, which is submitted when the host must read a flag, at the end, and from time to
time, so that no command buffer grows without bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, assert_never

import numpy as np

from . import webgpu
from .messages import BindingHeader, Blob
from .model import BufferKind
from .program_messages import BoundHeader, BufferHeader, DispatchHeader, ProgramRequest, StepHeader

_COMMANDS: Final = 2048
"""The commands after which an encoder is submitted."""

_NUMBERS: Final = 1 << 16
"""The numbers that one buffer of counts holds."""

_WORD: Final = 4
_ROUNDING: Final = 16


class Pipeline(Protocol):
    """A compiled entry point with the layouts of its bind groups."""

    @property
    def handle(self) -> webgpu.Handle: ...  # noqa: D102
    @property
    def group_layouts(self) -> Sequence[webgpu.Handle]: ...  # noqa: D102


PipelineOf = Callable[[str, str, Sequence[BindingHeader]], Pipeline]
"""The pipeline of a WGSL text, an entry point and its bindings."""


@dataclass(slots=True)
class ProgramRun:
    """One run of a program. `prepare` comes first, then `run`, then `outputs`, and always `destroy`."""

    wgpu: webgpu.WebGpu
    device: webgpu.Device
    request: ProgramRequest
    _buffers: list[webgpu.Buffer] = field(default_factory=list[webgpu.Buffer])
    _numbers: dict[int, webgpu.Buffer] = field(default_factory=dict[int, webgpu.Buffer])
    _prepared: dict[int, _Prepared] = field(default_factory=dict[int, "_Prepared"])
    _encoder: webgpu.CommandEncoder | None = None
    _pass: webgpu.ComputePass | None = None
    _commands: int = 0

    def prepare(self, blobs: Sequence[Blob], pipeline_of: PipelineOf) -> None:
        """Create the buffers with what they start as, compile all kernels, and bind the buffers."""
        remaining = iter(blobs)
        for header in self.request["buffers"]:
            self._buffers.append(self._new_buffer(header, next(remaining) if header["has_data"] else b""))
        for step in _dispatches(self.request["steps"]):
            self._prepared[id(step)] = self._prepare(step, pipeline_of)

    def _new_buffer(self, header: BufferHeader, blob: Blob) -> webgpu.Buffer:
        usage = self.wgpu.BufferUsage
        wanted = usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST
        size = _rounded(header["size"], _ROUNDING)
        if not header["has_data"]:
            return self.device.create_buffer(size=size, usage=wanted)
        return self.device.create_buffer_with_data(data=bytes(blob) + bytes(size - len(blob)), usage=wanted)

    def _prepare(self, step: DispatchHeader, pipeline_of: PipelineOf) -> _Prepared:
        kernel, bindings = self.request["kernels"][step["kernel"]], step["bindings"]
        headers: list[BindingHeader] = [
            {"group": it["group"], "binding": it["binding"], "kind": it["kind"]} for it in bindings
        ]
        pipeline = pipeline_of(kernel["wgsl"], kernel["entry"], headers)
        groups = [
            self.device.create_bind_group(
                layout=layout, entries=[self._entry(it) for it in bindings if it["group"] == number]
            )
            for number, layout in enumerate(pipeline.group_layouts)
        ]
        return _Prepared(pipeline.handle, groups)

    def _entry(self, bound: BoundHeader) -> webgpu.Descriptor:
        size = _bound_size(self.request["buffers"][bound["buffer"]]["size"], bound["kind"])
        resource = {"buffer": self._buffers[bound["buffer"]], "offset": 0, "size": size}
        return {"binding": bound["binding"], "resource": resource}

    def run(self) -> None:
        """Run all steps, and wait for the last one."""
        self._run(self.request["steps"])
        self._submit()
        if self._buffers:
            self.device.queue.read_buffer(self._buffers[0], 0, _WORD)  # waits for all work that was submitted

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
                self._dispatch(step)
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
                self._outside_passes().copy_buffer_to_buffer(source, 0, target, 0, size)
            case "clear":
                self._outside_passes().clear_buffer(self._buffers[step["buffer"]])
            case _:
                assert_never(step["step"])

    def _dispatch(self, step: DispatchHeader) -> None:
        if 0 in step["workgroups"]:
            return
        prepared, current = self._prepared[id(step)], self._inside_pass()
        current.set_pipeline(prepared.pipeline)
        for index, group in enumerate(prepared.groups):
            current.set_bind_group(index, group)
        current.dispatch_workgroups(*step["workgroups"])

    def _set_counter(self, counter: int, number: int) -> None:
        """Copy the number from a buffer of numbers, since writes by the queue would come before all commands."""
        chunk, place = divmod(number, _NUMBERS)
        if chunk not in self._numbers:
            data = np.arange(chunk * _NUMBERS, (chunk + 1) * _NUMBERS, dtype=np.uint32)
            usage = self.wgpu.BufferUsage.COPY_SRC
            self._numbers[chunk] = self.device.create_buffer_with_data(data=data.data.cast("B"), usage=usage)
        encoder = self._outside_passes()
        encoder.copy_buffer_to_buffer(self._numbers[chunk], _WORD * place, self._buffers[counter], 0, _WORD)

    def _is_set(self, flag: int) -> bool:
        self._submit()
        return any(self.device.queue.read_buffer(self._buffers[flag], 0, _WORD))

    # The encoder

    def _outside_passes(self) -> webgpu.CommandEncoder:
        """The encoder, for a command that is no dispatch."""
        self._count()
        self._end_pass()
        return self._encoder_now()

    def _inside_pass(self) -> webgpu.ComputePass:
        """The pass, for a dispatch. Each dispatch sees what those before it have written."""
        self._count()
        if self._pass is None:
            self._pass = self._encoder_now().begin_compute_pass()
        return self._pass

    def _count(self) -> None:
        if self._commands >= _COMMANDS:
            self._submit()
        self._commands += 1

    def _encoder_now(self) -> webgpu.CommandEncoder:
        if self._encoder is None:
            self._encoder = self.device.create_command_encoder()
        return self._encoder

    def _end_pass(self) -> None:
        if self._pass is not None:
            self._pass.end()
            self._pass = None

    def _submit(self) -> None:
        self._end_pass()
        if self._encoder is not None:
            self.device.queue.submit([self._encoder.finish()])
        self._encoder, self._commands = None, 0


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a dispatch is recorded with."""

    pipeline: webgpu.Handle
    groups: Sequence[webgpu.Handle]


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


def _rounded(size: int, rounding: int) -> int:
    """A multiple of the rounding that is not 0."""
    return max(rounding, -(-size // rounding) * rounding)


def _bound_size(size: int, kind: BufferKind) -> int:
    """The bytes of a buffer that a binding covers: whole rows for uniforms, whole words for storage."""
    return _rounded(size, _ROUNDING if kind == "uniform" else _WORD)
