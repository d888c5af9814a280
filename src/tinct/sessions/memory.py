"""The memory of a buffer: on which devices it is, and where its newest bytes are.

A memory begins as bytes of the host, or as zeros that no device has yet. Then, for each device:

- `need`: its bytes are wanted there. If they are stale there, they are copied once, from where they are newest.
- `wrote`: a dispatch has written them there. All others are stale from then on.
- a device that stops in the middle of a dispatch leaves what was being written torn; one that dies loses what was
  newest only there. Both are a `problem`, which each use raises until the whole memory is written anew.
"""

from __future__ import annotations

import itertools
from typing import Final, Protocol, TypeAlias

import numpy as np

from ..backend.cpu.aligned import Bytes, aligned_zeros
from ..base.errors import DeviceError, InputError
from ..ir.types import Texture
from .copies import Copies, Copy

_numbers = itertools.count()


class Place(Protocol):
    """Where bytes can be besides the host: a GPU."""

    @property
    def name(self) -> str:
        """The name of the device."""
        ...

    def upload(self, memory: Memory, data: Bytes) -> None:
        """Give the memory these bytes there."""
        ...

    def download(self, memory: Memory) -> bytes | bytearray:
        """Its bytes there."""
        ...

    def make_zero(self, memory: Memory) -> None:
        """Give the memory zeros there."""
        ...

    def duplicate(self, memory: Memory, target: Memory) -> None:
        """Give the target, which has nothing there yet, the bytes that a memory has there."""
        ...


class Host:
    """The host's memory, in which the CPU and the interpreters work."""

    name: Final = "cpu"


HOST: Final = Host()
AnyPlace: TypeAlias = "Host | Place"


class Ledger:
    """What all memories of a session share. `epoch` changes whenever the newest bytes of one are elsewhere than before,
    or one may no longer be used: until then, what a dispatch has checked still holds.
    """

    __slots__ = ("copies", "epoch")

    def __init__(self) -> None:
        self.epoch = 0
        self.copies = Copies()


class Memory:
    """Bytes that dispatches read and write; see the module's docstring."""

    __slots__ = (
        "__weakref__",
        "_host",
        "_is_zero",
        "_ledger",
        "fresh",
        "is_adopted",
        "is_released",
        "label",
        "number",
        "problem",
        "size",
        "texture",
        "users",
    )

    def __init__(self, ledger: Ledger, label: str, size: int, texture: Texture | None = None) -> None:
        self._ledger = ledger
        self._host: Bytes | None = None
        self._is_zero = True
        self.number = next(_numbers)
        """Unlike all others."""
        self.label = label
        self.size = size
        self.texture = texture
        self.fresh: set[AnyPlace] = set()
        """Where the newest bytes are; empty for zeros that were never written."""
        self.problem = ""
        self.is_adopted = False
        self.is_released = False
        self.users = 0
        """The number of buffers that are parts of it."""

    @classmethod
    def adopting(cls, ledger: Ledger, label: str, data: Bytes) -> Memory:
        """The caller's own memory."""
        memory = cls(ledger, label, data.nbytes)
        memory._host, memory.is_adopted = data, True
        memory._is_host()
        return memory

    def __repr__(self) -> str:
        return f"<Memory {self.label}: {self.size} bytes>"

    @property
    def is_read_only(self) -> bool:
        """Whether it is the caller's memory, which the caller may not write."""
        return self._host is not None and not self._host.flags.writeable

    @property
    def device(self) -> str:
        """The name of the device that has the newest bytes; the host where several have them."""
        return HOST.name if HOST in self.fresh or not self.fresh else next(iter(self.fresh)).name

    @property
    def is_owed(self) -> bool:
        """Whether it is the caller's memory and lacks its newest bytes."""
        return self.is_adopted and not self.is_released and HOST not in self.fresh

    def copy_to(self, target: Memory, why: str) -> None:
        """Give a new memory of the same size these bytes, on the device that has them; zeros stay zeros."""
        self.check()
        if self._is_zero:
            return
        place = HOST if HOST in self.fresh or self.texture is not None else next(iter(self.fresh))
        if isinstance(place, Host):
            self.need(HOST, why)
            target.set_host(self.host().data)
        else:
            place.duplicate(self, target)
            target.wrote(place)
        self._ledger.copies.add(Copy(target.label, self.size, place.name, place.name, why))

    def host(self) -> Bytes:
        """The bytes of the host, which may be stale."""
        if self._host is None:
            self._host = aligned_zeros(self.size)
        return self._host

    def set_host(self, data: bytes | bytearray | memoryview) -> None:
        """Write the whole memory on the host, which ends any problem."""
        self.host()[:] = np.frombuffer(data, np.uint8)
        self._is_host()

    def _is_host(self) -> None:
        self._is_zero, self.problem = False, ""
        self._become({HOST})

    def check(self) -> None:
        """Raise InputError if it was released, and DeviceError if it is torn or lost."""
        if self.is_released:
            raise InputError(f"{self.label} was released")
        if self.problem:
            raise DeviceError(self.problem)

    def need(self, place: AnyPlace, why: str) -> None:
        """Have the newest bytes at a place. Raises what `check` raises, and DeviceError."""
        self.check()
        if place in self.fresh:
            return
        if self._is_zero:
            self._make_zero(place)
        elif isinstance(place, Host):
            self._download(why)
        else:
            self.need(HOST, why)
            place.upload(self, self.host())
            self._copied(HOST, place, why)

    def wrote(self, place: AnyPlace) -> None:
        """A dispatch has written it there."""
        if self._is_zero or self.fresh != {place}:
            self._is_zero = False
            self._become({place})

    def fail(self, problem: str) -> None:
        """It is torn or lost, until it is written anew."""
        self.problem, self._is_zero = problem, False
        self._become(set())

    def forget(self, place: AnyPlace) -> None:
        """The place has none of its bytes any more."""
        self._become(self.fresh - {place})

    def is_only_at(self, place: AnyPlace) -> bool:
        """Whether no other place has the newest bytes, nor are they zeros that were never written."""
        return self.fresh == {place} and not self._is_zero

    def release(self) -> None:
        """No use of it is allowed any more; its bytes are freed."""
        self.is_released, self._host = True, None
        self._become(set())

    def _make_zero(self, place: AnyPlace) -> None:
        if not isinstance(place, Host):
            place.make_zero(self)
        elif self._host is not None:
            self._host[:] = 0
        self._become({*self.fresh, place})

    def _download(self, why: str) -> None:
        source = next(it for it in self.fresh if not isinstance(it, Host))
        self.host()[:] = np.frombuffer(source.download(self), np.uint8)
        self._copied(source, HOST, why)

    def _copied(self, source: AnyPlace, target: AnyPlace, why: str) -> None:
        self._ledger.copies.add(Copy(self.label, self.size, source.name, target.name, why))
        self._become({*self.fresh, target})

    def _become(self, fresh: set[AnyPlace]) -> None:
        if self.fresh:  # else nothing was checked that could change
            self._ledger.epoch += 1
        self.fresh = fresh
