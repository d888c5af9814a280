"""Runs of graphs in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy.typing as npt

from ..arguments import seconds_of
from ..base.errors import DeviceError
from .running import GraphRun

Outputs: TypeAlias = "dict[str, npt.NDArray[Any]]"


class Launch:
    """A run of a graph in the background, as `launch` returns it. When nobody has it any more, the run ends after the
    execution in which it is.
    """

    def __init__(self, name: str, run: Callable[[Callable[[], bool]], GraphRun]) -> None:
        self._state = _State()
        thread = threading.Thread(target=_work, args=(self._state, run), name=f"graph {name}", daemon=True)
        thread.start()

    def __del__(self) -> None:
        self._state.is_unwanted = True

    @property
    def done(self) -> bool:
        """Whether the run has ended, by an error too."""
        return self._state.ended.is_set()

    def wait(self, timeout: float | None = None) -> Outputs:
        """The outputs by name, when the run has ended: each time the same arrays.

        Raises what `run` raises, and DeviceError after `timeout` seconds, in which case the run goes on.
        """
        seconds = seconds_of(timeout)
        if not self._state.ended.wait(seconds):
            raise DeviceError(f"the graph still runs after {seconds} seconds")
        return self._state.outputs()


class _State:
    """What a launch and its thread share."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.is_unwanted = False
        self.result: GraphRun | None = None
        self.error: BaseException | None = None

    def should_stop(self) -> bool:
        """Whether nobody waits for the result."""
        return self.is_unwanted

    def outputs(self) -> Outputs:
        """The outputs. Raises the error of the run."""
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return dict(self.result.outputs)


def _work(state: _State, run: Callable[[Callable[[], bool]], GraphRun]) -> None:
    try:
        state.result = run(state.should_stop)
    except BaseException as error:  # which `wait` raises
        state.error = error
    finally:
        state.ended.set()
