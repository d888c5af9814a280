"""Where the invocations of a workgroup wait for each other because they read values that others keep in its memory.

Between the loops that write and those that read there is a barrier, and another one before the next iteration of a loop
around both writes again, or another value is written to the same memory, unless invocations wait there anyway, to join
what they carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .decided import Decided
from .kept_values import Kept, is_crossing, readings_of
from .sharing import Group
from .structure import Loop, Node, Wait, leaves_of
from .tasks import Carry, Hold


@dataclass(frozen=True, slots=True)
class _Span:
    """The positions of what writes memory and of what reads it, or the reverse, among nodes that follow each other."""

    first: int
    last: int


def with_waits(
    nodes: Sequence[Node], kept: Mapping[str, Kept], groups: Sequence[Group], decided: Decided
) -> list[Node]:
    """The tree with all barriers that values in workgroup memory need."""
    return _Waits(decided, kept, groups).among(nodes, None)


@dataclass(slots=True)
class _Waits:
    decided: Decided
    kept: Mapping[str, Kept]
    groups: Sequence[Group]

    def among(self, nodes: Sequence[Node], around: Loop | None) -> list[Node]:
        """What is in a loop, or in none, with its barriers."""
        places: set[int] = set()
        shared = [it for it in self.groups if len(it) > 1 and it[0].around is around]
        crossing = list(self.crossing(nodes))
        spans = [*crossing, *(_Span(one.last, next.first) for it in shared for one, next in pairwise(it))]
        for it in sorted(spans, key=lambda it: (it.last, it.first)):
            if not self.is_between(nodes, places, it.first, it.last):
                places.add(it.last)
        for it in () if around is None else (*crossing, *(_Span(it[0].first, it[-1].last) for it in shared)):
            is_after = self.is_between(nodes, places, it.last, len(nodes))
            if not (is_after or it.first in places or self.is_between(nodes, places, 0, it.first)):
                places.add(it.first)
        made: list[Node] = []
        for number, node in enumerate(nodes):
            if isinstance(node, Loop):
                node.body = self.among(node.body, node)
            made += [Wait(), node] if number in places else [node]
        return made

    def is_between(self, nodes: Sequence[Node], places: set[int], first: int, last: int) -> bool:
        """Whether invocations wait after what is in the node `first` and before the node `last`."""
        joins = any(self.is_joined(it) for it in nodes[first:last])
        return joins or any(first < it <= last for it in places)

    def is_joined(self, node: Node) -> bool:
        """Whether invocations wait at the end of a node."""
        if isinstance(node, Loop):
            return any(map(self.decided.waits, node.opened))
        return isinstance(node, Carry) and not self.decided.carrying(node) and self.decided.waits(node)

    def crossing(self, nodes: Sequence[Node]) -> Iterator[_Span]:
        """The values that one node writes and another reads, in other invocations."""
        written = {
            it.value: number for number, node in enumerate(nodes) for it in leaves_of([node]) if isinstance(it, Hold)
        }
        for number, node in enumerate(nodes):
            for task in leaves_of([node]):
                for name, reading in readings_of(task, self.decided):
                    is_apart = written.get(name, number) != number and task not in self.kept[name].near
                    if is_apart and is_crossing(self.kept[name], reading, self.decided):
                        yield _Span(written[name], number)
