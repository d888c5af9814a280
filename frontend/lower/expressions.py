"""Expressions (WGSL, "Expression Grammar Summary"), and the rules on mixing operators that the grammar leaves open."""

from __future__ import annotations

from ...ir.ops import BARE_OPERANDS, BinaryOp, UnaryOp
from ...ir.source import Span
from ...ir.wgsl import ast
from ..literals import float_suffix, malformation, read_int
from .parts import MissingPart, Parts

_UNARY = {op.value: op for op in UnaryOp}
_BINARY = {op.value: op for op in BinaryOp}


def identifier(parts: Parts) -> ast.Identifier:
    """A plain name."""
    return ast.Identifier(name=parts.text, template_arguments=(), span=parts.span)


def template_expression(parts: Parts) -> ast.Identifier:
    """A name with its template arguments."""
    arguments = parts.get("template", Parts).expressions()
    if not arguments:
        raise MissingPart
    return ast.Identifier(name=parts.name().text, template_arguments=arguments, span=parts.span)


def bool_literal(parts: Parts) -> ast.BoolLiteral:
    """`true` or `false`."""
    return ast.BoolLiteral(value=parts.text == "true", span=parts.span)


def int_literal(parts: Parts) -> ast.IntLiteral:
    """An integer literal."""
    value, suffix = read_int(parts.text)
    return ast.IntLiteral(value=value, suffix=suffix, text=parts.text, span=parts.span)


def float_literal(parts: Parts) -> ast.FloatLiteral:
    """A floating point literal."""
    return ast.FloatLiteral(text=parts.text, suffix=float_suffix(parts.text), span=parts.span)


def malformed_number(parts: Parts) -> ast.Expression:
    """Digits that form no literal: an error."""
    parts.error("malformed-number", malformation(parts.text))
    raise MissingPart


def unary_expression(parts: Parts) -> ast.Unary:
    """A prefix operator and its operand."""
    return ast.Unary(op=_UNARY[parts.operator()], operand=parts.expression("operand"), span=parts.span)


def binary_expression(parts: Parts) -> ast.Binary:
    """An infix operator and its operands; an operand that WGSL wants in parentheses is an error."""
    op = _BINARY[parts.operator()]
    lhs, rhs = parts.expression("left"), parts.expression("right")
    for operand, allowed in zip((lhs, rhs), BARE_OPERANDS[op], strict=True):
        if isinstance(operand, ast.Binary) and operand.op not in allowed:
            message = f"mixing '{op.value}' and '{operand.op.value}' requires parentheses"
            if not _is_reported(parts, operand.span):
                parts.error("mixed-operators", message, operand.span)
    return ast.Binary(op=op, lhs=lhs, rhs=rhs, span=parts.span)


def _is_reported(parts: Parts, span: Span) -> bool:
    """Whether an operand contains the mixture that was reported last: a chain is reported once."""
    last = parts.diagnostics.items[-1] if parts.diagnostics.items else None
    if last is None or last.code != "mixed-operators" or last.span is None:
        return False
    return span.start <= last.span.start and last.span.end <= span.end


def call_expression(parts: Parts) -> ast.Call:
    """A call of a function or a value constructor."""
    return ast.Call(callee=parts.get("callee", ast.Identifier), arguments=parts.expressions(), span=parts.span)


def index_expression(parts: Parts) -> ast.Index:
    """`object[index]`."""
    return ast.Index(object=parts.expression("object"), index=parts.expression("index"), span=parts.span)


def member_expression(parts: Parts) -> ast.MemberAccess:
    """`object.member`, a member of a structure or a swizzle."""
    for template in parts.all(Parts):
        parts.error("unexpected-template-list", "a member takes no template arguments", template.span)
    member = parts.get("member", ast.Identifier)
    return ast.MemberAccess(
        object=parts.expression("object"), member=member.name, member_span=member.span, span=parts.span
    )


def paren_expression(parts: Parts) -> ast.Paren:
    """An expression in parentheses."""
    return ast.Paren(operand=parts.expression("operand"), span=parts.span)


BUILDERS = {
    "identifier": identifier,
    "template_expression": template_expression,
    "true": bool_literal,
    "false": bool_literal,
    "int_literal": int_literal,
    "float_literal": float_literal,
    "malformed_number": malformed_number,
    "unary_expression": unary_expression,
    "binary_expression": binary_expression,
    "call_expression": call_expression,
    "index_expression": index_expression,
    "member_expression": member_expression,
    "paren_expression": paren_expression,
}
"""The builder of each kind of expression."""
