"""Core IR with marks: where each statement begins, and which value stands for each variable and expression.

Tools that show a run statement by statement need both; core IR itself has neither, since a statement may give no
instruction, and a variable may be renamed or be the value of another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from ...base.interpreter_state import deep_nesting
from ...ir.core.builder import Builder
from ...ir.core.names import NameScope
from ...ir.core.nodes import Block, Function, Loop, Module
from ...ir.core.values import Value
from ...ir.print_formats import comment_start
from ...ir.source import Span
from ...ir.wgsl import ast
from ...ir.wgsl.program import FunctionInfo, NodeMap, Program, Variable
from .build import ModuleBuilder


class Role(Enum):
    """What a mark stands before: a statement, the condition of a loop, a turn of a loop, the end of a function, or,
    where the arguments of a `debugPrintf` have been evaluated, the printing.
    """

    STATEMENT = auto()
    CONDITION = auto()
    TURN = auto()
    END = auto()
    PRINT = auto()

    @property
    def is_stop(self) -> bool:
        """Whether a run may stop there."""
        return self not in (Role.TURN, Role.PRINT)


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A place between two instructions. `node` is the statement; for a condition its expression, for a turn the loop,
    for the end the function, for a printing the `debugPrintf`. `scope` has the variables of the function that are
    visible there, inner ones last, and `insertion` is an offset in the source where a statement would see the same
    variables.
    """

    role: Role
    node: ast.Statement | ast.Expression | ast.Function
    span: Span
    function: FunctionInfo
    scope: tuple[Variable, ...]
    insertion: int


@dataclass(frozen=True, slots=True, eq=False)
class MarkedModule:
    """A module with, for each block by its id, the marks and the number of instructions before each."""

    program: Program
    module: Module
    marks: dict[int, list[tuple[int, Mark]]]
    values: dict[Variable, Value]
    expressions: NodeMap[ast.Expression, Value]
    functions: dict[Function, FunctionInfo] = field(default_factory=dict[Function, FunctionInfo])


@deep_nesting()
def build_marked(program: Program) -> MarkedModule:
    """The module that `build` makes of a program, with its marks."""
    builder = _MarkingBuilder.of(program)
    module = builder.whole_module()
    functions = {function: info for info, function in builder.functions.items()}
    return MarkedModule(program, module, builder.marks, builder.values, builder.expressions, functions)


_WITHOUT_MARK = (ast.Block, ast.Loop, ast.While, ast.For, ast.Const, ast.ConstAssert)
"""Statements at which nothing is done yet: their parts have marks of their own."""


class _MarkingBuilder(ModuleBuilder):
    def __init__(self, program: Program, builder: Builder, names: NameScope) -> None:
        super().__init__(program, builder, names)
        self.marks: dict[int, list[tuple[int, Mark]]] = {}
        self.expressions = NodeMap[ast.Expression, Value]()
        self._info: FunctionInfo | None = None
        self._scope: tuple[Variable, ...] = ()
        self._insertion: int | None = None

    def value(self, node: ast.Expression) -> Value:
        """Record the value of each expression."""
        made = super().value(node)
        self.expressions[node] = made
        return made

    def function_body(self, function: Function, info: FunctionInfo) -> None:
        """Begin the scope of the function."""
        self._info, self._scope = info, info.parameters
        super().function_body(function, info)

    def implicit_return(self, function: Function, info: FunctionInfo) -> None:
        """Mark the closing brace."""
        end = info.node.body.span.end
        self._mark(Role.END, info.node, Span(end - 1, end), end - 1)
        super().implicit_return(function, info)

    def statement(self, node: ast.Statement) -> None:
        """Mark a statement, and extend the scope by what it declares."""
        if not isinstance(node, _WITHOUT_MARK):
            self._mark(Role.STATEMENT, node, node.span, self._before(node))
        super().statement(node)
        if isinstance(node, (ast.Var, ast.Let, ast.Const)):
            self._scope = (*self._scope, self.facts.declared[node])

    def if_(self, node: ast.If) -> None:
        """Statements that stand for an `else if` go before the whole `if`."""
        self._at(node.span.start, lambda: super(_MarkingBuilder, self).if_(node))

    def block(self, node: ast.Block) -> None:
        """End the scope with the block."""
        before, outer = self._scope, self._insertion
        self._insertion = None
        super().block(node)
        self._scope, self._insertion = before, outer

    def for_(self, node: ast.For) -> None:
        """End the scope with the statement; what its head declares is visible at the start of its body."""
        before = self._scope
        self._at(node.body.span.start + 1, lambda: super(_MarkingBuilder, self).for_(node))
        self._scope = before

    def loop(self, node: ast.Loop) -> None:
        """End the scope with the statement: its continuing part sees the declarations of its body."""
        before, outer = self._scope, self._insertion
        self._insertion = None
        super().loop(node)
        self._scope, self._insertion = before, outer

    def while_(self, node: ast.While) -> None:
        """Statements that stand for the condition go before the loop."""
        self._at(node.span.start, lambda: super(_MarkingBuilder, self).while_(node))

    def _at(self, insertion: int, build: Callable[[], None]) -> None:
        before = self._insertion
        if before is None:
            self._insertion = insertion
        build()
        self._insertion = before

    def _loop(self, node: ast.Statement, body: Callable[[], None], continuing: Callable[[Loop], None]) -> None:
        def marked() -> None:
            self._mark(Role.TURN, node, node.span, node.span.start)
            body()

        super()._loop(node, marked, continuing)

    def _print(self, node: ast.Print) -> None:
        """Keep the values of the arguments."""
        for argument in node.arguments:
            self.value(argument)
        self._mark(Role.PRINT, node, node.span, self._before(node))

    def _before(self, node: ast.Statement) -> int:
        """Where another statement may stand before a statement, which may stand in a comment."""
        start = node.span.start
        comment = comment_start(self.program.source.data, start) if isinstance(node, ast.Print) else None
        return start if comment is None else comment

    def _guarded(self, condition: ast.Expression | None, body: ast.Block) -> None:
        if condition is not None:
            self._mark(Role.CONDITION, condition, condition.span, condition.span.start)
        super()._guarded(condition, body)

    def _break_if(self, condition: ast.Expression, loop: Loop) -> None:
        start = self.program.source.data.rfind(b"break", 0, condition.span.start)
        self._mark(Role.CONDITION, condition, condition.span, start)
        super()._break_if(condition, loop)

    def _mark(
        self, role: Role, node: ast.Statement | ast.Expression | ast.Function, span: Span, insertion: int
    ) -> None:
        block = self.builder.block
        assert isinstance(block, Block)
        assert self._info is not None
        at = insertion if self._insertion is None else self._insertion
        mark = Mark(role, node, span, self._info, self._scope, at)
        self.marks.setdefault(id(block), []).append((len(block.instructions), mark))


def statements_of(marks: Iterable[list[tuple[int, Mark]]]) -> list[Mark]:
    """All marks at which a run may stop, in the order of the source."""
    found = [mark for pairs in marks for _, mark in pairs if mark.role.is_stop]
    return sorted(found, key=lambda mark: mark.span)
