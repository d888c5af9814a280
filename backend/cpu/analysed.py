"""A function with all that is known of it before its code is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.graph import def_use
from ...ir.hercules.schedule import Placement, place_nodes
from .gangs import GangAnalysis, analyse_gang, choose_gangs, obstacle, widened
from .gangs.choice.widen import ThreadLimit
from .layout import Layout
from .storage import StoragePlan


@dataclass(frozen=True, slots=True)
class AnalysedFunction:
    """`users` are those of every node, `plan` the storages of collections; `bindings` are the parameters' layouts.

    Forks without `gangs` run a thread after another. LLVM is told to unroll the `unrolled` loops.
    """

    placed: Placement
    bindings: Mapping[int, Layout]
    live: Sequence[h.Node]
    users: Mapping[h.Node, Sequence[h.Node]]
    plan: StoragePlan
    gangs: tuple[GangAnalysis, ...] = ()
    unrolled: frozenset[Loop] = frozenset()


def analyse(function: h.Function, bindings: Mapping[int, Layout]) -> AnalysedFunction:
    """A function that runs a thread after another."""
    placed = place_nodes(function)
    if placed.problems:
        problem = placed.problems[0]
        raise AssertionError(f"{function.name}: a {type(problem.node).__name__} {problem.message}")
    live = [node for node in function.nodes if node in placed.live]
    users = def_use(function)
    plan = StoragePlan(live, placed.types, bindings, users, placed.nest.forks)
    return AnalysedFunction(placed, bindings, live, users, plan)


def analyse_for_gangs(
    function: h.Function, bindings: Mapping[int, Layout], lanes: int
) -> tuple[AnalysedFunction, str | None]:
    """A function whose forks run as gangs of vectors of so many lanes, and why they cannot, if they cannot."""
    wide, limit = widened(function, lanes)
    return with_gangs(analyse(wide, bindings), lanes, limit)


def with_gangs(
    analysed: AnalysedFunction, lanes: int, limit: ThreadLimit | None
) -> tuple[AnalysedFunction, str | None]:
    """The function with gangs, and why it cannot have them, if it cannot. Threads end at a `limit`, if there is one."""
    choice = choose_gangs(analysed.placed, lanes, limit)
    gangs = tuple(analyse_gang(analysed.placed, it, analysed.plan, analysed.users) for it in choice.gangs)
    return replace(analysed, gangs=gangs, unrolled=choice.unrolled), obstacle(gangs)
