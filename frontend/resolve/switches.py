"""Switches (WGSL, "Switch Statement")."""

from __future__ import annotations

import contextlib

from ...ir.constants import ConstantValue, RawValue
from ...ir.conversions import common_type, concretize
from ...ir.diagnostics import Note
from ...ir.source import Span
from ...ir.types import I32, U32, Type
from ...ir.wgsl import ast
from ...ir.wgsl.limits import MOST_SELECTORS
from . import expressions, statements
from .attributes import statement_attributes
from .context import Abandon, Context, Flow, Operand, Phase
from .conversions import convert_to


def resolve_switch(context: Context, node: ast.Switch) -> None:
    """A switch; the bodies of its cases are resolved even if its selectors are invalid."""
    statement_attributes(context, node.attributes)
    statement_attributes(context, node.body_attributes)
    with contextlib.suppress(Abandon):
        _check_selectors(context, node)
    assert context.function is not None
    context.function.flow.append(Flow.SWITCH)
    for case in node.cases:
        statements.resolve_block(context, case.body)
    context.function.flow.pop()


def _check_selectors(context: Context, node: ast.Switch) -> None:
    _check_defaults(context, node)
    subject = expressions.resolve_value(context, node.subject)
    selectors: list[list[Operand]] = []
    for case in node.cases:
        written = [selector for selector in case.selectors if not isinstance(selector, ast.DefaultSelector)]
        selectors.append([_selector(context, selector) for selector in written])
    if sum(map(len, selectors)) > MOST_SELECTORS:
        context.fail("limit-exceeded", f"a switch has more than {MOST_SELECTORS} selectors", node.span)
    type = _type(context, node, subject, [operand for case in selectors for operand in case])
    convert_to(context, subject, type, "the subject of a switch")
    seen: dict[RawValue, Span] = {}
    for case, operands in zip(node.cases, selectors, strict=True):
        context.facts.selectors[case] = tuple([_value(context, operand, type, seen) for operand in operands])


def _check_defaults(context: Context, node: ast.Switch) -> None:
    defaults = [
        selector for case in node.cases for selector in case.selectors if isinstance(selector, ast.DefaultSelector)
    ]
    if not defaults:
        context.error("invalid-switch", "a switch needs a default clause", node.span)
    for extra in defaults[1:]:
        notes = (Note("the first default is here", defaults[0].span),)
        context.error("invalid-switch", "a switch has only one default", extra.span, notes)


def _selector(context: Context, node: ast.Expression) -> Operand:
    operand = expressions.resolve_value(context, node)
    if operand.phase is not Phase.CONST or operand.constant is None:
        context.fail("expected-constant", "a case selector must be a const-expression", node.span)
    return operand


def _type(context: Context, node: ast.Switch, subject: Operand, selectors: list[Operand]) -> Type:
    """The concrete integer type that the subject and all selectors convert to."""
    concrete = concretize(subject.result) if subject.phase is not Phase.CONST else subject.result
    common = common_type([concrete, *(operand.result for operand in selectors)])
    type = None if common is None else concretize(common)
    if concretize(subject.result) not in (I32, U32):
        message = f"a switch is over i32 or u32, not '{subject.result}'"
        context.fail("type-mismatch", message, node.subject.span)
    if type is None or type not in (I32, U32):
        odd = next((operand for operand in selectors if common_type([concrete, operand.result]) is None), None)
        message = "the subject and the selectors of a switch must have one integer type"
        context.fail("type-mismatch", message, node.subject.span if odd is None else odd.span)
    return type


def _value(context: Context, operand: Operand, type: Type, seen: dict[RawValue, Span]) -> ConstantValue:
    convert_to(context, operand, type, "a case selector")
    constant = operand.constant
    assert constant is not None
    earlier = seen.setdefault(constant.value, operand.span)
    if earlier is not operand.span:
        notes = (Note("the value is first selected here", earlier),)
        context.error("invalid-switch", f"value {constant.value} is selected twice", operand.span, notes)
    return constant
