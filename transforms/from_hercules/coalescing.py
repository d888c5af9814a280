"""Which merged scalars share a variable.

A Phi is a variable that is assigned on the edges into its region. Two Phis can share one if neither is alive where the
other is assigned; then an edge from one to the other moves nothing, and `x = phi(a, x)` is an assignment in one arm.
After P. Briggs and others, "Practical Improvements to the Construction and Destruction of Static Single Assignment
Form", Software: Practice and Experience 28(8), 1998.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import is_scalar


def coalesced(placed: Placement, users: Mapping[h.Node, Sequence[h.Node]]) -> Mapping[h.Node, Sequence[h.Phi]]:
    """The Phis of scalars that share a variable with each Phi of a scalar, itself included."""
    phis = [it for it in placed.function.nodes if isinstance(it, h.Phi) and it in placed.live]
    phis = [it for it in phis if is_scalar(placed.types[it])]
    classes = _Classes(placed, _Liveness(placed, users, phis).live_in)
    for phi in phis:
        classes.members[phi] = [phi]
    for phi in phis:
        for value in phi.values:
            if isinstance(value, h.Phi) and value in classes.members:
                classes.unite(phi, value)
    return classes.members


@dataclass(slots=True)
class _Classes:
    placed: Placement
    live_in: Mapping[h.Node, set[h.Node]]
    members: dict[h.Node, list[h.Phi]] = field(default_factory=dict[h.Node, "list[h.Phi]"])

    def unite(self, one: h.Phi, other: h.Phi) -> None:
        """Let two classes share a variable if that is right."""
        left, right = self.members[one], self.members[other]
        if left is right or self.placed.types[one] != self.placed.types[other]:
            return
        if any(self._interfere(a, b) for a in left for b in right):
            return
        left.extend(right)
        for it in right:
            self.members[it] = left

    def _interfere(self, one: h.Phi, other: h.Phi) -> bool:
        return one in self.live_in[other.region] or other in self.live_in[one.region] or one.region is other.region


@dataclass(slots=True)
class _Liveness:
    """The Phis that are alive at the beginning of each block, those that begin there excepted."""

    placed: Placement
    users: Mapping[h.Node, Sequence[h.Node]]
    phis: Sequence[h.Phi]
    live_in: dict[h.Node, set[h.Node]] = field(init=False)
    _before: dict[h.Node, list[h.Node]] = field(init=False)

    def __post_init__(self) -> None:
        self.live_in = {it: set[h.Node]() for it in self.placed.blocks}
        self._before = {it: [] for it in self.placed.blocks}
        for block in self.placed.blocks:
            for at in self.placed.graph.predecessors[block]:
                self._before[block].append(block_leader(at))
        for phi in self.phis:
            self._spread(phi)

    def _spread(self, phi: h.Phi) -> None:
        """Mark the blocks from each use back to the definition."""
        pending = list(self._uses(phi))
        while pending:
            block = pending.pop()
            if block is phi.region or phi in self.live_in[block]:
                continue
            self.live_in[block].add(phi)
            pending += self._before[block]

    def _uses(self, phi: h.Phi) -> Iterator[h.Node]:
        """The blocks in which, or at whose end, the Phi is used."""
        for user in self.users[phi]:
            if user in self.placed.live:
                yield from use_blocks(self.placed, phi, user)


def use_blocks(placed: Placement, node: h.Node, user: h.Node) -> Iterable[h.Node]:
    """The blocks in which, or at whose end, a user needs a value."""
    match user:
        case h.Phi(h.Region() as region, values):
            reached = placed.graph.predecessors[region]
            pairs = zip(values, region.predecessors, strict=True)
            return [block_leader(at) for value, at in pairs if value is node and at in reached]
        case h.Reduce(h.Join() as join, init, update):
            first = [block_leader(placed.nest.forks[join].control)] if init is node else []
            return [*first, block_leader(join.control)] if update is node else first
        case h.Collect(h.Join() as join):
            return [block_leader(join.control)]
        case h.If(control) | h.Match(control) | h.Return(control):
            return [block_leader(control)]
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return [placed.place[user]] if user in placed.place else []
        case _:
            assert_never(user)
