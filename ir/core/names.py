"""Unique names: flattened scopes need every name of a function, module scope included, to be one of a kind."""

from __future__ import annotations

from collections.abc import Iterable


class NameScope:
    """Hands out names that nothing else has: `x`, then `x_1`, `x_2`."""

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
        """A nested scope: names of this scope are taken there, but not the reverse. Nothing is copied."""
        return NameScope((), self)

    def __contains__(self, name: str) -> bool:
        return name in self._taken or (self._outer is not None and name in self._outer)
