"""Alarms: an action runs when a time has expired, unless it is cancelled before. One thread serves all alarms."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Alarms:
    """The alarms that are set. The thread is started with the first, and sleeps until the next is due.

    A cancelled alarm does not wake the thread: setting and cancelling one costs a few microseconds.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._alarms: set[_Alarm] = set()
        self._thread: threading.Thread | None = None
        self._wakes = 0.0
        os.register_at_fork(after_in_child=self._forget)

    @contextmanager
    def set(self, seconds: float, action: Callable[[], None]) -> Generator[None]:
        """Call `action` in another thread if the body of the `with` statement takes longer than this.

        It is called while no alarm can be set or cancelled, so never after the statement has ended.
        """
        alarm = _Alarm(time.monotonic() + seconds, action)
        with self._changed:
            self._alarms.add(alarm)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="tinct-alarms", daemon=True)
                self._thread.start()
            elif alarm.due < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._alarms.discard(alarm)

    @property
    def thread(self) -> threading.Thread | None:
        """The thread that serves alarms, once one was set."""
        return self._thread

    def _forget(self) -> None:
        """In the child of a fork: the thread does not exist, and the lock may stay locked."""
        self._changed, self._alarms, self._thread = threading.Condition(), set(), None

    def _serve(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for alarm in [it for it in self._alarms if it.due <= now]:
                    self._alarms.remove(alarm)
                    alarm.action()
                self._wakes = min((it.due for it in self._alarms), default=now + _LONGEST)
                self._changed.wait(min(self._wakes - now, _LONGEST))


class _Alarm:
    __slots__ = ("action", "due")

    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due = due
        self.action = action


_LONGEST = 3600.0
"""Longest sleep in seconds, since the system has a limit."""

ALARMS = Alarms()
"""The alarms of this process."""
