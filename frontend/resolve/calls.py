"""Calls: user functions, builtin functions, value constructors and conversions.

WGSL, "Function Calls", "Overload Resolution", "Constructor Built-in Functions".
"""

from __future__ import annotations

from typing import NoReturn

from ...ir.builtins import Builtin, Match, NoMatch, builtin, check_arguments, construct, evaluate, resolve_constructor
from ...ir.builtins import resolve_call as match_builtin
from ...ir.builtins.buffer_views import VIEWS
from ...ir.constants import RawValue
from ...ir.diagnostics import Note, with_article
from ...ir.scalars import EvaluationError, Mode
from ...ir.types import Type, is_constructible
from ...ir.wgsl import ast
from ...ir.wgsl.program import CallsBuiltin, CallsFunction, Constructs, Converts, FunctionInfo, Variable
from . import aliasing, buffer_views, builtin_rules, expressions, predeclared, type_names
from .context import Abandon, Context, Operand, Phase
from .conversions import convert_to, latest_phase, materialise
from .suggest import are

_MOST_CANDIDATES = 6


def resolve_call(context: Context, node: ast.Call) -> Operand:
    """A call; its type is `void` where it returns nothing."""
    callee = node.callee
    symbol = context.symbols.get(id(callee))
    if symbol is None:
        return _predeclared_call(context, node)
    entity = symbol.entity
    if entity is None:
        raise Abandon
    if isinstance(entity, FunctionInfo):
        return _user_call(context, node, entity)
    if isinstance(entity, Variable):
        notes = (Note(f"'{callee.name}' is declared here", symbol.span),)
        context.fail(
            "not-callable", f"'{callee.name}' is {with_article(entity.kind)}, not a function", callee.span, notes
        )
    return _construction(context, node, type_names.resolve_type(context, callee))


def _predeclared_call(context: Context, node: ast.Call) -> Operand:
    callee = node.callee
    if callee.name in predeclared.TYPES or (callee.name in predeclared.GENERATORS and callee.template_arguments):
        return _construction(context, node, type_names.resolve_type(context, callee))
    if callee.name in predeclared.GENERATORS:
        return _construction(context, node, callee.name)
    function = builtin(callee.name)
    if function is None:
        context.fail("not-callable", f"'{callee.name}' is not a function", callee.span)
    return _builtin_call(context, node, function)


# User functions


def _user_call(context: Context, node: ast.Call, function: FunctionInfo) -> Operand:
    callee = node.callee
    if callee.template_arguments:
        context.fail("unexpected-template", f"function '{callee.name}' takes no template arguments", callee.span)
    if function.stage is not None:
        context.fail("invalid-call", f"entry point '{callee.name}' cannot be called", callee.span)
    if context.function is None:
        message = "a function that the module declares cannot be called outside functions"
        context.fail("invalid-call", message, node.span)
    _check_count(context, node, function)
    operands = [expressions.resolve(context, argument) for argument in node.arguments]
    for operand, parameter in zip(operands, function.parameters, strict=True):
        if not buffer_views.pass_buffer(operand, parameter.type):
            convert_to(context, operand, parameter.type, f"argument '{parameter.name}'")
    aliasing.note_call(context, function, operands)
    context.facts.calls[node] = CallsFunction(function)
    return context.operand(node, function.return_type, Phase.RUNTIME)


def _check_count(context: Context, node: ast.Call, function: FunctionInfo) -> None:
    given, wanted = len(node.arguments), len(function.parameters)
    if given != wanted:
        what = "few" if given < wanted else "many"
        message = f"too {what} arguments for '{function.name}': {are(wanted)} needed, {are(given)} given"
        notes = (Note(f"'{function.name}' is declared here", function.node.name_span),)
        context.fail("wrong-argument-count", message, node.span, notes)


# Builtin functions


