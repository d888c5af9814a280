"""The node of each function-scope variable's value at the current statement, and merging of control paths.

WGSL, "Function-scope Variable Value Analysis". The cost of a join is proportional to the number of variables
assigned on the merging paths, not to the number of all variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ....ir.wgsl.program import Variable
from .graph import Graph, Node

Changes: TypeAlias = dict[Variable, Node]
"""The variables assigned on one path, with their values at its end."""


class Values:
    """The current values, and for each open branch the values that it replaced."""

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
        """Close the branch: undo its assignments and return them."""
        changes = self.changes_since(self.depth - 1)
        for variable, node in self._replaced.pop().items():
            if node is None:
                del self._now[variable]
            else:
                self._now[variable] = node
        return changes

    def changes_since(self, depth: int) -> Changes:
        """The assignments since there were `depth` branches."""
        now = self._now
        return {variable: now[variable] for replaced in self._replaced[depth:] for variable in replaced}

    def apply(self, changes: Changes) -> None:
        """Assign again what has been undone."""
        for variable, node in changes.items():
            self[variable] = node

    def join(self, paths: Sequence[Changes]) -> None:
        """Merge paths that all began here. Variables declared on them go out of scope."""
        self.apply(self._joined([{v: node for v, node in path.items() if v in self._now} for path in paths]))

    def join_inside(self, paths: Sequence[Changes]) -> None:
        """Like `join`, but variables declared on the paths stay in scope."""
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
