"""Gangs in loops around barriers that get a copy of their code for each state of the loops' counters.

In scans, sorting networks and transforms, the positions in workgroup memory depend on thread numbers and on counters
that take few values. In one state of the counters all positions are known, whatever formula says them: gathers and
scatters become whole vectors and constant shuffles (see `memory.known_accesses`), and lanes that do nothing no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, inf
from typing import TypeGuard

from .....base.cached import cached_property
from .....ir.hercules import nodes as h
from .....ir.hercules.arithmetic import ScalarValue
from .....ir.hercules.graph import positions_of, predecessors, reached_from
from .....ir.hercules.placement import Placement
from .....ir.hercules.versions import is_version_projection
from ...machine import AccessCosts, costs_so_far
from ...memory import is_padded
from ...storage import StoragePlan
from .. import budgets
from ..analysis.alike import Turn, turns
from ..analysis.body import Body, Level, find_body
from ..analysis.counts import has_atomics
from ..analysis.known import KnownValues
from ..analysis.live import Knowledge
from ..analysis.own_rows import find_own_rows
from ..gang import Gang, State
from .counted import Counters
from .repeats import blocks_of, every_turn, repeated_gangs
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
_MOST_EVALUATED = 400_000
"""The most operations that are executed at compile time, for all states: a quarter of a second."""
_OVERHEAD = 150
"""Executing an operation for all threads takes as long as for so many threads more."""


def with_states(placed: Placement, plan: StoragePlan, gangs: Sequence[Gang], native: int) -> list[Gang]:
    """The gangs, of which some have states."""
    whole = {nest[-1]: tuple(nest) for nest in nests(placed)}
    counters = Counters(placed, whole)
    return [_with_states(it, _Body(placed, plan, whole[it.forks[-1]], native), counters) for it in gangs]


def _with_states(gang: Gang, body: _Body, counters: Counters) -> Gang:
    """The gang with states, if it can have any, and gains by them.

    Ragged loops always gain: code knows in each turn which lanes have left. Otherwise, where LLVM would unroll the
    loops around the gang, and keep memory in registers, and where positions depend on no counter, so that there is one
    state, many accesses have to be irregular.
    """
    loops, whole = body.placed.loops.around[body.forks[0]], Gang(body.forks, body.native, _PARTS)
    vectors, rest = divmod(whole.count, body.native)
    is_whole = not rest and all(it & (it - 1) == 0 for it in whole.factors[1:])
    if gang.limit is not None or not is_whole or not body.is_plain():
        return gang
    whole = replace(whole, parts=gcd(_PARTS, vectors))
    for states in body.states(counters.of(loops[-1]) if loops else [{}]):
        known = [body.known(it) for it in states]
        repeats = body.repeats(known, whole) if body.can_evaluate(len(states)) else None
        if repeats is None:
            continue
        is_single = not states[0]
        gains = not (gang.is_in_unrolled or is_single) or not body.is_regular(known)
        if body.is_ragged or (gains and not (is_single and body.has_own_rows)):
            return replace(whole, states=states, repeats=repeats)
        return gang
    return gang


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
        return self.placed.members.inside(self.forks[-1])

    @cached_property
    def body(self) -> Body:
        """The structure of the forks' body."""
        return find_body(self.placed, self.forks)

    def known(self, state: State) -> Knowledge:
        """What is known in a state."""
        return Knowledge(self.placed, self.body, KnownValues(self.placed.types, self.forks, dict(state)))

    @cached_property
    def positions(self) -> list[h.Node]:
        """The positions of accesses to workgroup memory that are computed from thread numbers."""
        found: dict[h.Node, None] = {}
        for node in self.inside:
            if self._is_exchange(node):
                found.update(dict.fromkeys(positions_of(node.indices)))
        return [it for it in found if any(isinstance(node, h.ThreadID) for node in self._computed_from([it]))]

    def _is_exchange(self, node: h.Node) -> TypeGuard[h.Read | h.Write]:
        if not isinstance(node, (h.Read, h.Write)) or is_version_projection(node):
            return False
        collection = node.collection if isinstance(node, h.Read) else node
        return not isinstance(collection, h.ConstantNode) and is_padded(self.plan.of(collection))

    @cached_property
    def conditions(self) -> list[h.Node]:
        """The conditions of branches, without those that all threads leave a loop by."""
        exits, around = self.placed.exits.items(), self.placed.nest.around
        loops = [it.header for it in self.body.levels if it.is_loop]
        branches = [it for at, it in exits if self.forks[-1] in around[at] and at not in loops]
        return [it.condition for it in branches if isinstance(it, h.If)]

    def is_plain(self) -> bool:
        """Whether threads do something, but no calls or atomic operations, except counts, and the turns of all loops
        are known and few enough to be executed for each thread.
        """
        is_simple = bool(self.inside) and not any(isinstance(it, h.Call) for it in self.inside)
        return is_simple and not has_atomics(self.placed, self.inside) and self.can_evaluate(1)

    def can_evaluate(self, states: int) -> bool:
        """Whether the turns of all loops are known and few enough to be executed for each thread in so many states."""
        return states * self._evaluated <= _MOST_EVALUATED

    @cached_property
    def _turns(self) -> Mapping[Level, Sequence[Turn] | None]:
        """The turns of each loop; None if they are not known."""
        return {it: turns(self.placed, self.forks, it, {}) for it in self.body.levels if it.is_loop}

    @cached_property
    def _evaluated(self) -> float:
        """The operations of all threads, in all turns of loops, with the overhead of each; infinite if turns are not
        known.
        """
        times: dict[Level, float] = {}
        for level in self.body.levels:  # outer ones come first
            found = self._turns.get(level)
            own = len(found) if found is not None else inf if level.is_loop else 1
            times[level] = own * (1 if level.parent is None else times[level.parent])
        each = sum(times[level] * sum(len(self.placed.blocks[it]) for it in blocks_of(level)) for level in times)
        return each * (Gang(self.forks, self.native).count + _OVERHEAD)

    @property
    def has_own_rows(self) -> bool:
        """Whether threads go along rows of workgroup memory, which are kept instead."""
        find = find_own_rows
        return any(find(self.placed, self.plan, self.forks, it, {}) for it in self.body.levels if it.is_loop)

    @property
    def is_ragged(self) -> bool:
        """Whether some threads take more turns of a loop than others."""
        return any(not all(it.comes) for found in self._turns.values() for it in found or ())

    def states(self, every: Sequence[Mapping[h.Node, int]]) -> Iterator[tuple[State, ...]]:
        """The states of the counters that positions and conditions depend on, and of those of positions alone, if these
        are few.
        """
        if not every:
            return
        known = self.known(tuple(every[0].items()))
        turns = [it.values for it, _ in every_turn(known, self.body.top)]
        wanted = [it for it in self.positions if any(values.of(it) is not None for values in turns)]
        decided = [it for it in self.conditions if any(values.of(it) is not None for values in turns)]
        for nodes in ([*wanted, *decided], wanted):
            roots = [it for it in self._computed_from(nodes) if all(it in state for state in every)]
            states = tuple(dict.fromkeys(tuple((it, state[it]) for it in roots) for state in every))
            is_few = len(roots) <= _MOST_COUNTERS and len(states) <= _MOST_STATES
            if wanted and is_few and all(_is_32_bits(self.placed.types[it]) for it in roots):
                yield states

    def repeats(self, known: Iterable[Knowledge], gang: Gang) -> tuple[tuple[range, ...], ...] | None:
        """The gangs that have one code, in each state; None if all of that is too much code. Whether that of the first
        gangs is, is known soon.
        """
        found, left = list[tuple[range, ...]](), budgets.COPIED
        for one in known:
            if self._operations(one, [range(1)], gang, left) > left:
                return None
            found.append(tuple(repeated_gangs(one, self.plan, gang.lanes, gang.threads)))
            left -= self._operations(one, found[-1], gang, left)
            if left < 0:
                return None
        return tuple(found)

    def _operations(self, known: Knowledge, repeats: Iterable[range], gang: Gang, most: int) -> int:
        """The operations on vectors that are left to do in a state, in the gangs that have code of their own; some
        number above `most` if there are more.
        """
        total = 0
        for turn, level in every_turn(known, self.body.top):
            if total > most:
                break
            for leader in blocks_of(level):
                left = sum(turn.values.of(it) is None for it in self.placed.blocks[leader])
                live = turn.live(leader)
                for firsts in repeats:
                    parts = range(firsts.start, firsts.start + gang.threads, gang.lanes)
                    total += left * sum(any(it is not False for it in live[at : at + gang.lanes]) for at in parts)
        return total

    def is_regular(self, known: Iterable[Knowledge]) -> bool:
        """Whether most accesses of vectors of threads are to one word, or to one vector whose lanes' numbers have some
        bits flipped, and most vectors pass branches as a whole.
        """
        accesses, ways = list[Sequence[ScalarValue]](), list[Sequence[ScalarValue]]()
        for turn in (it.values for one in known for it, _ in every_turn(one, self.body.top)):
            for nodes, found in ((self.positions, accesses), (self.conditions, ways)):
                for values in map(turn.of, nodes):
                    found += [] if values is None else self._vectors(values)
        irregular, split = sum(not _is_flipped(it) for it in accesses), sum(0 < sum(it) < len(it) for it in ways)
        passed = sum(any(it) for it in ways)
        share = break_even(costs_so_far().access)
        return irregular < share * len(accesses) and (split == 0 or split < share * passed)

    def _vectors(self, values: Sequence[ScalarValue]) -> list[Sequence[ScalarValue]]:
        return [values[first : first + self.native] for first in range(0, len(values), self.native)]

    def _computed_from(self, nodes: Iterable[h.Node]) -> list[h.Node]:
        """What some nodes are computed from by operations on scalars, in the loops that threads run, too."""
        return reached_from(nodes, self._operands)

    def _operands(self, node: h.Node) -> Iterable[h.Node]:
        if isinstance(node, h.ScalarNode):
            return predecessors(node)
        if isinstance(node, h.Phi) and self.placed.place.get(node) in self.body.level_of:
            return node.values
        return ()


def break_even(costs: AccessCosts) -> float:
    """The share of irregular accesses, or of vectors that branches split, from which states gain more than unrolling:
    states save gathers and scatters, unrolling saves stores and loads. A loop has about as many loads as stores, and
    most stores are for some lanes only, so that a scatter must not become stores one after another.
    """
    irregular = (min(costs.gather, costs.loads) + costs.scatter) / 2
    kept, saved = _KEPT * costs.shuffle, irregular - _PICKED * costs.shuffle
    return kept / (kept + max(saved, 0.0))


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
