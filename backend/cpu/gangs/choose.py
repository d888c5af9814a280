"""Which forks run as gangs, and of how many lanes."""

from __future__ import annotations

from ....ir.hercules import nodes as h
from ....ir.hercules.schedule import Schedule


_FEW = 20
"""So many operations in a loop leave most registers free."""


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
        lanes = min(native * _vectors(placed, fork), 1 << (fork.factor.value - 1).bit_length())
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


def _vectors(placed: Schedule, fork: h.Fork) -> int:
    """How many vectors a value of a gang should be: several chains of operations at a time, where each waits for the
    one before, as long as there are registers for what a loop holds.
    """
    inside = [node for node, at in placed.place.items() if fork in placed.nest.around[at]]
    in_loops = [it for it in inside if placed.loops.around[placed.place[it]]]
    own = [
        it for it in in_loops if any(fork in placed.nest.around[loop.header] for loop in placed.loops.around[placed.place[it]])
    ]
    if not own or any(isinstance(it, h.Atomic) for it in inside):
        return 1
    return 4 if len(own) <= _FEW else 2 if len(own) <= 2 * _FEW else 1
