"""The node of each function-scope variable's value at the statement at hand, and how ways through a function join.

WGSL, "Function-scope Variable Value Analysis". Work at a join is proportional to what has been assigned on the ways
that meet there, not to the number of variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ....ir.wgsl.program import Variable
from .graph import Graph, Node

Changes: TypeAlias = dict[Variable, Node]
"""What has been assigned on one way, with the values at its end."""


class Values:
    """The values now, and, for each branch that is open, the values that it has replaced."""

    __slots__ = ("_graph", "_now", "_replaced")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._now: dict[Variable, Node] = {}
        self._replaced: list[dict[Variable, Node | None]] = [{}]

    def __getitem__(self, variable: Variable) -> Node:
        return self._now[variable]

    def __contains__(self, variable: Variable) -> bool:
        return variable in self._now

    def __setitem__(self, variable: Variable, node: Node) -> None:
        replaced = self._replaced[-1]
        if variable not in replaced:
            replaced[variable] = self._now.get(variable)
        self._now[variable] = node

    @property
    def depth(self) -> int:
        """The number of open branches."""
        return len(self._replaced)

    def enter(self) -> None:
        """Open a branch."""
        self._replaced.append({})

    def leave(self) -> Changes:
        """Close the branch: what it has assigned, which is undone."""
        changes = self.changes_since(self.depth - 1)
        for variable, node in self._replaced.pop().items():
            if node is None:
                del self._now[variable]
            else:
                self._now[variable] = node
        return changes

    def changes_since(self, depth: int) -> Changes:
        """What has been assigned since there were `depth` branches."""
        now = self._now
        return {variable: now[variable] for replaced in self._replaced[depth:] for variable in replaced}

    def apply(self, changes: Changes) -> None:
        """Assign again what has been undone."""
        for variable, node in changes.items():
            self[variable] = node

    def join(self, paths: Sequence[Changes]) -> None:
        """Go on from where ways meet that all began here. Variables that have been declared on them are gone."""
        self.apply(self._joined([{v: node for v, node in path.items() if v in self._now} for path in paths]))

    def join_inside(self, paths: Sequence[Changes]) -> None:
        """The same, where the variables that have been declared on the ways are still in scope."""
        self.apply(self._joined(paths))

    def _joined(self, paths: Sequence[Changes]) -> Changes:
        if len(paths) == 1:
            return paths[0]
        counts: dict[Variable, int] = {}
        found: dict[Variable, dict[Node, None]] = {}
        for changes in paths:
            for variable, node in changes.items():
                counts[variable] = counts.get(variable, 0) + 1
                found.setdefault(variable, {})[node] = None
        for variable, count in counts.items():
            if count < len(paths) and variable in self._now:
                found[variable][self._now[variable]] = None
        return {variable: self._one(nodes) for variable, nodes in found.items()}

    def _one(self, nodes: Iterable[Node]) -> Node:
        several = tuple(nodes)
        return several[0] if len(several) == 1 else self._graph.node(*several)
