"""The lines that kernels print: to standard output after each dispatch, or into a list."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from .arguments import count_of
from .base.errors import InputError
from .base.locks import allocate_lock
from .base.records import dataclass, field, replace
from .ir.source import Source

DEFAULT_LIMIT: Final = 1 << 20
"""Bytes for the records of a dispatch, if the caller does not say."""
_MOST: Final = (1 << 27) - 8
"""The greatest limit in bytes: every GPU can bind 128 MiB (WebGPU, "maxStorageBufferBindingSize"), and 8 are taken."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one statement printed in one invocation, without a line break at the end of the format.

    `invocation` is its `global_invocation_id`; `line` is the line of the statement in `source`, counted from 1. For a
    kernel that a graph runs, `node` is the path of its node, and `step` the number of the execution, counted from 1, if
    the graph is repeated.
    """

    text: str
    invocation: tuple[int, int, int]
    source: Source
    line: int
    node: str = ""
    step: int | None = None

    def __str__(self) -> str:
        """The text as it is printed: after the node, if there is one."""
        if not self.node:
            return self.text
        return f"{self.node}: {self.text}" if self.step is None else f"{self.node}, step {self.step}: {self.text}"


@dataclass(slots=True)
class Prints:
    """The lines that dispatches printed, in their order; within a dispatch by `global_invocation_id`, z before y before
    x, and within an invocation as it ran. `lost` is the number of lines for which a dispatch had no room.
    """

    lines: list[Line] = field(default_factory=list[Line])
    lost: int = 0

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


@dataclass(slots=True, eq=False)
class _Collector:
    prints: Prints
    limit: int | None


_collectors: list[_Collector] = []
_lock = allocate_lock()
_limit: ContextVar[int | None] = ContextVar("_limit", default=None)
_node: ContextVar[tuple[str, int | None]] = ContextVar("_node", default=("", None))


@contextmanager
def printed(*, print_limit: int | None = None) -> Generator[Prints]:
    """Collect what dispatches in the body of the `with` statement print, in all threads, in place of writing it.

    `print_limit` is the room for the records of a dispatch, in bytes: 16 for a line, and 4 for each component that it
    prints; 1 MiB by default. Raises InputError.
    """
    collector = _Collector(Prints(), checked_limit(print_limit))
    _collectors.append(collector)
    try:
        yield collector.prints
    finally:
        with _lock:
            _collectors[:] = [it for it in _collectors if it is not collector]


@contextmanager
def limited(print_limit: int | None) -> Generator[None]:
    """Give dispatches of this thread so much room for records; None changes nothing. Raises InputError."""
    checked = checked_limit(print_limit)
    token = _limit.set(_limit.get() if checked is None else checked)
    try:
        yield
    finally:
        _limit.reset(token)


def checked_limit(print_limit: int | None) -> int | None:
    """A limit in bytes. Raises InputError."""
    if print_limit is None:
        return None
    limit = count_of(print_limit, "print_limit")
    if not 0 <= limit <= _MOST:
        raise InputError(f"print_limit is a number of bytes up to {_MOST}, not {limit}")
    return limit


def room() -> int:
    """The bytes for the records of a dispatch that begins now."""
    limit = _limit.get()
    if limit is not None:
        return limit
    with _lock:
        return next((it.limit for it in reversed(_collectors) if it.limit is not None), DEFAULT_LIMIT)


@contextmanager
def run_by(node: str, step: int | None) -> Generator[None]:
    """Name a node of a graph in the lines that dispatches of this thread print."""
    token = _node.set((node, step))
    try:
        yield
    finally:
        _node.reset(token)


def lost_text(lost: int) -> str:
    """A sentence on lines for which there was no room."""
    count = "1 line was" if lost == 1 else f"{lost} lines were"
    return f"debugPrintf: {count} not kept, since the room for what a dispatch prints was used up"


def deliver(found: Prints) -> None:
    """Collect the lines of a dispatch, or write them."""
    node, step = _node.get()
    lines = [replace(it, node=node, step=step) for it in found.lines] if node else found.lines
    with _lock:
        for it in _collectors:
            it.prints.lines += lines
            it.prints.lost += found.lost
        if _collectors:
            return
    for line in lines:
        _write(str(line))
    if found.lost:
        print(f"{lost_text(found.lost)}: print_limit gives more", file=sys.stderr)


def _write(text: str) -> None:
    try:
        print(text)
    except UnicodeEncodeError:  # standard output in an encoding that lacks a character of the format
        print(text.encode("ascii", "backslashreplace").decode())
