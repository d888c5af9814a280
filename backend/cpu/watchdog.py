"""The watchdog: tells machine code to stop when its time is over."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager

from ...ir.deadline import Deadline
from ..alarms import ALARMS


class StopFlag:
    """A word that machine code looks at: not 0 means stop."""

    __slots__ = ("_word", "address")

    def __init__(self) -> None:
        self._word = ctypes.c_uint32(0)
        self.address = ctypes.addressof(self._word)

    @property
    def value(self) -> int:
        """0, or 1 once it has been raised."""
        return self._word.value

    def raise_(self) -> None:
        """Stop all who look."""
        self._word.value = 1


@contextmanager
def stop_after(timeout: float) -> Generator[StopFlag]:
    """A flag that is raised after so many seconds; if it was, leaving raises DeviceError."""
    flag, deadline = StopFlag(), Deadline(timeout)
    with ALARMS.set(timeout, flag.raise_):
        yield flag
    if flag.value:
        raise deadline.error()
