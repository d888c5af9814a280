"""Merges all returns of a function into one, for inlining and for machine code."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hercules.nodes import Node, Phi, Region, Return


def with_one_return(nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a function, with a region, a phi and one return in place of several returns."""
    returns = [node for node in nodes if isinstance(node, Return)]
    if len(returns) < 2:
        return list(nodes)
    region = Region([it.control for it in returns])
    value = Phi(region, [it.value for it in returns])
    return [*(node for node in nodes if node not in returns), region, value, Return(region, value)]
