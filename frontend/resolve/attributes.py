"""Attributes: their targets, argument counts and argument values (WGSL, "Attributes")."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from ...base.records import dataclass
from ...ir.diagnostics import Note, with_article
from ...ir.language import DIAGNOSTIC_RULES, SEVERITIES
from ...ir.types import I32, U32
from ...ir.wgsl import ast
from ...ir.wgsl.program import DiagnosticFilter
from . import expressions
from .context import Abandon, Context, Phase
from .conversions import make_concrete
from .suggest import are, counted


class AttributeTarget(enum.Enum):
    """The kind of syntax that an attribute is written on; the value is its name in messages."""

    FUNCTION = "a function"
    PARAMETER = "a parameter"
    RETURN = "a return type"
    MEMBER = "a structure member"
    MODULE_VAR = "a module-scope variable"
    LOCAL_VAR = "a local variable"
    OVERRIDE = "an override"
    STATEMENT = "a statement"


@dataclass(frozen=True, slots=True)
class Rule:
    """The targets of an attribute, and how many arguments it has."""

    targets: frozenset[AttributeTarget]
    least: int = 0
    most: int = 0


def _rule(*targets: AttributeTarget, least: int = 0, most: int = 0) -> Rule:
    return Rule(frozenset(targets), least, most or least)


_IO = (AttributeTarget.MEMBER, AttributeTarget.PARAMETER, AttributeTarget.RETURN)

RULES = {
    "align": _rule(AttributeTarget.MEMBER, least=1),
    "binding": _rule(AttributeTarget.MODULE_VAR, least=1),
    "blend_src": _rule(AttributeTarget.MEMBER, least=1),
    "builtin": _rule(*_IO, least=1, most=2),
    "compute": _rule(AttributeTarget.FUNCTION),
    "diagnostic": _rule(AttributeTarget.FUNCTION, AttributeTarget.STATEMENT, least=2),
    "fragment": _rule(AttributeTarget.FUNCTION),
    "group": _rule(AttributeTarget.MODULE_VAR, least=1),
    "id": _rule(AttributeTarget.OVERRIDE, least=1),
    "interpolate": _rule(*_IO, least=1, most=2),
    "invariant": _rule(*_IO),
    "location": _rule(*_IO, least=1),
    "must_use": _rule(AttributeTarget.FUNCTION),
    "size": _rule(AttributeTarget.MEMBER, least=1),
    "subgroup_size": _rule(AttributeTarget.FUNCTION, least=1),
    "vertex": _rule(AttributeTarget.FUNCTION),
    "workgroup_size": _rule(AttributeTarget.FUNCTION, least=1, most=3),
}


class AttributeSet:
    """The attributes of one declaration or statement, by name; `diagnostic` alone may be repeated.

    `is_faulty`: an attribute was rejected, so a missing attribute may be that one.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, ast.Attribute] = {}
        self.diagnostics: list[ast.Attribute] = []
        self.is_faulty = False

    def get(self, name: str) -> ast.Attribute | None:
        """The attribute of that name."""
        return self.by_name.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.by_name


_NONE = AttributeSet()


def collect(context: Context, attributes: Iterable[ast.Attribute], target: AttributeTarget) -> AttributeSet:
    """Sort attributes by name; report the unknown, misplaced and repeated ones, and wrong counts of arguments."""
    if not attributes:
        return _NONE
    found = AttributeSet()
    for attribute in attributes:
        fault = _fault(context, attribute, target)
        if fault is not None:
            found.is_faulty = True
            context.error("invalid-attribute", fault, attribute.span, _hint(context, attribute))
        elif attribute.name == "diagnostic":
            found.diagnostics.append(attribute)
        elif attribute.name in found.by_name:
            notes = (Note("it is first given here", found.by_name[attribute.name].span),)
            context.error("repeated-attribute", f"attribute '{attribute.name}' is repeated", attribute.span, notes)
        else:
            found.by_name[attribute.name] = attribute
    return found


