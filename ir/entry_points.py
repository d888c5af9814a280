"""Entry points by name, in any representation whose functions have a name and a stage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from ..base.errors import InputError
from .hints import unknown_name
from .types import Stage


class _Function(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def stage(self) -> Stage | None: ...


F = TypeVar("F", bound=_Function)


def entry_point(functions: Iterable[F], name: str) -> F:
    """The entry point of that name. Raises InputError, whose message lists the existing names."""
    entries = {function.name: function for function in functions if function.stage is not None}
    if name not in entries:
        raise InputError(unknown_name(missing_entry_point(name), name, entries))
    return entries[name]


def compute_entry_point(functions: Iterable[F], name: str) -> F:
    """The compute entry point of that name. Raises InputError, also for an entry point of another stage."""
    found = entry_point(functions, name)
    if found.stage is not Stage.COMPUTE:
        raise InputError(f"the entry point '{name}' is not a compute shader")
    return found


def missing_entry_point(name: str) -> str:
    """The message for a name that no entry point has."""
    return f"no entry point is named '{name}'"
