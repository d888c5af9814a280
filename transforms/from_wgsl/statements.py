"""Translates statements to loads, operations and stores (WGSL, "Statements")."""

from __future__ import annotations

from typing import assert_never

from ...ir.constants import ConstantValue
from ...ir.core.builder import u32
from ...ir.core.effects import has_effects
from ...ir.core.nodes import Constant, Function, FunctionParameter
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import AddressSpace, Pointer, Vector, pointer
from ...ir.wgsl import ast
from ...ir.wgsl.program import FunctionInfo
from .control import ControlFlowBuilder


class StatementBuilder(ControlFlowBuilder):
    """Builds the bodies of functions, one after another."""

    def function_body(self, function: Function, info: FunctionInfo) -> None:
        """Build the body of `function`, whose start block is empty. `names` must be a scope of its own."""
        self.function = function
        self.builder.block = function.start_target
        for variable in info.parameters:
            made = FunctionParameter(variable.io, variable.type, self.names.unique(variable.name), span=variable.span)
            function.parameters.append(made)
            self.values[variable] = made
        self.statements(info.node.body.statements)  # filters on the body belong to the function
        if self.is_live:
            self.implicit_return(function, info)

    def implicit_return(self, function: Function, info: FunctionInfo) -> None:
        """Build the return at the closing brace of a function."""
        self.here(info.node).return_(function)

    def statement(self, node: ast.Statement) -> None:
        """Build any statement at the insertion point, which must be live."""
        assert self.builder.block is not None
        if not isinstance(node, (ast.Block, ast.Const, ast.ConstAssert)):
            self.blocks.append((node, self.builder.block))
        match node:
            case ast.Block():
                self.block(node)
            case ast.If():
                self.if_(node)
            case ast.Switch():
                self.switch(node)
            case ast.Loop():
                self.loop(node)
            case ast.While():
                self.while_(node)
            case ast.For():
                self.for_(node)
            case ast.Var():
                self._var(node)
            case ast.Let():
                self._let(node)
            case ast.Const() | ast.ConstAssert():
                pass
            case ast.Assign():
                self._assign(node)
            case ast.CompoundAssign(op=op, target=target, value=value):
                self._compound(node, op, target, value)
            case ast.Increment(target=target):
                self._compound(node, BinaryOp.ADD, target, None)
            case ast.Decrement(target=target):
                self._compound(node, BinaryOp.SUBTRACT, target, None)
            case ast.PhonyAssign(value=value):
                self._phony(value)
            case ast.CallStatement(call=call):
                self.call(call)
            case ast.Print():
                self._print(node)
            case ast.Return(value=value):
                self._return(node, value)
            case ast.Break():
                self.here(node)
                self.break_()
            case ast.Continue():
                self.here(node)
                self.continue_()
            case ast.Discard():
                self.here(node).discard()
            case _:
                assert_never(node)

    def _var(self, node: ast.Var) -> None:
        variable = self.facts.declared[node]
        initializer = None if node.initializer is None else self.value(node.initializer)
        assert variable.space is not None
        assert variable.access is not None
        type = pointer(AddressSpace.FUNCTION, variable.type, variable.access)
        name = self.names.unique(variable.name)
        self.values[variable] = self.here(node).var(type, name=name, initializer=initializer)

    def _let(self, node: ast.Let) -> None:
        """A `let` gives its value its name, unless that is a constant or a parameter, or already has a name."""
        variable = self.facts.declared[node]
        value = self.value(node.initializer)
        if not isinstance(value, (Constant, FunctionParameter)) and value.name is None:
            value.name = self.names.unique(variable.name)
        self.values[variable] = value

    def _assign(self, node: ast.Assign) -> None:
        memory = self.value(node.target)
        value = self.value(node.value)
        self._store(node, node.target, memory, value)

    def _compound(
        self, node: ast.Statement, op: BinaryOp, target: ast.Expression, value: ast.Expression | None
    ) -> None:
        """Load, operate, store; the target is evaluated once (WGSL, "Compound Assignment"). The default value is 1."""
        memory = self.value(target)
        before: Value = self.here(node).load(memory)
        view = self.facts.swizzle_view(target)
        if view is not None:
            before = self.here(node).swizzle(before, view.components)
        operand = Constant(ConstantValue(before.type, 1), before.type, None) if value is None else self.value(value)
        self._store(node, target, memory, self.here(node).binary(op, before, operand))

    def _store(self, node: ast.Statement, target: ast.Expression, memory: Value, value: Value) -> None:
        """Store what is assigned. Through a view of some components of a vector, the others are loaded, once `value`
        is known, and stored with them (WGSL, "Swizzle Assignment").
        """
        builder = self.here(node)
        view = self.facts.swizzle_view(target)
        if view is None:
            builder.store(memory, value)
            return
        assert isinstance(memory.type, Pointer)
        whole = memory.type.store
        assert isinstance(whole, Vector)
        old = value if len(view.components) == whole.width else builder.load(memory)
        parts = list[Value]()
        for component in range(whole.width):
            is_new = component in view.components
            source, place = (value, view.components.index(component)) if is_new else (old, component)
            if isinstance(source, Constant):
                part = source.value.element(place, whole.element)
                parts.append(Constant(part, part.type, None, span=source.span))
            else:
                parts.append(builder.access(source, [u32(place)]))
        builder.store(memory, builder.construct(whole, parts))

    def _phony(self, node: ast.Expression) -> None:
        """Evaluate for effects only: operations without effects are removed again from the end of the block."""
        start = self.builder.block
        first = 0 if start is None else len(start.instructions)
        self.value(node)
        block = self.builder.block
        assert block is not None
        if block is not start:
            first = 0
        while len(block.instructions) > first and not has_effects(last := block.instructions[-1]) and not last.uses:
            last.drop_operands()
            block.instructions.pop()

    def _print(self, node: ast.Print) -> None:
        """Record the arguments, or evaluate them for their effects: with and without printing, outputs are the same."""
        if self.printing is None:
            for argument in node.arguments:
                self._phony(argument)
            return
        assert self.function is not None
        values = [self.value(argument) for argument in node.arguments]
        self.printing.record(self.here(node), self.function, node, values)

    def _return(self, node: ast.Return, value: ast.Expression | None) -> None:
        assert self.function is not None
        result = None if value is None else self.value(value)
        self.here(node).return_(self.function, result)
