"""Which variables a loop assigns: their values are merged where an iteration begins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import assert_never

from ....ir.wgsl import ast
from ....ir.wgsl.program import Facts, Variable
from ..context import Operand
from .analysis import Analysis
from .sources import is_tracked


def assigned_in(analysis: Analysis, node: ast.Loop | ast.While | ast.For) -> dict[Variable, None]:
    """The variables of the function that are assigned in a loop, also by calls and in dead code, in source order."""
    if analysis.assigned is None:
        analysis.assigned = sorted(_assignments(analysis), key=lambda found: found[0])
    places = analysis.assigned
    first = bisect_left(places, node.span.start, key=lambda found: found[0])
    last = bisect_left(places, node.span.end, key=lambda found: found[0])
    return {variable: None for _, variable in places[first:last]}


def _assignments(analysis: Analysis) -> Iterator[tuple[int, Variable]]:
    """All assignments of the function's own memory, with their places."""
    facts = analysis.facts
    pending: list[ast.Statement] = [analysis.function.node.body]
    passed = analysis.context.passed.get(analysis.function, ())
    yield from ((place, root) for place, root in passed if is_tracked(root))
    while pending:
        node = pending.pop()
        match node:
            case ast.Assign() | ast.CompoundAssign() | ast.Increment() | ast.Decrement():
                yield from _root(facts, node.target)
            case ast.Block():
                pending += node.statements
            case ast.If():
                pending.append(node.body)
                if node.alternative is not None:
                    pending.append(node.alternative)
            case ast.Switch():
                pending += [case.body for case in node.cases]
            case ast.Loop():
                pending.append(node.body)
                if node.continuing is not None:
                    pending.append(node.continuing.body)
            case ast.While():
                pending.append(node.body)
            case ast.For():
                pending += [part for part in (node.update, node.body) if part is not None]
            case ast.Let() | ast.Const() | ast.Var() | ast.ConstAssert():
                pass
            case ast.PhonyAssign() | ast.CallStatement() | ast.Print():
                pass
            case ast.Return() | ast.Break() | ast.Continue() | ast.Discard():
                pass
            case _:
                assert_never(node)


def _root(facts: Facts, node: ast.Expression) -> Iterator[tuple[int, Variable]]:
    operand = facts.expressions[node]
    if isinstance(operand, Operand) and operand.root is not None and is_tracked(operand.root):
        yield node.span.start, operand.root
