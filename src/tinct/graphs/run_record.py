"""How often a plan is followed, and what a run of it has done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..sessions import Copy
from .machine import NodeTiming
from .plan import Dispatch, Plan, Transfer


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Turns:
    """How often a plan is followed: `most` times, or without a limit, or until the output `until` is not zero, which is
    looked at each `every` times on a GPU. Between two executions `should_stop` is asked, and ends the run.
    """

    most: int | None = 1
    until: str | None = None
    every: int | None = None
    should_stop: Callable[[], bool] = _never


@dataclass(slots=True)
class Record:
    """What a run has done."""

    copies: list[Copy] = field(default_factory=list[Copy])
    timings: dict[tuple[str, ...], NodeTiming] = field(default_factory=dict[tuple[str, ...], NodeTiming])

    def transferred(self, plan: Plan, step: Transfer, executions: int = 1) -> None:
        """Note the copies that a step has made."""
        devices = plan.device(step.source), plan.device(step.target)
        self.copies += [Copy(plan.buffers[step.target].label, step.size, *devices, step.why)] * executions

    def copied(self, plan: Plan, buffer: int, why: str) -> None:
        """Note a copy of a buffer that stays on its device."""
        place, device = plan.buffers[buffer], plan.device(buffer)
        self.copies.append(Copy(place.label, place.size, device, device, why))

    def timed(self, step: Dispatch, seconds: float, *, compiling: float, executions: int = 1) -> None:
        """Note the seconds that a node took to run and to compile; nothing for a step that is no node's."""
        if not step.path:
            return
        timing = self.timings.setdefault(step.path, NodeTiming())
        timing.compile += compiling
        timing.run += seconds
        timing.dispatches += executions
