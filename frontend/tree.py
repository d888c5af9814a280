"""Running tree-sitter's parser within bounded time.

Its error recovery can take time that grows with the square of the text, on texts made to that end; none that is
well-formed comes near the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tree_sitter import LogType, Parser, Point, Tree

from .grammar import language

LONGEST = 0.5
LONGEST_PER_BYTE = 1e-5
"""Seconds of processor time that parsing may take before it is given up: some ten times what well-formed text needs."""

_CHUNK = 1 << 16


def parse_tree(
    data: bytes,
    *,
    seconds: float | None = None,
    logger: Callable[[LogType, str], None] | None = None,
    is_enough: Callable[[], bool] = lambda: False,
) -> Tree | None:
    """The syntax tree of a text in UTF-8; None when it takes too long, or once `is_enough`."""
    deadline = time.thread_time() + (LONGEST + LONGEST_PER_BYTE * len(data) if seconds is None else seconds)

    def read(offset: int, point: Point) -> bytes:
        del point
        return data[offset : offset + _CHUNK]

    def is_late(offset: int, has_error: bool) -> bool:
        del offset, has_error
        return time.thread_time() > deadline or is_enough()

    try:
        return Parser(language(), logger=logger).parse(read, progress_callback=is_late)
    except ValueError:  # how the binding says that it was stopped
        return None
