"""Loops, and the jumps out of them (WGSL, "Loop Statement" to "Continuing Statement")."""

from __future__ import annotations

from typing import assert_never

from ...ir.diagnostics import Note
from ...ir.schema.traverse import walk
from ...ir.source import Span
from ...ir.wgsl import ast
from . import statements
from .attributes import statement_attributes
from .context import Context, Flow


def resolve_loop(context: Context, node: ast.Loop) -> None:
    """`loop { … continuing { … break if e; } }`."""
    statement_attributes(context, node.attributes)
    _body(context, node.body)
    if node.continuing is not None:
        _continuing(context, node.continuing)
        _check_bypassed(context, node.body, node.continuing)


def resolve_while(context: Context, node: ast.While) -> None:
    """`while e { … }`."""
    statement_attributes(context, node.attributes)
    statements.resolve_condition(context, node.condition, "the condition of a while")
    _body(context, node.body)


def resolve_for(context: Context, node: ast.For) -> None:
    """`for (…; e; …) { … }`."""
    statement_attributes(context, node.attributes)
    statements.resolve_optional(context, node.initializer)
    statements.resolve_condition(context, node.condition, "the condition of a for")
    statements.resolve_optional(context, node.update)
    _body(context, node.body)


def _flow(context: Context) -> list[Flow]:
    assert context.function is not None
    return context.function.flow


def _body(context: Context, body: ast.Block) -> None:
    flow = _flow(context)
    flow.append(Flow.LOOP)
    statements.resolve_block(context, body)
    flow.pop()


def _continuing(context: Context, node: ast.Continuing) -> None:
    flow = _flow(context)
    flow.append(Flow.CONTINUING)
    statements.resolve_block(context, node.body)
    statements.resolve_condition(context, node.break_if, "the condition of a break if")
    flow.pop()


def check_jump(context: Context, node: ast.Break | ast.Continue) -> None:
    """`break` leaves a loop or switch, `continue` a loop's body; neither leaves a continuing block."""
    flow = _flow(context)
    if isinstance(node, ast.Break):
        word, around = "break", flow[-1] if flow else None
        wanted = "a loop or switch"
    else:
        word, around = "continue", next((kind for kind in reversed(flow) if kind is not Flow.SWITCH), None)
        wanted = "a loop"
    if around is None:
        context.error("invalid-jump", f"'{word}' must be inside {wanted}", node.span)
    elif around is Flow.CONTINUING:
        hint = (Note("write 'break if' at the end of the continuing block"),) if word == "break" else ()
        context.error("invalid-jump", f"'{word}' cannot leave a continuing block", node.span, hint)


# A continue must not skip a declaration that the continuing block uses (WGSL, "Continue Statement").


def _check_bypassed(context: Context, body: ast.Block, continuing: ast.Continuing) -> None:
    declared = [node for node in body.statements if isinstance(node, (ast.Let, ast.Var, ast.Const))]
    if not declared:
        return
    jump = _first_continue(body)
    if jump is None:
        return
    skipped = {context.declared[id(node)] for node in declared if node.span.start > jump.start}
    if not skipped:
        return
    for identifier in _identifiers(continuing):
        symbol = context.symbols.get(id(identifier))
        if symbol in skipped:
            notes = (Note("this continue skips the declaration", jump),)
            message = f"the continuing block uses '{identifier.name}', whose declaration may be skipped"
            context.error("bypassed-declaration", message, identifier.span, notes)


def _first_continue(body: ast.Block) -> Span | None:
    """The first `continue` of this loop, not of a loop in it."""
    pending: list[ast.Statement] = list(reversed(body.statements))
    while pending:
        node = pending.pop()
        match node:
            case ast.Continue():
                return node.span
            case ast.Block():
                pending.extend(reversed(node.statements))
            case ast.If():
                if node.alternative is not None:
                    pending.append(node.alternative)
                pending.append(node.body)
            case ast.Switch():
                pending.extend(case.body for case in reversed(node.cases))
            case ast.Loop() | ast.While() | ast.For():
                pass
            case ast.Let() | ast.Const() | ast.Var() | ast.ConstAssert():
                pass
            case ast.Assign() | ast.CompoundAssign() | ast.PhonyAssign():
                pass
            case ast.Increment() | ast.Decrement() | ast.CallStatement() | ast.Print():
                pass
            case ast.Return() | ast.Break() | ast.Discard():
                pass
            case _:
                assert_never(node)
    return None


def _identifiers(node: ast.Continuing) -> list[ast.Identifier]:
    return [child for child in walk(node) if isinstance(child, ast.Identifier)]
