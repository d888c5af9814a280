"""Puts the bodies of functions in place of their calls: machine code is made of one function.

A body without control of its own becomes data; one with forks, branches or loops is put into the control where the
scheduler would have run the call.
"""

from __future__ import annotations

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copied
from ...ir.hercules.graph import control_predecessors, map_predecessors, replace_all
from ...ir.hercules.schedule import schedule


def inline_calls(function: h.Function) -> None:
    """Inline all calls of a function that verifies, in place; the functions called stay as they are."""
    while (call := next((node for node in function.nodes if isinstance(node, h.Call)), None)) is not None:
        at = schedule(function).place.get(call)
        if at is None:  # nothing uses it
            function.nodes.remove(call)
        else:
            _inline(function, call, at)


def _inline(function: h.Function, call: h.Call, at: h.Node) -> None:
    """Inline one call, its control right after `at`."""
    body = copied(call.callee.nodes, call.dynamic_constants)
    end = next((node for node in body if isinstance(node, h.Return)), None)
    if end is None:
        raise ShaderError([not_supported("a call of a function that never returns, on the CPU", call.span)])
    start = body[0]
    if end.control is not start:
        for node in function.nodes:
            if at in control_predecessors(node):
                map_predecessors(node, lambda used: end.control if used is at else used)
    inputs: dict[h.Node, h.Node] = {node: call.arguments[node.index] for node in body if isinstance(node, h.Parameter)}
    replaced: dict[h.Node, h.Node] = {start: at, call: end.value, **inputs}
    last = function.nodes[-1]
    function.nodes = [*function.nodes[:-1], *(node for node in body if node is not end), last]
    replace_all(function, replaced)
    function.nodes = [node for node in function.nodes if node not in replaced or node is at]
