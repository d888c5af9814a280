"""What the resolver's modules share: the state of one run, resolved operands, and how an error ends a statement."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NoReturn, TypeAlias

from ...base.records import dataclass, field
from ...ir.constants import ConstantValue, RawValue
from ...ir.diagnostics import Diagnostic, DiagnosticList, Note, Severity
from ...ir.source import Source, Span
from ...ir.types import Stage, Struct, Type
from ...ir.wgsl import ast
from ...ir.wgsl.program import DiagnosticFilter, ExpressionFacts, Facts, FunctionInfo, Variable
from .suggest import Hints

_NOWHERE = Span(0, 0)


class Phase(enum.IntEnum):
    """When the value of an expression is known (WGSL, "Shader Lifecycle")."""

    CONST = 0
    OVERRIDE = 1
    RUNTIME = 2


@dataclass(slots=True)
class Operand(ExpressionFacts):
    """A resolved expression: its facts, and what only the resolver needs to know.

    `constant` is there when the expression is a const-expression that has been evaluated, which the operand of a
    short-circuit that is never reached is not. `root` is the variable or pointer parameter a memory view comes from.
    """

    span: Span = _NOWHERE
    phase: Phase = Phase.RUNTIME
    root: Variable | None = None

    @property
    def raw(self) -> RawValue | None:
        """The raw constant, in `result` type."""
        return None if self.constant is None else self.constant.value


class Abandon(Exception):
    """An error has been reported: give up the statement or declaration at hand, and go on with the next."""


DeclarationNode: TypeAlias = (
    ast.Alias
    | ast.Struct
    | ast.Function
    | ast.Override
    | ast.Var
    | ast.Const
    | ast.ConstAssert
    | ast.Let
    | ast.Parameter
)
Entity: TypeAlias = Variable | FunctionInfo | Type


@dataclass(eq=False, slots=True)
class Symbol:
    """A declared name.

    `uses` holds the module-scope symbols that a module-scope declaration names, each with the first place. `entity` is
    what the name stands for; None until the declaration is resolved, and for good when it is invalid.
    """

    name: str
    node: DeclarationNode | None
    span: Span
    index: int = -1
    uses: dict[Symbol, Span] = field(default_factory=dict["Symbol", Span])
    entity: Entity | None = None


class Flow(enum.Enum):
    """What a `break`, `continue` or `return` may be inside of."""

    LOOP = enum.auto()
    SWITCH = enum.auto()
    CONTINUING = enum.auto()


@dataclass(eq=False, slots=True)
class Accesses:
    """The variables and pointer parameters through which a function, or what it calls, reads and writes memory."""

    read: set[Variable] = field(default_factory=set[Variable])
    written: set[Variable] = field(default_factory=set[Variable])


@dataclass(eq=False, slots=True)
class FunctionState:
    """The function being resolved.

    `flow`: the loops, switches and continuing blocks around the statement at hand, outermost first.

    `restricted`: what it does that only some stages allow, with a place for each set of stages.

    `passed`: the roots of pointers that are passed to functions of the module, with the places of the arguments.
    """

    name: str
    return_type: Type
    flow: list[Flow] = field(default_factory=list[Flow])
    accesses: Accesses = field(default_factory=Accesses)
    restricted: dict[frozenset[Stage], tuple[str, Span]] = field(
        default_factory=dict[frozenset[Stage], "tuple[str, Span]"]
    )
    passed: list[tuple[int, Variable]] = field(default_factory=list["tuple[int, Variable]"])


@dataclass(eq=False, slots=True)
class Context:
    """The state of one run of the resolver."""

    source: Source
    diagnostics: DiagnosticList
    hints: Hints = field(default_factory=Hints)
    facts: Facts = field(default_factory=Facts)
    symbols: dict[int, Symbol] = field(default_factory=dict[int, Symbol])
    declared: dict[int, Symbol] = field(default_factory=dict[int, Symbol])
    enables: set[str] = field(default_factory=set[str])
    filters: list[DiagnosticFilter] = field(default_factory=list[DiagnosticFilter])
    structs: list[Struct] = field(default_factory=list[Struct])
    variables: list[Variable] = field(default_factory=list[Variable])
    functions: list[FunctionInfo] = field(default_factory=list[FunctionInfo])
    override_counts: dict[tuple[str, int], ast.Expression] = field(
        default_factory=dict[tuple[str, int], ast.Expression]
    )
    restricted: dict[FunctionInfo, dict[frozenset[Stage], tuple[str, Span]]] = field(
        default_factory=dict[FunctionInfo, "dict[frozenset[Stage], tuple[str, Span]]"]
    )
    pointer_roots: dict[Variable, Variable | None] = field(default_factory=dict[Variable, "Variable | None"])
    passed: dict[FunctionInfo, list[tuple[int, Variable]]] = field(
        default_factory=dict[FunctionInfo, "list[tuple[int, Variable]]"]
    )
    accesses: dict[FunctionInfo, Accesses] = field(default_factory=dict[FunctionInfo, Accesses])
    function: FunctionState | None = None
    unevaluated: int = 0

    def error(self, code: str, message: str, span: Span | None, notes: Iterable[Note] = ()) -> None:
        """Report an error and go on."""
        self.diagnostics.error(code, message, span, notes)

    def warn(self, code: str, message: str, span: Span | None, notes: Iterable[Note] = ()) -> None:
        """Report a warning."""
        self.diagnostics.add(Diagnostic(Severity.WARNING, code, message, span, tuple(notes)))

    def fail(self, code: str, message: str, span: Span | None, notes: Iterable[Note] = ()) -> NoReturn:
        """Report an error and give up the statement or declaration."""
        self.diagnostics.error(code, message, span, notes)
        raise Abandon

    def operand(
        self,
        node: ast.Expression,
        type: Type,
        phase: Phase,
        raw: RawValue | None = None,
        root: Variable | None = None,
    ) -> Operand:
        """Record the facts of an expression that no context has asked anything of yet."""
        constant = None if raw is None else ConstantValue(type, raw)
        operand = Operand(type, type, False, constant, node.span, phase, root)
        self.facts.expressions[node] = operand
        return operand
