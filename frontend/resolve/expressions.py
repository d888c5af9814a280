"""Expressions: one function a kind, and the dispatch to them (WGSL, "Expressions")."""

from __future__ import annotations

from typing import assert_never

from ...ir.constants import RawValue
from ...ir.diagnostics import Note, with_article
from ...ir.operators import (
    binary_result,
    check_right_operand,
    evaluate_binary,
    evaluate_unary,
    unary_result,
)
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.scalars import EvaluationError, Mode, fits, parse_float_literal
from ...ir.source import Span
from ...ir.types import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F16,
    F32,
    I32,
    U32,
    Type,
    Void,
    reference,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import FunctionInfo, Variable
from . import access, calls, memory_views, predeclared, type_names
from .context import Abandon, Context, Operand, Phase
from .conversions import conversion_hint, convert_to, latest_phase, load, materialise

_INT_SUFFIXES = {"": ABSTRACT_INT, "i": I32, "u": U32}
_FLOAT_SUFFIXES = {"": ABSTRACT_FLOAT, "f": F32, "h": F16}


def resolve(context: Context, node: ast.Expression) -> Operand:
    """The facts of an expression that has a value or names memory, before any context asks for a conversion."""
    match node:
        case ast.Identifier():
            return _identifier(context, node)
        case ast.Binary():
            return _short_circuit(context, node) if node.op.is_short_circuit else _binary(context, node)
        case ast.Call():
            return _valued_call(context, node)
        case ast.IntLiteral():
            return _int_literal(context, node)
        case ast.MemberAccess():
            return access.resolve_member(context, node)
        case ast.Index():
            return access.resolve_index(context, node)
        case ast.FloatLiteral():
            return _float_literal(context, node)
        case ast.Paren():
            return _paren(context, node)
        case ast.Unary():
            return _unary(context, node)
        case ast.BoolLiteral():
            return context.operand(node, BOOL, Phase.CONST, node.value)
        case _:
            assert_never(node)


def resolve_value(context: Context, node: ast.Expression) -> Operand:
    """The same, with the load rule applied: never a reference."""
    return load(context, resolve(context, node))


# Leaves


def _int_literal(context: Context, node: ast.IntLiteral) -> Operand:
    scalar = _INT_SUFFIXES[node.suffix]
    if not fits(scalar, node.value):
        context.fail("value-out-of-range", f"this number does not fit '{scalar}'", node.span)
    return context.operand(node, scalar, Phase.CONST, node.value)


def _float_literal(context: Context, node: ast.FloatLiteral) -> Operand:
    scalar = _FLOAT_SUFFIXES[node.suffix]
    if scalar is F16:
        type_names.require_f16(context, node)
    try:
        value = parse_float_literal(node.text.removesuffix(node.suffix), scalar)
    except EvaluationError as error:
        context.fail("value-out-of-range", error.message, node.span)
    return context.operand(node, scalar, Phase.CONST, value)


def _identifier(context: Context, node: ast.Identifier) -> Operand:
    symbol = context.symbols.get(id(node))
    if symbol is None:
        return _not_a_value(context, node)
    entity = symbol.entity
    if entity is None:
        raise Abandon
    if not isinstance(entity, Variable):
        what = "function" if isinstance(entity, FunctionInfo) else "type"
        notes = (Note(f"'{node.name}' is declared here", symbol.span),)
        context.fail("expected-value", f"'{node.name}' is {with_article(what)}, not a value", node.span, notes)
    if node.template_arguments:
        context.fail("unexpected-template", f"'{node.name}' takes no template arguments", node.span)
    return variable_operand(context, node, entity)


def variable_operand(context: Context, node: ast.Identifier, variable: Variable) -> Operand:
    """What the name of a variable stands for."""
    context.facts.names[node] = variable
    match variable.kind:
        case "var":
            assert variable.space is not None
            assert variable.access is not None
            type = reference(variable.space, variable.type, variable.access)
            return context.operand(node, type, Phase.RUNTIME, root=variable)
        case "const":
            assert variable.constant is not None
            return context.operand(node, variable.type, Phase.CONST, variable.constant.value)
        case "override":
            return context.operand(node, variable.type, Phase.OVERRIDE)
        case _:
            root = context.pointer_roots.get(variable)
            return context.operand(node, variable.type, Phase.RUNTIME, root=root)


def _not_a_value(context: Context, node: ast.Identifier) -> Operand:
    if predeclared.is_type_name(node.name):
        what = "type"
    elif node.name in predeclared.ENUMERANTS:
        what = "name of an enumeration"
    else:
        what = "builtin function"
    context.fail("expected-value", f"'{node.name}' is {with_article(what)}, not a value", node.span)


