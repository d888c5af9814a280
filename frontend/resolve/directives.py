"""`enable`, `requires` and `diagnostic` directives (WGSL, "Directives")."""

from __future__ import annotations

from typing import assert_never

from ...ir.language import ENABLE_EXTENSIONS, LANGUAGE_FEATURES, PRINTING_EXTENSION
from ...ir.wgsl import ast
from ...ir.wgsl.program import DiagnosticFilter
from . import attributes
from .context import Context

_EXTENSIONS = ENABLE_EXTENSIONS | {PRINTING_EXTENSION}


def resolve_directives(context: Context, unit: ast.TranslationUnit) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check the directives; the names enabled and required, in order, without repetitions.

    `wgpu_debug_printf` is not among them: the statements it allows are in no module that leaves tinct.
    """
    requires: dict[str, None] = {}
    enables: dict[str, None] = {}
    for directive in unit.directives:
        match directive:
            case ast.Enable():
                _check(context, directive.extensions, _EXTENSIONS, "extension", directive)
                enables |= dict.fromkeys(directive.extensions)
            case ast.Requires():
                _check(context, directive.features, LANGUAGE_FEATURES, "language feature", directive)
                requires |= dict.fromkeys(directive.features)
            case ast.DiagnosticDirective():
                _filter(context, directive)
            case _:
                assert_never(directive)
    context.enables.update(enables)
    if "subgroup_size_control" in enables:
        context.enables.add("subgroups")
    return tuple(it for it in enables if it != PRINTING_EXTENSION), tuple(requires)


def _check(
    context: Context, names: tuple[str, ...], known: frozenset[str], what: str, node: ast.Enable | ast.Requires
) -> None:
    for name in names:
        if name not in known:
            context.error(
                "unknown-extension", f"unknown {what} '{name}'", node.span, context.hints.did_you_mean(name, known)
            )


def _filter(context: Context, node: ast.DiagnosticDirective) -> None:
    """Two directives may name one rule only if they agree on its severity (WGSL, "Diagnostic Filtering")."""
    attributes.check_filter(context, node.severity, node.rule, node)
    if any(other.rule == node.rule and other.severity != node.severity for other in context.filters):
        message = f"diagnostic rule '{node.rule}' is given two severities"
        context.error("conflicting-diagnostic-filter", message, node.span)
    context.filters.append(DiagnosticFilter(node.severity, node.rule))
