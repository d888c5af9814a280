"""Who is told what dispatches have run. Dispatches are counted while there is anybody."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..transforms.core.count_blocks import BlockKey
    from .places import Places


class Recorder(Protocol):
    """Is told the counts of each dispatch, from any thread."""

    @property
    def is_on(self) -> bool:
        """Whether dispatches shall be counted."""
        ...

    def record(self, places: Places, counts: Mapping[BlockKey, int]) -> None:
        """Take the counts of the blocks of a program in a dispatch that has ended."""
        ...


_known: list[Recorder] = []


def recorders() -> tuple[Recorder, ...]:
    """Those that are on. They are the process's, not the thread's: a test may dispatch in a thread of its own."""
    return tuple(it for it in tuple(_known) if it.is_on) if _known else ()


def add_recorder(recorder: Recorder) -> None:
    """Tell a recorder of all dispatches that begin from now on."""
    _known.append(recorder)


def remove_recorder(recorder: Recorder) -> None:
    """Stop telling a recorder."""
    _known.remove(recorder)


@contextmanager
def recording(recorder: Recorder) -> Generator[None]:
    """Tell a recorder of the dispatches in the body of the `with` statement."""
    add_recorder(recorder)
    try:
        yield
    finally:
        remove_recorder(recorder)
