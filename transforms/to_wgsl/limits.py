"""Checks the limits of WGSL for a module that is written back."""

from __future__ import annotations

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import children
from ...ir.source import Span
from ...ir.wgsl import ast
from ...ir.wgsl.limits import DEEPEST_STATEMENT, MOST_MEMBERS, MOST_PARAMETERS


def check_limits(declaration: ast.Function | ast.Struct, span: Span | None) -> None:
    """Raise ShaderError, with the place that a declaration comes from, if it is too large for WGSL.

    Passes make programs larger: they inline functions, and add parameters and members.
    """
    fault = _fault(declaration)
    if fault is not None:
        raise ShaderError([not_supported(f"writing '{declaration.name}' as WGSL with {fault}", span)])


def _fault(declaration: ast.Function | ast.Struct) -> str | None:
    match declaration:
        case ast.Function(parameters=parameters) if len(parameters) > MOST_PARAMETERS:
            return f"{len(parameters)} parameters, where {MOST_PARAMETERS} are possible"
        case ast.Struct(members=members) if len(members) > MOST_MEMBERS:
            return f"{len(members)} members, where {MOST_MEMBERS} are possible"
        case ast.Function(body=body) if (depth := _depth(body)) > DEEPEST_STATEMENT:
            return f"statements {depth} levels deep, where {DEEPEST_STATEMENT} are possible"
        case _:
            return None


def _depth(body: ast.Block) -> int:
    """The levels of braces."""
    deepest = 0
    pending: list[tuple[SchemaNode, int]] = [(body, 0)]
    while pending:
        node, depth = pending.pop()
        depth += isinstance(node, (ast.Block, ast.Switch, ast.Continuing))
        deepest = max(deepest, depth)
        pending.extend((child, depth) for child in children(node) if not isinstance(child, ast.Expression))
    return deepest
