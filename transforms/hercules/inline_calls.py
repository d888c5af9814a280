"""Inlines calls, usually all of them: machine code is generated from one function.

A body without control of its own becomes data; one with forks, branches or loops is put into the control where the
scheduler would have run the call.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copied
from ...ir.hercules.graph import control_predecessors, def_use, map_predecessors, replace_all
from ...ir.hercules.placement import place_nodes
from .cleanup import remove_dead
from .merge_returns import with_one_return


def inline_calls(function: h.Function, chosen: Callable[[h.Call], bool] = lambda _: True) -> None:
    """Inline the chosen calls of a function that verifies, in place; the functions called stay as they are."""
    remove_dead(function)
    while (call := next((it for it in function.nodes if isinstance(it, h.Call) and chosen(it)), None)) is not None:
        _inline(function, call, place_nodes(function).place[call])
        remove_dead(function)


def _inline(function: h.Function, call: h.Call, at: h.Node) -> None:
    """Inline one call, its control right after `at`."""
    body = with_one_return(copied(call.callee.nodes, call.dynamic_constants))
    end = next(node for node in body if isinstance(node, h.Return))
    start = body[0]
    if end.control is not start:
        later = waiting_for(function, call)
        for node in function.nodes:
            if at in control_predecessors(node) or (node in later and isinstance(node, h.Call) and node.control is at):
                map_predecessors(node, lambda used: end.control if used is at else used)
    inputs: dict[h.Node, h.Node] = {node: call.arguments[node.index] for node in body if isinstance(node, h.Parameter)}
    replaced: dict[h.Node, h.Node] = {start: at, call: end.value, **inputs}
    function.nodes += [node for node in body if node is not end]
    replace_all(function, replaced)
    function.nodes = [node for node in function.nodes if node not in replaced or node is at]


def waiting_for(function: h.Function, node: h.Node) -> set[h.Node]:
    """The users of a node's value, except those that carry it around a loop or a fork."""
    users, found, pending = def_use(function), set[h.Node](), [node]
    while pending:
        new = [it for it in users[pending.pop()] if it not in found and not isinstance(it, (h.Phi, h.Reduce))]
        found.update(new)
        pending += new
    return found
