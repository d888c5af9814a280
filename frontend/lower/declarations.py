"""Directives, attributes and declarations (WGSL, "Directives", "Attributes", "Declaration and Scope")."""

from __future__ import annotations

from ...ir.wgsl import ast
from .parts import MissingPart, Name, Parts


def enable_directive(parts: Parts) -> ast.Enable:
    """`enable`."""
    return ast.Enable(extensions=_names(parts), span=parts.span)


def requires_directive(parts: Parts) -> ast.Requires:
    """`requires`."""
    return ast.Requires(features=_names(parts), span=parts.span)


def _names(parts: Parts) -> tuple[str, ...]:
    return tuple(identifier.name for identifier in parts.all(ast.Identifier))


def diagnostic_directive(parts: Parts) -> ast.DiagnosticDirective:
    """`diagnostic(severity, rule);`."""
    severity, rule = _diagnostic_control(parts)
    return ast.DiagnosticDirective(severity=severity.text, rule=rule.text, span=parts.span)


def attribute(parts: Parts) -> ast.Attribute:
    """`@name` with its arguments; those of `@diagnostic` become two identifiers."""
    name = parts.name().text
    arguments = parts.expressions()
    if name == "diagnostic":
        arguments = tuple(
            ast.Identifier(name=word.text, template_arguments=(), span=word.span) for word in _diagnostic_control(parts)
        )
    return ast.Attribute(name=name, arguments=arguments, span=parts.span)


def _diagnostic_control(parts: Parts) -> tuple[Name, Name]:
    """The severity and the rule, a name or two names with a dot between (WGSL, "Diagnostic Filtering")."""
    match parts.expressions():
        case [
            ast.Identifier(name=severity, template_arguments=(), span=severity_span),
            ast.Identifier(name=rule, template_arguments=(), span=rule_span),
        ]:
            return Name(severity, severity_span), Name(rule, rule_span)
        case [
            ast.Identifier(name=severity, template_arguments=(), span=severity_span),
            ast.MemberAccess(object=ast.Identifier(name=group, template_arguments=()), member=rule, span=rule_span),
        ]:
            return Name(severity, severity_span), Name(f"{group}.{rule}", rule_span)
        case _:
            parts.error("malformed-diagnostic", "a diagnostic filter takes a severity and the name of a rule")
            raise MissingPart


def alias_declaration(parts: Parts) -> ast.Alias:
    """`alias`."""
    name = parts.name()
    return ast.Alias(name=name.text, name_span=name.span, type=parts.expression("type"), span=parts.span)


def struct_declaration(parts: Parts) -> ast.Struct:
    """`struct`."""
    name = parts.name()
    return ast.Struct(name=name.text, name_span=name.span, members=parts.all(ast.Member), span=parts.span)


def member(parts: Parts) -> ast.Member:
    """A member of a structure."""
    name = parts.name()
    return ast.Member(
        attributes=parts.attributes(),
        name=name.text,
        name_span=name.span,
        type=parts.expression("type"),
        span=parts.span,
    )


def function_declaration(parts: Parts) -> ast.Function:
    """`fn`."""
    name = parts.name()
    result = parts.find("result", Parts)
    return ast.Function(
        attributes=parts.attributes(),
        name=name.text,
        name_span=name.span,
        parameters=parts.all(ast.Parameter),
        return_attributes=result.attributes() if result else (),
        return_type=result.expression("type") if result else None,
        body=parts.get("body", ast.Block),
        span=parts.span,
    )


def parameter(parts: Parts) -> ast.Parameter:
    """A parameter of a function."""
    name = parts.name()
    return ast.Parameter(
        attributes=parts.attributes(),
        name=name.text,
        name_span=name.span,
        type=parts.expression("type"),
        span=parts.span,
    )


def override_declaration(parts: Parts) -> ast.Override:
    """`override`."""
    name = parts.name()
    return ast.Override(
        attributes=parts.attributes(),
        name=name.text,
        name_span=name.span,
        type=parts.find_expression("type"),
        initializer=parts.find_expression("value"),
        span=parts.span,
    )


def variable_declaration(parts: Parts) -> ast.Var:
    """`var`, at module scope or in a function."""
    name = parts.name()
    template = parts.find("template", Parts)
    return ast.Var(
        attributes=parts.attributes(),
        template_arguments=template.expressions() if template else (),
        name=name.text,
        name_span=name.span,
        type=parts.find_expression("type"),
        initializer=parts.find_expression("value"),
        span=parts.span,
    )


def const_declaration(parts: Parts) -> ast.Const:
    """`const`, at module scope or in a function."""
    name = parts.name()
    return ast.Const(
        name=name.text,
        name_span=name.span,
        type=parts.find_expression("type"),
        initializer=parts.expression("value"),
        span=parts.span,
    )


def const_assert(parts: Parts) -> ast.ConstAssert:
    """`const_assert`, at module scope or in a function."""
    return ast.ConstAssert(condition=parts.expression("condition"), span=parts.span)


BUILDERS = {
    "enable_directive": enable_directive,
    "requires_directive": requires_directive,
    "diagnostic_directive": diagnostic_directive,
    "attribute": attribute,
    "alias_declaration": alias_declaration,
    "struct_declaration": struct_declaration,
    "member": member,
    "function_declaration": function_declaration,
    "parameter": parameter,
    "override_declaration": override_declaration,
    "variable_declaration": variable_declaration,
    "const_declaration": const_declaration,
    "const_assert": const_assert,
}
"""The builder of each kind of directive and declaration."""
