"""What a peer is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..problem import Problem


class Unsupported(Exception):
    """This peer has no such kernel; the message says why."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A kernel ready to run on a problem's shared buffers.

    `run` does one dispatch, leaves the outputs in the shared buffers, and returns the seconds of the dispatch alone.
    `compile_seconds` is what a first use costs before it can run, where the peer compiles when it is used.
    """

    run: Callable[[], float]
    compile_seconds: float | None = None


class Peer(Protocol):
    """An implementation that runs kernels."""

    name: str

    def available(self) -> str | None:
        """None when it can be used here, else the reason why not."""
        ...

    def version(self) -> str:
        """What exactly is measured: product, version, options. Asked only when available."""
        ...

    def prepare(self, problem: Problem) -> Prepared:
        """Do the work that dispatches have in common. Raises Unsupported."""
        ...


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """The call, wrapped to return the seconds that it takes by this process's clock."""

    def run() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return run
