"""Loops around barriers that LLVM is told to unroll.

Their counters go from constant to constant, and each workgroup inside of them is one gang. After unrolling, LLVM knows
for each iteration which threads take part and where their elements lie: it drops the work of other threads and keeps
small workgroup arrays in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from .. import budgets
from ..gang import Gang
from .counted import CountedNest, NotConstant


def unrolled_loops(placed: Placement, gangs: Sequence[Gang]) -> dict[Loop, float]:
    """The loops around gangs to unroll, each with the loops inside of it, and how many turns each has on average."""
    parts = {gang.forks[0]: gang.parts for gang in gangs if gang.count <= gang.threads}
    found: dict[Loop, float] = {}
    for loop in sorted(placed.loops.loops, key=lambda it: len(placed.loops.around[it.header])):
        forks = [it for it in loop.body if isinstance(it, h.Fork)]
        is_whole = all(any(it in parts for it in placed.nest.around[fork]) for fork in forks)
        if loop in found or not forks or not is_whole:
            continue
        nest = CountedNest(placed, loop, parts, budgets.COPIED)
        try:
            nest.run(loop, {})
        except NotConstant:
            continue
        found |= {it: _turns(placed, nest, it) for it in (loop, *nest.inner)}
    return found


def _turns(placed: Placement, nest: CountedNest, loop: Loop) -> float:
    """The turns of a loop of a nest each time it is entered."""
    around = [it for it in placed.loops.around[loop.header] if it in nest.states and it is not loop]
    entered = len(nest.states[around[-1]]) if around else 1
    return len(nest.states.get(loop, ())) / entered