def _fault(context: Context, attribute: ast.Attribute, target: AttributeTarget) -> str | None:
    rule = RULES.get(attribute.name)
    if rule is None:
        return f"unknown attribute '{attribute.name}'"
    if target not in rule.targets:
        return f"attribute '{attribute.name}' cannot be on {target.value}"
    count = len(attribute.arguments)
    if not rule.least <= count <= rule.most:
        return (
            f"attribute '{attribute.name}' takes {counted(rule.least, rule.most, 'argument')}, but {are(count)} given"
        )
    if rule.most == 0 and context.source.text(attribute.span).endswith(")"):
        return f"attribute '{attribute.name}' takes no arguments"
    return None


def _hint(context: Context, attribute: ast.Attribute) -> tuple[Note, ...]:
    return () if attribute.name in RULES else context.hints.did_you_mean(attribute.name, RULES)


def integer(context: Context, attribute: ast.Attribute, least: int) -> int | None:
    """The value of an attribute's only argument: a const-expression of i32 or u32, at least `least`. None: reported."""
    node = attribute.arguments[0]
    try:
        operand = expressions.resolve(context, node)
        type = make_concrete(context, operand)
    except Abandon:
        return None
    if type not in (I32, U32):
        message = f"'{attribute.name}' needs an i32 or u32, but this is '{type}'"
        context.error("type-mismatch", message, node.span)
        return None
    if operand.phase is not Phase.CONST or operand.raw is None:
        context.error("expected-constant", f"'{attribute.name}' needs a const-expression", node.span)
        return None
    value = operand.raw
    assert isinstance(value, int)
    if value < least:
        context.error("invalid-attribute", f"'{attribute.name}' must be at least {least}", node.span)
        return None
    return value


def optional_integer(context: Context, attributes: AttributeSet, name: str, *, least: int = 0) -> int | None:
    """The value of an attribute if it is there."""
    attribute = attributes.get(name)
    return None if attribute is None else integer(context, attribute, least)


def word(context: Context, node: ast.Expression, what: str) -> str | None:
    """An argument that is a context-dependent name. None: reported."""
    if isinstance(node, ast.Identifier) and not node.template_arguments:
        return node.name
    context.error("invalid-attribute", f"expected the name of {with_article(what)}", node.span)
    return None


# Diagnostic filters (WGSL, "Diagnostic Filtering")


def filters(context: Context, attributes: AttributeSet) -> tuple[DiagnosticFilter, ...]:
    """The filters of `@diagnostic` attributes; two of them must not name the same rule."""
    found: list[DiagnosticFilter] = []
    for attribute in attributes.diagnostics:
        severity = word(context, attribute.arguments[0], "severity")
        rule = word(context, attribute.arguments[1], "diagnostic rule")
        if severity is None or rule is None:
            continue
        check_filter(context, severity, rule, attribute)
        if any(other.rule == rule for other in found):
            context.error("repeated-attribute", f"diagnostic rule '{rule}' is filtered twice here", attribute.span)
        found.append(DiagnosticFilter(severity, rule))
    return tuple(found)


def check_filter(context: Context, severity: str, rule: str, node: ast.Attribute | ast.DiagnosticDirective) -> None:
    """The severity must be one; an unknown rule is only worth a warning."""
    if severity not in SEVERITIES:
        notes = context.hints.did_you_mean(severity, SEVERITIES)
        context.error("invalid-diagnostic-filter", f"'{severity}' is not a severity", node.span, notes)
    if "." not in rule and rule not in DIAGNOSTIC_RULES:
        notes = context.hints.did_you_mean(rule, DIAGNOSTIC_RULES)
        context.warn("unknown-diagnostic-rule", f"unknown diagnostic rule '{rule}'", node.span, notes)


def statement_attributes(context: Context, attributes: tuple[ast.Attribute, ...]) -> None:
    """Statements take `@diagnostic` only."""
    if attributes:
        filters(context, collect(context, attributes, AttributeTarget.STATEMENT))
