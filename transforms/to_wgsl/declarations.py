"""Module scope: directives, structures, overrides, variables, constants and functions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from ...ir.constants import ConstantValue
from ...ir.core import nodes
from ...ir.core.rules import counts_in
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schema.traverse import walk
from ...ir.types import (
    BOOL,
    VOID,
    Access,
    AddressSpace,
    Array,
    IoAttributes,
    OverrideCount,
    Pointer,
    Stage,
    StructMember,
    has_no_name,
)
from ...ir.wgsl import ast
from . import syntax
from .analysis import Analysis
from .constants import Constants
from .control import FunctionWriter
from .expressions import Expressions, is_handle_pointer
from .limits import check_limits
from .names import ModuleNames
from .spelling import Speller
from .variables import Variables

K = TypeVar("K")
_Written: TypeAlias = ast.Statement | ast.Attribute


class ModuleWriter:
    """Writes a module as a translation unit."""

    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        self.names = ModuleNames(module)
        self._declared = self.names.all
        self._tables: dict[ConstantValue, str] = {}
        self._aliases: dict[Array, str] = {}
        self.speller = Speller(
            declared=self._declared, count=self._count, table=self._table, alias=self._alias, names=self.names.structs
        )
        self._counts = {it.count: it.value for it in module.counts}
        resources = [it for it in module.root.instructions if isinstance(it, (nodes.Var, nodes.Override))]
        self._positions: dict[Value, int] = {it: position for position, it in enumerate(resources)}
        self._root_operations = set[Value](module.root.instructions).difference(resources)
        self._by_name: dict[str, Value] = {self.names.of(it): it for it in resources}
        self.root = self._expressions(Constants(module, None), resources)

    def unit(self) -> ast.TranslationUnit:
        """The whole module."""
        root = list(self._root())
        functions = [self._function(function) for function in self.module.functions]
        declarations = (*self._structs(), *root, *self._table_declarations(), *functions)
        declarations = (*self._alias_declarations(), *declarations)
        return ast.TranslationUnit(tuple(self._directives()), declarations, syntax.NOWHERE)

    def _expressions(self, constants: Constants, values: Iterable[Value]) -> Expressions:
        """A builder of expressions that has the names of the resources that `values` are or use through `root`."""
        made = Expressions(self.speller, constant_of=constants.of, callee_name=self.names.of, table=self._table)
        pending = list(values)
        seen: set[Value] = set()
        while pending:
            value = pending.pop()
            if isinstance(value, (nodes.Var, nodes.Override)) and value in self._positions:
                made.bound[value] = self.names.of(value)
            elif value in self._root_operations and value not in seen:
                seen.add(value)
                pending += value.operands
        return made

    def _directives(self) -> Iterator[ast.Directive]:
        if self.module.enables:
            yield ast.Enable(tuple(self.module.enables), syntax.NOWHERE)
        if self.module.requires:
            yield ast.Requires(tuple(self.module.requires), syntax.NOWHERE)
        for it in self.module.diagnostics:
            yield ast.DiagnosticDirective(it.severity, it.rule, syntax.NOWHERE)

    # Constant arrays and deeply nested types are declared once, including those that only other declarations use.

    def _table(self, constant: ConstantValue) -> str:
        if constant not in self._tables:
            self._tables[constant] = self.names.unique("table")
        return self._tables[constant]

    def _table_declarations(self) -> Iterator[ast.Declaration]:
        for constant, name in _growing(self._tables):
            yield ast.Const(name, syntax.NOWHERE, None, self.speller.constant(constant), syntax.NOWHERE)

    def _alias(self, type: Array) -> str:
        if type not in self._aliases:
            self._aliases[type] = self.names.unique("nested")
        return self._aliases[type]

    def _alias_declarations(self) -> Iterator[ast.Declaration]:
        for type, name in _growing(self._aliases):
            yield ast.Alias(name, syntax.NOWHERE, self.speller.type(type), syntax.NOWHERE)

    # Types and root values.

    def _structs(self) -> Iterator[ast.Struct]:
        for struct in self.module.structs:
            members = tuple(self._member(member) for member in struct.members)
            declaration = ast.Struct(self.names.of(struct), syntax.NOWHERE, members, syntax.NOWHERE)
            check_limits(declaration, None)
            yield declaration

    def _member(self, member: StructMember) -> ast.Member:
        attributes = [*_numbers(("align", member.align), ("size", member.size)), *io_attributes(member.io)]
        type = self.speller.type(member.type)
        return ast.Member(tuple(attributes), member.name, syntax.NOWHERE, type, syntax.NOWHERE)

    def _count(self, count: OverrideCount) -> ast.Expression:
        return self._root_value(self._counts[count])

    def _root_value(self, value: Value) -> ast.Expression:
        """A value of `root`, in which an `&&` of the source is a `select`."""
        if isinstance(value, nodes.BuiltinCall) and value.function == "select" and value.type is BOOL:
            otherwise, chosen, condition = value.arguments
            if isinstance(otherwise, nodes.Constant) and otherwise.value.value is False:
                return self._logical(BinaryOp.LOGICAL_AND, condition, chosen)
            if isinstance(chosen, nodes.Constant) and chosen.value.value is True:
                return self._logical(BinaryOp.LOGICAL_OR, condition, otherwise)
        return self.root.of(value)

    def _logical(self, op: BinaryOp, lhs: Value, rhs: Value) -> ast.Expression:
        return syntax.binary(op, self._root_value(lhs), self._root_value(rhs))

    def _root(self) -> Iterator[ast.Declaration]:
        for value in self.module.root.instructions:
            if isinstance(value, nodes.Override):
                yield self._override(value)
            elif isinstance(value, nodes.Var):
                yield self._var(value)

    def _override(self, node: nodes.Override) -> ast.Override:
        default = None if node.default is None else self._root_value(node.default)
        attributes = tuple(_numbers(("id", node.id)))
        type = self.speller.type(node.type)
        return ast.Override(attributes, self.names.of(node), syntax.NOWHERE, type, default, syntax.NOWHERE)

    def _var(self, node: nodes.Var) -> ast.Var:
        assert isinstance(node.type, Pointer)
        binding = node.binding
        attributes = () if binding is None else _numbers(("group", binding.group), ("binding", binding.binding))
        initializer = None if node.initializer is None else self._root_value(node.initializer)
        type = None if has_no_name(node.type.store) else self.speller.type(node.type.store)
        space = _space(node.type, self._declared)
        return ast.Var(tuple(attributes), space, self.names.of(node), syntax.NOWHERE, type, initializer, syntax.NOWHERE)

    # Functions.

    def _function(self, function: nodes.Function) -> ast.Function:
        analysis = Analysis(self.module, function)
        names = self.names.function_scope(function, analysis)
        expressions = self._expressions(analysis.constants, analysis.operands())
        parameters = [self._parameter(it, names.name(it, "p")) for it in function.parameters]
        expressions.bound.update((it, names.name(it)) for it in function.parameters)
        body = FunctionWriter(analysis, Variables(function, analysis), expressions, names).body(function)
        attributes = tuple(self._attributes(function))
        return_type = None if function.return_type is VOID else self.speller.type(function.return_type)
        statements = [*self._phonies(function, [*body, *attributes]), *body]
        declaration = ast.Function(
            attributes,
            self.names.of(function),
            syntax.NOWHERE,
            tuple(parameters),
            tuple(io_attributes(function.return_io)),
            return_type,
            syntax.block(statements),
            syntax.NOWHERE,
        )
        check_limits(declaration, function.span)
        return declaration

    def _parameter(self, parameter: nodes.FunctionParameter, name: str) -> ast.Parameter:
        attributes = tuple(io_attributes(parameter.io))
        return ast.Parameter(attributes, name, syntax.NOWHERE, self.speller.type(parameter.type), syntax.NOWHERE)

    def _attributes(self, function: nodes.Function) -> Iterator[ast.Attribute]:
        yield from syntax.filters(function.diagnostics)
        if function.must_use:
            yield syntax.attribute("must_use")
        if function.stage is not None:
            yield syntax.attribute(function.stage.value)
        if function.stage is Stage.COMPUTE:
            yield syntax.attribute("workgroup_size", *map(self._root_value, function.workgroup_size))
        if function.subgroup_size is not None:
            size = function.subgroup_size
            yield syntax.attribute(
                "subgroup_size", syntax.integer(size) if isinstance(size, int) else self._count(size)
            )

    def _phonies(self, function: nodes.Function, written: Iterable[_Written]) -> list[ast.Statement]:
        """`_ = &name;` for each resource in the interface that the text does not use otherwise, even indirectly."""
        mentioned = {it.name for node in written for it in walk(node) if isinstance(it, ast.Identifier)}
        known: set[Value] = {it for callee in _callees(function) for it in callee.resources}
        known.update(self._by_name[name] for name in mentioned if name in self._by_name)
        unknown = set(function.resources) - self._with_needs(known)
        return [self._phony(it) for it in sorted(unknown, key=self._positions.__getitem__)]

    def _phony(self, resource: nodes.ValueDeclaration) -> ast.Statement:
        name = syntax.identifier(self.names.of(resource))
        is_memory = isinstance(resource, nodes.Var) and not is_handle_pointer(resource.type)
        return syntax.phony(syntax.address_of(name) if is_memory else name)

    def _with_needs(self, values: Iterable[Value]) -> set[Value]:
        """The values, and those of `root` that their initialisers and element counts use."""
        counts = self._counts
        found: set[Value] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                pending += [*value.operands, *(counts[it] for it in counts_in(value.type) if it in counts)]
        return found


def _growing(table: dict[K, str]) -> Iterator[tuple[K, str]]:
    """The items of a table, including those that are added during the iteration."""
    position = 0
    while position < len(table):
        found = list(table.items())[position:]
        position += len(found)
        yield from found


def _callees(function: nodes.Function) -> Sequence[nodes.Function]:
    return [it.callee for block in blocks_of(function) for it in block.instructions if isinstance(it, nodes.Call)]


def _space(type: Pointer, declared: Container[str]) -> tuple[ast.Expression, ...]:
    """Template arguments of `var`. `read`, the default, is omitted if a declaration of the module shadows the word."""
    if type.space is AddressSpace.HANDLE:
        return ()
    words = [type.space.value]
    if type.space is AddressSpace.STORAGE and not (type.access is Access.READ and "read" in declared):
        words.append(type.access.value)
    return tuple(map(syntax.identifier, words))


def _numbers(*pairs: tuple[str, int | None]) -> Sequence[ast.Attribute]:
    return [syntax.attribute(name, syntax.integer(value)) for name, value in pairs if value is not None]


def io_attributes(io: IoAttributes) -> Iterator[ast.Attribute]:
    """Stage input and output attributes (WGSL, "Input-output attributes")."""
    if io.builtin is not None:
        words = [word for word in (io.builtin, io.depth_mode) if word is not None]
        yield syntax.attribute("builtin", *map(syntax.identifier, words))
    yield from _numbers(("location", io.location), ("blend_src", io.blend_src), ("color", io.color))
    if io.interpolate:
        yield syntax.attribute("interpolate", *map(syntax.identifier, io.interpolate))
    if io.invariant:
        yield syntax.attribute("invariant")
