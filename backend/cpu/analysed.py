"""A function with its analyses, as code generation needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...base.records import dataclass, field, replace
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.loop_collects import collects_in_place
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.types import is_collection
from .layout import Layout
from .machine import costs_so_far
from .privatise import private_bindings
from .storage import StoragePlan
from .threads import available_processors

if TYPE_CHECKING:
    from .gangs import GangAnalysis, WorkgroupsOfOne
    from .gangs.choice.counted import Arrival
    from .gangs.choice.widen import ThreadLimit


@dataclass(frozen=True, slots=True)
class FewWorkgroups:
    """A function without gangs, for at most `most` workgroups along the axis that has so many `workgroups`."""

    analysed: AnalysedFunction
    workgroups: h.DynamicParameter
    most: int


@dataclass(frozen=True, slots=True)
class AnalysedFunction:
    """`plan` has the storages of collections, `bindings` the layouts of parameters.

    Forks without `gangs` run one thread after another. LLVM is asked to unroll the `unrolled` loops, which have
    so many turns. The `straight` ones, which have no loops around them, are written iteration after iteration. If a
    function is given `for_few` workgroups, that runs instead where there are no more.
    """

    placed: Placement
    bindings: Mapping[int, Layout]
    live: Sequence[h.Node]
    plan: StoragePlan
    gangs: tuple[GangAnalysis, ...] = ()
    unrolled: Mapping[Loop, float] = field(default_factory=dict[Loop, float])
    for_few: FewWorkgroups | None = None
    straight: Mapping[Loop, Sequence[Arrival]] = field(default_factory=dict[Loop, "Sequence[Arrival]"])


def analyse(function: h.Function, bindings: Mapping[int, Layout]) -> AnalysedFunction:
    """Analyse a function that runs one thread after another."""
    placed = place_nodes(function)
    if placed.problems:
        problem = placed.problems[0]
        raise AssertionError(f"{function.name}: a {type(problem.node).__name__} {problem.message}")
    live = [node for node in function.nodes if node in placed.live]
    users = placed.users
    in_place, unread = collects_in_place(placed, users), _unread(placed)
    plan = StoragePlan(live, placed.types, bindings, users, placed.nest.forks, in_place, unread)
    return AnalysedFunction(placed, bindings, live, plan)


def _unread(placed: Placement) -> frozenset[h.Node]:
    """The Phis and Reduces that need no constants in their storage (see `unread_zeros`)."""
    types = placed.types
    if not any(isinstance(it, h.ConstantNode) and is_collection(types[it]) for it in placed.live):
        return frozenset()
    from .unread_zeros import unread_constants  # most kernels have no workgroup memory, and start faster without

    return unread_constants(placed)


def analyse_for_gangs(
    function: h.Function, bindings: Mapping[int, Layout], lanes: int
) -> tuple[AnalysedFunction, str | None]:
    """Analyse a function whose forks run as gangs, and give the reason if they cannot."""
    from .gangs import in_row_order, widened, workgroups_of_one

    single = workgroups_of_one(function)
    if single is not None:
        return _with_gathered(single, analyse(function, bindings), lanes)
    analysed = analyse(function, bindings)
    ordered = in_row_order(analysed.placed) or function
    wide, limit = widened(ordered, lanes)
    return with_gangs(analysed if wide is function else analyse(wide, bindings), lanes, limit)


def _with_gathered(single: WorkgroupsOfOne, alone: AnalysedFunction, lanes: int) -> tuple[AnalysedFunction, str | None]:
    """The function with gangs of workgroups; that with workgroups one after another if workers have copies of bindings,
    which the two would have to share, or if gangs are estimated to gain nothing.
    """
    from .gangs import gang_time, grouped

    has_copies = any(private_bindings(alone.placed, alone.plan, alone.bindings))
    time = gang_time(alone.placed, alone.plan, lanes, costs_so_far().access)
    if has_copies or time >= lanes:
        return with_gangs(alone, lanes, None)
    # so many workgroups take all workers as long one after another as a gang takes one worker
    gathered = grouped(single, lanes, few=int(time * available_processors()))
    analysed, reason = with_gangs(analyse(gathered.function, alone.bindings), lanes, gathered.limit)
    return replace(analysed, for_few=FewWorkgroups(alone, gathered.workgroups, gathered.few)), reason


def with_gangs(
    analysed: AnalysedFunction, lanes: int, limit: ThreadLimit | None
) -> tuple[AnalysedFunction, str | None]:
    """The function with gangs, and the reason if it cannot have them. `limit`, if given, is the end of the threads."""
    from .gangs import analyse_gang, choose_gangs, obstacle

    placed, plan = analysed.placed, analysed.plan
    plan.mark_only_written(analysed.live, placed.types, placed.nest.forks)
    choice = choose_gangs(placed, plan, lanes, limit)
    gangs = tuple(analyse_gang(placed, it, plan, placed.users) for it in choice.gangs)
    return replace(analysed, gangs=gangs, unrolled=choice.unrolled, straight=choice.straight), obstacle(gangs)
