"""Makes nodes of the syntax tree. They have an empty span, since there is no source text for them."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.core.nodes import DiagnosticFilter
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.source import Span
from ...ir.wgsl import ast

NOWHERE = Span(0, 0)


def identifier(name: str, *template_arguments: ast.Expression) -> ast.Identifier:
    """`name` or `name<…>`."""
    return ast.Identifier(name, template_arguments, NOWHERE)


def integer(value: int, suffix: str = "") -> ast.Expression:
    """An integer literal, with a minus sign in front if the number is negative."""
    literal = ast.IntLiteral(abs(value), suffix, f"{abs(value)}{suffix}", NOWHERE)
    return unary(UnaryOp.NEGATE, literal) if value < 0 else literal


def unary(op: UnaryOp, operand: ast.Expression) -> ast.Unary:
    """`op operand`; an operand that is a negation is put in parentheses, as in `-(-x)`."""
    is_double = isinstance(operand, ast.Unary) and operand.op is op is UnaryOp.NEGATE
    return ast.Unary(op, ast.Paren(operand, NOWHERE) if is_double else operand, NOWHERE)


def binary(op: BinaryOp, lhs: ast.Expression, rhs: ast.Expression) -> ast.Binary:
    """`lhs op rhs`."""
    return ast.Binary(op, lhs, rhs, NOWHERE)


def call(callee: str | ast.Identifier, arguments: Iterable[ast.Expression]) -> ast.Call:
    """`callee(arguments)`."""
    name = identifier(callee) if isinstance(callee, str) else callee
    return ast.Call(name, tuple(arguments), NOWHERE)


def index(object: ast.Expression, position: ast.Expression) -> ast.Index:
    """`object[position]`."""
    return ast.Index(object, position, NOWHERE)


def member(object: ast.Expression, name: str) -> ast.MemberAccess:
    """`object.name`."""
    return ast.MemberAccess(object, name, NOWHERE, NOWHERE)


def address_of(memory: ast.Expression) -> ast.Expression:
    """`&memory`; of `*p` it is `p`."""
    if isinstance(memory, ast.Unary) and memory.op is UnaryOp.INDIRECTION:
        return memory.operand
    return unary(UnaryOp.ADDRESS_OF, memory)


def attribute(name: str, *arguments: ast.Expression) -> ast.Attribute:
    """`@name(arguments)`."""
    return ast.Attribute(name, arguments, NOWHERE)


def filters(rules: Iterable[DiagnosticFilter]) -> tuple[ast.Attribute, ...]:
    """`@diagnostic(severity, rule)` for each."""
    return tuple(attribute("diagnostic", identifier(it.severity), identifier(it.rule)) for it in rules)


def block(statements: Iterable[ast.Statement]) -> ast.Block:
    """`{ … }`."""
    return ast.Block((), tuple(statements), NOWHERE)


def let(name: str, value: ast.Expression) -> ast.Let:
    """`let name = value;`"""
    return ast.Let(name, NOWHERE, None, value, NOWHERE)


def var(name: str, type: ast.Expression | None, initializer: ast.Expression | None) -> ast.Var:
    """`var name: type = initializer;` in a function."""
    return ast.Var((), (), name, NOWHERE, type, initializer, NOWHERE)


def assign(target: ast.Expression, value: ast.Expression) -> ast.Assign:
    """`target = value;`"""
    return ast.Assign(target, value, NOWHERE)


def phony(value: ast.Expression) -> ast.PhonyAssign:
    """`_ = value;`"""
    return ast.PhonyAssign(value, NOWHERE)
