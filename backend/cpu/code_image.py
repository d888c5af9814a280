"""Machine code as it lies in memory, which is kept on disk."""

from __future__ import annotations

from ...base.records import dataclass


@dataclass(frozen=True, slots=True)
class CodeImage:
    """What is copied to the start of a page: `executable` bytes of code, then constants and slots.

    `slots`: where the addresses of functions of this process are written, and the functions' names. `entry`: where the
    module's function `kernel` begins.
    """

    content: bytes
    executable: int
    slots: tuple[tuple[int, str], ...]
    entry: int
