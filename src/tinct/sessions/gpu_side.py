"""A GPU in a session: its queue, and which memories it has. Its process may die at any time."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ..backend.cpu.aligned import Bytes
from ..base.errors import DeviceError
from ..gpu import warn_unless_webgpu
from ..ir.layout_sizes import minimum_size
from ..ir.textures import storage_type
from ..textures import widened
from .memory import Memory

if TYPE_CHECKING:
    from ..backend.gpu import GpuQueue, Resident

_MOST_PENDING: Final = 1024
"""The number of different dispatches, not waited for, whose memories are remembered."""


class GpuSide:
    """One GPU of a session. `name` is that of the device, `adapter` says which (see `backend.gpu.adapters`)."""

    def __init__(self, name: str, adapter: str) -> None:
        from ..backend.gpu import shared_device

        self.name = name
        self.device = shared_device(adapter)
        self.adapter = self.device.adapter()
        warn_unless_webgpu(self.adapter)
        self._queue: GpuQueue | None = None
        self._places = GpuPlace(self, are_textures_memory=False), GpuPlace(self, are_textures_memory=True)
        self.pending: dict[tuple[int, ...], str] = {}
        """The numbers of the memories that dispatches write that were not waited for, with their entry points."""

    @property
    def buffers(self) -> GpuPlace:
        """Where memories are that are no textures."""
        return self._places[0]

    def place_of(self, memory: Memory, *, via_hercules: bool) -> GpuPlace:
        """Where a memory is: kernels that come from Hercules IR have textures as memory of their own."""
        return self._places[via_hercules and memory.texture is not None]

    def queue(self) -> GpuQueue:
        """The queue of the process that runs: a new one where it has died, with what it had marked as lost."""
        from ..backend.gpu import GpuQueue

        queue = self._queue
        if queue is not None and queue.is_empty and not queue.is_running:
            self._mark(queue.ending)
        if self._queue is None:
            self._queue = GpuQueue(self.device)
        return self._queue

    @contextmanager
    def watched(self) -> Generator[None]:
        """If the GPU fails in the body of the `with` statement, mark what is torn and lost, and say so."""
        try:
            yield
        except BaseException as error:
            failure = self.failure(error)
            if failure is error:
                raise
            raise failure from error

    def failure(self, error: BaseException) -> BaseException:
        """The error to raise: after one that has broken the queue, what is torn and lost is marked, and named."""
        from ..backend.gpu import GpuError

        if self._queue is None or not self._queue.is_broken:
            return error
        if not isinstance(error, GpuError):  # an interrupt, which ends the process
            self._mark(GpuError("crash", f"{type(error).__name__} ended the GPU process"))
            return error
        lost = self._mark(error)
        if not lost:
            return error
        return DeviceError(f"{error}; {_listed(lost)}, whose newest bytes were there, {_verb(lost)} lost")

    def _mark(self, error: DeviceError) -> list[str]:
        """Mark the memories whose newest bytes are gone; their labels."""
        queue, self._queue = self._queue, None
        torn = {number: entry for numbers, entry in self.pending.items() for number in numbers}
        self.pending.clear()
        lost = [memory for place in self._places for memory in place.forget_all()]
        labels = [memory.label for memory in lost]
        for memory in lost:
            entry = torn.get(memory.number) if _is_timeout(error) else None
            memory.fail(
                f"{_listed(labels)} {_verb(labels)} lost: the newest bytes were on {self.name}, and {error}"
                if entry is None
                else f"{memory.label} is torn: '{entry}', which writes it, was stopped, since {error}"
            )
        if queue is not None:
            queue.close()
        return labels

    def writes(self, numbers: tuple[int, ...], entry: str) -> None:
        """A dispatch that writes the memories of these numbers is recorded."""
        if len(self.pending) >= _MOST_PENDING:
            self.wait()
        self.pending[numbers] = entry

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all that is recorded is done."""
        if self._queue is not None and self.pending:
            with self.watched():
                self._queue.wait(timeout=timeout)
            self.pending.clear()

    def done(self) -> None:
        """All that was recorded is done."""
        self.pending.clear()

    def forget(self, memory: Memory) -> None:
        """Free what a memory has here."""
        for place in self._places:
            place.forget(memory)

    def close(self) -> None:
        """Forget what is recorded and free all memory."""
        queue, self._queue = self._queue, None
        self.pending.clear()
        for place in self._places:
            place.forget_all()
        if queue is not None:
            queue.close()


