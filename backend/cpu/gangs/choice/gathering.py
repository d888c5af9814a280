"""How long a gang of workgroups of one invocation takes, in times of one workgroup alone.

An operation takes a gang as long as one lane, so that gangs gain by arithmetic, and what accesses cost is known of the
machine. Where each lane goes along a row of its own, a gang stores to as many cache lines as it has lanes, which it
fills little by little, and little arithmetic does not make up for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from .....base.cached import cached_property
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.costs import DIVISION, operation_cost
from .....ir.hercules.graph import predecessors, reached_from
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...machine import AccessCosts
from ...memory import CACHE_LINE
from ...storage import StoragePlan
from ...trip_counts import max_trip_count
from ..analysis.forms import Form, form_of, start
from ..memory.addresses import array_steps

_WORD = 4
"""The bytes of a lane's number."""
_MOST_TURNS, _UNKNOWN_TURNS = 1 << 16, 1 << 10
"""A trip count above the first is not known, and taken to be the second: loops over data are longer than those over
tables of a known size.
"""
_OWN_LINES = 2
"""How many times as long as a measured one a store takes if each lane has a cache line of its own: the measured ones
are to few lines. A store of one number to rows of 256 takes 9.2 ns instead of 4.4 (Zen 4).
"""
_APART = 0.5
"""A gang takes as long as this share of its lanes, at least, where they may branch apart in loops."""


def gang_time(placed: Placement, plan: StoragePlan, lanes: int, costs: AccessCosts) -> float:
    """The estimated time of a gang of `lanes` workgroups, in times of one of them: at least 1, and `lanes` or more if a
    gang gains nothing.
    """
    body = _Body(placed, plan, lanes, costs)
    times = [(body.turns(leader), *body.times(node)) for leader, nodes in placed.blocks.items() for node in nodes]
    alone, together = sum(turns * one for turns, one, _ in times), sum(turns * all for turns, _, all in times)
    least = _APART * lanes if body.may_branch_apart() else 1.0
    return max(together / alone if alone else 1.0, least)


@dataclass(frozen=True)
class _Body:
    """What a workgroup of one invocation does."""

    placed: Placement
    plan: StoragePlan
    lanes: int
    costs: AccessCosts

    def turns(self, leader: h.Node) -> float:
        """How often a block is executed, about."""
        return prod(self._turns_of(it) for it in self.placed.loops.around[leader])

    def _turns_of(self, loop: Loop) -> float:
        found = max_trip_count(self.placed, loop)
        return found if found <= _MOST_TURNS else _UNKNOWN_TURNS

    def may_branch_apart(self) -> bool:
        """Whether lanes may take different ways in loops, or leave them one by one."""
        exits, around = self.placed.exits.items(), self.placed.loops.around
        branches = [it for leader, it in exits if isinstance(it, h.If) and around[leader]]
        return any(self._differs(it.condition) for it in branches)

    def times(self, node: h.Node) -> tuple[float, float]:
        """The nanoseconds that a node takes one workgroup, and all lanes of a gang."""
        operation, costs = self.costs.shuffle, self.costs
        if isinstance(node, h.Read):
            if is_version_projection(node) or is_collection(self.placed.types[node]):
                return 0.0, 0.0
            is_row = self._lanes_are_apart(node) in (0, _WORD)
            return costs.loads / self.lanes, operation if is_row else min(costs.gather, costs.loads)
        if isinstance(node, h.Write) and not is_collection(self.placed.types[node.value]):
            return costs.stores / self.lanes, self._store(node)
        if isinstance(node, h.Atomic):
            return costs.atomic, costs.atomic * self.lanes
        if isinstance(node, h.FloatingNode) and node in self._values:
            time = operation * (operation_cost(node) or DIVISION)
            return time, time
        return 0.0, 0.0

    @cached_property
    def _values(self) -> frozenset[h.Node]:
        """The operations that values are computed by, which are stored. Positions and counters take no time of their
        own beside accesses.
        """
        stored = [it.value for nodes in self.placed.blocks.values() for it in nodes if isinstance(it, h.Write)]
        return frozenset(it for it in _computed_from(stored) if isinstance(it, h.ScalarNode))

    def _store(self, node: h.Write) -> float:
        """The nanoseconds that a gang takes to store."""
        apart = self._lanes_are_apart(node)
        if apart in (0, _WORD):
            return self.costs.masked_store
        each = min(self.costs.scatter, self.costs.stores)
        return each if apart is not None and abs(apart) <= CACHE_LINE else _OWN_LINES * each

    def _lanes_are_apart(self, node: h.Read | h.Write) -> int | None:
        """How many bytes adjacent lanes' elements are apart, None if that is not known. Each lane has its own elements
        of storages that are not bindings, beside those of the others.
        """
        collection = node.collection if isinstance(node, h.Read) else node
        if isinstance(collection, (h.ConstantNode, h.Atomic)):
            return None
        total, storage = 0, self.plan.of(collection)
        for position, _, stride in array_steps(storage.layout, node.indices):
            distance = self._distance(position, self.placed.place[node])
            if distance is None:
                return None
            total += distance * stride
        return total if storage.is_binding or total == 0 else None

    def _distance(self, position: h.Node, leader: h.Node) -> int | None:
        """How far the positions of adjacent workgroups are apart, None if that is not known."""
        form: Form | None = form_of(position)
        for loop in reversed(self.placed.loops.around[leader]):
            form = None if form is None else start(form, loop)
        if form is None or any(self._differs(it) for it in form.terms if not self._is_number(it)):
            return None
        return sum(factor for it, factor in form.terms.items() if self._is_number(it))

    def _is_number(self, node: h.Node) -> bool:
        """Whether a node is the number that the lanes of a gang count."""
        return isinstance(node, h.ThreadID) and node.fork is self._innermost

    @cached_property
    def _innermost(self) -> h.Node:
        return max(self.placed.nest.joins, key=lambda it: len(self.placed.nest.around[it]))

    def _differs(self, node: h.Node) -> bool:
        """Whether a value may differ between lanes."""
        return any(isinstance(it, (h.Read, h.Atomic)) or self._is_number(it) for it in _computed_from([node]))


def _computed_from(nodes: Iterable[h.Node]) -> list[h.Node]:
    """Some nodes, and what they are computed from, up to what is loaded."""
    return [it for it in reached_from(nodes, _operands) if not isinstance(it, h.ControlNode)]


def _operands(node: h.Node) -> Iterable[h.Node]:
    return predecessors(node) if isinstance(node, (h.ScalarNode, h.Phi)) else ()
