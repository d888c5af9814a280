"""Invocations that wait for one another: the results of subgroup operations, and barriers that not all reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...base.records import dataclass
from ..constants import RawValue
from ..diagnostics import Diagnostic, Note, Severity
from . import nodes
from .interp_frame import Invocation, Request


@dataclass(slots=True, kw_only=True)
class Lane:
    """A running invocation that may wait; `answer` is the result of the subgroup operation it waited for."""

    index: int
    invocation: Invocation
    answer: RawValue | None = None
    request: Request | None = None

    @property
    def path(self) -> list[tuple[int, ...]]:
        """Where it waits: see `Invocation.path`."""
        return self.invocation.path

    @property
    def barrier(self) -> nodes.BuiltinCall:
        """The barrier at which the invocation waits."""
        assert self.request is not None
        return self.request.instruction


LaneT = TypeVar("LaneT", bound=Lane)


def answered(lanes: Sequence[LaneT], subgroup_size: int) -> list[LaneT]:
    """Answers, in each subgroup, the requests of the lanes that are behind all others that wait for their subgroup, and
    returns these lanes.

    So control flow reconverges at the end of each construct: lanes that come from behind may yet join the others.
    """
    subgroups: dict[int, list[LaneT]] = {}
    for lane in lanes:
        if lane.request is not None and lane.request.arguments is not None:
            subgroups.setdefault(lane.index // subgroup_size, []).append(lane)
    ready: list[LaneT] = []
    for waiting in subgroups.values():
        behind = min(lane.path for lane in waiting)
        group = [lane for lane in waiting if lane.path == behind]
        _answer(group, subgroup_size)
        ready += group
    return ready


def _answer(group: Sequence[Lane], subgroup_size: int) -> None:
    arguments: dict[int, tuple[RawValue, ...]] = {}
    for lane in group:
        assert lane.request is not None
        assert lane.request.arguments is not None
        arguments[lane.index % subgroup_size] = lane.request.arguments
    assert group[0].request is not None
    from .interp_subgroups import subgroup_results  # which few kernels need

    results = subgroup_results(group[0].request.instruction, arguments)
    for lane in group:
        lane.answer = results[lane.index % subgroup_size]


def not_uniform(waiting: Sequence[Lane], ended: Sequence[Lane]) -> Diagnostic | None:
    """The error if not all invocations wait at the same barrier, or some have ended; else None (WGSL,
    "Synchronization").
    """
    first = waiting[0]
    other = next((lane for lane in waiting if lane.barrier is not first.barrier), None)
    if other is None and not ended:
        return None
    notes = [Note(f"{first.invocation} waits")]
    if other is not None:
        notes.append(Note(f"{other.invocation} waits here", other.barrier.span))
    else:
        notes.append(Note(f"{ended[0].invocation} has ended"))
    message = "some invocations of the workgroup wait at a barrier that others do not reach"
    return Diagnostic(Severity.ERROR, "non-uniform-barrier", message, first.barrier.span, tuple(notes))
