"""Which blocks have no jump around them for the case that no lane passes them."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from ..analysis.body import Item, Level
from ..analysis.costs import MISPREDICTED, SMALL, block_cost
from ..analysis.shapes import VARYING
from ..context import GangContext
from ..values.common_counters import CommonCounters


class Guards:
    """Compares the cost of a block with that of a jump."""

    def __init__(self, context: GangContext, counters: CommonCounters) -> None:
        self._placed, self._shapes, self._site = context.placed, context.shapes, context.site
        self._counters = counters
        costs = context.out.module.costs
        self._gather = costs.gather / costs.shuffle

    def is_small(self, item: Item, level: Level) -> bool:
        """Whether a block runs under its mask, maybe an empty one, without a jump around it."""
        cost = block_cost(self._placed, item.leader)
        if cost <= SMALL:
            return True
        is_long = cost * self._site.count > MISPREDICTED
        return not is_long and self._is_optional(item, level) and not self._scatters(item, MISPREDICTED - cost)

    def _is_optional(self, item: Item, level: Level) -> bool:
        """Whether a loop may go on without passing the block. If not, the jump is taken once, where the loop ends."""
        dominates = self._placed.dominators.dominates
        return level.is_loop and not any(dominates(item.leader, edge.source) for edge in level.back)

    def _scatters(self, item: Item, most: float) -> bool:
        """Whether the block's gathers cost more than that."""
        with self._site.at(item.leader):
            reads = [it for it in self._placed.blocks[item.leader] if isinstance(it, h.Read)]
            return sum(map(self._is_gathered, reads)) * self._gather > most

    def _is_gathered(self, read: h.Read) -> bool:
        varying = [it for it in positions_of(read.indices) if self._shapes.at(it, self._site.here) == VARYING]
        return not all(map(self._counters.computes, varying))
