"""Loops (WGSL, "Uniformity Rules for Statements").

`for` and `while` are loops that begin with `if !condition {break;}`.
"""

from __future__ import annotations

from ....ir.wgsl import ast
from ....ir.wgsl.program import Variable
from . import expressions, statements
from .analysis import BREAK, CONTINUE, NEXT, RETURN, Analysis, End
from .assignments import assigned_in
from .graph import Node
from .summary import Jump


def loop(analysis: Analysis, cf: Node, node: ast.Loop | ast.While | ast.For) -> End:
    """Control flow after a loop, and its behavior."""
    if isinstance(node, ast.For) and node.initializer is not None:
        statements.sequence(analysis, cf, (node.initializer,))
    again = analysis.graph.node(cf)
    merged = _merged_at_start(analysis, node)
    values = analysis.values
    depth = values.depth
    breaks, continues = Jump(depth), Jump(depth)
    analysis.breaks.append(breaks)
    analysis.continues.append(continues)
    values.enter()
    end, behavior = _body(analysis, again, node, breaks)
    if behavior & NEXT:
        continues.paths.append(values.changes_since(depth))
    values.leave()
    if behavior & (NEXT | CONTINUE):
        values.enter()
        values.join_inside(continues.paths)
        end, continuing = _continuing(analysis, end, node, breaks)
        behavior |= continuing
        for variable, merge in merged.items():
            analysis.graph.link(merge, (values[variable],))
        values.leave()
        analysis.graph.link(again, (end,))
        end = again
    analysis.breaks.pop()
    analysis.continues.pop()
    values.join(breaks.paths)
    return end if behavior & RETURN else cf, _behavior(behavior)


def _merged_at_start(analysis: Analysis, node: ast.Loop | ast.While | ast.For) -> dict[Variable, Node]:
    """At the start of an iteration, an assigned variable has its value from before the loop or the last iteration."""
    merged: dict[Variable, Node] = {}
    for variable in assigned_in(analysis, node):
        if variable in analysis.values:
            merged[variable] = analysis.values[variable] = analysis.graph.node(analysis.values[variable])
    return merged


def _body(analysis: Analysis, cf: Node, node: ast.Loop | ast.While | ast.For, breaks: Jump) -> End:
    if isinstance(node, ast.Loop) or node.condition is None:
        return statements.block(analysis, cf, node.body)
    condition = expressions.value(analysis, cf, node.condition)
    breaks.paths.append(analysis.values.changes_since(breaks.depth))
    inner = analysis.branch(cf, condition, "condition", node.condition.span)
    end, behavior = statements.block(analysis, inner, node.body)
    return end, behavior | BREAK


def _continuing(analysis: Analysis, cf: Node, node: ast.Loop | ast.While | ast.For, breaks: Jump) -> End:
    """What comes after the body and every `continue`."""
    if isinstance(node, ast.For) and node.update is not None:
        return statements.sequence(analysis, cf, (node.update,))
    if not isinstance(node, ast.Loop) or node.continuing is None:
        return cf, NEXT
    with analysis.filters.within(node.body.attributes), analysis.filters.within(node.continuing.body.attributes):
        end, behavior = statements.sequence(analysis, cf, node.continuing.body.statements)
        condition = node.continuing.break_if
        if condition is None:
            return end, behavior
        value = expressions.value(analysis, end, condition)
    breaks.paths.append(analysis.values.changes_since(breaks.depth))
    return analysis.branch(end, value, "condition", condition.span), behavior | BREAK


def _behavior(inside: int) -> int:
    if inside & BREAK:
        return (inside | NEXT) & ~(BREAK | CONTINUE)
    return inside & ~(NEXT | CONTINUE)
