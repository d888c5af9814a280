"""The copies that a session has made: which bytes went from where to where, and why."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, overload

from ..base.records import dataclass

_MOST: Final = 1 << 14
"""The number of copies that are kept in full, so that a long session's memory stays flat."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy: the buffer's label, the bytes, the devices' names, and the reason."""

    buffer: str
    bytes: int
    source: str
    target: str
    why: str

    def __str__(self) -> str:
        return f"{self.buffer}: {self.bytes} bytes from {self.source} to {self.target}, since {self.why}"


class Copies(Sequence[Copy]):
    """The latest copies, in order, at most 16,384 of them. `total` is the number of all so far, `total_bytes` their
    bytes.
    """

    def __init__(self) -> None:
        self._latest: deque[Copy] = deque(maxlen=_MOST)
        self.total = 0
        self.total_bytes = 0

    def add(self, copy: Copy) -> None:
        """One more copy."""
        self._latest.append(copy)
        self.total += 1
        self.total_bytes += copy.bytes

    @overload
    def __getitem__(self, index: int) -> Copy: ...

    @overload
    def __getitem__(self, index: slice) -> list[Copy]: ...

    def __getitem__(self, index: int | slice) -> Copy | list[Copy]:
        return list(self._latest)[index] if isinstance(index, slice) else self._latest[index]

    def __len__(self) -> int:
        return len(self._latest)

    def __iter__(self) -> Iterator[Copy]:
        return iter(list(self._latest))

    def __repr__(self) -> str:
        return f"<{self.total} copies, {self.total_bytes} bytes>"
