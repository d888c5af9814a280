"""The nodes of values and memory views (WGSL, "Uniformity Rules for Expressions").

Every node that comes back depends on `cf`, the control flow where the expression is evaluated.
"""

from __future__ import annotations

from typing import assert_never

from ....ir.types import Pointer, Reference
from ....ir.wgsl import ast
from ..context import Operand, Phase
from . import calls
from .analysis import Analysis, View
from .graph import Node


def value(analysis: Analysis, cf: Node, node: ast.Expression) -> Node:
    """The node of a value; of a pointer, whether invocations agree on where it points."""
    while isinstance(node, ast.Paren):
        node = node.operand
    facts = analysis.facts.expressions[node]
    if isinstance(facts, Operand) and facts.phase is not Phase.RUNTIME:
        return cf
    if isinstance(facts.type, (Reference, Pointer)):
        seen = view(analysis, cf, node)
        return analysis.load(cf, seen, node.span) if facts.loads else seen.node
    match node:
        case ast.Binary():
            return _short_circuit(analysis, cf, node) if node.op.is_short_circuit else _binary(analysis, cf, node)
        case ast.Call():
            return calls.call(analysis, cf, node)
        case ast.Identifier():
            return analysis.under(cf, analysis.names[analysis.facts.names[node]])
        case ast.MemberAccess():
            return _loaded(analysis, cf, node.object)
        case ast.Index():
            return analysis.join(cf, value(analysis, cf, node.object), value(analysis, cf, node.index))
        case ast.Unary():
            return value(analysis, cf, node.operand)
        case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral():
            return cf
        case _:
            assert_never(node)


def _binary(analysis: Analysis, cf: Node, node: ast.Binary) -> Node:
    return analysis.join(cf, value(analysis, cf, node.lhs), value(analysis, cf, node.rhs))


def _short_circuit(analysis: Analysis, cf: Node, node: ast.Binary) -> Node:
    """The right operand, with the assignments of calls in it, is evaluated only if the left operand selects it."""
    left = value(analysis, cf, node.lhs)
    inner = analysis.branch(cf, left, f"left operand of '{node.op.value}'", node.lhs.span)
    analysis.values.enter()
    right = value(analysis, inner, node.rhs)
    changes = analysis.values.leave()
    if changes:
        analysis.values.join([changes, {}])
    return right


def _loaded(analysis: Analysis, cf: Node, node: ast.Expression) -> Node:
    """The object of an access to a value: a swizzle of several components loads a vector through its pointer."""
    if is_pointer(analysis, node):
        return analysis.load(cf, view(analysis, cf, node), node.span)
    return value(analysis, cf, node)


def is_pointer(analysis: Analysis, node: ast.Expression) -> bool:
    """Whether an expression is of pointer type."""
    return isinstance(analysis.facts.expressions[node].result, Pointer)


def view(analysis: Analysis, cf: Node, node: ast.Expression) -> View:
    """The memory view that an expression of reference or pointer type stands for, not loaded."""
    match node:
        case ast.Paren() | ast.Unary():  # `&` and `*` change what the view is called, not what it is
            return view(analysis, cf, node.operand)
        case ast.MemberAccess():
            return view(analysis, cf, node.object)._replace(is_full=False)
        case ast.Index():
            seen = view(analysis, cf, node.object)
            index = value(analysis, cf, node.index)
            return View(seen.root, False, analysis.join(cf, seen.node, index))
        case ast.Identifier():
            return _named_view(analysis, cf, node)
        case ast.Call():  # of a function that views a buffer
            seen = view(analysis, cf, node.arguments[0])
            places = [value(analysis, cf, argument) for argument in node.arguments[1:]]
            return View(seen.root, False, analysis.join(cf, seen.node, *places))
        case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral() | ast.Binary():
            raise AssertionError(node)
        case _:
            assert_never(node)


def _named_view(analysis: Analysis, cf: Node, node: ast.Identifier) -> View:
    """A pointer let is what it was initialised with, as it was there (WGSL, "Pointer Desugaring")."""
    variable = analysis.facts.names[node]
    if variable.kind == "var":
        return View(variable, True, cf)
    if variable.kind == "parameter":
        return View(variable, True, analysis.under(cf, analysis.names[variable]))
    seen = analysis.pointers[variable]
    return seen._replace(node=analysis.under(cf, seen.node))
