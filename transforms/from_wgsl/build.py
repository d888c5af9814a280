"""Builds a Module from a Program.

The interface of each function (its resources) is taken from the resolver's facts before anything is built, because a
use in dead code counts, but dead code is never built. Module scope is built first, in `root` and in dependency order,
then the functions, callees first. The builder is a chain of classes, each derived from the one before: those of
`context`, `expressions`, `control`, and `statements`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from ...base.interpreter_state import deep_nesting
from ...ir.core.builder import Builder, empty_module
from ...ir.core.names import NameScope
from ...ir.core.nodes import ArrayCount, Block, DiagnosticFilter, Module, Override, Var
from ...ir.language import SWIZZLE_ASSIGNMENT
from ...ir.schema.traverse import walk
from ...ir.types import Extent, OverrideCount, Pointer, Scalar, pointer
from ...ir.wgsl import ast
from ...ir.wgsl import program as wgsl
from ...ir.wgsl.program import FunctionInfo, Program, Variable
from .control import nested_filters
from .statements import StatementBuilder

if TYPE_CHECKING:
    from .printing import Printing

_PREDECLARED = ("bool", "i32", "u32", "f32", "f16", "array", "atomic", "ptr", "vec2", "vec3", "vec4", "bitcast")


def build(program: Program) -> Module:
    """The core IR of a program; total for valid programs."""
    return build_with_places(program)[0]


@deep_nesting()
def build_with_places(program: Program) -> tuple[Module, Sequence[tuple[ast.Statement, Block]]]:
    """The core IR of a program, and the block in which each of its statements begins, unless nothing reaches it."""
    builder = ModuleBuilder.of(program)
    return builder.whole_module(), builder.blocks


@deep_nesting()
def build_with_printing(program: Program) -> tuple[Module, Printing]:
    """The core IR of a program in which `debugPrintf` leaves records in a buffer of our own. Raises InputError if there
    is no binding left for the buffer.
    """
    from .printing import Printing

    builder = ModuleBuilder.of(program)
    builder.module_scope()
    most = sum(isinstance(it, ast.Print) for it in walk(program.unit))
    printing = builder.printing = Printing(builder.builder.module, builder.names, most)
    builder.all_functions()
    printing.finish()
    return builder.builder.module, printing


class ModuleBuilder(StatementBuilder):
    """Builds module scope and all functions."""

    @classmethod
    def of(cls, program: Program) -> Self:
        """A builder for a program, with an empty module."""
        module = empty_module()
        module.enables = list(program.enables)
        module.requires = [it for it in program.requires if it != SWIZZLE_ASSIGNMENT]  # core IR assigns whole vectors
        module.diagnostics = list(_filters(program.diagnostics))
        module.structs = list(program.structs)
        return cls(program, Builder(module), NameScope(_taken_names(program)))

    def whole_module(self) -> Module:
        """Build everything."""
        self.module_scope()
        self.all_functions()
        return self.builder.module

    def module_scope(self) -> None:
        """Build variables, overrides and the values that they use, in `root`."""
        module = self.builder.module
        self.builder.block = module.root
        for variable in self.program.variables:
            self._declare(variable)
        for (name, key), expression in self.program.override_counts.items():
            module.counts.append(ArrayCount(OverrideCount(name, key), self.value(expression)))

    def _declare(self, variable: Variable) -> None:
        initial = variable.initializer
        if variable.kind == "const":
            return
        value = None if initial is None else self.value(initial)
        self.builder.span = variable.span
        if variable.kind == "override":
            assert isinstance(variable.type, Scalar)
            self.values[variable] = self.builder.override(
                variable.type, name=variable.name, default=value, id=variable.override_id
            )
        else:
            self.values[variable] = self.builder.var(
                _variable_pointer(variable), name=variable.name, initializer=value, binding=variable.binding
            )

    def all_functions(self) -> None:
        """Build all functions, callees first."""
        for function in self.program.functions:
            self.function_(function)

    def function_(self, info: FunctionInfo) -> None:
        """Build a function with its interface and its body."""
        self.builder.block = self.builder.module.root
        size = [self.value(expression) for expression in info.workgroup_size]
        self.builder.span = info.node.span
        function = self.builder.function(
            info.name, (), info.return_type, stage=info.stage, workgroup_size=size, return_io=info.return_io
        )
        function.resources = list(self._resources(info.resources))
        function.diagnostics = nested_filters(_filters(info.diagnostics), info.node.body.attributes)
        function.must_use = info.must_use
        function.subgroup_size = self._subgroup_size(info)
        self.functions[info] = function
        module_names, self.names = self.names, self.names.nested()
        self.function_body(function, info)
        self.names, self.function = module_names, None

    def _subgroup_size(self, info: FunctionInfo) -> Extent | None:
        """The subgroup size: a number, or a new count for an expression of overrides."""
        if info.subgroup_size is None:
            return None
        constant = self.facts_of(info.subgroup_size).constant
        if constant is not None:
            assert isinstance(constant.value, int)
            return constant.value
        count = OverrideCount(f"subgroup size of {info.name}")
        with self.builder.at(self.builder.module.root):
            self.builder.module.counts.append(ArrayCount(count, self.value(info.subgroup_size)))
        return count

    def _resources(self, variables: Iterable[Variable]) -> Iterator[Var | Override]:
        for variable in variables:
            value = self.values[variable]
            assert isinstance(value, (Var, Override))
            yield value


def _variable_pointer(variable: Variable) -> Pointer:
    assert variable.space is not None
    assert variable.access is not None
    return pointer(variable.space, variable.type, variable.access)


def _filters(filters: Iterable[wgsl.DiagnosticFilter]) -> Iterator[DiagnosticFilter]:
    return (DiagnosticFilter(it.severity, it.rule) for it in filters)


def _taken_names(program: Program) -> set[str]:
    """Names that no local may have once scopes are flattened: those of module scope, and all identifiers that name a
    type or a function.
    """
    taken = {*_PREDECLARED, *(it.name for it in program.structs), *(it.name for it in program.functions)}
    taken |= {variable.name for variable in program.variables if variable.kind != "const"}
    names = program.facts.names
    everything = list(walk(program.unit))
    spaces = [argument for it in everything if isinstance(it, ast.Var) for argument in it.template_arguments]
    attributes = [it for it in everything if isinstance(it, ast.Attribute)]
    context_dependent = {id(it) for node in (*spaces, *attributes) for it in walk(node)}
    identifiers = (it for it in everything if isinstance(it, ast.Identifier) and id(it) not in context_dependent)
    return taken | {it.name for it in identifiers if it not in names}
