"""Bodies with loops that have the same iterations, as one: each iteration runs those of all bodies, one after another.

    pre₁; while c {head₁ | tail₁}; post₁        pre₁ pre₂; while c {head₁ head₂ | tail₁ tail₂}; post₁ post₂
    pre₂; while c {head₂ | tail₂}; post₂

So too in loops within these. Whether that means the same is decided before (`strides`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import replace_all
from .forms import Counter
from .passing import followed

_Way: TypeAlias = "tuple[h.Node, h.Node]"
"""Control from its beginning to its end."""


@dataclass(frozen=True, eq=False, slots=True)
class MergedLoop:
    """A loop of a body that is run together with those of others: `latch` is the index of its back edge."""

    counter: h.Phi
    header: h.Region
    branch: h.If
    stay: h.Read
    exit: h.Read
    latch: int

    @property
    def before(self) -> h.Node:
        """The control that comes into the loop."""
        return self.header.predecessors[1 - self.latch]

    def phi(self, first: h.Node, next: h.Node) -> h.Phi:
        """What is `first` before the loop, and `next` after an iteration."""
        return h.Phi(self.header, [first, next] if self.latch else [next, first])


def loop_in(counter: Counter, copies: Mapping[h.Node, h.Node]) -> MergedLoop:
    """The loop of a counter in a copy of its function."""
    found = [copies[it] for it in (counter.phi, counter.loop.header, counter.branch, counter.stay, counter.exit)]
    phi, header, branch, stay, leave = found
    assert isinstance(phi, h.Phi) and isinstance(header, h.Region) and isinstance(branch, h.If)
    assert isinstance(stay, h.Read) and isinstance(leave, h.Read)
    latch = counter.loop.header.predecessors.index(counter.loop.latches[0])
    return MergedLoop(phi, header, branch, stay, leave, latch)


@dataclass(frozen=True, slots=True)
class LoopedBody:
    """The control of a body, between `entry`, which stands for what is before it, and `end`; and its loops, from the
    outermost on.
    """

    entry: h.Node
    end: h.Node
    loops: Sequence[MergedLoop]


def merge_loops(nodes: list[h.Node], bodies: Sequence[LoopedBody], type_of: Callable[[h.Node], h.Type]) -> h.Node:
    """Put the loops of bodies together, whose nodes are among `nodes`; returns the control after all of them.

    The first body begins at its entry. `type_of` has the types of counters.
    """
    return _Merging(nodes, bodies, type_of).run()


@dataclass(slots=True)
class _Merging:
    nodes: list[h.Node]
    bodies: Sequence[LoopedBody]
    type_of: Callable[[h.Node], h.Type]
    replaced: dict[h.Node, h.Node] = field(default_factory=dict["h.Node", "h.Node"])
    dropped: set[h.Node] = field(default_factory=set["h.Node"])

    def run(self) -> h.Node:
        end = self._merged(0, [(it.entry, it.end) for it in self.bodies])
        final = followed(self.replaced)
        self.nodes[:] = [it for it in self.nodes if it not in self.dropped]
        changes = {old: final(new) for old, new in self.replaced.items()}
        replace_all(h.Function("", [], [], [], h.Product(()), self.nodes), changes)
        return final(end)

    def _merged(self, level: int, ways: Sequence[_Way]) -> h.Node:
        """The control after ways that have loops at this level, one each."""
        loops = [it.loops[level] for it in self.bodies if level < len(it.loops)]
        if not loops:
            return self._in_order(ways)
        first, *others = loops
        latches = [it.header.predecessors[it.latch] for it in loops]
        before = self._in_order([(start, it.before) for (start, _), it in zip(ways, loops, strict=True)])
        tested = self._in_order([(it.header, it.branch.control) for it in loops])
        again = self._merged(level + 1, [(it.stay, latch) for it, latch in zip(loops, latches, strict=True)])
        first.header.predecessors = [before, again] if first.latch else [again, before]
        first.branch.control = tested
        for it in others:
            self._move(it, first)
        return self._in_order([(it.exit, end) for it, (_, end) in zip(loops, ways, strict=True)])

    def _in_order(self, ways: Sequence[_Way]) -> h.Node:
        """The control after ways that follow one another."""
        (_, control), *others = ways
        for start, end in others:
            self.replaced[start] = control
            control = control if end is start else end
        return control

    def _move(self, loop: MergedLoop, first: MergedLoop) -> None:
        """Let the first loop carry what another one does."""
        for node in list(self.nodes):
            if isinstance(node, h.Phi) and node.region is loop.header and node is not loop.counter:
                node.region = first.header
                node.values = node.values if loop.latch == first.latch else node.values[::-1]
        self.dropped |= {loop.header, loop.branch, loop.stay, loop.exit, loop.counter}
        self.replaced[loop.counter] = self._as(self.type_of(loop.counter), first.counter)

    def _as(self, type: h.Type, counter: h.Phi) -> h.Node:
        """A counter as one of another type."""
        if self.type_of(counter) == type:
            return counter
        cast = h.Bitcast(type, counter)
        self.nodes.append(cast)
        return cast
