"""Memory of the parent and its child, in which large blobs go from one to the other: a pipe takes 64 KiB at a time."""

from __future__ import annotations

import mmap
import os
import sys
import weakref
from collections.abc import Sequence
from typing import Final, TypeAlias

Blob: TypeAlias = bytes | bytearray | memoryview

_LARGE: Final = 1 << 16
"""The bytes of a blob from which on it goes this way: what a pipe takes at once."""
_KEPT: Final = 1 << 28
"""The bytes that stay for the next blobs: bytes that the system has to find first take ten times as long to write."""
_LINE: Final = 64
"""Blobs begin with a line of the cache."""


class SharedBytes:
    """Bytes that one of two processes writes and the other one reads: those of a file without a name, which a child
    inherits. Without a file, nothing can be put there.

    What was put stays until more is put, or what is not kept is freed: the writer knows when the reader is done.
    """

    def __init__(self, file: int | None) -> None:
        self.file = file
        self._bytes = memoryview(b"")
        if file is not None:
            weakref.finalize(self, os.close, file)

    @classmethod
    def new(cls) -> SharedBytes:
        """With a file, where the system has such files."""
        if sys.platform != "linux":
            return cls(None)
        try:
            return cls(os.memfd_create("tinct"))
        except OSError:
            return cls(None)

    @classmethod
    def inherited(cls, argument: str) -> SharedBytes:
        """Those whose `argument` was given to this process."""
        return cls(int(argument) if argument else None)

    @property
    def argument(self) -> str:
        """What to give a child that inherits the file."""
        return "" if self.file is None else str(self.file)

    def put(self, blobs: Sequence[Blob]) -> list[int | None]:
        """Write the large ones of the blobs, and return where each begins; None for one that is to go another way, as
        all are if there is no room.
        """
        places, end = list[int | None](), 0
        for blob in blobs:
            if is_large(blob):
                places.append(end)
                end += -(-len(blob) // _LINE) * _LINE
            else:
                places.append(None)
        if not self._has_room(end):
            return [None] * len(blobs)
        for blob, place in zip(blobs, places, strict=True):
            if place is not None:
                self._bytes[place : place + len(blob)] = blob
        return places

    def at(self, place: int, size: int) -> memoryview:
        """What the other process has put there."""
        assert self.file is not None, "nothing can be put there"
        if place + size > len(self._bytes):
            self._bytes = _mapped(self.file, os.fstat(self.file).st_size)
        return self._bytes[place : place + size]

    def free(self) -> None:
        """Free what is not kept, once the other process has taken what was put."""
        if self.file is not None and len(self._bytes) > _KEPT:
            os.ftruncate(self.file, _KEPT)
            self._bytes = _mapped(self.file, _KEPT)

    def _has_room(self, size: int) -> bool:
        """Whether there are so many bytes; if need be, the file grows."""
        if size <= len(self._bytes):
            return True
        if self.file is None:
            return False
        try:
            os.ftruncate(self.file, size)
            self._bytes = _mapped(self.file, size)
        except OSError:
            return False
        return True


def is_large(blob: Blob) -> bool:
    """Whether a blob goes by shared memory where there is some."""
    return len(blob) >= _LARGE


def _mapped(file: int, size: int) -> memoryview:
    return memoryview(mmap.mmap(file, size))
