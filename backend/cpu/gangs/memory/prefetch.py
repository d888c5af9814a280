"""Prefetch instructions. They change no result and may have any address."""

from __future__ import annotations

from ...llvm import FunctionText

_LINE = 64
"""The bytes of a cache line."""
_MOST_LINES = 16
"""The most cache lines that are prefetched at once."""
DISTANCE = 2048
"""The distance in bytes between the data that a gang accesses and the data that it prefetches, where gangs go through
an array one after another. Hardware prefetchers stop at the end of a page, and at loops of few iterations. Measured: 2
KiB is as good as 4 KiB and better than 1 KiB.
"""


def prefetch(out: FunctionText, pointer: str, size: int) -> None:
    """Prefetch `size` bytes from a pointer on."""
    out.module.declare("void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
    for line in range(min(-(-size // _LINE), _MOST_LINES)):
        address = out.value(f"getelementptr i8, ptr {pointer}, i64 {line * _LINE}")
        out.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
