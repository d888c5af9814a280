"""Suppresses LLVM's warnings on standard error about loops that it does not unroll."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress

_WARNING = b"loop not unrolled"


@contextmanager
def without_unroll_warnings() -> Generator[None]:
    """Drop LLVM's warnings about loops that it was asked to unroll and did not, and no other output, meanwhile.

    LLVM writes them to the file descriptor itself, and its bindings have no handler for them. Other output to
    it is written afterwards. If the stream cannot be redirected, nothing is dropped.
    """
    try:
        kept, stream = tempfile.TemporaryFile(), os.dup(2)  # noqa: SIM115 (closed below, whatever happens)
    except OSError:
        yield
        return
    try:
        os.dup2(kept.fileno(), 2)
        yield
    finally:
        os.dup2(stream, 2)
        os.close(stream)
        with kept:
            kept.seek(0)
            lines = [line for line in kept if _WARNING not in line]
        with suppress(OSError):
            os.write(2, b"".join(lines))
