"""What each fork of a kernel is on a GPU: a dimension of the grid, one of the workgroup, or a loop.

Forks of the *grid* are over workgroups, or over all invocations of a dispatch. *Local* forks are over the invocations
of a workgroup: the nests of the workgroup's size that follow one another in the code of a workgroup. All invocations
run the code outside of local forks too, with equal values. Any other fork is a loop of one invocation.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.hercules import nodes as h
from ...ir.hercules.placement import Placement, place_nodes


def placed(function: h.Function) -> Placement:
    """A function that verifies, with its nodes in blocks."""
    found = place_nodes(function)
    if found.problems:
        problem = found.problems[0]
        raise AssertionError(f"{function.name}: a {type(problem.node).__name__} {problem.message}")
    return found


@dataclass(frozen=True, slots=True)
class Levels:
    """`grid` forks begin the function, `local` ones are inside of them: the depths of both, outermost first."""

    placed: Placement
    grid: int
    local: int

    def is_grid(self, fork: h.Fork) -> bool:
        """Whether the fork is a dimension of the grid."""
        return self._depth(fork) < self.grid

    def is_local(self, fork: h.Fork) -> bool:
        """Whether the fork is over the invocations of a workgroup."""
        return self.grid <= self._depth(fork) < self.grid + self.local

    def is_loop(self, fork: h.Fork) -> bool:
        """Whether each invocation runs the threads of the fork one after another."""
        return self._depth(fork) >= self.grid + self.local

    def axis(self, fork: h.Fork) -> int:
        """The number of a fork of the grid or a local one among those, outermost first."""
        depth = self._depth(fork)
        return depth if depth < self.grid else depth - self.grid

    def nest(self, block: h.Node) -> h.Fork | None:
        """The outermost local fork around a block; None outside of local forks."""
        around = self.placed.nest.around[block]
        return around[self.grid] if self.local and len(around) > self.grid else None

    def is_lane(self, block: h.Node) -> bool:
        """Whether invocations run the block each for itself, rather than all of a workgroup in step."""
        return not self.local or self.nest(block) is not None

    def _depth(self, fork: h.Fork) -> int:
        return len(self.placed.nest.around[fork]) - 1
