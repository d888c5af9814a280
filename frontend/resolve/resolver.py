"""From a syntax tree to a Program: names, then declarations in dependency order, then rules on the whole module."""

from __future__ import annotations

from typing import assert_never

from ...base.interpreter_state import deep_nesting
from ...base.records import dataclass
from ...ir.diagnostics import Diagnostic, DiagnosticList
from ...ir.source import Source
from ...ir.wgsl import ast
from ...ir.wgsl.program import Program, Variable
from . import functions, module_rules, statements, structs, type_names, uniformity, variables
from .context import Abandon, Context, Symbol
from .directives import resolve_directives
from .names import NestingError, bind_names
from .order import dependency_order


@dataclass(frozen=True, slots=True)
class Resolved:
    """The result for a module: the program, if it is valid, and all diagnostics."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


@deep_nesting()
def resolve(source: Source, unit: ast.TranslationUnit) -> Resolved:
    """Check a module, and resolve its names, types and constants."""
    context = Context(source, DiagnosticList())
    enables, requires = resolve_directives(context, unit)
    try:
        symbols = bind_names(context, unit)
    except NestingError:
        return Resolved(None, tuple(context.diagnostics.items))
    order, cyclic = dependency_order(context, symbols)
    for symbol in order:
        if symbol not in cyclic:
            _declare(context, symbol)
    module_rules.record_uses(order)
    module_rules.check_module(context)
    if not context.diagnostics.has_errors:
        uniformity.check_module(context)
    found = tuple(context.diagnostics.items)
    if context.diagnostics.has_errors:
        return Resolved(None, found)
    program = Program(
        source=source,
        unit=unit,
        structs=tuple(context.structs),
        variables=tuple(context.variables),
        functions=tuple(context.functions),
        enables=enables,
        requires=requires,
        diagnostics=tuple(context.filters),
        override_counts=context.override_counts,
        facts=context.facts,
        warnings=found,
    )
    return Resolved(program, found)


def _declare(context: Context, symbol: Symbol) -> None:
    """Resolve one module-scope declaration; after an error its name denotes nothing."""
    try:
        match symbol.node:
            case ast.Alias() as node:
                symbol.entity = type_names.resolve_type(context, node.type)
            case ast.Struct() as node:
                symbol.entity = structs.resolve_struct(context, node)
            case ast.Function() as node:
                functions.resolve_function(context, symbol, node)
            case ast.Var() as node:
                _add(context, symbol, variables.resolve_module_var(context, node))
            case ast.Const() as node:
                _add(context, symbol, variables.resolve_const(context, node, is_module_scope=True))
            case ast.Override() as node:
                _add(context, symbol, variables.resolve_override(context, node))
            case ast.ConstAssert() as node:
                statements.resolve_const_assert(context, node)
            case ast.Let() | ast.Parameter() | None:
                raise AssertionError("a symbol of the module has a declaration")
            case _:
                assert_never(symbol.node)
    except Abandon:
        return


def _add(context: Context, symbol: Symbol, variable: Variable) -> None:
    symbol.entity = variable
    context.variables.append(variable)
