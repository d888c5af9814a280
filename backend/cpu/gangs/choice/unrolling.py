"""Loops around barriers that LLVM is told to unroll.

Their counters go from constant to constant, and each workgroup inside of them is one gang. After unrolling, LLVM knows
for each iteration which threads take part and where their elements lie: it drops the work of other threads and keeps
small workgroup arrays in registers. Of a loop in which the workgroup decides these, too, such as one over rows, it
would learn nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import positions_of, predecessors, reached_from
from .....ir.hercules.placement import Placement
from .. import budgets
from ..gang import Gang
from .counted import CountedNest, NotConstant

_UNKNOWN = (h.Read, h.Parameter, h.DynamicConstantNode, h.Reduce)
"""Values that are known only when the kernel runs."""


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
        if not _decides(placed, nest, loop):
            continue
        found |= {it: _turns(placed, nest, it) for it in (loop, *nest.inner)}
    return found


def _turns(placed: Placement, nest: CountedNest, loop: Loop) -> float:
    """The turns of a loop of a nest each time it is entered."""
    around = [it for it in placed.loops.around[loop.header] if it in nest.states and it is not loop]
    entered = len(nest.states[around[-1]]) if around else 1
    return len(nest.states.get(loop, ())) / entered


def _decides(placed: Placement, nest: CountedNest, loop: Loop) -> bool:
    """Whether the counters of a loop decide which threads take part in something or where their elements lie: alone, or
    with those of loops inside of it and the numbers of threads there.
    """
    known = {node for states in nest.states.values() for state in states for node in state}
    own = known.intersection(placed.members.phis.get(loop.header, ()))
    body = set(loop.body)

    def operands(node: h.Node) -> Iterable[h.Node]:
        return predecessors(node) if isinstance(node, h.ScalarNode) or node in known else ()

    def is_known(node: h.Node) -> bool:
        if isinstance(node, h.ThreadID):
            return node.fork in body
        return node in known if isinstance(node, h.Phi) else not isinstance(node, _UNKNOWN)

    inside = [it for it in loop.body if any(fork in body for fork in placed.nest.around.get(it, ()))]
    for node in (it for leader in inside for it in placed.blocks.get(leader, ())):
        for value in _deciding(node):
            sources = reached_from([value], operands)
            if not own.isdisjoint(sources) and all(map(is_known, sources)):
                return True
    return False


def _deciding(node: h.Node) -> Sequence[h.Node]:
    """What decides the way that control takes, which value is chosen, or where an element lies."""
    if isinstance(node, (h.If, h.Select)):
        return [node.condition]
    return positions_of(node.indices) if isinstance(node, (h.Read, h.Write)) else []
