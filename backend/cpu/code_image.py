"""Machine code as it lies in memory, which is kept on disk."""

from __future__ import annotations

import pickle

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


def packed(code: CodeImage | bytes) -> bytes:
    """What is kept on disk of an image, or of an object file that has none."""
    kept = code if isinstance(code, bytes) else (code.content, code.executable, code.slots, code.entry)
    return pickle.dumps(kept, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> CodeImage | bytes:
    """What was packed."""
    kept: bytes | tuple[bytes, int, tuple[tuple[int, str], ...], int] = pickle.loads(data)
    return kept if isinstance(kept, bytes) else CodeImage(*kept)
