"""Removes nodes that turn out to be redundant once the function is complete: Phis with one value, Reduces that are
never updated, and unused nodes.
"""

from __future__ import annotations

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import is_projection, map_predecessors, predecessors


def clean_up(nodes: list[h.Node]) -> list[h.Node]:
    """The nodes that are needed, in their order; the first is still the Start node."""
    replaced = _find_trivial(nodes)
    if replaced:
        for node in nodes:
            if node not in replaced:
                map_predecessors(node, lambda value: _final(value, replaced))
    return _live([node for node in nodes if node not in replaced])


def _find_trivial(nodes: list[h.Node]) -> dict[h.Node, h.Node]:
    """Maps Phis with one value, and Reduces that are never updated, to the nodes that replace them."""
    replaced: dict[h.Node, h.Node] = {}
    changed = True
    while changed:
        changed = False
        for node in nodes:
            if node in replaced:
                continue
            single = _single_value(node, replaced)
            if single is not None:
                replaced[node] = single
                changed = True
    return replaced


def _single_value(node: h.Node, replaced: dict[h.Node, h.Node]) -> h.Node | None:
    """The one value, other than itself, that a Phi or Reduce can have."""
    match node:
        case h.Phi(values=values):
            incoming = {_final(value, replaced) for value in values}
        case h.Reduce(init=init, update=update):
            incoming = {_final(init, replaced), _final(update, replaced)}
        case _:
            return None
    incoming.discard(node)
    return incoming.pop() if len(incoming) == 1 else None


def _final(node: h.Node, replaced: dict[h.Node, h.Node]) -> h.Node:
    while node in replaced:
        node = replaced[node]
    return node


def _live(nodes: list[h.Node]) -> list[h.Node]:
    """The nodes that the Return needs, control included, in order.

    Both outputs of an If are kept, even one that no node uses.
    """
    live: set[h.Node] = {nodes[0]}
    pending: list[h.Node] = [node for node in nodes if isinstance(node, h.Return)]
    while pending:
        node = pending.pop()
        if node not in live:
            live.add(node)
            pending.extend(predecessors(node))
    return [node for node in nodes if node in live or (is_projection(node) and predecessors(node)[0] in live)]
