"""Loops around barriers that LLVM is told to unroll.

Their counters go from constant to constant, and each workgroup inside of them is one gang. After unrolling, LLVM knows
for each iteration which threads take part and where their elements lie: it drops the work of other threads and keeps
small workgroup arrays in registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .....ir.hercules import arithmetic
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .....ir.hercules.placement import Placement
from ..analysis.bounds import constant_value
from ..gang import Gang

_MOST_OPERATIONS = 6000
"""The most operations, summed over all parts, of an unrolled nest of loops."""


class _NotConstant(Exception):
    """A trip count is not known before the kernel runs, or the unrolled nest is too large."""


def unrolled_loops(placed: Placement, gangs: Sequence[Gang]) -> frozenset[Loop]:
    """The loops around gangs to unroll, each with the loops inside of it."""
    parts = {gang.forks[0]: gang.parts for gang in gangs if gang.count <= gang.threads}
    found: set[Loop] = set()
    for loop in sorted(placed.loops.loops, key=lambda it: len(placed.loops.around[it.header])):
        forks = [it for it in loop.body if isinstance(it, h.Fork)]
        is_whole = all(any(it in parts for it in placed.nest.around[fork]) for fork in forks)
        if loop in found or not forks or not is_whole:
            continue
        nest = _Nest(placed, loop, parts)
        try:
            nest.run(loop, {})
        except _NotConstant:
            continue
        found |= {loop, *nest.inner}
    return frozenset(found)


class _Nest:
    """A nest of loops, executed as far as its counters go."""

    def __init__(self, placed: Placement, loop: Loop, parts: Mapping[h.Fork, int]) -> None:
        self._placed = placed
        self._parts = parts
        self._left = _MOST_OPERATIONS
        outside = len(placed.loops.around[loop.header])
        self._depth = {
            it: len(placed.loops.around[it.header]) - outside
            for it in placed.loops.loops
            if it.header in loop.body and not self._is_in_fork(it)
        }
        self.inner = frozenset(it for it in self._depth if it is not loop)

    def _is_in_fork(self, loop: Loop) -> bool:
        return any(it in self._parts for it in self._placed.nest.around[loop.header])

    def run(self, loop: Loop, known: Mapping[h.Node, int]) -> None:
        """Count the operations of all iterations. Raises _NotConstant."""
        branch, stays = self._condition(loop)
        values = self._phis(loop, known, is_first=True)
        while bool(self._value(branch.condition, values)) == stays:
            self._left -= max(self._size(loop), 1)
            if self._left < 0:
                raise _NotConstant
            for inner, depth in self._depth.items():
                if inner.header in loop.body and depth == self._depth[loop] + 1:
                    self.run(inner, values)
            values = self._phis(loop, values, is_first=False)

    def _condition(self, loop: Loop) -> tuple[h.If, bool]:
        """The only branch that leaves the loop, and the value of its condition that stays."""
        body = set(loop.body)
        graph = self._placed.graph
        ways = [(it, to) for it in loop.body for to in graph.successors[it] if to not in body]
        if len(ways) != 1 or len(loop.latches) != 1:
            raise _NotConstant
        ((branch, leaves),) = ways
        if not isinstance(branch, h.If) or block_leader(branch) is not loop.header:
            raise _NotConstant
        assert isinstance(leaves, h.Read)
        return branch, leaves.indices == [h.ControlIndex(0)]

    def _phis(self, loop: Loop, known: Mapping[h.Node, int], *, is_first: bool) -> dict[h.Node, int]:
        """The known values at the beginning of an iteration."""
        values = dict(known)
        for node, at in self._placed.place.items():
            if not isinstance(node, h.Phi) or at is not loop.header:
                continue
            pairs = zip(loop.header.predecessors, node.values, strict=True)
            ways = [value for control, value in pairs if (control in loop.latches) is not is_first]
            values.pop(node, None)
            try:
                (way,) = ways
                values[node] = self._value(way, known)
            except (_NotConstant, ValueError):
                continue
        return values

    def _value(self, node: h.Node, known: Mapping[h.Node, int]) -> int:
        if node in known:
            return known[node]
        type = self._placed.types[node]
        constant = constant_value(node)
        if constant is not None:
            return constant
        if isinstance(node, h.Cast) and isinstance(type, h.Integer):
            return arithmetic.wrapper(type)(self._value(node.operand, known))
        if isinstance(node, h.Binary) and isinstance(operand := self._placed.types[node.lhs], h.Integer):
            left, right = self._value(node.lhs, known), self._value(node.rhs, known)
            return int(arithmetic.binary(node.op, operand)(left, right))
        raise _NotConstant

    def _size(self, loop: Loop) -> int:
        """The operations of an iteration, without those of inner loops."""
        total = 0
        for leader, nodes in self._placed.blocks.items():
            around = [it for it in self._placed.loops.around[leader] if it in self._depth]
            if around and around[-1] is loop:
                forks = [it for it in self._placed.nest.around[leader] if it in self._parts]
                total += len(nodes) * (self._parts[forks[0]] if forks else 1)
        return total
