"""Predication: short branches become selects.

For grids: values that branches choose become folds. The pipeline for the CPU does not run it: gangs mask short branches
(docs/ARCHITECTURE.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir.hercules.costs import operation_cost
from ...ir.hercules.graph import control_predecessors, is_projection, replace_all
from ...ir.hercules.nodes import (
    ControlIndex,
    Function,
    If,
    Module,
    Node,
    Phi,
    Read,
    Region,
    Select,
)
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.types import is_scalar


@dataclass(frozen=True)
class Predication:
    """Computes both arms of a branch and selects, where the arms are pure and together cost at most `limit`.

    The arms must have no control of their own (the innermost branches go first), read and write no collection, and what
    they merge must be scalars. Costs are those of `ir.hercules.costs`. That both arms run changes nothing: all
    operations are total.
    """

    limit: int = 8
    name = "predication"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            while _predicate(function, self.limit):
                changed = True
        return changed


def _predicate(function: Function, limit: int) -> bool:
    placed = place_nodes(function)
    diamonds = [(region, branch) for region, branch in _diamonds(placed) if _is_cheap(placed, region, limit)]
    replacements: dict[Node, Node] = {}
    selects: dict[Node, Node] = {}
    for region, branch in diamonds:
        replacements[region] = branch.control
        for phi in _phis(function, region):
            selects[phi] = replacements[phi] = _select(phi, region, branch)
    gone = {
        *replacements,
        *(branch for _, branch in diamonds),
        *(it for region, _ in diamonds for it in region.predecessors),
    }
    function.nodes = [selects.get(node, node) for node in function.nodes if node in selects or node not in gone]
    replace_all(function, replacements)
    return bool(diamonds)


def _diamonds(placed: Placement) -> Iterator[tuple[Region, If]]:
    """Regions that merge exactly the two outputs of one branch, directly."""
    for region in placed.blocks:
        if (
            isinstance(region, Region)
            and len(region.predecessors) == 2
            and all(map(is_projection, region.predecessors))
        ):
            first, second = (control_predecessors(predecessor)[0] for predecessor in region.predecessors)
            if first is second and isinstance(first, If):
                yield region, first


def _is_cheap(placed: Placement, region: Region, limit: int) -> bool:
    if not all(is_scalar(placed.types.get(phi)) for phi in _phis(placed.function, region)):
        return False
    costs = [operation_cost(node) for predecessor in region.predecessors for node in placed.blocks[predecessor]]
    return all(cost is not None for cost in costs) and sum(cost or 0 for cost in costs) <= limit


def _phis(function: Function, region: Region) -> list[Phi]:
    return [node for node in function.nodes if isinstance(node, Phi) and node.region is region]


def _select(phi: Phi, region: Region, branch: If) -> Node:
    """A select by condition in place of a phi."""
    arms: dict[int, Node] = {}
    for value, predecessor in zip(phi.values, region.predecessors, strict=True):
        assert isinstance(predecessor, Read)
        (index,) = predecessor.indices
        assert isinstance(index, ControlIndex)
        arms[index.output] = value
    return Select(branch.condition, arms[1], arms[0], label=phi.label, span=phi.span)
