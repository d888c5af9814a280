"""The behaviors of statements (WGSL, "Statements Behavior Analysis"): finds missing returns and endless loops."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import assert_never

from ...ir.types import VOID
from ...ir.wgsl import ast
from ...ir.wgsl.program import FunctionInfo
from .context import Context


class Behavior(enum.Flag):
    """The ways in which a statement can end."""

    NOTHING = 0
    NEXT = enum.auto()
    BREAK = enum.auto()
    CONTINUE = enum.auto()
    RETURN = enum.auto()


_NOTHING, _NEXT, _BREAK, _CONTINUE, _RETURN = (
    behavior.value for behavior in (Behavior(0), Behavior.NEXT, Behavior.BREAK, Behavior.CONTINUE, Behavior.RETURN)
)


def check_function(context: Context, function: FunctionInfo) -> None:
    """Check that a function with a return type returns a value on every path."""
    behavior = _sequence(context, function.node.body.statements)
    if function.return_type is not VOID and behavior & _NEXT:
        message = f"'{function.name}' can end without returning a value of type '{function.return_type}'"
        body = function.node.body.span
        context.error("missing-return", message, body._replace(start=max(body.start, body.end - 1)))


def _sequence(context: Context, statements: Iterable[ast.Statement]) -> int:
    """Unreachable statements are analysed, too, since they must be valid, but don't count."""
    behavior, reachable = _NEXT, True
    for statement in statements:
        ends = _statement(context, statement)
        if reachable:
            behavior = behavior & ~_NEXT | ends
            reachable = bool(ends & _NEXT)
    return behavior


def _statement(context: Context, node: ast.Statement) -> int:
    match node:
        case ast.If():
            return _if(context, node)
        case ast.Return():
            return _RETURN
        case ast.Block():
            return _sequence(context, node.statements)
        case ast.Break():
            return _BREAK
        case ast.Continue():
            return _CONTINUE
        case ast.For():
            conditional = _NOTHING if node.condition is None else _NEXT | _BREAK
            return _loop(context, node, _sequence(context, node.body.statements) | conditional, _NEXT)
        case ast.While():
            return _loop(context, node, _sequence(context, node.body.statements) | _NEXT | _BREAK, _NEXT)
        case ast.Loop():
            body = _sequence(context, node.body.statements)
            return _loop(context, node, body, _continuing(context, node.continuing))
        case ast.Switch():
            return _switch(context, node)
        case ast.Let() | ast.Const() | ast.Var() | ast.ConstAssert():
            return _NEXT
        case ast.Assign() | ast.CompoundAssign() | ast.PhonyAssign():
            return _NEXT
        case ast.Increment() | ast.Decrement() | ast.CallStatement() | ast.Print():
            return _NEXT
        case ast.Discard():
            return _NEXT
        case _:
            assert_never(node)


def _if(context: Context, node: ast.If) -> int:
    behavior = _NOTHING
    branch: ast.Block | ast.If | None = node
    while isinstance(branch, ast.If):
        behavior |= _sequence(context, branch.body.statements)
        branch = branch.alternative
    return behavior | (_NEXT if branch is None else _sequence(context, branch.statements))


def _continuing(context: Context, node: ast.Continuing | None) -> int:
    if node is None:
        return _NEXT
    behavior = _sequence(context, node.body.statements)
    return behavior if node.break_if is None else behavior | _BREAK


def _loop(context: Context, node: ast.Loop | ast.While | ast.For, body: int, continuing: int) -> int:
    """A loop that can neither break nor return has no behavior at all, which is an error."""
    if body == _RETURN:
        return _RETURN
    both = body | continuing
    if both & _BREAK:
        return (both | _NEXT) & ~(_BREAK | _CONTINUE)
    behavior = both & ~(_CONTINUE | _NEXT)
    if behavior == _NOTHING:
        context.error("endless-loop", "this loop can never end: it neither breaks nor returns", node.span)
        return _NEXT
    return behavior


def _switch(context: Context, node: ast.Switch) -> int:
    behavior = _NOTHING
    for case in node.cases:
        behavior |= _sequence(context, case.body.statements)
    return (behavior | _NEXT) & ~_BREAK if behavior & _BREAK else behavior
