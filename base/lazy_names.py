"""Names of a package that are imported when they are first wanted, so that a process imports only what it uses."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from .interpreter_state import paused_collection


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package (PEP 562): `homes` has the module within the package for each name."""

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with paused_collection():  # classes and functions are not garbage
            return getattr(importlib.import_module(f".{homes[name]}", package), name)

    return find
