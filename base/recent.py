"""Values by key that are made once and kept, up to a number of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from .forks import ForkLock

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The `most` values that were used last. Threads may share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = ForkLock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key. Threads that ask at once may make several, but all get the same."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            value = self._values.setdefault(key, made)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return value
