"""The time limit of a run of a graph. A deadline is a value of `time.monotonic`, or None."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from ..base.errors import DeviceError


class NodeStopped(DeviceError):
    """A node, by its path, was stopped since the deadline had passed."""

    def __init__(self, node: str) -> None:
        super().__init__(f"node {node!r} was stopped")


def deadline_after(seconds: float | None) -> float | None:
    """The deadline that is so many seconds from now."""
    return None if seconds is None else time.monotonic() + seconds


def seconds_left(deadline: float | None) -> float | None:
    """The seconds until a deadline. Raises DeviceError when it has passed."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeviceError("the time is over")
    return left


@contextmanager
def node_named(path: tuple[str, ...], deadline: float | None) -> Generator[None]:
    """Name a node in errors of a device: `NodeStopped` if they come after the deadline."""
    node = "/".join(path)
    try:
        yield
    except DeviceError as error:
        if _is_over(deadline):
            raise NodeStopped(node) from error
        raise DeviceError(f"node {node!r}: {error}") from error


@contextmanager
def limit_named(graph: str, seconds: float | None, deadline: float | None) -> Generator[None]:
    """Let an error of a device after the deadline say what the limit of the graph was, as it was given."""
    try:
        yield
    except DeviceError as error:
        if not _is_over(deadline):
            raise
        limit = f"graph {graph!r} did not end within {seconds:g} s"
        raise DeviceError(f"{error}: {limit}" if isinstance(error, NodeStopped) else limit) from error


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
