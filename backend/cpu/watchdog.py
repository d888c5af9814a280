"""The watchdog: stops machine code when its time is over."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ...base.deadline import Deadline
from ..alarms import ALARMS
from . import _pool


@contextmanager
def stop_after(timeout: float) -> Generator[_pool.Stop]:
    """What stops a run after so many seconds; if that happened, leaving raises DeviceError."""
    stop, deadline = _pool.Stop(), Deadline(timeout)
    with ALARMS.set(timeout, stop.raise_):
        yield stop
    if stop.is_raised:
        raise deadline.error()
