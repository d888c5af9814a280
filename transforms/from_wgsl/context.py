"""The state shared by the parts of the builder."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core.builder import Builder
from ...ir.core.names import NameScope
from ...ir.core.nodes import Block, Function
from ...ir.core.values import Value
from ...ir.types import Type
from ...ir.wgsl import ast
from ...ir.wgsl.program import ExpressionFacts, Facts, FunctionInfo, Program, Variable


@dataclass(slots=True)
class Breakable:
    """A Loop or Switch under construction: where `break` and `continue` go, and whether any did."""

    merge_target: Block
    continuing_target: Block | None = None
    is_left: bool = False
    is_continued: bool = False


class Context:
    """The program read, the module written, and, inside a function, its names and the stack of control-flow nodes."""

    def __init__(self, program: Program, builder: Builder, names: NameScope) -> None:
        self.program = program
        self.builder = builder
        self.names = names
        self.values: dict[Variable, Value] = {}
        self.functions: dict[FunctionInfo, Function] = {}
        self.function: Function | None = None
        self.breakables: list[Breakable] = []

    @property
    def facts(self) -> Facts:
        """The facts of the resolver."""
        return self.program.facts

    @property
    def is_live(self) -> bool:
        """Whether control reaches the place where the next statement would go. Dead code is never built."""
        return self.builder.block is not None

    def facts_of(self, node: ast.Expression) -> ExpressionFacts:
        """The facts of an expression that has a value."""
        return self.facts.expressions[node]

    def here(self, node: ast.Expression | ast.Statement | ast.Declaration) -> Builder:
        """The builder, giving what it makes the span of the node."""
        self.builder.span = node.span
        return self.builder

    def type_of(self, node: ast.Expression) -> Type:
        """The concrete type of an expression's value."""
        return self.facts_of(node).result
