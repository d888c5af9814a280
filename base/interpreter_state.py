"""Settings of the Python interpreter that a stage changes while it runs, and restores.

Both are shared by all threads: the first user changes the setting, the last one restores it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from .locks import allocate_lock, get_ident

# An expression of the deepest nesting that the front end lets through (512 levels) needs a few thousand frames.
_DEEPEST = 20_000


class _Setting:
    """`change` changes a setting and returns the function that restores it."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._lock = allocate_lock()
        self._users: list[int] = []
        self._restore: Callable[[], None] = _nothing
        os.register_at_fork(after_in_child=self._forget_others)

    @contextmanager
    def changed(self) -> Generator[None, None, None]:
        thread = get_ident()
        with self._lock:
            if not self._users:
                self._restore = self._change()
            self._users.append(thread)
        try:
            yield
        finally:
            with self._lock:
                self._users.remove(thread)
                self._restore_if_unused()

    def _restore_if_unused(self) -> None:
        if not self._users:
            self._restore()
            self._restore = _nothing

    def _forget_others(self) -> None:
        """Drop the holds of other threads, which do not exist in the child of a fork."""
        self._lock = allocate_lock()
        self._users = [it for it in self._users if it == get_ident()]
        self._restore_if_unused()


def _nothing() -> None:
    """Restore nothing."""


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
"""Raises the recursion limit for the deepest trees (`with deep_nesting():`, or as a decorator)."""

paused_collection = _COLLECTION.changed
"""Pauses the cyclic garbage collector, which would search a large tree again and again while the tree is built."""
