"""The watchdog: stops machine code when its time has expired."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ...base.deadline import Deadline
from ..alarms import ALARMS
from . import _pool


@contextmanager
def stop_after(timeout: float) -> Generator[_pool.Stop]:
    """A context manager that stops a run after `timeout` seconds, and then raises DeviceError on leaving."""
    stop, deadline = _pool.Stop(), Deadline(timeout)
    with ALARMS.set(timeout, stop.raise_):
        yield stop
    if stop.is_raised:
        raise deadline.error()
