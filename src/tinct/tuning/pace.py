"""How much slower or faster the machine is than it was: clocks change, and what others do with caches and memory."""

from __future__ import annotations

from collections import deque
from math import inf
from statistics import median
from typing import Final

_TIMES: Final = 5
"""How many times count, in the beginning and by now: their median, as a single one may be disturbed."""
_CHANGED: Final = 0.1
"""By which share of its time a job takes longer or shorter if the machine has changed."""


class Pace:
    """Times in seconds of a job that is timed again and again: the first ones, and the last ones."""

    def __init__(self) -> None:
        self._first: list[float] = []
        self._last: deque[float] = deque(maxlen=_TIMES)

    def note(self, seconds: float) -> None:
        """Note a time of the job."""
        self._last.append(seconds)
        if len(self._first) < _TIMES:
            self._first.append(seconds)

    @property
    def last(self) -> float:
        """The last time; infinite if there is none."""
        return self._last[-1] if self._last else inf

    @property
    def factor(self) -> float:
        """How many times as long the job takes now as in the beginning; 1 if that is about the same."""
        factor = median(self._last) / median(self._first) if self._last else 1.0
        return 1.0 if abs(factor - 1) <= _CHANGED else factor
