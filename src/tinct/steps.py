"""Running the steps of a compilation: each once, timed, and with its errors placed in the source."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, ParamSpec, TypeVar, cast

from .base.interpreter_state import paused_collection
from .base.records import dataclass, field
from .ir.diagnostics import ShaderError
from .ir.source import Source

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class Step(Generic[T]):
    """A step of a pipeline, whose result is a T; `why` is the reason for its place."""

    name: str
    why: str


class _Reached(Exception):
    """The requested step is done."""


@dataclass(eq=False)
class Steps:
    """The results of the steps of one compilation, and the seconds each took, by name. Call it to do a step."""

    source: Source
    """The text that diagnostics point into."""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    _made: dict[Step[Any], object] = field(default_factory=dict["Step[Any]", object])
    _last: Step[Any] | None = None

    def __call__(self, step: Step[T], make: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a step, which is computed if it is not there yet. Raises what `make` raises."""
        if step not in self._made:
            try:
                self._made[step] = self._timed(step.name, lambda: make(*args, **kwargs))
            except BaseException:
                self._made.clear()  # the step may have changed the results of others, and was stopped half-way
                raise
        if step is self._last:
            raise _Reached
        return cast("T", self._made[step])

    def result(self, step: Step[T], pipeline: Callable[[Steps], object]) -> T:
        """The result of a step; if it is not there yet, `pipeline` runs until the step is done."""
        if step not in self._made:
            self._last = step
            try:
                with suppress(_Reached):
                    pipeline(self)
            finally:
                self._last = None
        return cast("T", self._made[step])

    def split(self, step: Step[T], parts: Mapping[str, float]) -> None:
        """Put the seconds of a step's parts in place of its own."""
        self.seconds.pop(step.name, None)
        self.seconds.update(parts)

    def branch(self) -> Steps:
        """A copy that has the results so far; later results of one are not seen by the other."""
        return Steps(self.source, self.seconds, dict(self._made))

    def _timed(self, name: str, make: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            with paused_collection():
                made = make()
        except ShaderError as error:
            if error.source is not None:
                raise
            raise ShaderError(error.diagnostics, self.source) from None
        self.seconds[name] = time.perf_counter() - start
        return made
