"""SHA-256 as the interpreter itself has it: `hashlib` loads OpenSSL, which takes as long as ten of our modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, cast


class Hash(Protocol):
    """A hash of the bytes that it was given."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """The hash in bytes."""
        ...

    def hexdigest(self) -> str:
        """The hash in hexadecimal digits."""
        ...


def _found() -> Callable[..., Hash]:
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"  # to look for the other one is slow
    with suppress(ImportError):
        return cast("Callable[..., Hash]", importlib.import_module(name).sha256)
    import hashlib

    return hashlib.sha256


sha256 = _found()
"""A new hash, of the bytes that are given, if any."""
