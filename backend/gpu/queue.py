"""A queue of commands on what stays in the GPU's process: recorded here, sent together, carried out there in order."""

from __future__ import annotations

import contextlib
import struct
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from ...ir.samplers import Sampler
from ...ir.types import Texture
from .binding_headers import BindingHeader, header_of
from .device import DEFAULT_SECONDS, GpuDevice
from .messages import interface_of
from .model import GpuError, SamplerBinding, TextureBinding
from .process import Sent
from .queued_steps import ClearRange, QueuedStep
from .resident import Resident
from .resident_messages import SECONDS, Command, EntryHeader
from .shared_bytes import Blob

_DISPATCH: Final = struct.Struct("<4I")
_FIRST_BYTES: Final = 32 * _DISPATCH.size
"""The bytes of dispatches in a row that are sent to a device that does nothing, so that it begins early."""
_MOST_BYTES: Final = 512 * _DISPATCH.size
"""The bytes of dispatches in a row that are sent while the device works: twice as many each time, up to these."""
_MOST_REPLAYED: Final = 512
"""The steps of sequences that are sent, like dispatches."""
_MOST_WAITING: Final = 8192
"""From this number of dispatches on that nothing has waited for, all are waited for."""
_MOST_CREATED: Final = 1 << 26
"""The bytes of new buffers that are recorded before they are sent, and with them what is no longer used."""
_COPIED: Final = 1 << 16
"""Data of at most so many bytes is copied until it is sent; more is sent at once."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is bound at `@group(group) @binding(binding)`: `size` bytes of a buffer from `offset` on, or a texture."""

    group: int
    binding: int
    resident: Resident
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A sequence in the GPU's process, and the number of steps in each of its phases."""

    resident: Resident
    lengths: tuple[int, ...]


