"""Where the invocations of a workgroup wait for each other because they read values that others keep in its memory.

Between the loops that write and those that read there is a barrier, and another one before the next iteration of a loop
around both writes again, unless invocations wait there anyway, to join what they carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .decided import Decided
from .kept_values import Kept, is_crossing, readings_of
from .structure import Loop, Node, Wait, leaves_of
from .tasks import Carry, Hold


@dataclass(frozen=True, slots=True)
class _Span:
    """The positions of what writes a value and of what reads it, among nodes that follow each other."""

    first: int
    last: int


def with_waits(nodes: Sequence[Node], kept: Mapping[str, Kept], decided: Decided) -> list[Node]:
    """The tree with all barriers that values in workgroup memory need."""
    return _Waits(decided, kept).among(nodes, is_repeated=False)


@dataclass(slots=True)
class _Waits:
    decided: Decided
    kept: Mapping[str, Kept]

    def among(self, nodes: Sequence[Node], *, is_repeated: bool) -> list[Node]:
        places: set[int] = set()
        spans = sorted(self.spans(nodes), key=lambda it: (it.last, it.first))
        for it in spans:
            if not self.is_between(nodes, places, it.first, it.last):
                places.add(it.last)
        for first in {it.first for it in spans} if is_repeated else ():
            last = max(it.last for it in spans if it.first == first)
            is_after = self.is_between(nodes, places, last, len(nodes))
            if not (is_after or first in places or self.is_between(nodes, places, 0, first)):
                places.add(first)
        made: list[Node] = []
        for number, node in enumerate(nodes):
            if isinstance(node, Loop):
                node.body = self.among(node.body, is_repeated=True)
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

    def spans(self, nodes: Sequence[Node]) -> Iterator[_Span]:
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
