"""Gangs in loops around barriers that get a copy of their code for each state of the loops' counters.

In scans, sorting networks and transforms, the positions in workgroup memory depend on thread numbers and on counters
that take few values. In one state of the counters all positions are known, whatever formula says them: gathers and
scatters become whole vectors and constant shuffles (see `memory.known_accesses`), and lanes that do nothing no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import TypeGuard

from .....ir.hercules import nodes as h
from .....ir.hercules.arithmetic import ScalarValue
from .....ir.hercules.graph import predecessors
from .....ir.hercules.placement import Placement
from .....ir.hercules.versions import is_version_projection
from ...machine import AccessCosts, costs_so_far
from ...memory import is_padded
from ...storage import StoragePlan
from .. import budgets
from ..analysis.known import KnownValues
from ..gang import Gang, State
from .counted import Counters
from .sizing import nests

_MOST_STATES = 16
"""The most ways of the switch that finds the code of a state."""
_MOST_COUNTERS = 2
"""The most counters that are compared to find the code of a state."""
_KEPT, _PICKED = 4, 2
"""The times of a shuffle that a store and a load that waits for it take, which unrolling saves, and the shuffles that
take the place of an irregular access in a state.
"""
_PARTS = 4


def with_states(placed: Placement, plan: StoragePlan, gangs: Sequence[Gang], native: int) -> list[Gang]:
    """The gangs, of which some have states."""
    whole = {nest[-1]: tuple(nest) for nest in nests(placed)}
    counters = Counters(placed, whole)
    return [_with_states(it, _Body(placed, plan, whole[it.forks[-1]], native), counters) for it in gangs]


def _with_states(gang: Gang, body: _Body, counters: Counters) -> Gang:
    """The gang with states, if it can have any. If LLVM would unroll the loops around it, and keep memory in registers,
    it has none unless many accesses are irregular.
    """
    loops, whole = body.placed.loops.around[body.forks[0]], Gang(body.forks, body.native, _PARTS)
    vectors, rest = divmod(whole.count, body.native)
    is_whole = not rest and all(it & (it - 1) == 0 for it in whole.factors[1:])
    if not loops or gang.limit is not None or not is_whole or not body.is_plain():
        return gang
    states = body.states(counters.of(loops[-1]), budgets.COPIED // (vectors * len(body.inside)))
    if not states or (gang.is_in_unrolled and body.is_regular(states)):
        return gang
    return replace(whole, parts=gcd(_PARTS, vectors), states=states)


@dataclass(frozen=True)
class _Body:
    """What the threads of some forks run."""

    placed: Placement
    plan: StoragePlan
    forks: tuple[h.Fork, ...]
    native: int

    @cached_property
    def inside(self) -> list[h.Node]:
        """The nodes in blocks."""
        return [it for it, at in self.placed.place.items() if self.forks[-1] in self.placed.nest.around[at]]

    @cached_property
    def positions(self) -> list[h.Node]:
        """The positions of accesses to workgroup memory that are computed from thread numbers."""
        found: dict[h.Node, None] = {}
        for node in self.inside:
            if self._is_exchange(node):
                found.update(dict.fromkeys(it.position for it in node.indices if isinstance(it, h.PositionIndex)))
        return [it for it in found if any(isinstance(node, h.ThreadID) for node in _computed_from([it]))]

    def _is_exchange(self, node: h.Node) -> TypeGuard[h.Read | h.Write]:
        if not isinstance(node, (h.Read, h.Write)) or is_version_projection(node):
            return False
        collection = node.collection if isinstance(node, h.Read) else node
        return not isinstance(collection, h.ConstantNode) and is_padded(self.plan.of(collection))

    @cached_property
    def conditions(self) -> list[h.Node]:
        """The conditions of branches."""
        exits, around = self.placed.exits.items(), self.placed.nest.around
        return [it.condition for at, it in exits if isinstance(it, h.If) and self.forks[-1] in around[at]]

    def is_plain(self) -> bool:
        """Whether threads run no loops, calls or atomic operations, and do something."""
        has_loops = any(self.forks[-1] in self.placed.nest.around[it.header] for it in self.placed.loops.loops)
        return not has_loops and not any(isinstance(it, (h.Atomic, h.Call)) for it in self.inside) and bool(self.inside)

    def states(self, every: Sequence[Mapping[h.Node, int]], most: int) -> tuple[State, ...]:
        """The states of the counters that positions depend on, and, if these are no more than `most`, conditions."""
        if not every:
            return ()
        values = KnownValues(self.placed.types, self.forks, every[0])
        wanted = [it for it in self.positions if values.of(it) is not None]
        decided = [it for it in self.conditions if values.of(it) is not None]
        for nodes in ([*wanted, *decided], wanted):
            roots = [it for it in _computed_from(nodes) if all(it in state for state in every)]
            states = tuple(dict.fromkeys(tuple((it, state[it]) for it in roots) for state in every))
            is_few = 0 < len(roots) <= _MOST_COUNTERS and len(states) <= min(_MOST_STATES, most)
            if wanted and is_few and all(_is_32_bits(self.placed.types[it]) for it in roots):
                return states
        return ()

    def is_regular(self, states: Iterable[State]) -> bool:
        """Whether most accesses of vectors of threads are to one word, or to one vector whose lanes' numbers have some
        bits flipped, and most vectors pass branches as a whole.
        """
        accesses, ways = list[Sequence[ScalarValue]](), list[Sequence[ScalarValue]]()
        for state in states:
            known = KnownValues(self.placed.types, self.forks, dict(state))
            for nodes, found in ((self.positions, accesses), (self.conditions, ways)):
                for values in map(known.of, nodes):
                    found += [] if values is None else self._vectors(values)
        irregular, split = sum(not _is_flipped(it) for it in accesses), sum(0 < sum(it) < len(it) for it in ways)
        passed = sum(any(it) for it in ways)
        share = break_even(costs_so_far().access)
        return irregular < share * len(accesses) and (split == 0 or split < share * passed)

    def _vectors(self, values: Sequence[ScalarValue]) -> list[Sequence[ScalarValue]]:
        return [values[first : first + self.native] for first in range(0, len(values), self.native)]


def break_even(costs: AccessCosts) -> float:
    """The share of irregular accesses, or of vectors that branches split, from which states gain more than unrolling:
    states save gathers, unrolling saves stores and loads.
    """
    kept, saved = _KEPT * costs.shuffle, min(costs.gather, costs.loads) - _PICKED * costs.shuffle
    return kept / (kept + max(saved, 0.0))


def _computed_from(nodes: Iterable[h.Node]) -> list[h.Node]:
    """What some nodes are computed from by operations on scalars."""
    waiting, seen = list(nodes), dict[h.Node, None]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = None
            waiting += predecessors(node) if isinstance(node, h.ScalarNode) else ()
    return list(seen)


def _is_32_bits(type: h.Type) -> bool:
    return isinstance(type, h.Integer) and type.bits == 32


def _is_flipped(values: Sequence[ScalarValue]) -> bool:
    """Whether values are all the same, consecutive (maybe beyond zero, where no lane accesses memory), or the lanes'
    numbers with some bits flipped.
    """
    first = int(values[0])
    return (
        len(set(values)) == 1
        or all((it - first - lane) % (1 << 32) == 0 for lane, it in enumerate(values))
        or all(it == first ^ lane for lane, it in enumerate(values))
    )
