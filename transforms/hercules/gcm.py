"""Global code motion: values move to their uses, and the node list shows the placement.

For readers of `.hir` texts. No pipeline runs it: LLVM sinks code itself (docs/ARCHITECTURE.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import assert_never

from ...ir.hercules.analyses import block_leader
from ...ir.hercules.graph import def_use, predecessors, replace_predecessor
from ...ir.hercules.nodes import (
    Collect,
    FloatingNode,
    Fork,
    Function,
    If,
    Join,
    Match,
    Module,
    Node,
    Parameter,
    Phi,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Start,
    ThreadID,
)
from ...ir.hercules.placement import Placement, place_nodes
from .cleanup import remove_dead


@dataclass(frozen=True)
class GlobalCodeMotion:
    """Gives each of several exclusive paths its own copy of a value that only those paths need, and sorts the node
    list in order of execution.

    `place_nodes` puts each value into the least nested, and then the last, block above all its uses. If the uses are
    on exclusive paths, the value would also be computed on paths that do not need it. Only scalar computations are
    copied, and never into a loop or fork that the value was outside of, so no path computes more than before. `gvn`
    merges the copies again: run this pass after it, or instead of it.

    In the text, each block's data nodes then follow the control node that leads it, in the order in which they run.
    After Click, "Global Code Motion / Global Value Numbering", 1995.
    """

    name = "gcm"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= _Motion(place_nodes(function)).split()
            changed |= _reorder(function)
        return changed


Use = tuple[Node, Node, int]
"""A user, the block at whose end or in which it needs the value, and which of a phi's values that is, or -1."""


class _Motion:
    """Copies values, users before what they use, so that a copy's operands may be copied in turn."""

    def __init__(self, placed: Placement) -> None:
        self.placed = placed
        self.place = dict(placed.place)
        self.users = {node: list(them) for node, them in def_use(placed.function).items()}
        self.flow = {it: self._following(it) for it in placed.blocks}

    def split(self) -> bool:
        """Copy values needed on exclusive paths; whether there were any."""
        copies: list[Node] = []
        for block in reversed([*self.placed.blocks]):
            for node in reversed(self.placed.blocks[block]):
                copies += self._split_node(node, block)
        self.placed.function.nodes += copies
        return bool(copies)

    def _split_node(self, node: Node, block: Node) -> list[Node]:
        """Keep the node for the first group of uses and copy it for the others; returns the copies."""
        if not isinstance(node, ScalarNode):
            return []
        uses = list(self._uses(node))
        groups = self._groups(block, {self._at_depth_of(block, at) for _, at, _ in uses})
        copies: list[Node] = []
        for number, (top, blocks) in enumerate(groups):
            if number == 0:
                self.place[node] = top
                continue
            made = node.copy()
            self.place[made] = top
            self.users[made] = []
            for used in dict.fromkeys(predecessors(node)):
                self.users[used].append(made)
            for use in uses:
                if self._at_depth_of(block, use[1]) in blocks:
                    self._redirect(use, node, made)
            copies.append(made)
        return copies

    def _redirect(self, use: Use, old: Node, new: Node) -> None:
        user, _, edge = use
        if isinstance(user, Phi):
            user.values[edge] = new
        elif isinstance(user, Reduce):
            user.init, user.update = (new, user.update) if edge == 0 else (user.init, new)
        else:
            replace_predecessor(user, old, new)
        if user not in self.users[new]:
            self.users[new].append(user)
        if old not in predecessors(user):
            self.users[old].remove(user)

    def _uses(self, node: Node) -> Iterator[Use]:
        for user in self.users[node]:
            match user:
                case Phi(Region() as region, values):
                    for edge, (value, predecessor) in enumerate(zip(values, region.predecessors, strict=True)):
                        if value is node:
                            yield user, block_leader(predecessor), edge
                case Reduce(Join() as join, init, update):
                    if init is node:
                        yield user, block_leader(self.placed.nest.forks[join].control), 0
                    if update is node:
                        yield user, block_leader(join.control), 1
                case Collect(Join() as join):
                    yield user, block_leader(join.control), -1
                case If(control) | Match(control) | Return(control):
                    yield user, block_leader(control), -1
                case Phi() | Reduce() | Collect() | ThreadID() | FloatingNode() | Start() | Region() | Fork() | Join():
                    yield user, self.place[user], -1
                case _:
                    assert_never(user)

    def _groups(self, block: Node, wanted: set[Node]) -> list[tuple[Node, set[Node]]]:
        """The exclusive groups of blocks that use a value of a block: the top block of each group, and its blocks.

        Empty if the value is used in the block itself, or on every path.
        """
        groups = [(it, {it}) for it in self.placed.blocks if it in wanted]
        merged = True
        while merged and len(groups) > 1:
            merged = False
            for left, right in combinations(groups, 2):
                if not self._exclude(left[0], right[0], block):
                    groups = [it for it in groups if it is not left and it is not right]
                    groups.append((self._common(left[0], right[0]), left[1] | right[1]))
                    merged = True
                    break
        return groups if len(groups) > 1 and all(top is not block for top, _ in groups) else []

    def _exclude(self, left: Node, right: Node, block: Node) -> bool:
        """Whether control from the block comes through one of two blocks at most before it is in the block again."""
        return right not in self._reached(left, block) and left not in self._reached(right, block)

    def _reached(self, start: Node, cut: Node) -> set[Node]:
        seen = {start}
        pending = [start]
        while pending:
            for after in self.flow[pending.pop()]:
                if after not in seen and after is not cut:
                    seen.add(after)
                    pending.append(after)
        return seen

    def _common(self, left: Node, right: Node) -> Node:
        return block_leader(self.placed.dominators.common(left, right))

    def _at_depth_of(self, block: Node, below: Node) -> Node:
        """The lowest block above one, or that itself, which is in the nest of another."""
        placed = self.placed
        for at in placed.dominators.chain(below):
            if at in placed.blocks and (placed.loops.around[at], placed.nest.around[at]) == (
                placed.loops.around[block],
                placed.nest.around[block],
            ):
                return at
        return block

    def _following(self, block: Node) -> tuple[Node, ...]:
        """The blocks that control may come to next."""
        end = self.placed.exits.get(block)
        if end is None:
            return ()
        return (end,) if end in self.placed.blocks else self.placed.graph.successors[end]


def _reorder(function: Function) -> bool:
    """Sort the node list: Start and parameters, then constants, then block by block."""
    placed = place_nodes(function)
    start = placed.graph.order[0]
    floating = {node for nodes in placed.blocks.values() for node in nodes}
    heads = [it for it in function.nodes if isinstance(it, Parameter)]
    pinned: dict[Node, list[Node]] = {it: [] for it in placed.graph.order}
    for node in function.nodes:
        if node in placed.place and node not in floating and not isinstance(node, Parameter):
            pinned[placed.place[node]].append(node)
    order = [start, *heads]
    for node in placed.graph.order:
        order += [*([] if node is start else [node]), *pinned[node], *placed.blocks.get(node, ())]
    changed = order != function.nodes
    function.nodes = order
    return changed
