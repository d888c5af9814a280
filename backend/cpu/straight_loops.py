"""Loops around gangs that are written iteration after iteration.

All their counters are known (see `gangs.choice.counted`), and no other branch is in them: control passes one block
after another, so that Phis need no code, and what gangs exchange through workgroup memory can stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop, block_leader
from ...ir.hercules.placement import Placement
from .nodes import NodeEmitter

if TYPE_CHECKING:
    from .gangs import GangEmitter
    from .gangs.choice.counted import Arrival


class StraightLoops:
    """Writes such loops. `labels` are the names of the blocks outside of them."""

    def __init__(
        self,
        nodes: NodeEmitter,
        placed: Placement,
        phis: Mapping[h.Node, Sequence[h.Phi]],
        labels: Mapping[h.Node, str],
        gangs: Mapping[h.Fork, GangEmitter],
        emit_nodes: Callable[[h.Node], None],
    ) -> None:
        """`phis` are the scalars at the beginning of each block; `emit_nodes` writes the nodes of a block, and what is
        copied at its end.
        """
        self._nodes = nodes
        self._out = nodes.memory.ops.out
        self._placed = placed
        self._phis = phis
        self._labels = labels
        self._gangs = gangs
        self._emit_nodes = emit_nodes

    def emit(self, loop: Loop, trace: Sequence[Arrival]) -> None:
        """A loop and those inside of it, whose headers are executed as the trace says."""
        arrivals, counters, body = iter(trace), dict[Loop, Mapping[h.Node, int]](), set(loop.body)
        before = next(block_leader(it) for it in loop.header.predecessors if self._is_entry(loop, it))
        at: h.Node = loop.header
        label = self._labels[at]
        while at in body:
            if isinstance(at, h.Fork):
                following: h.Node = self._placed.nest.joins[at]
                target = self._out.fresh_block("joined")
                self._gangs[at].emit_once(label, target, counters[self._placed.loops.around[at][-1]])
            else:
                self._out.open(label)
                self._take_phis(at, before)
                self._emit_nodes(at)
                following = self._following(at, arrivals, counters)
                target = self._out.fresh_block("straight") if following in body else self._labels[following]
                self._out.do(f"br label %{target}")
            before, at, label = at, following, target

    def _is_entry(self, loop: Loop, control: h.Node) -> bool:
        return control in self._placed.live and control not in loop.latches

    def _take_phis(self, region: h.Node, before: h.Node) -> None:
        """The values of Phis where control comes from a block; those of collections were copied at its end."""
        taken = [(phi, self._way(phi, before)) for phi in self._phis.get(region, ())]
        self._nodes.values.update({phi: self._nodes.value(it) for phi, it in taken})

    def _way(self, phi: h.Phi, before: h.Node) -> h.Node:
        assert isinstance(phi.region, h.Region)
        pairs = zip(phi.region.predecessors, phi.values, strict=True)
        return next(value for it, value in pairs if it in self._placed.live and block_leader(it) is before)

    def _following(
        self, leader: h.Node, arrivals: Iterator[Arrival], counters: dict[Loop, Mapping[h.Node, int]]
    ) -> h.Node:
        """The block after another one."""
        exit = self._placed.exits[leader]
        if not isinstance(exit, h.If):
            return exit
        arrival = next(arrivals)
        counters[arrival.loop] = arrival.values
        ways = self._placed.graph.successors[exit]
        return next(it for it in ways if (it in arrival.loop.body) is arrival.stays)
