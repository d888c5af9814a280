"""Merges all returns of a function into one, for inlining and for machine code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...ir.hercules.graph import predecessors
from ...ir.hercules.nodes import Node, Phi, ProductNode, Region, Return


def with_one_return(nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a function, with a region, phis and one return in place of several returns.

    If all of them return products that they make, and that nothing else uses, there is a phi for each part.
    """
    returns = [node for node in nodes if isinstance(node, Return)]
    if len(returns) < 2:
        return list(nodes)
    region = Region([it.control for it in returns])
    values = [it.value for it in returns]
    products = [it for it in values if isinstance(it, ProductNode)]
    if len(products) < len(values) or not _are_used_once(products, nodes):
        value = Phi(region, values)
        return [*(node for node in nodes if node not in returns), region, value, Return(region, value)]
    parts: list[Node] = [Phi(region, list(them)) for them in zip(*(it.fields for it in products), strict=True)]
    whole = ProductNode(parts)
    kept = [node for node in nodes if node not in returns and node not in products]
    return [*kept, region, *parts, whole, Return(region, whole)]


def _are_used_once(products: Sequence[ProductNode], nodes: Sequence[Node]) -> bool:
    uses = Counter(used for node in nodes for used in predecessors(node))
    return all(uses[it] == 1 for it in products)
