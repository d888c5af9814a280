"""The gangs of a function, and which loops around them LLVM is told to unroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....ir.hercules.analyses import Loop
from .....ir.hercules.schedule import Schedule
from ..gang import Gang
from .sizing import size_gangs
from .unrolling import unrolled_loops
from .widen import ThreadLimit


@dataclass(frozen=True, slots=True)
class GangChoice:
    """None of either: all forks run a thread at a time."""

    gangs: Sequence[Gang] = ()
    unrolled: frozenset[Loop] = frozenset()


def choose_gangs(placed: Schedule, native: int, limit: ThreadLimit | None) -> GangChoice:
    """`native` is the lanes of a vector register; threads end at the `limit`, if there is one.

    A whole workgroup is one gang where loops around barriers are then unrolled, which keeps the workgroup's memory in
    registers. It is long code, with nothing to gain elsewhere. There are no gangs where no fork has several threads.
    """
    gangs = size_gangs(placed, native, limit, as_one_gang=True)
    loops = unrolled_loops(placed, gangs)
    if not loops:
        return GangChoice(size_gangs(placed, native, limit, as_one_gang=False))
    around = placed.loops.around
    marked = [replace(it, is_in_unrolled=not loops.isdisjoint(around[it.forks[0]])) for it in gangs]
    return GangChoice(marked, loops)
