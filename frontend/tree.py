"""Running tree-sitter's parser within bounded time.

Error recovery can take time quadratic in the text on adversarial input; no well-formed text comes near the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tree_sitter import LogType, Parser, Point, Tree

from .grammar import language

LONGEST = 0.5
LONGEST_PER_BYTE = 1e-5
"""Processor time in seconds per byte after which parsing is abandoned: about ten times what well-formed text needs."""

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
