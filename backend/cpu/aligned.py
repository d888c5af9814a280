"""Memory at aligned addresses, which machine code and the lines of a cache ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes: TypeAlias = "npt.NDArray[np.uint8]"
AnyArray: TypeAlias = "npt.NDArray[Any]"

BINDING_ALIGNMENT: Final = 16
"""The alignment in bytes that machine code assumes of a binding."""
_LINE: Final = 64
"""The bytes of a line of the cache, and of a vector of AVX-512."""


def address_of(memory: AnyArray) -> int:
    """Where it begins."""
    return int(memory.__array_interface__["data"][0])


def begins_with_line(memory: AnyArray) -> bool:
    """Whether it begins with a line of the cache."""
    return address_of(memory) % _LINE == 0


def aligned_zeros(size: int) -> Bytes:
    """Zeroed bytes that begin with a line of the cache."""
    return _aligned(np.zeros(size + _LINE, np.uint8), size)


def aligned_copy(data: bytes | bytearray | memoryview) -> Bytes:
    """A copy of bytes that begins with a line of the cache. Large ones get large pages of memory, if there are any:
    copying 32 MiB into a `bytearray`, which does not, takes four times as long (Zen 5, in a virtual machine).
    """
    copy = _aligned(np.empty(len(data) + _LINE, np.uint8), len(data))
    copy[:] = np.frombuffer(data, np.uint8)
    return copy


def _aligned(room: Bytes, size: int) -> Bytes:
    start = -address_of(room) % _LINE
    return room[start : start + size]
