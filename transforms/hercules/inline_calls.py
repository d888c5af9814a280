"""Puts the bodies of functions in place of their calls: machine code is made of one function.

A body without control of its own becomes data; one with forks, branches or loops is put into the control where the
scheduler would have run the call.
"""

from __future__ import annotations

from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copied
from ...ir.hercules.graph import control_predecessors, map_predecessors, replace_all
from ...ir.hercules.schedule import schedule
from .cleanup import remove_dead
from .merge_returns import with_one_return


def inline_calls(function: h.Function) -> None:
    """Inline all calls of a function that verifies, in place; the functions called stay as they are."""
    remove_dead(function)
    while (call := next((node for node in function.nodes if isinstance(node, h.Call)), None)) is not None:
        _inline(function, call, schedule(function).place[call])
        remove_dead(function)


def _inline(function: h.Function, call: h.Call, at: h.Node) -> None:
    """Inline one call, its control right after `at`."""
    body = with_one_return(copied(call.callee.nodes, call.dynamic_constants))
    end = next(node for node in body if isinstance(node, h.Return))
    start = body[0]
    if end.control is not start:
        for node in function.nodes:
            if at in control_predecessors(node):
                map_predecessors(node, lambda used: end.control if used is at else used)
    inputs: dict[h.Node, h.Node] = {node: call.arguments[node.index] for node in body if isinstance(node, h.Parameter)}
    replaced: dict[h.Node, h.Node] = {start: at, call: end.value, **inputs}
    function.nodes += [node for node in body if node is not end]
    replace_all(function, replaced)
    function.nodes = [node for node in function.nodes if node not in replaced or node is at]
