"""Settings of the Python interpreter that a stage changes while it runs, and puts back.

Both are shared by all threads: the first user changes the setting, the last one restores it.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

# An expression of the deepest nesting that the front end lets through (512 levels) needs a few thousand frames.
_DEEPEST = 20_000


class _Setting:
    """`change` sets something and returns how to put it back."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._lock = threading.Lock()
        self._users = 0
        self._restore: Callable[[], None] = _nothing

    @contextmanager
    def changed(self) -> Generator[None, None, None]:
        with self._lock:
            if self._users == 0:
                self._restore = self._change()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore()


def _nothing() -> None:
    """Nothing to put back."""


def _raise_recursion_limit() -> Callable[[], None]:
    before = sys.getrecursionlimit()
    if before >= _DEEPEST:
        return _nothing
    sys.setrecursionlimit(_DEEPEST)
    return lambda: sys.setrecursionlimit(before)


def _pause_collection() -> Callable[[], None]:
    if not gc.isenabled():
        return _nothing
    gc.disable()
    return gc.enable


_RECURSION = _Setting(_raise_recursion_limit)
_COLLECTION = _Setting(_pause_collection)

deep_nesting = _RECURSION.changed
"""While it is entered (`with deep_nesting():`, or as a decorator), functions may recurse over the deepest trees."""

paused_collection = _COLLECTION.changed
"""While it is entered, cycles are not looked for: what builds a large tree would be searched again and again."""
