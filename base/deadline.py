"""Time limits on compiling and running a kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import CompileTimeError, DeviceError, InputError


class Deadline:
    """A point in time, `seconds` after its creation; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            raise InputError(f"the time limit must be a positive number of seconds, not {seconds}")
        self.seconds = seconds
        self.end = math.inf if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        """Raise DeviceError if the deadline has passed."""
        if time.monotonic() > self.end:
            raise self.error()

    def left(self) -> float | None:
        """The seconds that are left; None means no limit. Raises DeviceError if none are."""
        if self.seconds is None:
            return None
        left = self.end - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    def error(self) -> DeviceError:
        """The error of a kernel that was stopped."""
        return DeviceError(f"the kernel did not end within {self.seconds:g} s, and was stopped")


NEVER = Deadline(None)
_compiling_until: ContextVar[Deadline] = ContextVar("compiling_until", default=NEVER)
"""The deadline of compilation in this thread; a context variable, so that no stage needs a parameter for it."""


@contextmanager
def compiling_within(seconds: float | None) -> Generator[None]:
    """Limit compilation in the body of the `with` statement; past the limit it raises DeviceError. A limit that the
    thread has already, and that ends sooner, stays.

    Raises InputError for a limit that is not positive.
    """
    before = _compiling_until.set(min(_compiling_until.get(), Deadline(seconds), key=lambda it: it.end))
    try:
        yield
    finally:
        _compiling_until.reset(before)


def check_compile_time() -> None:
    """Raise DeviceError if this thread has compiled for too long. All stages call it at least ten times a second."""
    if time.monotonic() > _compiling_until.get().end:
        raise compile_time_error()


def compile_time_left() -> float | None:
    """The remaining compile time of this thread in seconds; None means no limit."""
    end = _compiling_until.get().end
    return None if end == math.inf else max(end - time.monotonic(), 0.0)


def compile_time_error(waited_for: str = "") -> CompileTimeError:
    """The error of a compilation that was stopped, or that is to wait no longer for something."""
    reason = f": {waited_for} goes on" if waited_for else ""
    return CompileTimeError(f"the kernel was not compiled within {_compiling_until.get().seconds:g} s{reason}")


class Ticks:
    """Polls a deadline once every `_EVERY` steps, so that counting a step is cheap."""

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
"""Steps between two polls of the clock; an interpreter takes a few milliseconds for them."""