def _paren(context: Context, node: ast.Paren) -> Operand:
    """The parentheses share the facts of what they hold, so that conversions reach it."""
    operand = resolve(context, node.operand)
    context.facts.expressions[node] = operand
    return operand


def _valued_call(context: Context, node: ast.Call) -> Operand:
    operand = calls.resolve_call(context, node)
    if isinstance(operand.type, Void):
        context.fail("expected-value", f"'{node.callee.name}' does not return a value", node.span)
    return operand


# Operators


def _unary(context: Context, node: ast.Unary) -> Operand:
    if node.op is UnaryOp.ADDRESS_OF:
        return memory_views.resolve_address_of(context, node)
    if node.op is UnaryOp.INDIRECTION:
        return memory_views.resolve_indirection(context, node)
    operand = resolve_value(context, node.operand)
    match_ = unary_result(node.op, operand.result, concrete=operand.phase is not Phase.CONST)
    if match_ is None:
        message = f"no operator '{node.op.value}' for an operand of type '{operand.result}'"
        context.fail("no-matching-operator", message, node.span)
    materialise(context, operand, match_.operands[0])
    raw: RawValue | None = None
    if operand.constant is not None and not context.unevaluated:
        try:
            raw = evaluate_unary(node.op, operand.result, operand.constant.value, Mode.CONST)
        except EvaluationError as error:
            context.fail("evaluation-error", error.message, node.span)
    return context.operand(node, match_.result, operand.phase, raw)


def _binary(context: Context, node: ast.Binary) -> Operand:
    left = resolve_value(context, node.lhs)
    right = resolve_value(context, node.rhs)
    phase = latest_phase(left, right)
    type, raw = apply_binary(context, node.op, left, right, node.span)
    return context.operand(node, type, phase, raw)


def apply_binary(
    context: Context, op: BinaryOp, left: Operand, right: Operand, span: Span
) -> tuple[Type, RawValue | None]:
    """Type a strict binary operation on loaded operands, convert them, and evaluate what is known of it."""
    concrete = left.phase is not Phase.CONST or right.phase is not Phase.CONST
    match_ = binary_result(op, left.result, right.result, concrete=concrete)
    if match_ is None:
        message = f"no operator '{op.value}' for operands of types '{left.result}' and '{right.result}'"
        context.fail("no-matching-operator", message, span, _operand_hint(op, left, right, concrete=concrete))
    materialise(context, left, match_.operands[0])
    materialise(context, right, match_.operands[1])
    raw: RawValue | None = None
    if right.constant is not None and not context.unevaluated:
        try:
            if left.constant is None:
                check_right_operand(op, left.result, right.result, right.constant.value)
            else:
                raw = evaluate_binary(
                    op, left.result, right.result, left.constant.value, right.constant.value, Mode.CONST
                )
        except EvaluationError as error:
            context.fail("evaluation-error", error.message, span)
    return match_.result, raw


def _operand_hint(op: BinaryOp, left: Operand, right: Operand, *, concrete: bool) -> tuple[Note, ...]:
    """Which operand could be converted, where the operator takes two of the other's type."""
    for source, target in ((right, left), (left, right)):
        notes = conversion_hint(source.result, target.result)
        if notes and binary_result(op, target.result, target.result, concrete=concrete) is not None:
            return (Note(f"this could be converted: '{target.result}(…)'", source.span),)
    return ()


def _short_circuit(context: Context, node: ast.Binary) -> Operand:
    """The right operand is checked, but evaluated only if it is reached (WGSL, "Logical Expressions")."""
    decisive = node.op is BinaryOp.LOGICAL_OR
    left = resolve_value(context, node.lhs)
    decided = left.constant is not None and left.constant.value is decisive
    context.unevaluated += decided
    try:
        right = resolve_value(context, node.rhs)
    finally:
        context.unevaluated -= decided
    if left.result is not BOOL or right.result is not BOOL:
        message = f"no operator '{node.op.value}' for operands of types '{left.result}' and '{right.result}'"
        context.fail("no-matching-operator", message, node.span)
    raw: bool | None = None
    if decided:
        raw = decisive
    elif left.constant is not None and right.constant is not None:
        raw = right.constant.value is True
    return context.operand(node, BOOL, latest_phase(left, right), raw)


def resolve_condition(context: Context, node: ast.Expression, what: str) -> Operand:
    """An expression that must be a bool."""
    operand = resolve(context, node)
    convert_to(context, operand, BOOL, what)
    return operand
