"""Expressions as text, with no more parentheses than WGSL's grammar asks for (WGSL, "Expression Grammar Summary").

WGSL has no plain ladder of precedences: the operands of shifts and of `&`, `|`, `^` are unary expressions, comparisons
do not chain, and `&&` does not mix with `||`. So each operator says which forms may stand bare at its sides.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.ops import BinaryOp, UnaryOp
from ...ir.wgsl import ast


class Form(enum.IntEnum):
    """Grammatical forms of expressions. Each form may stand where a lesser one may, down to SHIFT."""

    LOGICAL = 0
    BITWISE = 1
    RELATIONAL = 2
    SHIFT = 3
    ADDITIVE = 4
    MULTIPLICATIVE = 5
    UNARY = 6
    PRIMARY = 7


@dataclass(frozen=True, slots=True)
class _Rule:
    """A form of binary expression: the least form of its sides; `chains` are the operators that go on at the left."""

    form: Form
    side: Form
    chains: frozenset[BinaryOp]


def _rules() -> dict[BinaryOp, _Rule]:
    multiplicative = (BinaryOp.MULTIPLY, BinaryOp.DIVIDE, BinaryOp.REMAINDER)
    additive = (BinaryOp.ADD, BinaryOp.SUBTRACT)
    rules = {op: _Rule(Form.MULTIPLICATIVE, Form.UNARY, frozenset(multiplicative)) for op in multiplicative}
    rules |= {op: _Rule(Form.ADDITIVE, Form.MULTIPLICATIVE, frozenset(additive)) for op in additive}
    for op in (BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT):
        rules[op] = _Rule(Form.SHIFT, Form.UNARY, frozenset())
    for op in (BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR):
        rules[op] = _Rule(Form.BITWISE, Form.UNARY, frozenset({op}))
    for op in (BinaryOp.LOGICAL_AND, BinaryOp.LOGICAL_OR):
        rules[op] = _Rule(Form.LOGICAL, Form.RELATIONAL, frozenset({op}))
    return rules | {op: _Rule(Form.RELATIONAL, Form.SHIFT, frozenset()) for op in BinaryOp if op.is_comparison}


_RULES = _rules()

_CLOSING = frozenset({BinaryOp.GREATER, BinaryOp.GREATER_EQUAL, BinaryOp.SHIFT_RIGHT})
_OPENING = frozenset({BinaryOp.LESS})


def print_expression(node: ast.Expression) -> str:
    """The text of an expression."""
    match node:
        case ast.Identifier():
            return _identifier(node)
        case ast.BoolLiteral(value=value):
            return "true" if value else "false"
        case ast.IntLiteral(text=text) | ast.FloatLiteral(text=text):
            return text
        case ast.Unary():
            return _unary(node)
        case ast.Binary():
            return _binary(node)
        case ast.Call(callee=callee, arguments=arguments):
            return f"{_identifier(callee)}({print_list(arguments)})"
        case ast.Index(object=object, index=index):
            return f"{_at_least(object, Form.PRIMARY)}[{print_expression(index)}]"
        case ast.MemberAccess(object=object, member=member):
            return f"{_at_least(object, Form.PRIMARY)}.{member}"
        case ast.Paren(operand=operand):
            return f"({print_expression(operand)})"
        case _:
            assert_never(node)


def print_list(nodes: Sequence[ast.Expression]) -> str:
    """Expressions with commas between.

    `f(a < b, c > d)` would hold the template list `a<b, c>` (WGSL, "Template Lists"), so a `<` is parenthesised if a
    `>` follows.
    """
    closes_later = [any(_has_operator(later, _CLOSING) for later in nodes[index + 1 :]) for index in range(len(nodes))]
    return ", ".join(
        f"({print_expression(node)})" if closes and _has_operator(node, _OPENING) else print_expression(node)
        for node, closes in zip(nodes, closes_later, strict=True)
    )


def _identifier(node: ast.Identifier) -> str:
    if not node.template_arguments:
        return node.name
    return f"{node.name}<{', '.join(map(_template_argument, node.template_arguments))}>"


def print_template_arguments(arguments: Iterable[ast.Expression]) -> str:
    """`<storage, read_write>`, or nothing."""
    texts = [_template_argument(argument) for argument in arguments]
    return f"<{', '.join(texts)}>" if texts else ""


def _template_argument(node: ast.Expression) -> str:
    """A bare `>` would end the list."""
    text = print_expression(node)
    return f"({text})" if _has_operator(node, _CLOSING | _OPENING) else text


def _has_operator(node: ast.Expression, ops: frozenset[BinaryOp]) -> bool:
    """Whether one of the operators stands in the expression's text outside of all brackets."""
    pending = [node]
    while pending:
        match pending.pop():
            case ast.Binary(op=op, lhs=lhs, rhs=rhs):
                if op in ops:
                    return True
                pending += (lhs, rhs)
            case ast.Unary(operand=operand):
                pending.append(operand)
            case _:
                pass
    return False


def _unary(node: ast.Unary) -> str:
    """`- -x` keeps its space, for `--` is one token; `&(&x)`, which `&` cannot take anyway, its parentheses."""
    text = _at_least(node.operand, Form.UNARY)
    if node.op is UnaryOp.NEGATE and text.startswith("-"):
        return f"- {text}"
    is_double = node.op is UnaryOp.ADDRESS_OF and text.startswith("&")
    return f"&({text})" if is_double else f"{node.op.value}{text}"


def _binary(node: ast.Binary) -> str:
    """A chain of operators that associate to the left is printed by a loop, however long it is.

    `a < b >> c` would hold the template list `a<b>` (WGSL, "Template Lists"), so a shift there keeps its parentheses.
    """
    if node.op in _OPENING and _has_operator(node.rhs, _CLOSING):
        return f"{_at_least(node.lhs, Form.SHIFT)} {node.op.value} ({print_expression(node.rhs)})"
    rule = _RULES[node.op]
    parts: list[str] = []
    left: ast.Expression = node
    while isinstance(left, ast.Binary) and (left is node or left.op in rule.chains):
        parts.append(f" {left.op.value} {_at_least(left.rhs, rule.side)}")
        left = left.lhs
    return _at_least(left, rule.side) + "".join(reversed(parts))


def _form(node: ast.Expression) -> Form:
    match node:
        case ast.Binary(op=op):
            return _RULES[op].form
        case ast.Unary():
            return Form.UNARY
        case _:
            return Form.PRIMARY


def _at_least(node: ast.Expression, form: Form) -> str:
    """The text, in parentheses if the grammar does not allow it bare."""
    text = print_expression(node)
    return text if _form(node) >= form else f"({text})"
