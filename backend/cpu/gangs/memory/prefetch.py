"""Memory asked for before it is accessed, which changes no result, whatever the address."""

from __future__ import annotations

from ...llvm import FunctionText

_LINE = 64
_MOST_LINES = 16
"""No more is asked for at once."""
DISTANCE = 2048
"""Bytes from what a gang accesses to what it asks for, where gangs go through an array one after another. Processors
foresee that, but only to the end of a page, and not where a loop of few turns is between. Of 1, 2 and 4 KiB this is as
good as the last, and better than the first.
"""


def prefetch(out: FunctionText, pointer: str, size: int) -> None:
    """Ask for so many bytes from a pointer on."""
    out.module.declare("void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
    for line in range(min(-(-size // _LINE), _MOST_LINES)):
        address = out.value(f"getelementptr i8, ptr {pointer}, i64 {line * _LINE}")
        out.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")
