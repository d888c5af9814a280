"""Parallel copies of collections at the end of a block: to the storage of Phis and Reduces, and into Collects.

All copies at one end happen at once: no storage is overwritten before it is copied itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from .nodes import NodeEmitter
from .storage import Storage, StoragePlan


class ParallelCopies:
    """Writes the copies for Phis, Reduces and Collects of collections at the ends of blocks."""

    def __init__(
        self,
        nodes: NodeEmitter,
        plan: StoragePlan,
        live: Collection[h.Node],
        fork_of: Mapping[h.Join, h.Fork],
    ) -> None:
        self._nodes = nodes
        self._plan = plan
        self._live = live
        self._fork_of = fork_of

    def blocks(self, node: h.Node) -> list[h.Node]:
        """The leaders of the blocks at whose ends a node's storage is copied to."""
        match node:
            case h.Phi(region=h.Region(predecessors=predecessors)):
                return [block_leader(it) for it in predecessors if it in self._live]
            case h.Reduce(join=h.Join() as join):
                return [block_leader(self._fork_of[join].control), block_leader(join.control)]
            case h.Collect(join=h.Join() as join):
                return [block_leader(join.control)]
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return []
            case _:
                assert_never(node)

    def at_end(self, leader: h.Node, takers: Sequence[h.Node]) -> None:
        """Write the copies for these nodes at the end of a block. Collects come first: they read what Reduces
        overwrite.
        """
        for node in takers:
            if isinstance(node, h.Collect) and isinstance(node.join, h.Join):
                self._nodes.collect(node, self._fork_of[node.join])
        self._transfer_all([(value, node) for node in takers for value in self._taken(node, leader)])

    def _taken(self, node: h.Node, leader: h.Node) -> Iterable[h.Node]:
        """The operands of a Phi or Reduce for the edge at the end of this block."""
        match node:
            case h.Phi(region=h.Region() as region, values=values):
                pairs = zip(region.predecessors, values, strict=True)
                return [value for it, value in pairs if it in self._live and block_leader(it) is leader]
            case h.Reduce(join=h.Join() as join, init=init, update=update):
                incoming = ((init, self._fork_of[join].control), (update, join.control))
                return [value for value, it in incoming if block_leader(it) is leader]
            case _:
                return []

    def _transfer_all(self, moves: Iterable[tuple[h.Node, h.Node]]) -> None:
        """Copy each value to the storage of the node that takes it, as if at once.

        Copies are ordered so that none overwrites a source. In a cycle of storages, swapping two completes one copy.
        """
        memory, plan = self._nodes.memory, self._plan
        copies: list[tuple[Storage, Storage]] = []
        fills: list[tuple[h.Node, h.Node]] = []
        for value, node in moves:
            if isinstance(value, h.ConstantNode):
                fills.append((value, node))
            elif plan.needs_transfer(value, node):
                copies.append((plan.of(value), plan.of(node)))
        while copies:
            sources = {source for source, _ in copies}
            number = next((number for number, (_, target) in enumerate(copies) if target not in sources), None)
            source, target = copies.pop(0 if number is None else number)
            if number is not None:
                memory.copy(memory.address(source), memory.address(target))
                continue
            memory.swap(memory.address(source), memory.address(target))
            left = [(source if it is target else it, to) for it, to in copies]
            copies = [(it, to) for it, to in left if it is not to]
        for value, node in fills:
            self._nodes.transfer(value, node)
