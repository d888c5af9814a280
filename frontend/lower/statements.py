"""Statements (WGSL, "Statements")."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.ops import BinaryOp
from ...ir.source import Span
from ...ir.wgsl import ast
from .parts import Parts, Value


def block(parts: Parts) -> ast.Block:
    """A compound statement; also the statements of a loop's or a continuing's body."""
    return ast.Block(attributes=parts.attributes(), statements=parts.statements(), span=parts.span)


def if_statement(parts: Parts) -> ast.If:
    """`if`, with what follows its `else`."""
    alternative = parts.find("alternative", ast.Block) or parts.find("alternative", ast.If)
    return ast.If(
        attributes=parts.attributes(),
        condition=parts.expression("condition"),
        body=parts.get("body", ast.Block),
        alternative=alternative,
        span=parts.span,
    )


def switch_statement(parts: Parts) -> ast.Switch:
    """`switch`."""
    body = parts.get("body", Parts)
    return ast.Switch(
        attributes=parts.attributes(),
        subject=parts.expression("subject"),
        body_attributes=body.attributes(),
        cases=body.all(ast.Case),
        span=parts.span,
    )


def case_clause(parts: Parts) -> ast.Case:
    """`case`, with at least one selector."""
    selectors = tuple(
        value for key, value in parts.values if key is None and isinstance(value, ast.Expression | ast.DefaultSelector)
    )
    return ast.Case(selectors=selectors, body=parts.get("body", ast.Block), span=parts.span)


def default_selector(parts: Parts) -> ast.DefaultSelector:
    """`default` among the selectors of a `case`."""
    return ast.DefaultSelector(span=parts.span)


def default_clause(parts: Parts) -> ast.Case:
    """`default` alone."""
    start = parts.span.start
    selector = ast.DefaultSelector(span=Span(start, start + len("default")))
    return ast.Case(selectors=(selector,), body=parts.get("body", ast.Block), span=parts.span)


def loop_statement(parts: Parts) -> ast.Loop:
    """`loop`."""
    body = parts.get("body", Parts)
    continuing = body.all(ast.Continuing)
    return ast.Loop(
        attributes=parts.attributes(),
        body=block(body),
        continuing=continuing[0] if continuing else None,
        span=parts.span,
    )


def continuing_clause(parts: Parts) -> ast.Continuing:
    """`continuing`, with its `break if`."""
    body = parts.get("body", Parts)
    break_if = body.all(Parts)
    condition = break_if[0].expression("condition") if break_if else None
    return ast.Continuing(body=block(body), break_if=condition, span=parts.span)


def for_statement(parts: Parts) -> ast.For:
    """`for`."""
    return ast.For(
        attributes=parts.attributes(),
        initializer=parts.find_statement("initializer"),
        condition=parts.find_expression("condition"),
        update=parts.find_statement("update"),
        body=parts.get("body", ast.Block),
        span=parts.span,
    )


def while_statement(parts: Parts) -> ast.While:
    """`while`."""
    return ast.While(
        attributes=parts.attributes(),
        condition=parts.expression("condition"),
        body=parts.get("body", ast.Block),
        span=parts.span,
    )


def return_statement(parts: Parts) -> ast.Return:
    """`return`."""
    return ast.Return(value=parts.find_expression("value"), span=parts.span)


def break_statement(parts: Parts) -> ast.Break:
    """`break`."""
    return ast.Break(span=parts.span)


def continue_statement(parts: Parts) -> ast.Continue:
    """`continue`."""
    return ast.Continue(span=parts.span)


def discard_statement(parts: Parts) -> ast.Discard:
    """`discard`."""
    return ast.Discard(span=parts.span)


def let_declaration(parts: Parts) -> ast.Let:
    """`let`."""
    name = parts.name()
    return ast.Let(
        name=name.text,
        name_span=name.span,
        type=parts.find_expression("type"),
        initializer=parts.expression("value"),
        span=parts.span,
    )


def assignment(parts: Parts) -> ast.Assign:
    """`target = value`."""
    return ast.Assign(target=parts.expression("target"), value=parts.expression("value"), span=parts.span)


def compound_assignment(parts: Parts) -> ast.CompoundAssign:
    """`target op= value`."""
    return ast.CompoundAssign(
        op=BinaryOp(parts.operator().removesuffix("=")),
        target=parts.expression("target"),
        value=parts.expression("value"),
        span=parts.span,
    )


def phony_assignment(parts: Parts) -> ast.PhonyAssign:
    """`_ = value`."""
    return ast.PhonyAssign(value=parts.expression("value"), span=parts.span)


def increment(parts: Parts) -> ast.Increment:
    """`target++`."""
    return ast.Increment(target=parts.expression("target"), span=parts.span)


def decrement(parts: Parts) -> ast.Decrement:
    """`target--`."""
    return ast.Decrement(target=parts.expression("target"), span=parts.span)


def call_statement(parts: Parts) -> ast.CallStatement:
    """A call whose value, if any, is dropped."""
    return ast.CallStatement(call=parts.get("call", ast.Call), span=parts.span)


def print_statement(parts: Parts) -> ast.Print:
    """A call whose first argument is a string."""
    name, text = parts.name(), parts.get("format", Parts)
    return ast.Print(
        name=name.text,
        name_span=name.span,
        format=text.text,
        format_span=text.span,
        arguments=parts.expressions(),
        span=parts.span,
    )


def string_literal(parts: Parts) -> Parts:
    """A string, as its text."""
    return parts


BUILDERS: dict[str, Callable[[Parts], Value]] = {
    "block": block,
    "if_statement": if_statement,
    "switch_statement": switch_statement,
    "case_clause": case_clause,
    "default_selector": default_selector,
    "default_clause": default_clause,
    "loop_statement": loop_statement,
    "continuing": continuing_clause,
    "for_statement": for_statement,
    "while_statement": while_statement,
    "return_statement": return_statement,
    "break_statement": break_statement,
    "continue_statement": continue_statement,
    "discard_statement": discard_statement,
    "let_declaration": let_declaration,
    "assignment": assignment,
    "compound_assignment": compound_assignment,
    "phony_assignment": phony_assignment,
    "increment": increment,
    "decrement": decrement,
    "call_statement": call_statement,
    "print_statement": print_statement,
    "string_literal": string_literal,
}
"""The builder of each kind of statement, and of the clauses inside them."""
