"""Work that nothing can interrupt, such as imports, within a thread's limit on compiling.

A thread of its own does the work. Whoever waits for it does so as long as that one may compile (`compiling_within`);
then the work goes on, and the next one who needs it finds more of it done.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from .deadline import compile_time_error, compile_time_left

Made = TypeVar("Made")


class Background(Generic[Made]):
    """Work that has begun in a thread of its own; `name` says what is done, in errors ("the start of …").

    The interpreter ends without it, or waits for work `in_c`, such as LLVM's, whose library must not end before it.
    """

    def __init__(self, work: Callable[[], Made], name: str, *, in_c: bool = False) -> None:
        import threading

        self.owner = os.getpid()
        """The process that has the thread."""
        self._name = name
        self._work = work
        self._ended = threading.Event()
        self._made: list[Made] = []
        self._error: Exception | None = None
        threading.Thread(target=self._do, name=f"tinct {name}", daemon=not in_c).start()

    @property
    def has_ended(self) -> bool:
        """Whether it is done, or has failed."""
        return self._ended.is_set()

    def result(self) -> Made:
        """What the work made, or the error that it raised. Raises DeviceError if this thread may wait no longer."""
        if not self._ended.wait(compile_time_left()):
            raise compile_time_error(self._name)
        if self._error is not None:
            raise self._error
        return self._made[0]

    def _do(self) -> None:
        try:
            self._made.append(self._work())
        except Exception as error:  # which `result` raises
            self._error = error
        finally:
            self._ended.set()


_started: dict[str, Background[object]] = {}
"""The imports that have begun, by the modules' names."""


def import_in_time(*modules: str) -> None:
    """Import modules before the statement that imports from them, if this thread has a limit on compiling.

    Raises DeviceError when it is over, and what the import raises.
    """
    if compile_time_left() is None:
        return
    for name in modules:
        started = _started.get(name)
        if started is None:
            work = Background[object](partial(importlib.import_module, name), f"the import of {name}")
            started = _started.setdefault(name, work)
        started.result()


os.register_at_fork(after_in_child=_started.clear)
