"""A lock that is free in the child of a fork.

The child of `os.fork` has one thread and a copy of the memory: a lock held by another thread at the time of the fork
would never be released there. This lock is free in the child, so the data it guards must be consistent at any moment,
or be created again in the child.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType


class ForkLock:
    """Like `threading.Lock` in a `with` statement, but free in the child of a fork."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Release the lock unconditionally, in the child of a fork."""
        self._lock = threading.Lock()


_all: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _all:
        lock.renew()


os.register_at_fork(after_in_child=_renew_all)
