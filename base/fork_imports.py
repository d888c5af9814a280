"""A fork of the process waits until no other thread imports a module.

Modules are imported when they are first wanted, by any thread. Python locks each module while it is imported, and the
child of a fork has no thread that would finish the import and release the lock: the first import of that module in the
child would wait for ever.
"""

from __future__ import annotations

import _imp
import importlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Protocol, cast

from .locks import get_ident

_LONGEST_WAIT = 10.0
"""Seconds. An import may itself wait for something that the forking thread holds."""
_STEP = 0.001
"""Seconds between looks at the locks."""


class _ModuleLock(Protocol):
    owner: int | None


def _begin_fork() -> None:
    """Hold the lock of imports at a moment when no other thread is in one."""
    end = time.monotonic() + _LONGEST_WAIT
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


def wait_at_forks() -> None:
    """Let each fork from now on wait for the imports of other threads."""
    os.register_at_fork(before=_begin_fork, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock)
