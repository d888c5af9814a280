"""Idiomatic statements: `+=` and `++`, `else if`, `while` and `for`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from ...ir.ops import BinaryOp, UnaryOp
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import children, same, walk
from ...ir.types import Scalar, Type
from ...ir.wgsl import ast
from . import syntax

_UPDATES = (ast.Assign, ast.CompoundAssign, ast.Increment, ast.Decrement)
Update: TypeAlias = ast.Assign | ast.CompoundAssign | ast.Increment | ast.Decrement

_MOST_ALONE = 8
"""Number of directly nested `if` statements from which on a chain of `else if` is written instead."""


def assignment(target: ast.Expression, value: ast.Expression, type: Type) -> ast.Statement:
    """`target = value;`, or `target op= …;` if the value is `target op …`."""
    if isinstance(value, ast.Binary) and not value.op.is_comparison and not value.op.is_short_circuit:
        is_update = not contains_call(target) and same(target, value.lhs)
        if is_update:
            return compound_assignment(value.op, target, value.rhs, type)
    return syntax.assign(target, value)


def compound_assignment(op: BinaryOp, target: ast.Expression, value: ast.Expression, type: Type) -> ast.Statement:
    """`target op= value;`, or `++` and `--`."""
    is_one = isinstance(value, ast.IntLiteral) and value.value == 1
    if is_one and isinstance(type, Scalar) and op is BinaryOp.ADD:
        return ast.Increment(target, syntax.NOWHERE)
    if is_one and isinstance(type, Scalar) and op is BinaryOp.SUBTRACT:
        return ast.Decrement(target, syntax.NOWHERE)
    return ast.CompoundAssign(op, target, value, syntax.NOWHERE)


def contains_call(node: ast.Expression) -> bool:
    """Whether the expression contains a call, including that of a constructor."""
    return any(isinstance(it, ast.Call) for it in walk(node))


def is_literal(node: ast.Expression | None) -> bool:
    """Whether the expression is a literal, so that it can be moved anywhere."""
    return isinstance(node, (ast.BoolLiteral, ast.IntLiteral, ast.FloatLiteral))


def negated(condition: ast.Expression) -> ast.Expression:
    """The negation of a condition. `<` does not become `>=`: for a NaN, neither holds."""
    match condition:
        case ast.Unary(op=UnaryOp.NOT, operand=operand):
            return operand
        case ast.Binary(op=BinaryOp.EQUAL, lhs=lhs, rhs=rhs):
            return syntax.binary(BinaryOp.NOT_EQUAL, lhs, rhs)
        case ast.Binary(op=BinaryOp.NOT_EQUAL, lhs=lhs, rhs=rhs):
            return syntax.binary(BinaryOp.EQUAL, lhs, rhs)
        case ast.BoolLiteral(value=value):
            return ast.BoolLiteral(not value, syntax.NOWHERE)
        case ast.Unary() | ast.Binary() | ast.Call() | ast.Index() | ast.MemberAccess() | ast.Paren():
            return syntax.unary(UnaryOp.NOT, condition)
        case ast.Identifier() | ast.IntLiteral() | ast.FloatLiteral():
            return syntax.unary(UnaryOp.NOT, condition)
        case _:
            assert_never(condition)


def if_(condition: ast.Expression, then: Sequence[ast.Statement], otherwise: Sequence[ast.Statement]) -> ast.Statement:
    """An `if`. With an empty body, it is negated; with nothing but an `if` in its `else`, it becomes an `else if`.

    Many nested negated ones become a chain of `else if` with empty bodies instead, whose depth does not grow.
    """
    if otherwise and not then and not _is_long_chain(otherwise):
        return if_(negated(condition), otherwise, ())
    alternative: ast.Block | ast.If | None = None
    match otherwise:
        case [ast.If(attributes=()) as only]:
            alternative = only
        case [_, *_]:
            alternative = syntax.block(otherwise)
        case _:
            pass
    return ast.If((), condition, syntax.block(then), alternative, syntax.NOWHERE)


def _is_long_chain(statements: Sequence[ast.Statement]) -> bool:
    """Whether the statements are `_MOST_ALONE` directly nested `if`s, or lead to an `else if` after an empty body."""
    for _ in range(_MOST_ALONE):
        match statements:
            case [ast.If(attributes=(), body=ast.Block(statements=()), alternative=ast.If())]:
                return True
            case [ast.If(attributes=(), body=ast.Block(statements=inner), alternative=None)]:
                statements = inner
            case _:
                return False
    return True


def attributed(attributes: tuple[ast.Attribute, ...], statements: Sequence[ast.Statement]) -> ast.Statement:
    """Statements with attributes: on a single statement that can have them, else on a block around all."""
    match statements:
        case [ast.If() | ast.Loop() | ast.While() | ast.For() | ast.Switch() as only] if not only.attributes:
            return replace(only, attributes=attributes)
        case _:
            return ast.Block(attributes, tuple(statements), syntax.NOWHERE)


def loop(
    body: Sequence[ast.Statement],
    continuing: ast.Block,
    break_if: ast.Expression | None,
    initializers: Sequence[ast.Var],
) -> tuple[ast.Statement, ast.Var | None]:
    """The loop, and the declaration, one of `initializers`, that was moved into its head, if any."""
    condition = _leading_exit(body) if break_if is None and not continuing.attributes else None
    if condition is not None:
        found = _with_condition(negated(condition), body[1:], continuing.statements, initializers)
        if found is not None:
            return found
    end = None
    if continuing.statements or break_if is not None:
        end = ast.Continuing(continuing, break_if, syntax.NOWHERE)
    return ast.Loop((), syntax.block(body), end, syntax.NOWHERE), None


def _with_condition(
    condition: ast.Expression,
    body: Sequence[ast.Statement],
    continuing: Sequence[ast.Statement],
    initializers: Sequence[ast.Var],
) -> tuple[ast.Statement, ast.Var | None] | None:
    """The loop as a `for` or `while`, if possible. Statements of `continuing` can move to the end of the body, unless
    the body has a `continue`.
    """
    can_move = len(continuing) != 1 and not _continues(body)
    update = continuing[-1] if continuing else None
    if isinstance(update, _UPDATES) and (can_move or len(continuing) == 1):
        inner = (*body, *continuing[:-1])
        taken = _taken(update, initializers)
        if (taken is not None or len(continuing) == 1) and not mentions(update, _declared_in(inner)):
            return ast.For((), taken, condition, update, syntax.block(inner), syntax.NOWHERE), taken
    if can_move or not continuing:
        return ast.While((), condition, syntax.block((*body, *continuing)), syntax.NOWHERE), None
    return None


def _taken(update: Update, initializers: Sequence[ast.Var]) -> ast.Var | None:
    """The declaration of the variable that the update changes."""
    return next((it for it in initializers if it.name == _target(update)), None)


def _continues(body: Sequence[ast.Statement]) -> bool:
    """Whether the statements contain a `continue` of this loop, rather than of a loop inside it."""
    pending: list[SchemaNode] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Continue):
            return True
        if not isinstance(node, (ast.Loop, ast.While, ast.For, ast.Let, ast.Var, *_UPDATES)):
            pending.extend(children(node))
    return False


def _leading_exit(body: Sequence[ast.Statement]) -> ast.Expression | None:
    """The condition, if the body starts with `if condition { break; }`."""
    match body[0] if body else None:
        case ast.If(condition=condition, body=ast.Block(statements=(ast.Break(),)), alternative=None):
            return condition
        case _:
            return None


def _target(update: Update) -> str | None:
    target = update.target
    while isinstance(target, (ast.Index, ast.MemberAccess)):
        target = target.object
    return target.name if isinstance(target, ast.Identifier) else None


def _declared_in(body: Sequence[ast.Statement]) -> set[str]:
    return {statement.name for statement in body if isinstance(statement, (ast.Let, ast.Var))}


def ends_in_return(statements: Sequence[ast.Statement]) -> bool:
    """Whether every path through the statements ends in a `return`; a loop at the end counts as one that does not."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Block):
        return ends_in_return(last.statements)
    if isinstance(last, ast.If):
        other = last.alternative
        return other is not None and ends_in_return(last.body.statements) and ends_in_return([other])
    if isinstance(last, ast.Switch):
        return all(ends_in_return(case.body.statements) for case in last.cases)
    return isinstance(last, ast.Return)


def mentions(node: ast.Statement | ast.Expression, names: Collection[str]) -> bool:
    """Whether one of the names occurs in the statement or expression."""
    return any(isinstance(it, ast.Identifier) and it.name in names for it in walk(node))
