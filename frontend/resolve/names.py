"""The first pass: what does each identifier denote? (WGSL, "Declaration and Scope")

Walks the tree once with a stack of scopes. Afterwards every use of a declared name leads to its Symbol, every
module-scope Symbol lists the symbols it uses, and later passes need no scopes. Predeclared names have no Symbol. This
pass also bounds the nesting, so that later passes may recurse.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ...base.interpreter_state import deep_nesting
from ...ir.diagnostics import Diagnostic, DiagnosticList, Note
from ...ir.identifiers import name_fault
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import children
from ...ir.source import Source, Span
from ...ir.wgsl import ast
from ...ir.wgsl.limits import DEEPEST_EXPRESSION, DEEPEST_STATEMENT, LONGEST_ELSE_CHAIN
from ..habits import name_hint
from . import predeclared
from .context import Context, DeclarationNode, Symbol

# The arguments of these attributes are names of their own kind (WGSL, "Context-Dependent Names").
_CONTEXT_DEPENDENT = frozenset({"builtin", "interpolate", "diagnostic"})


class NestingError(Exception):
    """The tree is too deep to be resolved; the error has been reported."""


def bind_names(context: Context, unit: ast.TranslationUnit) -> list[Symbol]:
    """Fill `context.symbols` and `context.declared`; all module-scope symbols in order, const_asserts included."""
    binder = _Binder(context)
    symbols = [binder.declare_module_scope(node, index) for index, node in enumerate(unit.declarations)]
    for symbol in symbols:
        binder.bind_declaration(symbol)
    return symbols


@deep_nesting()
def nesting_fault(source: Source, unit: ast.TranslationUnit) -> Diagnostic | None:
    """The error for a tree that is too deep to be walked by recursion; None for all others."""
    context = Context(source, DiagnosticList())
    try:
        bind_names(context, unit)
    except NestingError:
        return context.diagnostics.items[-1]
    return None


class _Binder:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._module: dict[str, Symbol] = {}
        self._scopes: list[dict[str, Symbol]] = []
        self._current = Symbol("", None, Span(0, 0))
        self._unresolved: set[str] = set()

    # Declarations

    def declare_module_scope(self, node: ast.Declaration, index: int) -> Symbol:
        if isinstance(node, ast.ConstAssert):
            symbol = Symbol("", node, node.span, index)
        else:
            symbol = Symbol(node.name, node, node.name_span, index)
            self._enter(symbol, self._module)
        self._context.declared[id(node)] = symbol
        return symbol

    def _declare_local(self, node: ast.Let | ast.Var | ast.Const | ast.Parameter) -> None:
        symbol = Symbol(node.name, node, node.name_span)
        self._context.declared[id(node)] = symbol
        self._enter(symbol, self._scopes[-1])

    def _enter(self, symbol: Symbol, scope: dict[str, Symbol]) -> None:
        fault = name_fault(symbol.name)
        if fault is not None:
            self._context.error("invalid-name", fault, symbol.span)
        earlier = scope.setdefault(symbol.name, symbol)
        if earlier is not symbol:
            notes = (Note(f"'{symbol.name}' is first declared here", earlier.span),)
            self._context.error(
                "redeclaration", f"'{symbol.name}' is declared twice in the same scope", symbol.span, notes
            )

    def bind_declaration(self, symbol: Symbol) -> None:
        self._current = symbol
        self._unresolved = set()
        node: DeclarationNode | None = symbol.node
        match node:
            case ast.Alias():
                self._expression(node.type, 0)
            case ast.Struct():
                for member in node.members:
                    self._attributes(member.attributes)
                    self._expression(member.type, 0)
            case ast.Function():
                self._function(node)
            case ast.Override():
                self._attributes(node.attributes)
                self._optional(node.type)
                self._optional(node.initializer)
            case ast.Var():
                self._variable(node)
            case ast.Const():
                self._optional(node.type)
                self._expression(node.initializer, 0)
            case ast.ConstAssert():
                self._expression(node.condition, 0)
            case ast.Let() | ast.Parameter() | None:
                raise AssertionError("a symbol of the module has a declaration")
            case _:
                assert_never(node)

    def _function(self, node: ast.Function) -> None:
        self._attributes(node.attributes)
        self._attributes(node.return_attributes)
        for parameter in node.parameters:
            self._attributes(parameter.attributes)
            self._expression(parameter.type, 0)
        self._optional(node.return_type)
        self._scopes.append({})
        for parameter in node.parameters:
            self._declare_local(parameter)
        self._attributes(node.body.attributes)
        self._statements(node.body.statements, 1)
        self._scopes.pop()

    def _variable(self, node: ast.Var) -> None:
        self._attributes(node.attributes)
        for argument in node.template_arguments:
            self._expression(argument, 0)
        self._optional(node.type)
        self._optional(node.initializer)

    def _attributes(self, attributes: Iterable[ast.Attribute]) -> None:
        for attribute in attributes:
            for argument in attribute.arguments:
                if attribute.name in _CONTEXT_DEPENDENT:
                    self._bound(argument)
                else:
                    self._expression(argument, 0)

    def _bound(self, root: ast.Expression) -> None:
        """Bound the nesting of an expression whose names are not looked up."""
        level: list[SchemaNode] = [root]
        for _ in range(DEEPEST_EXPRESSION):
            level = [child for node in level for child in children(node)]
            if not level:
                return
        self._expression_too_deep(root)

    # Statements

    def _statements(self, statements: Iterable[ast.Statement], depth: int) -> None:
        for statement in statements:
            self._statement(statement, depth)

    def _block(self, block: ast.Block, depth: int) -> None:
        if depth >= DEEPEST_STATEMENT:
            self._too_deep(block.span, f"statements nest deeper than {DEEPEST_STATEMENT} levels")
        self._attributes(block.attributes)
        self._scopes.append({})
        self._statements(block.statements, depth + 1)
        self._scopes.pop()

    def _statement(self, node: ast.Statement, depth: int) -> None:
        match node:
            case ast.Let() | ast.Const():
                self._optional(node.type)
                self._expression(node.initializer, 0)
                self._declare_local(node)
            case ast.Var():
                self._variable(node)
                self._declare_local(node)
            case ast.Assign() | ast.CompoundAssign():
                self._expression(node.target, 0)
                self._expression(node.value, 0)
            case ast.PhonyAssign():
                self._expression(node.value, 0)
            case ast.Increment() | ast.Decrement():
                self._expression(node.target, 0)
            case ast.CallStatement():
                self._expression(node.call, 0)
            case ast.Print():
                for argument in node.arguments:
                    self._expression(argument, 0)
            case ast.Return():
                self._optional(node.value)
            case ast.ConstAssert():
                self._expression(node.condition, 0)
            case ast.Break() | ast.Continue() | ast.Discard():
                pass
            case ast.Block() | ast.If() | ast.Switch() | ast.Loop() | ast.While() | ast.For():
                self._compound(node, depth)
            case _:
                assert_never(node)

    def _compound(self, node: ast.Block | ast.If | ast.Switch | ast.Loop | ast.While | ast.For, depth: int) -> None:
        match node:
            case ast.Block():
                self._block(node, depth)
            case ast.If():
                self._if(node, depth)
            case ast.While():
                self._attributes(node.attributes)
                self._expression(node.condition, 0)
                self._block(node.body, depth)
            case ast.For():
                self._for(node, depth)
            case ast.Loop():
                self._loop(node, depth)
            case ast.Switch():
                self._switch(node, depth)
            case _:
                assert_never(node)

    def _if(self, node: ast.If, depth: int) -> None:
        branch: ast.Block | ast.If | None = node
        for _ in range(LONGEST_ELSE_CHAIN):
            if not isinstance(branch, ast.If):
                break
            self._attributes(branch.attributes)
            self._expression(branch.condition, 0)
            self._block(branch.body, depth)
            branch = branch.alternative
        match branch:
            case ast.If():
                self._too_deep(branch.span, f"more than {LONGEST_ELSE_CHAIN} branches in one if statement")
            case ast.Block():
                self._block(branch, depth)
            case None:
                pass

    def _for(self, node: ast.For, depth: int) -> None:
        self._attributes(node.attributes)
        self._scopes.append({})
        if node.initializer is not None:
            self._statement(node.initializer, depth)
        self._optional(node.condition)
        if node.update is not None:
            self._statement(node.update, depth)
        self._block(node.body, depth)
        self._scopes.pop()

    def _loop(self, node: ast.Loop, depth: int) -> None:
        """The continuing block sees what the body declares, and `break if` what the continuing block declares."""
        if depth >= DEEPEST_STATEMENT:
            self._too_deep(node.span, f"statements nest deeper than {DEEPEST_STATEMENT} levels")
        self._attributes(node.attributes)
        self._attributes(node.body.attributes)
        self._scopes.append({})
        self._statements(node.body.statements, depth + 1)
        if node.continuing is not None:
            self._attributes(node.continuing.body.attributes)
            self._scopes.append({})
            self._statements(node.continuing.body.statements, depth + 2)
            self._optional(node.continuing.break_if)
            self._scopes.pop()
        self._scopes.pop()

    def _switch(self, node: ast.Switch, depth: int) -> None:
        self._attributes(node.attributes)
        self._attributes(node.body_attributes)
        self._expression(node.subject, 0)
        for case in node.cases:
            for selector in case.selectors:
                if not isinstance(selector, ast.DefaultSelector):
                    self._expression(selector, 0)
            self._block(case.body, depth + 1)

    # Expressions

    def _optional(self, node: ast.Expression | None) -> None:
        if node is not None:
            self._expression(node, 0)

    def _expression(self, node: ast.Expression, depth: int) -> None:
        if depth >= DEEPEST_EXPRESSION:
            self._expression_too_deep(node)
        depth += 1
        match node:
            case ast.Identifier():
                self._use(node)
                for argument in node.template_arguments:
                    self._expression(argument, depth)
            case ast.Binary():
                self._expression(node.lhs, depth)
                self._expression(node.rhs, depth)
            case ast.Call():
                self._expression(node.callee, depth)
                for argument in node.arguments:
                    self._expression(argument, depth)
            case ast.MemberAccess():
                self._expression(node.object, depth)
            case ast.Index():
                self._expression(node.object, depth)
                self._expression(node.index, depth)
            case ast.Paren() | ast.Unary():
                self._expression(node.operand, depth)
            case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral():
                pass
            case _:
                assert_never(node)

    def _use(self, node: ast.Identifier) -> None:
        name = node.name
        for scope in reversed(self._scopes):
            symbol = scope.get(name)
            if symbol is not None:
                self._context.symbols[id(node)] = symbol
                return
        symbol = self._module.get(name)
        if symbol is not None:
            self._context.symbols[id(node)] = symbol
            self._current.uses.setdefault(symbol, node.span)
        elif not predeclared.is_predeclared(name):
            self._report_unresolved(node)

    def _report_unresolved(self, node: ast.Identifier) -> None:
        """Report an unresolved name, once per name and declaration."""
        self._context.symbols[id(node)] = Symbol(node.name, None, node.span)
        if node.name in self._unresolved:
            return
        self._unresolved.add(node.name)
        notes = name_hint(node.name)
        if not notes and self._context.hints.are_left:
            in_scope = [name for scope in self._scopes for name in scope]
            names = [*in_scope, *self._module, *predeclared.names()]
            notes = self._context.hints.did_you_mean(node.name, names)
        self._context.error("unresolved-identifier", f"unresolved identifier '{node.name}'", node.span, notes)

    def _expression_too_deep(self, node: ast.Expression) -> None:
        self._too_deep(node.span, f"expressions nest deeper than {DEEPEST_EXPRESSION} levels")

    def _too_deep(self, span: Span, message: str) -> None:
        self._context.error("nesting-too-deep", message, span)
        raise NestingError
