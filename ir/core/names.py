"""Unique names: core IR has no nested scopes, so every name in a function must differ from the others and from all
names at module scope.
"""

from __future__ import annotations

from collections.abc import Iterable


class NameScope:
    """Makes names unique: `x`, then `x_1`, `x_2`."""

    def __init__(self, taken: Iterable[str] = (), outer: NameScope | None = None) -> None:
        self._taken = set(taken)
        self._outer = outer
        self._next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or, where it is taken, `wanted` with a number."""
        name, number = wanted, self._next.get(wanted, 1)
        while name in self:
            name, number = f"{wanted.rstrip('_')}_{number}", number + 1
        self._next[wanted] = number
        self._taken.add(name)
        return name

    def nested(self) -> NameScope:
        """A nested scope: names of this scope are taken there, but names of the nested scope are free here. Nothing is
        copied.
        """
        return NameScope((), self)

    def __contains__(self, name: str) -> bool:
        return name in self._taken or (self._outer is not None and name in self._outer)
