"""Locks that are free in the child of a fork.

The child of `os.fork` has one thread and a copy of the memory: a lock held by another thread at the time of the fork
would never be released there. These locks are free in the child, so the data they guard must be consistent at any
moment, or be created again in the child.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

from .deadline import compile_time_error, compile_time_left
from .locks import LONGEST_WAIT, RLock, allocate_lock


class _Lock(Protocol):
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


class ForkLock:
    """Like `threading.Lock` in a `with` statement, but free in the child of a fork."""

    __slots__ = ("__weakref__", "_lock", "_make")

    def __init__(self, make: Callable[[], _Lock] = allocate_lock) -> None:
        self._make = make
        self._lock = make()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Release the lock unconditionally, in the child of a fork."""
        self._lock = self._make()


class CompileLock(ForkLock):
    """A re-entrant lock: one thread compiles, and others that need the same wait for it.

    Waiting counts as compiling: past the thread's limit (`compiling_within`) it raises DeviceError.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(RLock)

    def __enter__(self) -> None:
        left = compile_time_left()
        if not self._lock.acquire(timeout=-1 if left is None else min(left, LONGEST_WAIT)):
            raise compile_time_error()


_all: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _all:
        lock.renew()


os.register_at_fork(after_in_child=_renew_all)
