"""Which forks run as gangs, and of how many lanes."""

from __future__ import annotations

from ....ir.hercules import nodes as h
from ....ir.hercules.schedule import Schedule


class NotGanged(Exception):
    """A function that gangs cannot run yet; says why."""


def choose_gangs(placed: Schedule, native: int) -> dict[h.Fork, int]:
    """For each nest of forks over literal factors, the innermost one and its gangs' lanes; `native` is the lanes of a
    vector register. Raises NotGanged where there is nothing to gain.
    """
    chosen: dict[h.Fork, int] = {}
    for fork, join in placed.nest.joins.items():
        outer = placed.nest.around[fork][:-1]
        if not isinstance(fork.factor, h.DynamicLiteral) or any(isinstance(it.factor, h.DynamicLiteral) for it in outer):
            continue
        while (inner := _perfectly_inside(placed, fork, join)) is not None:
            fork, join = inner
        assert isinstance(fork.factor, h.DynamicLiteral)
        lanes = min(native, 1 << (fork.factor.value - 1).bit_length())
        if lanes > 1:
            chosen[fork] = lanes
    if not chosen:
        raise NotGanged("the workgroups have one invocation")
    return chosen


def _perfectly_inside(placed: Schedule, fork: h.Fork, join: h.Join) -> tuple[h.Fork, h.Join] | None:
    """The fork that is all there is in another."""
    for following in placed.graph.successors[fork]:
        if isinstance(following, h.Fork) and placed.nest.joins[following] is join.control:
            inner = placed.nest.joins[following]
            return (following, inner) if isinstance(following.factor, h.DynamicLiteral) else None
    return None
