"""Global value numbering: computes each value once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ...base.deadline import check_compile_time
from ...ir.hercules.graph import predecessors, replace_all
from ...ir.hercules.nodes import Fork, Function, Module, Node, Phi, PureNode, Reduce
from ...ir.hercules.placement import Latest, latest_places
from ...ir.hercules.types import is_scalar
from ...ir.hercules.versions import is_version_projection
from ...ir.schema.runtime import value_key


@dataclass(frozen=True)
class GlobalValueNumbering:
    """Merges pure nodes with the same operation and operands, until there are none.

    Reads of one version are merged; what makes or changes storage (constants of collection type, Write, Atomic,
    Collect, Reduce) never is: two zero arrays are two arrays. A Reduce is one value inside its fork and another after
    the join, so nodes on the two sides are kept apart. After Click, "Global Code Motion / Global Value Numbering",
    hash-based.
    """

    name = "gvn"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            latest = latest_places(function)
            while _merge(function, latest):
                changed = True
        return changed


def _merge(function: Function, latest: Latest) -> bool:
    """One round. `latest` is computed before the first round: merging moves no node to the other side of a join."""
    check_compile_time()
    first: dict[Hashable, Node] = {}
    replacements: dict[Node, Node] = {}
    for node in function.nodes:
        if node not in latest.place or not _is_merged(node, latest):
            continue
        same = _only_value(node)
        if same is None and isinstance(node, PureNode):
            same = first.setdefault(_key(node, latest, replacements), node)
        if same is not None and same is not node:
            replacements[node] = same
    replace_all(function, replacements)
    function.nodes = [node for node in function.nodes if node not in replacements]
    return bool(replacements)


def _is_merged(node: Node, latest: Latest) -> bool:
    """Whether nodes of its type may be one: a collection is storage of its own."""
    return is_scalar(latest.types[node]) or is_version_projection(node)


def _only_value(node: Node) -> Node | None:
    """The value of a phi that has only one, besides itself."""
    if not isinstance(node, Phi):
        return None
    others = {it for it in node.values if it is not node}
    return others.pop() if len(others) == 1 else None


def _key(node: Node, latest: Latest, replacements: dict[Node, Node]) -> Hashable:
    """Equal for nodes of the same value."""
    return value_key(node, [_operand(replacements.get(it, it), node, latest) for it in predecessors(node)])


def _operand(operand: Node, user: Node, latest: Latest) -> Hashable:
    """The operand; for a Reduce also whether it is the value inside the fork."""
    fork = latest.place.get(operand)
    if isinstance(operand, Reduce) and isinstance(fork, Fork):
        return operand, fork in latest.nest.around[latest.place[user]]
    return operand
