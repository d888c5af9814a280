"""The dependence graph of one function: which nodes must be uniform for another to be uniform.

An edge from `a` to `b` says: `a` is uniform only if `b` is. Something cannot be shown to be uniform when one of the
two sinks can be reached from it. There is one graph for both uniformity scopes: `NON_UNIFORM` stands for what differs
even within a subgroup, `NON_UNIFORM_IN_WORKGROUP` for what is the same within a subgroup, but not beyond.

WGSL, "Uniformity Analysis Overview", "Analyzing the Uniformity Requirements of a Function".
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from ....ir.diagnostics import Note
from ....ir.source import Span

Node: TypeAlias = int

NON_UNIFORM: Node = 0
NON_UNIFORM_IN_WORKGROUP: Node = 1
START: Node = 2
"""Control flow where the function begins."""

UNREACHED = -1


class Scope(enum.Enum):
    """Which invocations have to agree (WGSL, "Uniformity Terminology and Concepts"); draws count as workgroups."""

    WORKGROUP = enum.auto()
    SUBGROUP = enum.auto()


SINKS = {
    Scope.WORKGROUP: (NON_UNIFORM, NON_UNIFORM_IN_WORKGROUP),
    Scope.SUBGROUP: (NON_UNIFORM,),
}


class Cause(enum.Enum):
    """The kind of explanation that a label gives for its node."""

    CONTROL = enum.auto()
    VARIABLE = enum.auto()
    WRITTEN = enum.auto()
    SOURCE = enum.auto()


class Label(NamedTuple):
    """How a message explains a node: `what` is a condition, the name of a variable that is read or that a call writes,
    or a whole sentence for a source. `notes` are more to say about a source.
    """

    cause: Cause
    what: str
    span: Span
    notes: tuple[Note, ...] = ()


class Graph:
    """Nodes are numbers, from which `targets` and `labels` are looked up."""

    __slots__ = ("labels", "targets")

    def __init__(self) -> None:
        self.targets: list[list[Node]] = [[], [], []]
        self.labels: dict[Node, Label] = {}

    def node(self, *targets: Node, label: Label | None = None) -> Node:
        """A new node with edges to `targets`."""
        node = len(self.targets)
        self.targets.append(list(targets))
        if label is not None:
            self.labels[node] = label
        return node

    def link(self, node: Node, targets: Iterable[Node]) -> None:
        """More edges from a node."""
        self.targets[node].extend(targets)

    def reversed(self) -> list[list[Node]]:
        """For each node, those with an edge to it."""
        sources: list[list[Node]] = [[] for _ in self.targets]
        for node, targets in enumerate(self.targets):
            for target in targets:
                sources[target].append(node)
        return sources


def steps_towards(sources: list[list[Node]], sinks: Iterable[Node]) -> list[Node]:
    """For each node the next one on a shortest path to a sink, or UNREACHED; for a sink itself. `sources` is a reversed
    graph.
    """
    step = [UNREACHED] * len(sources)
    queue = list(sinks)
    for sink in queue:
        step[sink] = sink
    for node in queue:
        for source in sources[node]:
            if step[source] == UNREACHED:
                step[source] = node
                queue.append(source)
    return step


def steps_from(graph: Graph, starts: Iterable[Node]) -> dict[Node, Node]:
    """For each reachable node, its predecessor on a shortest path; for a start itself."""
    before = {start: start for start in starts}
    queue = list(before)
    for node in queue:
        for target in graph.targets[node]:
            if target not in before:
                before[target] = node
                queue.append(target)
    return before


def path_from(steps: list[Node] | dict[Node, Node], node: Node) -> Iterator[Node]:
    """The nodes from `node` to the end of its steps, both included."""
    while steps[node] != node:
        yield node
        node = steps[node]
    yield node
