"""Writes instructions as statements, one run for each region. Values with one use wait until their user is written."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never

from ...ir.builtins import builtin
from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.values import Value
from ...ir.types import VOID, Pointer, Type, Vector, element_type, has_no_name
from ...ir.wgsl import ast
from . import shapes, syntax
from .analysis import Analysis
from .depth import ACCEPTED, READABLE, Depths
from .expressions import Expressions, is_handle
from .names import FunctionNames
from .ordering import Effect, Tree, Waiting, effect_of
from .variables import Variable, Variables


class NotAnExpressionError(Exception):
    """A statement would be needed where only an expression is possible."""


@dataclass(slots=True)
class Frame:
    """The statements written so far, and the waiting values. A frame for an expression cannot have statements."""

    is_expression: bool = False
    statements: list[ast.Statement] = field(default_factory=list[ast.Statement])
    waiting: Waiting = field(default_factory=Waiting)


class InstructionWriter:
    """Writes the instructions of a function one after the other."""

    def __init__(
        self, analysis: Analysis, variables: Variables, expressions: Expressions, names: FunctionNames
    ) -> None:
        self.analysis = analysis
        self.shared = variables
        self.expressions = expressions
        self.names = names
        self.depths = Depths(expressions, lambda value: analysis.constants.of(value) is not None)
        self.frame = Frame()
        self.variables: dict[str, nodes.Var | Variable] = {}
        self._updates: dict[nodes.Store, nodes.Load] = {}
        self._updated: set[nodes.AnyValue] = set()

    @contextmanager
    def nested(self, *, is_expression: bool = False) -> Generator[Frame]:
        """Write into a new frame within the `with` block."""
        outer = self.frame
        self.frame = Frame(is_expression, waiting=Waiting(outer.waiting.clock))
        try:
            yield self.frame
        finally:
            outer.waiting.clock = max(outer.waiting.clock, self.frame.waiting.clock)
            self.frame = outer

    def write(self, statement: ast.Statement) -> None:
        """Append a statement."""
        if self.frame.is_expression:
            raise NotAnExpressionError
        self.frame.statements.append(statement)

    def gather(self, operands: Sequence[Value], effect: Effect, *, is_statement: bool) -> Tree:
        """Join waiting operands to an operation that executes now; first write out the values that must precede it."""
        effect = self.with_reads(operands, effect)
        while blocking := self.frame.waiting.in_the_way(operands, effect, is_statement=is_statement):
            for value in blocking:
                self.settle(value)
        return self.frame.waiting.take(operands, effect)

    def with_reads(self, operands: Sequence[Value], effect: Effect) -> Effect:
        """The effect of an operation, which is at least READ if some operand is in a shared variable."""
        return Effect.READ if effect is Effect.NONE and any(map(self.shared.is_shared, operands)) else effect

    def settle(self, value: Value, name: str | None = None) -> None:
        """Write a waiting value as a `let`, under `name` if it has no name."""
        if self.frame.is_expression:
            raise NotAnExpressionError
        self.frame.waiting.forget(value)
        assert isinstance(value, nodes.Instruction | nodes.BlockArgument)
        self._pin_updated(value)
        text = self.expressions.of(value)
        self.bind(value, self.names.name(value, name or "t"))
        self.write(syntax.let(self.expressions.bound[value], text))

    def assign(self, variable: Variable, value: ast.Expression, type: Type) -> None:
        """Assign to a variable, or declare it with this value."""
        if variable.is_declared:
            name = self.expressions.bound[variable.members[0]]
            self.write(shapes.assignment(syntax.identifier(name), value, type))
        else:
            self.declare(variable, value)

    def declare(self, variable: Variable, initializer: ast.Expression | None) -> None:
        """Declare a variable, whose name then stands for its values."""
        first = variable.members[0]
        named = [it for it in variable.members if isinstance(it, nodes.BlockArgument) and it.name is not None]
        assert isinstance(first, nodes.Instruction | nodes.BlockArgument)
        name = min((self.names.name(it) for it in named), key=len) if named else self.names.name(first)
        self.write(self._declaration(name, first.type, initializer))
        variable.is_declared = True
        self.variables[name] = variable
        for value in variable.members:
            self.bind(value, name)

    def _declaration(self, name: str, type: Type, initializer: ast.Expression | None) -> ast.Var:
        """A declaration with an initial value or else a type. If the type has no name, the initial value is zero."""
        if initializer is None and has_no_name(type):
            initializer = self.expressions.literal(zero_constant(type))
        return syntax.var(name, self.expressions.type(type) if initializer is None else None, initializer)

    def bind(self, value: Value, name: str) -> None:
        """Use this name for the value from now on."""
        self.expressions.bound[value] = name

    def instruction(self, node: nodes.Instruction) -> None:
        """Write an instruction, or let it wait for its user."""
        if not self.analysis.is_live(node):
            return
        self._hide_operands(node)
        match node:
            case nodes.Var():
                self._var(node)
            case nodes.Store():
                self._store(node)
            case nodes.Discard():
                self.gather((), Effect.WRITE, is_statement=True)
                self.write(ast.Discard(syntax.NOWHERE))
            case nodes.Access() if isinstance(node.type, Pointer):
                self._pointer(node)
            case nodes.PureInstruction() | nodes.Load() | nodes.Call() | nodes.BuiltinCall() | nodes.Override():
                self._value(node)
            case _:
                assert_never(node)

    def _hide_operands(self, node: nodes.Instruction) -> None:
        for index in self.analysis.constants.hidden(node):
            constant = node.operands[index]
            value = self.expressions.of(constant)
            name = constant.name if isinstance(constant, nodes.Constant) and constant.name else "t"
            if self.frame.is_expression:
                raise NotAnExpressionError
            self.expressions.hidden[node, index] = unique = self.names.unique(name)
            self.write(syntax.var(unique, None, value))  # a `let` would not do: naga evaluates it as a constant

    def _var(self, node: nodes.Var) -> None:
        self.gather(node.operands, Effect.NONE, is_statement=True)
        initializer = None if node.initializer is None else self.expressions.of(node.initializer)
        name = self.names.name(node, "v")
        assert isinstance(node.type, Pointer)
        self.write(self._declaration(name, node.type.store, initializer))
        self.bind(node, name)
        self.variables[name] = node

    def _value(self, node: nodes.Instruction) -> None:
        """Write an operation with a result or a call without one, or let it wait."""
        if is_handle(node):
            return
        self._shorten(node)
        effect = effect_of(node)
        if node.type is VOID or (has_effects(node) and not self.analysis.uses(node) and node.name is None):
            self.gather(node.operands, effect, is_statement=True)
            self.write(self.call_statement(node))
        elif (variable := self.shared.of(node)) is not None:
            self.gather(node.operands, Effect.WRITE, is_statement=True)
            self.assign(variable, self.expressions.instruction(node), node.type)
        elif self._waits(node):
            self.frame.waiting.add(node, self.gather(node.operands, effect, is_statement=False))
        else:
            self.gather(node.operands, effect, is_statement=True)
            self.settle(node)

    def is_too_deep(self, node: nodes.AnyValue) -> bool:
        """Whether the expression of a value without a name nests too deep for the value to wait."""
        return self.depths.measure(node).exceeds(ACCEPTED if self.frame.is_expression else READABLE)

    def _shorten(self, node: nodes.Instruction) -> None:
        """Name operands of a value, the deepest first, until its expression no longer nests too deep."""
        while self.is_too_deep(node) and (deepest := self.depths.deepest_operand(node)) is not None:
            self.gather([deepest], Effect.NONE, is_statement=True)
            if deepest not in self.expressions.bound:
                self.settle(deepest, self.depths.name(deepest))

    def call_statement(self, node: nodes.Instruction) -> ast.Statement:
        """A call whose result, if any, is not used."""
        call = self.expressions.instruction(node)
        assert isinstance(call, ast.Call)
        return syntax.phony(call) if _must_use(node) else ast.CallStatement(call, syntax.NOWHERE)

    def _waits(self, node: nodes.AnyValue) -> bool:
        """Whether the value can become part of its only user, which is in the same run of statements."""
        uses = self.analysis.uses(node)
        return node.name is None and len(uses) == 1 and self._is_here(node, uses[0].user)

    def _is_here(self, node: nodes.AnyValue, user: object) -> bool:
        place = self.region_of(node)
        return isinstance(user, nodes.Instruction | nodes.Branch | nodes.If | nodes.Switch) and (
            self.analysis.region_of(user) == place
        )

    def region_of(self, node: nodes.AnyValue) -> int | None:
        """The region in which a value is defined."""
        if isinstance(node, nodes.BlockArgument):
            return self.analysis.region_of_argument(node)
        return self.analysis.region_of(node)

    # Pointers. One without a name is written again for each user, but its indices are computed only once.

    def _pointer(self, node: nodes.Access) -> None:
        if node.name is not None and not _is_component(node):
            self.gather(node.operands, Effect.NONE, is_statement=True)
            self.settle(node)
        elif self._waits(node) or self._is_update(node):
            self.frame.waiting.add(node, self.gather(node.operands, Effect.NONE, is_statement=False))
        else:
            self.gather((), Effect.NONE, is_statement=True)
            self._pin(node)

    def _pin(self, node: nodes.Access) -> None:
        """Give the indices names, so that the pointer can be written more than once."""
        for operand in node.operands:
            self.gather([operand], Effect.NONE, is_statement=True)
            if isinstance(operand, nodes.Access) and isinstance(operand.type, Pointer):
                if operand not in self.expressions.bound:
                    self._pin(operand)
            elif operand not in self.expressions.bound and self.analysis.constants.of(operand) is None:
                self.settle(operand)

    def keep(self, value: ast.Expression) -> str:
        """Write a value as a `let` of its own."""
        name = self.names.unique("t")
        self.write(syntax.let(name, value))
        return name

    def _is_update(self, node: nodes.Access) -> bool:
        """Whether the pointer is only used by one `memory op= value`; if so, records its load and store."""
        users = [use.user for use in self.analysis.uses(node)]
        loads = [user for user in users if isinstance(user, nodes.Load)]
        stores = [user for user in users if isinstance(user, nodes.Store) and user.pointer is node]
        if node.name is not None or len(users) != 2 or not loads or not stores:
            return False
        load, store, value = loads[0], stores[0], stores[0].value
        is_update = (
            isinstance(value, nodes.Binary)
            and not value.op.is_comparison
            and value.lhs is load
            and value.rhs is not load
            and self._waits(load)
            and self._waits(value)
            and self._is_here(node, store)
            and self._is_here(node, load)
        )
        if is_update:
            self._updates[store] = load
            self._updated.add(node)
        return is_update

    def _pin_updated(self, value: Value) -> None:
        """Name the indices of pointers whose load, meant for `memory op= value`, is written separately: the pointer is
        then written twice.
        """
        pending = [value]
        while pending:
            current = pending.pop()
            if isinstance(current, nodes.Access) and current in self._updated:
                self._updated.discard(current)
                self._pin(current)
            elif current not in self.expressions.bound:
                pending.extend(current.operands)

    def _store(self, node: nodes.Store) -> None:
        load = self._updates.get(node)
        value = node.value
        is_update = load is not None and load.pointer in self._updated and value not in self.expressions.bound
        if is_update and isinstance(value, nodes.Binary):
            self.gather([value], Effect.WRITE, is_statement=True)
        if is_update and isinstance(value, nodes.Binary) and value not in self.expressions.bound:
            target = self.expressions.memory(node.pointer)
            operand = self.expressions.operand(value, 1)
            self.write(shapes.compound_assignment(value.op, target, operand, value.type))
        else:
            self.gather(node.operands, Effect.WRITE, is_statement=True)
            target = self.expressions.memory(node.pointer)
            self.write(shapes.assignment(target, self.expressions.of(value), value.type))


def _is_component(node: nodes.Access) -> bool:
    """Whether the pointer is to a component of a vector, of which WGSL has no pointer values."""
    type = node.object.type
    type = type.store if isinstance(type, Pointer) else type
    for index in node.indices[:-1]:
        number = index.value.value if isinstance(index, nodes.Constant) else 0
        part = element_type(type, number if isinstance(number, int) else 0)
        assert part is not None
        type = part
    return isinstance(type, Vector)


def _must_use(node: nodes.Instruction) -> bool:
    if isinstance(node, nodes.Call):
        return node.callee.must_use
    function = builtin(node.function) if isinstance(node, nodes.BuiltinCall) else None
    return node.type is not VOID and (function is None or function.flags.must_use)
