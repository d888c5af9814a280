"""Predication: short branches become selects.

For `.hir` functions and experiments. No pipeline runs it: gangs mask short branches (docs/ARCHITECTURE.md).
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
from ...ir.hercules.schedule import Schedule, schedule
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
    plan = schedule(function)
    diamonds = [(region, branch) for region, branch in _diamonds(plan) if _is_cheap(plan, region, limit)]
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


def _diamonds(plan: Schedule) -> Iterator[tuple[Region, If]]:
    """Regions where just the two ways out of one branch meet again, at once."""
    for region in plan.blocks:
        if (
            isinstance(region, Region)
            and len(region.predecessors) == 2
            and all(map(is_projection, region.predecessors))
        ):
            first, second = (control_predecessors(way)[0] for way in region.predecessors)
            if first is second and isinstance(first, If):
                yield region, first


def _is_cheap(plan: Schedule, region: Region, limit: int) -> bool:
    if not all(is_scalar(plan.types.get(phi)) for phi in _phis(plan.function, region)):
        return False
    costs = [operation_cost(node) for way in region.predecessors for node in plan.blocks[way]]
    return all(cost is not None for cost in costs) and sum(cost or 0 for cost in costs) <= limit


def _phis(function: Function, region: Region) -> list[Phi]:
    return [node for node in function.nodes if isinstance(node, Phi) and node.region is region]


def _select(phi: Phi, region: Region, branch: If) -> Node:
    """What the phi chooses by way, chosen by condition."""
    arms: dict[int, Node] = {}
    for value, way in zip(phi.values, region.predecessors, strict=True):
        assert isinstance(way, Read)
        (index,) = way.indices
        assert isinstance(index, ControlIndex)
        arms[index.output] = value
    return Select(branch.condition, arms[1], arms[0], label=phi.label, span=phi.span)
