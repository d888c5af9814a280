"""The gangs of a function, and which loops around them LLVM is told to unroll."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from ...storage import StoragePlan
from ..gang import Gang
from .counted import Arrival
from .sizing import nests, size_gangs
from .states import with_states
from .straight import StraightCode, straight_code
from .unrolling import unrolled_loops
from .widen import ThreadLimit


@dataclass(frozen=True, slots=True)
class GangChoice:
    """The gangs of a function, the loops to unroll with their turns, and the `straight` ones (see `straight`). Forks
    without a gang run one thread after another.
    """

    gangs: Sequence[Gang] = ()
    unrolled: Mapping[Loop, float] = field(default_factory=dict[Loop, float])
    straight: Mapping[Loop, Sequence[Arrival]] = field(default_factory=dict[Loop, "Sequence[Arrival]"])


def choose_gangs(placed: Placement, plan: StoragePlan, native: int, limit: ThreadLimit | None) -> GangChoice:
    """The gangs for vector registers of `native` lanes; threads beyond the `limit` do not exist.

    A whole workgroup becomes one gang if loops around barriers are then unrolled: workgroup memory stays in registers.
    Elsewhere one gang a workgroup is only longer code. Loops around gangs with states (see `states`) are not unrolled,
    and straight loops are written iteration after iteration.
    There are no gangs if no fork has several threads.
    """
    gangs = size_gangs(placed, plan, native, limit, as_one_gang=True)
    loops = unrolled_loops(placed, gangs)
    if not loops:
        gangs = size_gangs(placed, plan, native, limit, as_one_gang=False)
    chosen = with_states(placed, plan, _marked(placed, gangs, loops), native)
    straight = straight_code(placed, plan, nests(placed), native) if limit is None else StraightCode()
    chosen = [straight.gangs.get(it.forks[-1], it) for it in chosen]
    in_states = {loop for it in chosen if it.states for loop in placed.loops.around[it.forks[0]]}
    loops = {loop: turns for loop, turns in loops.items() if loop not in in_states}
    return GangChoice(_marked(placed, chosen, loops), loops, straight.loops)


def _marked(placed: Placement, gangs: Sequence[Gang], unrolled: Collection[Loop]) -> list[Gang]:
    around = placed.loops.around
    return [replace(it, is_in_unrolled=any(loop in unrolled for loop in around[it.forks[0]])) for it in gangs]
