"""Control paths between the blocks of a function that avoid some of the blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .analyses import ControlGraph, Dominators, LoopNest
from .nodes import Node


class ControlPaths:
    """The flow of control between blocks, each of which is named by its leader."""

    def __init__(self, graph: ControlGraph, tree: Dominators, loops: LoopNest, leaders: Mapping[Node, Node]) -> None:
        self._tree = tree
        self._loops = loops
        self._number = {node: number for number, node in enumerate(graph.order)}
        self._flow: dict[Node, tuple[Node, ...]] = dict.fromkeys(leaders.values(), ())
        for node in graph.order:
            for following in graph.successors[node]:
                if leaders[following] is following:
                    leader = leaders[node]
                    self._flow[leader] = (*self._flow[leader], following)

    def can_reach(self, block: Node, target: Node, cut: Sequence[Node]) -> bool:
        """Whether control may enter `target` after `block` without passing a block of `cut`, of which the first
        dominates all that matter.

        Control enters a loop through its header.
        """
        for loop in self._loops.around[target]:
            if loop not in self._loops.around[block] and loop.header is not target:
                if not self._go(block, loop.header, cut):
                    return False
                block = loop.header
        return self._go(block, target, cut)

    def _go(self, block: Node, target: Node, cut: Sequence[Node]) -> bool:
        """Like `can_reach`, restricted to blocks that may be on such a path.

        A path that leaves the region dominated by the first cut does not return to it. A path past the target in the
        order of control returns only through the header of a loop, which is in that region, too.
        """
        last = self._number[target]
        seen: set[Node] = set(cut)
        pending = [block]
        while pending:
            for at in self._flow[pending.pop()]:
                if at in seen:
                    continue
                if at is target:
                    return True
                seen.add(at)
                may_come = self._number[at] < last or self._may_return(at, last, cut[0])
                if may_come and self._tree.dominates(cut[0], at):
                    pending.append(at)
        return False

    def _may_return(self, block: Node, number: int, dominator: Node) -> bool:
        """Whether a loop around a block begins at a lower number, in the region of a dominator, so that control may
        come back to there.
        """
        headers = (loop.header for loop in self._loops.around[block])
        return any(self._number[it] <= number and self._tree.dominates(dominator, it) for it in headers)
