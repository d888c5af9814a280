"""A limit on how long a kernel may run."""

from __future__ import annotations

import math
import time

from .diagnostics import DeviceError, InputError


class Deadline:
    """Passes so many seconds after it was made; never, if `seconds` is None."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            raise InputError(f"the time limit must be a positive number of seconds, not {seconds}")
        self.seconds = seconds
        self.end = math.inf if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raise DeviceError when the time is over."""
        if time.monotonic() > self.end:
            raise self.error()

    def error(self) -> DeviceError:
        """What a kernel that was stopped ends with."""
        return DeviceError(f"the kernel did not end within {self.seconds:g} s, and was stopped")


class Ticks:
    """Looks at a deadline now and then, so that the code that counts pays almost nothing."""

    __slots__ = ("_deadline", "_left")

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._left = _EVERY

    def count(self) -> None:
        """One small step. Raises DeviceError when the time is over."""
        self._left -= 1
        if self._left < 0:
            self._left = _EVERY
            self._deadline.check()


_EVERY = 2000
"""Steps between two looks at the clock: a few milliseconds of an interpreter."""
