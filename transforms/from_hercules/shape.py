"""The structure of a function's control: what is nested in what when control is written with Ifs and Loops.

The tree of blocks follows the dominator tree (N. Ramsey, "Beyond Relooper: Recursive Translation of Unstructured
Control Flow to Structured Control Flow", ICFP 2022), with one change: what follows a loop or a fork stands after it,
not inside of it. So a block is nested in the block that dominates it, unless it is outside of a loop or fork that its
dominator is in; then it *follows* the outermost such loop or fork.

A *label* is a block that is entered from several places, or follows a loop or fork. It is written after the code that
enters it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop, block_leader
from ...ir.hercules.placement import Placement

Cycle = Loop | h.Fork
"""A loop, or a fork, whose threads may run one after another."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The tree of blocks, each named by its leader.

    `labels` has the labels written in the code of each block, in order: at a loop's header or a fork those that follow
    the cycle are in `followers`, those inside in `labels`. `cycles` has the loops and forks around each block,
    outermost first; `loops` the loop of each header.
    """

    labels: Mapping[h.Node, tuple[h.Node, ...]]
    followers: Mapping[h.Node, tuple[h.Node, ...]]
    cycles: Mapping[h.Node, tuple[Cycle, ...]]
    loops: Mapping[h.Node, Loop]

    def is_label(self, leader: h.Node) -> bool:
        """Whether a block is written after the code that enters it, rather than where it is entered."""
        return any(leader in them for table in (self.labels, self.followers) for them in table.values())


def shape_of(placed: Placement) -> Shape:
    """The structure of a function's control. Raises ShaderError for irreducible control."""
    if placed.loops.irreducible:
        span = next((it.span for it in placed.loops.irreducible if it.span is not None), None)
        raise ShaderError([not_supported("control flow that is not reducible", span)])
    order = [it for it in placed.graph.order if it in placed.blocks]
    cycles = {it: _cycles(placed, it) for it in order}
    labels: dict[h.Node, list[h.Node]] = {it: [] for it in order}
    followers: dict[h.Node, list[h.Node]] = {it: [] for it in order}
    for leader in order[1:]:
        above = block_leader(placed.dominators.parent[leader])
        left = next((it for it in cycles[above] if it not in cycles[leader]), None)
        if left is not None:
            followers[left.header if isinstance(left, Loop) else left].append(leader)
        elif _entries(placed, leader) > 1:
            labels[above].append(leader)
    return Shape(
        {it: tuple(them) for it, them in labels.items()},
        {it: tuple(them) for it, them in followers.items()},
        cycles,
        {it.header: it for it in placed.loops.loops},
    )


def _cycles(placed: Placement, leader: h.Node) -> tuple[Cycle, ...]:
    """The loops and forks around a block, outermost first: an outer one has more blocks."""
    sizes: dict[Cycle, int] = {loop: len(loop.body) for loop in placed.loops.around[leader]}
    for fork in placed.nest.around[leader]:
        sizes[fork] = sum(fork in around for around in placed.nest.around.values())
    return tuple(sorted(sizes, key=sizes.__getitem__, reverse=True))


def _entries(placed: Placement, leader: h.Node) -> int:
    """The number of edges into a block that are no back edges."""
    loop = next((it for it in placed.loops.around[leader] if it.header is leader), None)
    latches = () if loop is None else loop.latches
    return sum(it not in latches for it in placed.graph.predecessors[leader])