def _builtin_call(context: Context, node: ast.Call, function: Builtin) -> Operand:
    builtin_rules.check_use(context, node, function)
    templates = tuple([type_names.resolve_type(context, argument) for argument in node.callee.template_arguments])
    operands = _arguments(context, node)
    phase = latest_phase(*operands)
    if function.name in VIEWS:
        buffer_views.check_type(context, node, templates, operands)
    match_ = match_builtin(
        function, templates, tuple([operand.result for operand in operands]), concrete=phase is not Phase.CONST
    )
    if isinstance(match_, NoMatch):
        _no_match(context, node, match_, operands)
    for operand, type in zip(operands, match_.param_types, strict=True):
        materialise(context, operand, type)
    builtin_rules.check_const_parameters(context, function, match_.param_names, operands)
    aliasing.note_builtin(context, function, operands)
    context.facts.calls[node] = CallsBuiltin(function.name, templates)
    if function.name in VIEWS:
        return buffer_views.resolve_view(context, node, match_.result_type, operands)
    raw: RawValue | None = None
    if not context.unevaluated:
        raw = _evaluate_builtin(context, node, function, templates, match_, operands)
    return context.operand(node, match_.result_type, phase if function.is_const else Phase.RUNTIME, raw)


def _evaluate_builtin(
    context: Context,
    node: ast.Call,
    function: Builtin,
    templates: tuple[Type, ...],
    match_: Match,
    operands: list[Operand],
) -> RawValue | None:
    """The value of a call of constants; where some arguments are unknown, only the errors of the others."""
    known = [operand.raw for operand in operands]
    values = [value for value in known if value is not None]
    try:
        if function.is_const and len(values) == len(known):
            return evaluate(function.name, templates, match_.result_type, match_.param_types, values, Mode.CONST)
        check_arguments(function.name, match_.param_types, known, templates)
    except EvaluationError as error:
        context.fail("evaluation-error", f"{function.name}: {error.message}", node.span)
    return None


def _arguments(context: Context, node: ast.Call) -> list[Operand]:
    return [expressions.resolve_value(context, argument) for argument in node.arguments]


def _no_match(context: Context, node: ast.Call, match_: NoMatch, operands: list[Operand]) -> NoReturn:
    types = ", ".join([str(operand.result) for operand in operands])
    shown = match_.candidates[:_MOST_CANDIDATES]
    notes = [Note(f"candidate: {candidate}") for candidate in shown]
    if len(match_.candidates) > len(shown):
        notes.append(Note(f"and {len(match_.candidates) - len(shown)} more candidates"))
    name = context.source.text(node.callee.span)
    context.fail("no-matching-overload", f"no overload of '{name}' takes ({types})", node.span, notes)


# Constructors


def _construction(context: Context, node: ast.Call, target: Type | str) -> Operand:
    """A value constructor, zero value or conversion; `target` is a name where the component type is inferred."""
    if not isinstance(target, str) and not is_constructible(target):
        context.fail("not-constructible", f"type '{target}' has no values that could be constructed", node.span)
    operands = _arguments(context, node)
    phase = latest_phase(*operands)
    if not operands and isinstance(target, str) and target == "array":
        context.fail("no-matching-overload", "an array without elements needs a type: write 'array<T, N>()'", node.span)
    types = tuple([operand.result for operand in operands])
    match_ = resolve_constructor(target, types, concrete=phase is not Phase.CONST)
    if isinstance(match_, NoMatch):
        _no_match(context, node, match_, operands)
    for operand, type in zip(operands, match_.param_types, strict=True):
        materialise(context, operand, type)
    context.facts.calls[node] = Converts(match_.type) if match_.is_conversion else Constructs(match_.type)
    raw: RawValue | None = None
    values = [operand.constant.value for operand in operands if operand.constant is not None]
    if len(values) == len(operands) and not context.unevaluated:
        try:
            raw = construct(match_.type, match_.param_types, values, Mode.CONST)
        except EvaluationError as error:
            context.fail("evaluation-error", error.message, node.span)
    return context.operand(node, match_.type, phase, raw)
