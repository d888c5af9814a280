"""The memory in which a plan is followed: that of each allocation, and what a run writes to it.

In a repetition, rotations let memories change places, so that an allocation has another one in each *phase*. Steps are
prepared for a phase when it first comes.

An input that steps on the host only read is not copied: they read the array that was given (see `lendable`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..backend.cpu.aligned import BINDING_ALIGNMENT, address_of, aligned_zeros
from ..sessions import Buffer, Copy, Session
from .gpu_steps import GpuMemory, GpuSteps
from .host_steps import Bytes, HostMemory
from .indirect import ERROR_BYTES
from .linking import Links
from .numbers_in import Packed
from .phases import Phase
from .plan import HOST, Dispatch, Fill, Handle, Piece, Plan, PlanOutput, Step, Transfer
from .run_record import Record


@dataclass(frozen=True, slots=True)
class SavedBuffer:
    """What a buffer held: bytes, or a buffer of its GPU."""

    buffer: int
    data: Bytes | Buffer


@dataclass(slots=True)
class _Constants:
    """The bytes of an allocation, and the pieces of inputs that are written over them, with their offsets."""

    data: Bytes
    pieces: list[tuple[Piece, int]] = field(default_factory=list["tuple[Piece, int]"])


class ExecutorMemory:
    """The memory of a plan's allocations. `lendable` are those whose memory may be that of an input in a run."""

    def __init__(self, plan: Plan, links: Links, lendable: frozenset[int]) -> None:
        self.plan = plan
        self.session = Session()
        self.gpus: dict[str, GpuMemory] = {}
        self.order = list(range(len(plan.allocations)))
        """The physical memory of each allocation, now."""
        self._links = links
        self._lendable = lendable
        self._lent: dict[int, Bytes] = {}
        self._host: list[Bytes | None] = []
        self._buffers: list[Buffer | None] = []
        handles = {it.allocation: it.handle for it in plan.buffers if it.handle is not None}
        for number, it in enumerate(plan.allocations):
            self._host.append(aligned_zeros(it.size) if it.device == HOST else None)
            self._buffers.append(None if it.device == HOST else self._on_gpu(number, handles.get(number)))
        self._phases: dict[tuple[int, ...], Phase] = {}
        self._rooms: dict[int, Buffer] = {}
        """For inputs that change on a GPU, memory for copies, by their buffers."""
        self._constants = self._constant_data()

    def close(self) -> None:
        """Free all memory."""
        self._phases.clear()
        self.session.close()

    @property
    def is_whole(self) -> bool:
        """Whether no memory was lost with a GPU's process."""
        for it in self.gpus.values():
            it.session.gpu(it.device).queue()
        return not any(it is not None and it.memory.problem for it in self._buffers)

    def gpu(self, device: str) -> GpuMemory:
        """The memory of a GPU."""
        if device not in self.gpus:
            self.gpus[device] = GpuMemory(self.session, device)
        return self.gpus[device]

    def _on_gpu(self, allocation: int, handle: Handle | None) -> Buffer | None:
        """The memory of an allocation of a GPU; None for a sampler."""
        it = self.plan.allocations[allocation]
        return self._new_on(it.device, it.size, handle, self._label(allocation))

    def _new_on(self, device: str, size: int, handle: Handle | None, label: str) -> Buffer | None:
        gpu = self.gpu(device)
        return gpu.new(size, label) if handle is None else gpu.new_texture(handle, size, label)

    def host_memories(self, allocations: Sequence[int]) -> list[Bytes]:
        """The memories of allocations of the host, now."""
        places = [self.order[it] for it in allocations]
        found = [self._lent.get(it, self._host[it]) for it in places]
        return [it for it in found if it is not None]

    # Phases

    def phase(self) -> Phase:
        """The prepared steps for the memories that allocations are now."""
        key = tuple(self.order)
        if key not in self._phases:
            hosts, buffers = [self._host[it] for it in key], [self._buffers[it] for it in key]
            gpus = {name: GpuSteps(self.plan, self._links, it, buffers) for name, it in self.gpus.items()}
            self._phases[key] = Phase(self.plan, HostMemory(self.plan, self._links, hosts), gpus)
        return self._phases[key]

    def turn(self) -> None:
        """Let memories change places for the next execution."""
        now = list(self.order)
        for rotation in self.plan.rotations:
            for one, following in zip(rotation, (*rotation[1:], rotation[0]), strict=True):
                self.order[following] = now[one]

    # Inputs

    def begin(self, given: Mapping[str, Packed], record: Record | None) -> None:
        """Write the inputs and the constants, with each memory in its first place."""
        self.order = list(range(len(self.plan.allocations)))
        for it in self.plan.inputs:
            for buffer, why in zip(it.buffers, it.reasons, strict=True):
                self._give(buffer, np.frombuffer(given[it.name], np.uint8))
                device = self.plan.device(buffer)
                if device != HOST and record is not None:
                    record.copies.append(Copy(it.name, it.size, HOST, device, why))
        for allocation, constants in self._constants.items():
            for piece, start in constants.pieces:
                source = np.frombuffer(given[piece.input], np.uint8, piece.size, piece.start)
                constants.data[start : start + piece.size] = source
            self._write_allocation(allocation, constants.data)

    def end(self) -> None:
        """Forget the memory of inputs."""
        self._lent.clear()

    def _give(self, buffer: int, data: Bytes) -> None:
        """Let the buffer of an input have its bytes."""
        allocation = self.plan.buffers[buffer].allocation
        if allocation in self._lendable and address_of(data) % BINDING_ALIGNMENT == 0:
            self._lent[allocation] = data
        else:
            self.phase().write(buffer, data)

    def _write_allocation(self, allocation: int, data: Bytes) -> None:
        memory, buffer = self._host[allocation], self._buffers[allocation]
        if memory is not None:
            memory[:] = data
        if buffer is not None:
            self.gpu(self.plan.allocations[allocation].device).upload(buffer.memory, 0, data)

    def _constant_data(self) -> dict[int, _Constants]:
        """What a run writes to the allocations of constants."""
        found: dict[int, _Constants] = {}
        for it in self.plan.constants:
            place = self.plan.buffers[it.buffer]
            size = self.plan.allocations[place.allocation].size
            into = found.setdefault(place.allocation, _Constants(np.zeros(size, np.uint8)))
            into.data[place.offset : place.offset + place.size] = np.frombuffer(it.data, np.uint8)
            into.pieces += [(piece, place.offset + piece.offset) for piece in it.pieces]
        return found

    # Outputs and copies

    def output(self, output: PlanOutput, record: Record | None) -> Bytes:
        """The bytes of an output, which may change in the next run."""
        if record is not None and self.plan.device(output.buffer) != HOST:
            place = self.plan.buffers[output.buffer]
            device = self.plan.device(output.buffer)
            record.copies.append(Copy(place.label, place.size, device, HOST, "the program reads it"))
        return self.phase().read(output.buffer)

    def is_set(self, flag: PlanOutput) -> bool:
        """Whether an output of one number is not zero."""
        return bool(self.phase().read(flag.buffer)[:4].any())

    def saved_inputs(self, record: Record | None) -> list[SavedBuffer]:
        """Copies of the inputs that change."""
        fed = {name for _, name in self.plan.feeds}
        saved: list[SavedBuffer] = []
        for buffer in (buffer for it in self.plan.inputs if it.name in fed for buffer in it.buffers):
            device, size = self.plan.device(buffer), self.plan.buffers[buffer].size
            if device == HOST:
                saved.append(SavedBuffer(buffer, self.phase().read(buffer).copy()))
            else:
                room = self._room(buffer, device)
                self.phase().keep(buffer, room, 0, size)
                saved.append(SavedBuffer(buffer, room))
            if record is not None:
                record.copied(self.plan, buffer, "the executions after it may have to run again")
        return saved

    def _room(self, buffer: int, device: str) -> Buffer:
        """Memory for a copy of an input that changes."""
        if buffer not in self._rooms:
            place = self.plan.buffers[buffer]
            made = self._new_on(device, place.size, place.handle, "a saved input")
            assert made is not None
            self._rooms[buffer] = made
        return self._rooms[buffer]

    def restore(self, saved: Sequence[SavedBuffer], record: Record | None) -> None:
        """Write what was saved."""
        for it in saved:
            if isinstance(it.data, Buffer):
                self.phase().take(it.buffer, it.data)
            else:
                self.phase().write(it.buffer, it.data)
            if record is not None:
                record.copied(self.plan, it.buffer, "executions run again up to the one that was asked for")

    def forget_refusals(self) -> None:
        """Forget refused extents, which may be of executions after the one that was asked for."""
        for it in self.plan.errors:
            self.phase().write(it, np.zeros(ERROR_BYTES, np.uint8))

    def _label(self, allocation: int) -> str:
        """The labels of what lies in an allocation, for messages."""
        labels = [it.label for it in self.plan.buffers if it.allocation == allocation]
        return ", ".join(dict.fromkeys(labels)) or "nothing"


def lendable(plan: Plan) -> frozenset[int]:
    """The allocations of the host whose memory may be an input's own: nothing writes them, no output lies in them, and
    they stay in their places.
    """
    used = {buffer for step in plan.steps for buffer in _written_by(step)} | {it.buffer for it in plan.outputs}
    others = {plan.buffers[it].allocation for it in used} | {it for rotation in plan.rotations for it in rotation}
    return frozenset(
        number
        for number, it in enumerate(plan.allocations)
        if (it.device, it.kind) == (HOST, "input") and number not in others
    )


def _written_by(step: Step) -> set[int]:
    match step:
        case Fill(buffer):
            return {buffer}
        case Transfer():
            return {step.target}
        case Dispatch():
            return {it.buffer for it in step.bindings if it.is_written}