class GpuQueue:
    """Commands for the child process that a device has now. After a GpuError what was recorded is forgotten.

    Not safe to share between threads. Raises GpuError wherever the child is asked.
    """

    def __init__(self, device: GpuDevice) -> None:
        self._live: set[int] = set()  # first, since `__del__` reads it after a start that failed
        self.device = device
        self._child = device.start()
        self.is_broken = False
        """Whether commands were lost, and with them the state of all that stays."""
        self._commands: list[Command] = []
        self._blobs: list[Blob] = []
        self._runs: list[bytearray] = []
        """The blobs of dispatches."""
        self._dispatches: bytearray | None = None
        """The blob of the last command, if that is one of dispatches."""
        self._created = 0
        """The bytes of the buffers that are recorded to be created."""
        self._replayed = 0
        """The number of steps of sequences that are recorded."""
        self._waiting = 0
        """The number of dispatches that nothing has waited for."""
        self._enough = _FIRST_BYTES
        """The bytes of dispatches in a row that are sent next."""
        self._posted: list[Sent] = []
        """What was sent and not waited for."""
        self._garbage: deque[int] = deque()
        self._pipelines: WeakValueDictionary[object, Resident] = WeakValueDictionary()

    def __del__(self) -> None:
        if self._live:
            self.device.free_later(self._child, tuple(self._live))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is recorded that is not sent."""
        return not self._commands

    @property
    def is_running(self) -> bool:
        """Whether the child process runs, and has all that was made."""
        return self.device.is_running(self._child)

    @property
    def ending(self) -> GpuError:
        """Why the child process has ended."""
        return self.device.ending(self._child)

    def new_buffer(self, size: int, data: Blob | None = None) -> Resident:
        """A buffer with these bytes, or with zeros."""
        if self._created + size > _MOST_CREATED:
            self.submit()
        self._created += size
        made = self._new(Resident(self._garbage))
        self._add({"do": "create", "id": made.id, "size": size, "has_data": data is not None}, data)
        return made

    def new_texture(self, type: Texture, data: bytes) -> Resident:
        """A texture; `data` is as `ir.textures` describes it."""
        binding = TextureBinding(0, 0, type, data)
        header = header_of(binding)
        made = self._new(Resident(self._garbage, binding))
        self._add({"do": "create", "id": made.id, "size": 0, "has_data": True, "texture": header}, binding.raw())
        return made

    def new_sampler(self, sampler: Sampler) -> Resident:
        """A sampler."""
        header = header_of(SamplerBinding(0, 0, sampler))
        made = self._new(Resident(self._garbage))
        self._add({"do": "create", "id": made.id, "size": 0, "has_data": False, "sampler": header})
        return made

    def write(self, target: Resident, data: Blob) -> None:
        """Write a buffer from its start, or a texture. Raises GpuError for texels that no program can write."""
        if target.texture is None:
            self._add({"do": "write", "id": target.id}, data)
            return
        binding = TextureBinding(0, 0, target.texture.type, bytes(data))
        header_of(binding)
        self._add({"do": "write", "id": target.id}, binding.raw())

    def copy(self, source: Resident, target: Resident, size: int, *, start: int = 0, target_start: int = 0) -> None:
        """Copy bytes between buffers, or a texture of one level to another one of its format and extents."""
        self._add(
            {
                "do": "copy",
                "source": source.id,
                "source_offset": start,
                "target": target.id,
                "target_offset": target_start,
                "size": size,
            }
        )

    def pipeline(self, wgsl: str, entry: str, bindings: Sequence[BindingHeader], *, timeout: float | None) -> Resident:
        """The pipeline of an entry point, compiled now if it is new; None is no limit but that of the device."""
        key = wgsl, entry, tuple(map(interface_of, bindings))
        found = self._pipelines.get(key)
        if found is None:
            found = self._new(Resident(self._garbage))
            self._ask(
                [{"do": "pipeline", "id": found.id, "wgsl": wgsl, "entry": entry, "bindings": list(bindings)}],
                (),
                DEFAULT_SECONDS if timeout is None else timeout,
                is_limited=timeout is not None,
            )
            self._pipelines[key] = found
        return found

    def bind(self, pipeline: Resident, parts: Sequence[Part]) -> Resident:
        """A pipeline with what is bound for it."""
        made = self._new(Resident(self._garbage, kept=(pipeline, *(it.resident for it in parts))))
        entries: list[EntryHeader] = [
            {"group": it.group, "binding": it.binding, "id": it.resident.id, "offset": it.offset, "size": it.size}
            for it in parts
        ]
        self._add({"do": "bind", "id": made.id, "pipeline": pipeline.id, "entries": entries})
        return made

    @staticmethod
    def packed(bound: Resident, workgroups: tuple[int, int, int]) -> bytes:
        """A dispatch, as `dispatch` takes it."""
        return _DISPATCH.pack(bound.id, *workgroups)

    def dispatch(self, packed: bytes) -> None:
        """Record a dispatch."""
        dispatches = self._dispatches
        if dispatches is None:
            dispatches = bytearray()
            self._add({"do": "dispatches"}, None)
            self._blobs.append(dispatches)
            self._runs.append(dispatches)
            self._dispatches = dispatches
        dispatches += packed
        if len(dispatches) >= self._enough:
            self.submit()
            self._enough = min(2 * self._enough, _MOST_BYTES)

    def clear(self, target: Resident, size: int, *, start: int = 0) -> None:
        """Fill a range of a buffer with zeros."""
        clear = ClearRange(target, start, size)
        self.replay(self.sequence([[clear]]), 1)

    def sequence(self, phases: Sequence[Sequence[QueuedStep]]) -> Prepared:
        """Steps that are prepared once, for any number of executions: the first one does the steps of the first phase,
        the next one those of the next, and so on in turn, so that buffers may change places.
        """
        steps = [[it.header() for it in phase] for phase in phases]
        kept = tuple(resident for phase in phases for it in phase for resident in it.residents())
        made = self._new(Resident(self._garbage, kept=kept))
        self._add({"do": "sequence", "id": made.id, "phases": steps})
        return Prepared(made, tuple(len(phase) for phase in phases))

    def replay(self, sequence: Prepared, executions: int, *, phase: int = 0) -> None:
        """Record executions of a sequence, from the given phase on."""
        self._add({"do": "replay", "id": sequence.resident.id, "phase": phase, "executions": executions})
        self._replayed += executions * max(sequence.lengths, default=0)
        if self._replayed >= _MOST_REPLAYED:
            self.submit()

    def seconds(self, sequence: Prepared, executions: int, *, timeout: float | None = None) -> float:
        """The time that executions of a sequence take, from its first phase on, after all that is recorded: on the
        device's own clock, or, for a software device or one without timestamps, on the clock of its process.
        """
        self._add({"do": "time", "id": sequence.resident.id, "executions": executions})
        self._replayed += executions * max(sequence.lengths, default=0)
        (raw,) = self._send(timeout)
        (found,) = SECONDS.unpack(raw)
        return float(found)

    def read(self, source: Resident, size: int, *, timeout: float | None = None) -> bytearray:
        """The first bytes of a buffer, or a texture as `ir.textures` describes it, after all that is recorded."""
        self._add({"do": "read", "id": source.id, "size": size})
        (raw,) = self._send(timeout)
        return raw if source.texture is None else source.texture.restored(raw)

    def wait(self, *, timeout: float | None = None) -> None:
        """Wait until all that is recorded is done."""
        self._add({"do": "wait"})
        self._send(timeout)

    def submit(self) -> None:
        """Send what is recorded, so that the device begins while more is recorded; what waits next raises its failures.

        Wait now if too much was sent already.
        """
        if self._waiting >= _MOST_WAITING:
            self.wait()
        elif self._commands:
            with self._breaking():
                self._posted.append(self._post(*self._taken(None), is_limited=False))

    def close(self) -> None:
        """Forget what is recorded, and free all that stays."""
        self._forget()
        live, self._live = tuple(self._live), set()
        if live and self.is_running:
            with contextlib.suppress(GpuError):
                self._ask([{"do": "free", "ids": list(live)}], (), DEFAULT_SECONDS)

    def _new(self, made: Resident) -> Resident:
        self._live.add(made.id)
        return made

    def _add(self, command: Command, data: Blob | None = None) -> None:
        self._dispatches = None
        self._commands.append(command)
        if data is None:
            return
        is_large = len(data) > _COPIED
        self._blobs.append(data if is_large else bytes(data))
        if is_large:
            self.submit()

    def _send(self, timeout: float | None) -> list[bytearray]:
        """Send what is recorded, free what is no longer used, and wait. Each dispatch may take `DEFAULT_SECONDS`."""
        with self._breaking():
            read = self._ask(*self._taken(timeout), is_limited=timeout is not None)
        self._waiting, self._enough = 0, _FIRST_BYTES
        return read

    def _taken(self, timeout: float | None) -> tuple[list[Command], list[Blob], float]:
        """What is recorded, which is forgotten here, and the seconds that it may take."""
        unused = [self._garbage.popleft() for _ in range(len(self._garbage))]
        if unused:
            self._commands.append({"do": "free", "ids": unused})
            self._live.difference_update(unused)
        commands, blobs = self._commands, self._blobs
        self._waiting += sum(map(len, self._runs)) // _DISPATCH.size + self._replayed
        self._forget()
        return commands, blobs, DEFAULT_SECONDS * max(1, self._waiting) if timeout is None else timeout

    @contextlib.contextmanager
    def _breaking(self) -> Generator[None]:
        """An error that leaves the body has lost commands."""
        try:
            yield
        except BaseException:
            self.is_broken = True
            raise

    def _forget(self) -> None:
        self._commands, self._blobs, self._runs, self._dispatches = [], [], [], None
        self._created = self._replayed = 0

    def _ask(
        self, commands: Sequence[Command], blobs: Sequence[Blob], timeout: float, *, is_limited: bool = False
    ) -> list[bytearray]:
        """Send commands and wait; returns what they read. A limit counts for what was sent before, too."""
        earlier, self._posted = self._posted, []
        try:
            sent = self._post(commands, blobs, timeout, is_limited=is_limited)
            with self._breaking():
                self._settle(earlier)
            return self._settle([sent])
        except BaseException:
            self.is_broken = self.is_broken or not self.is_running
            raise

    def _post(self, commands: Sequence[Command], blobs: Sequence[Blob], timeout: float, *, is_limited: bool) -> Sent:
        return self.device.post_resident(commands, blobs, child=self._child, timeout=timeout, is_limited=is_limited)

    def _settle(self, sent: Sequence[Sent]) -> list[bytearray]:
        return self.device.settle(sent, child=self._child)
