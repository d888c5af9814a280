"""The prepared dispatches of a session, each found by the objects that it is bound to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from .launches import Launch

_MOST: Final = 1024
"""The number of keys that are remembered."""


class LaunchCache:
    """Launches by keys that hold the `id` of what they are bound to: a key is forgotten with the object."""

    def __init__(self) -> None:
        self.found: dict[Hashable, Launch] = {}
        self._ids: dict[Hashable, tuple[int, ...]] = {}
        """The ids in a key."""
        self._keys: dict[int, set[Hashable]] = {}
        """The keys with an id in them."""

    def keep(self, key: Hashable, launch: Launch, ids: Iterable[int]) -> None:
        """Remember a launch while the objects with these ids live: `forget` ends that."""
        if len(self.found) >= _MOST:
            self.clear()
        self.found[key], self._ids[key] = launch, tuple(ids)
        for id in self._ids[key]:
            self._keys.setdefault(id, set()).add(key)

    def forget(self, id: int) -> None:
        """Forget what is bound to an object, which ends. Takes no lock, so that finalizers can call it."""
        for key in self._keys.pop(id, ()):
            self.found.pop(key, None)
            for other in self._ids.pop(key, ()):
                self._keys.get(other, set[Hashable]()).discard(key)

    def clear(self) -> None:
        """Forget all."""
        self.found.clear()
        self._ids.clear()
        self._keys.clear()
