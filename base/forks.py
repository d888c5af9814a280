"""The child of a fork finds no lock held by a thread that it does not have.

The child of `os.fork` has one thread and a copy of the memory: a lock held by another thread at the time of the fork
would never be released there. The locks of this module are free in the child, so the data they guard must be consistent
at any moment, or be created again in the child.

Python locks each module while it is imported, and our modules are imported when they are first wanted, by any thread: a
fork waits until no other thread is in an import. Hooks before a fork run in the opposite order of their registration:
that of imports, which is the first, comes after those that wait for LLVM, in which other threads may import.
"""

from __future__ import annotations

import _imp
import importlib
import os
import time
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol, cast

from .deadline import compile_time_error, compile_time_left
from .locks import LONGEST_WAIT, RLock, allocate_lock, get_ident


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


_LONGEST_FOR_IMPORTS = 10.0
"""Seconds. An import may itself wait for something that the forking thread holds."""
_STEP = 0.001
"""Seconds between looks at the locks."""


class _ModuleLock(Protocol):
    owner: int | None


def _begin_fork() -> None:
    """Hold the lock of imports at a moment when no other thread is in one."""
    end = time.monotonic() + _LONGEST_FOR_IMPORTS
    _imp.acquire_lock()
    while _another_thread_imports() and time.monotonic() < end:
        _imp.release_lock()
        time.sleep(_STEP)
        _imp.acquire_lock()


def _another_thread_imports() -> bool:
    """Whether a module's lock is held elsewhere. `importlib` keeps its locks in a private table, by module; without
    such a table the fork does not wait.
    """
    bootstrap = getattr(importlib, "_bootstrap", None)
    locks = cast("Mapping[str, Callable[[], _ModuleLock | None]]", getattr(bootstrap, "_module_locks", {}))
    owners = {getattr(find(), "owner", None) for find in list(locks.values())}
    return bool(owners - {None, get_ident()})


os.register_at_fork(after_in_child=_renew_all)
os.register_at_fork(before=_begin_fork, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock)
