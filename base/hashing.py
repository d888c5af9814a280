"""SHA-256 as the interpreter itself has it: `hashlib` loads OpenSSL, which takes as long as ten of our modules."""

from __future__ import annotations

import importlib
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
    for name in ("_sha2", "_sha256"):  # the modules of Python 3.12 and later, and of 3.11
        with suppress(ImportError):
            return cast("Callable[..., Hash]", importlib.import_module(name).sha256)
    import hashlib

    return hashlib.sha256


sha256 = _found()
"""A new hash, of the bytes that are given, if any."""
