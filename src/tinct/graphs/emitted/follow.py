"""Follows an emitted plan in a session, step by step, on any device."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from ...base.errors import InputError
from ...ir.samplers import Sampler
from ...kernel import Kernel
from ...reflection import BindingInfo
from ...sessions import Buffer, Session
from ...sessions.buffer import VIEW_ALIGNMENT
from ...sessions.memory import HOST
from ..arithmetic import failure
from ..machine import described
from ..time_limit import node_named, seconds_left
from .plan_file import (
    ClearStep,
    CopyStep,
    DispatchStep,
    FileStep,
    Indirect,
    Place,
    PlanFile,
    TextureCopyStep,
    TextureFile,
)
from .texture_types import storage_type, texture_of_texels


@dataclass(slots=True)
class Following:
    """The buffers of a plan in a session. `infos` describes the inputs. `deadline` is a value of `time.monotonic`,
    or None.
    """

    plan: PlanFile
    kernels: tuple[Kernel, ...]
    infos: Mapping[str, BindingInfo]
    session: Session
    device: str
    deadline: float | None
    _memory: list[Buffer] = field(default_factory=list[Buffer])
    """The buffers by the numbers that they have now."""

    def begin(self, inputs: Mapping[str, bytes]) -> None:
        """Make the buffers, and write inputs and constants. Textures are as `ir.textures` describes them."""
        self._memory = [
            self.session.empty(np.uint8, max(size, 4), label=f"buffer {number}")
            for number, size in enumerate(self.plan.sizes)
        ]
        for number, texture in self.plan.textures.items():
            if not texture.is_drawn:
                self._memory[number] = self._zeroed(number, texture)
        for it in self.plan.inputs:
            for place in it.writes:
                if place.buffer in self.plan.textures:
                    self._memory[place.buffer] = self.session.texture(self.infos[it.name], inputs[it.name])
                else:
                    self._write(place, inputs[it.name])
        for constant in self.plan.constants:
            data = bytearray(constant.data)
            for piece in constant.pieces:
                data[piece.offset : piece.offset + piece.size] = inputs[piece.input][piece.start :][: piece.size]
            self._write(constant.place, bytes(data))

    def _zeroed(self, number: int, texture: TextureFile) -> Buffer:
        """A texture of zeros."""
        type = storage_type(texture)
        data = texture_of_texels(type, texture.extent, bytes(self.plan.sizes[number]))
        return self.session.texture(described(f"buffer {number}", type), data)

    def execute(self) -> None:
        """Do the steps once. Raises DeviceError, ShaderError and InputError."""
        for step in self.plan.steps:
            seconds_left(self.deadline)
            self._do(step)

    def turn(self) -> None:
        """Let buffers change places for the next execution."""
        before = list(self._memory)
        for rotation in self.plan.rotations:
            for one, following in zip(rotation, (*rotation[1:], *rotation[:1]), strict=True):
                self._memory[following] = before[one]

    def check(self) -> None:
        """Raise InputError if a dispatch was refused."""
        for place in self.plan.errors:
            number, x, y, z = struct.unpack("<4I", self.read(place))
            for step in self.plan.dispatches if number else ():
                if step.has_number(number - 1):
                    raise _failed(step, (x, y, z))

    def read(self, place: Place) -> bytes:
        """The bytes of a place."""
        view, skipped = self._view(place)
        return view.numpy().tobytes()[skipped : skipped + place.size]

    def texture(self, number: int) -> bytes:
        """A texture, as `ir.textures` describes it."""
        memory = self._memory[number].memory
        with self.session.entered():
            memory.need(HOST, "the program reads it")
            return bytes(memory.host())

    def _write(self, place: Place, data: bytes) -> None:
        view, skipped = self._view(place)
        if skipped:
            data = view.numpy().tobytes()[:skipped] + data
        view.write(data)

    def _view(self, place: Place) -> tuple[Buffer, int]:
        """A view that has a place in it, and how many bytes are before the place."""
        skipped = place.offset % VIEW_ALIGNMENT
        size = place.size + skipped
        return self._memory[place.buffer].view(place.offset - skipped, dtype=np.uint8, shape=size), skipped

    def _bound(self, place: Place) -> Buffer | Sampler:
        """What a dispatch binds."""
        sampler = self.plan.samplers.get(place.buffer)
        if sampler is not None:
            return sampler
        return self._memory[place.buffer] if place.buffer in self.plan.textures else self._view(place)[0]

    def _do(self, step: FileStep) -> None:
        match step:
            case ClearStep(target):
                self._write(target, bytes(target.size))
            case CopyStep(source, target):
                self._write(target, self.read(source))
            case TextureCopyStep():
                self._memory[step.target] = self.session.copy(self._memory[step.source])
            case DispatchStep():
                with node_named((step.node,), self.deadline):
                    self._dispatch(step)
            case _:
                assert_never(step)

    def _dispatch(self, step: DispatchStep) -> None:
        counts = step.workgroups
        if isinstance(counts, Indirect):
            counts = struct.unpack("<3I", self.read(counts.place))
        if 0 in counts:
            return
        views = {(it.group, it.binding): self._bound(it.place) for it in step.bindings}
        workgroups, seconds = (counts[0], counts[1], counts[2]), seconds_left(self.deadline)
        self.session.run(self.kernels[step.kernel], views, workgroups=workgroups, device=self.device, timeout=seconds)


def _failed(step: DispatchStep, words: tuple[int, int, int]) -> InputError:
    """The error of a dispatch that has left these words, after its number."""
    if step.computes is not None:
        return InputError(f"node {step.node!r}: {failure(step.computes.text, step.computes.form, words)}")
    assert isinstance(step.workgroups, Indirect)
    most = "" if step.workgroups.capacity is None else f"{step.workgroups.capacity} invocations, or "
    numbers = " x ".join(map(str, words))
    return InputError(f"node {step.node!r}: {numbers} are more than {most}65,535 workgroups in a dimension")
