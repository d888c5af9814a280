"""The state shared by the parts of the builder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.records import dataclass
from ...ir.core.builder import Builder
from ...ir.core.names import NameScope
from ...ir.core.nodes import Block, Function
from ...ir.core.values import Value
from ...ir.types import Type
from ...ir.wgsl import ast
from ...ir.wgsl.program import ExpressionFacts, Facts, FunctionInfo, Program, Variable

if TYPE_CHECKING:
    from .printing import Printing


@dataclass(slots=True)
class Breakable:
    """A Loop or Switch under construction: the targets of `break` and `continue`, and whether there was any of them."""

    merge_target: Block
    continuing_target: Block | None = None
    is_left: bool = False
    is_continued: bool = False


class Context:
    """The program, the builder of the module, and, inside a function, its names and the stack of Loops and Switches."""

    def __init__(self, program: Program, builder: Builder, names: NameScope) -> None:
        self.program = program
        self.builder = builder
        self.names = names
        self.values: dict[Variable, Value] = {}
        self.functions: dict[FunctionInfo, Function] = {}
        self.function: Function | None = None
        self.breakables: list[Breakable] = []
        self.blocks: list[tuple[ast.Statement, Block]] = []
        """The block in which each statement that runs begins, in the order of the text."""
        self.printing: Printing | None = None
        """Where statements print to; without it, their arguments are only evaluated."""

    @property
    def facts(self) -> Facts:
        """The facts of the resolver."""
        return self.program.facts

    @property
    def is_live(self) -> bool:
        """Whether the insertion point is reachable. Dead code is never built."""
        return self.builder.block is not None

    def facts_of(self, node: ast.Expression) -> ExpressionFacts:
        """The facts of an expression that has a value."""
        return self.facts.expressions[node]

    def here(self, node: ast.Expression | ast.Statement | ast.Declaration) -> Builder:
        """The builder, set to give new instructions the span of the node."""
        self.builder.span = node.span
        return self.builder

    def type_of(self, node: ast.Expression) -> Type:
        """The concrete type of an expression's value."""
        return self.facts_of(node).result