class GpuPlace:
    """Memories on a GPU, each in the form in which kernels bind it."""

    def __init__(self, side: GpuSide, *, are_textures_memory: bool) -> None:
        self.side = side
        self._are_textures_memory = are_textures_memory
        self._residents: WeakKeyDictionary[Memory, Resident] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The name of the device."""
        return self.side.name

    def resident(self, memory: Memory) -> Resident:
        """What has the memory's bytes here; `need` comes first."""
        return self._residents[memory]

    def upload(self, memory: Memory, data: Bytes) -> None:
        """Give the memory these bytes here."""
        queue, found = self.side.queue(), self._residents.get(memory)
        self._check_limit(memory)
        with self.side.watched():
            if found is None:
                self._residents[memory] = self._made(queue, memory, data)
            else:
                queue.write(found, self._padded(memory, data))

    def download(self, memory: Memory) -> bytes | bytearray:
        """Its bytes, after all that was recorded."""
        queue, resident = self.side.queue(), self._residents.get(memory)
        memory.check()
        assert resident is not None
        with self.side.watched():
            data = queue.read(resident, memory.size)
        self.side.done()
        return data

    def make_zero(self, memory: Memory) -> None:
        """Give the memory zeros here, if it has nothing here yet."""
        queue = self.side.queue()
        self._check_limit(memory)
        if memory not in self._residents:
            with self.side.watched():
                data = None if memory.texture is None else memory.host()
                self._residents[memory] = self._made(queue, memory, data)

    def duplicate(self, memory: Memory, target: Memory) -> None:
        """Give the target, which has nothing here yet, the bytes that a memory has here. It is no texture."""
        queue = self.side.queue()
        memory.check()
        with self.side.watched():
            made = queue.new_buffer(memory.size)
            queue.copy(self._residents[memory], made, memory.size + -memory.size % 4)
        self._residents[target] = made

    def forget_all(self) -> list[Memory]:
        """The memories whose newest bytes are only here; the device has none any more."""
        lost = [memory for memory in list(self._residents) if memory.is_only_at(self)]
        for memory in list(self._residents):
            memory.forget(self)
        self._residents.clear()
        return lost

    def forget(self, memory: Memory) -> None:
        """Free what a memory has here."""
        self._residents.pop(memory, None)

    def _made(self, queue: GpuQueue, memory: Memory, data: Bytes | None) -> Resident:
        if memory.texture is not None and not self._are_textures_memory:
            assert data is not None
            return queue.new_texture(memory.texture, bytes(widened(memory.texture, data.data)))
        if data is None:
            return queue.new_buffer(memory.size)
        padded = self._padded(memory, data)
        return queue.new_buffer(len(padded), padded)

    def _padded(self, memory: Memory, data: Bytes) -> bytes | memoryview:
        """The bytes, as many as a kernel can bind: a texture as memory has at least one texel."""
        if memory.texture is None:
            return data.data
        if not self._are_textures_memory:
            return bytes(widened(memory.texture, data.data))
        return data.tobytes().ljust(minimum_size(storage_type(memory.texture)), b"\0")

    def _check_limit(self, memory: Memory) -> None:
        from ..backend.gpu import GpuError

        most = self.side.adapter.limits["max-buffer-size"]
        if memory.size > most:
            raise GpuError("limit", f"{memory.label} has {memory.size} bytes; {self.name} allows {most}")


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(labels)


def _verb(labels: list[str]) -> str:
    return "is" if len(labels) == 1 else "are"


def _is_timeout(error: DeviceError) -> bool:
    from ..backend.gpu import GpuError

    return isinstance(error, GpuError) and error.kind == "timeout"
