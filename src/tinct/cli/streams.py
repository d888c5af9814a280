"""The standard streams, which may be closed, full, or without a reader."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from ..ir.source import Source

_INPUT, _OUTPUT, _ERRORS = 0, 1, 2


def prepare() -> None:
    """Make all three streams safe to use, whatever state the parent process left them in.

    The number of a closed one would go to the next file that is opened, and whoever prints would write into that. So
    a closed one is opened such that each use fails. Text that the stream's encoding lacks is written with escapes.
    """
    for number in (_INPUT, _OUTPUT, _ERRORS):
        _reopen_closed(number)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(io.FileIO(_INPUT, closefd=False)))
    sys.stdout = _writer(sys.stdout, _Output(_OUTPUT, "w", closefd=False))
    sys.stderr = _writer(sys.stderr, _Messages(_ERRORS, "w", closefd=False))


def _writer(before: TextIO | None, raw: io.FileIO) -> io.TextIOWrapper:
    encoding = "utf-8" if before is None else before.encoding
    is_by_line = raw.isatty() or raw.fileno() == _ERRORS
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=is_by_line)


def _reopen_closed(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_WRONLY if number == _INPUT else os.O_RDONLY)
        os.dup2(opened, number)
        if opened != number:
            os.close(opened)
        os.set_inheritable(number, True)


class _Output(io.FileIO):
    """Standard output. The first failure is raised and kept; later output is dropped."""

    fault: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.fault is not None:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.fault = error
            raise


class _Messages(io.FileIO):
    """Standard error. If it cannot be written, only the exit code reports the error."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def fault_of_output() -> OSError | None:
    """Why standard output could not be written; None if it was."""
    with suppress(OSError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.fault if isinstance(raw, _Output) else None


def read_input() -> Source:
    """The source on standard input. Raises OSError."""
    try:
        return Source.from_stream(sys.stdin.buffer, "<stdin>")
    except OSError as error:
        error.filename = "standard input"
        raise
