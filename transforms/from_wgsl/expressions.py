"""Translates expressions to single operations, operands from left to right (WGSL, "Expressions" and "Program Order
Within an Invocation").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...ir.constants import ConstantValue
from ...ir.core.builder import block_argument, bool_constant, u32
from ...ir.core.nodes import Constant
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.types import BOOL, U32, Pointer, vector
from ...ir.wgsl import ast
from ...ir.wgsl.program import CallsBuiltin, CallsFunction, Constructs, Converts, MemberIndex, Swizzle, SwizzleView
from .context import Context


class ExpressionBuilder(Context):
    """Builds the value of an expression at the insertion point.

    Pointers and references are the same here: the value of an expression that refers to memory is the pointer to it,
    so no operation is built for `&` and `*`.
    """

    def value(self, node: ast.Expression) -> Value:
        """The value of an expression: its constant; else its operation and a load where WGSL's load rule applies."""
        facts = self.facts_of(node)
        if facts.constant is not None:
            return Constant(facts.constant, facts.constant.type, None, span=node.span)
        found = self._operation(node)
        if facts.loads and isinstance(found.type, Pointer):
            return self.here(node).load(found)
        return found

    def _operation(self, node: ast.Expression) -> Value:
        match node:
            case ast.Identifier():
                return _own(self.values[self.facts.names[node]])
            case ast.Paren(operand=operand):
                return self.value(operand)
            case ast.Unary(op=UnaryOp.ADDRESS_OF | UnaryOp.INDIRECTION, operand=operand):
                return self.value(operand)
            case ast.Unary(op=op, operand=operand):
                value = self.value(operand)
                return self.here(node).unary(op, value)
            case ast.Binary():
                return self._short_circuit(node) if node.op.is_short_circuit else self._binary(node)
            case ast.Call():
                return self.call(node)
            case ast.Index() | ast.MemberAccess():
                return self._part(node)
            case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral():
                raise AssertionError("a literal always has a constant")
            case _:
                assert_never(node)

    def _binary(self, node: ast.Binary) -> Value:
        lhs = self.value(node.lhs)
        rhs = self.value(node.rhs)
        return self.here(node).binary(node.op, lhs, rhs)

    def _short_circuit(self, node: ast.Binary) -> Value:
        """`a && b` becomes an If that yields `b` or false; `a || b` one that yields true or `b`."""
        is_or = node.op is BinaryOp.LOGICAL_OR
        condition = self.value(node.lhs)
        if self.function is None:
            return self._selected(node, condition, is_or=is_or)
        result = block_argument(BOOL)
        result.span = node.span
        branch = self.here(node).enter_if(condition, [result])
        merge = branch.merge_target
        assert merge is not None
        decided, open_ = (branch.true_target, branch.false_target)[:: 1 if is_or else -1]
        with self.builder.at(decided):
            self.builder.branch(merge, [bool_constant(is_or)])
        with self.builder.at(open_):
            rhs = self.value(node.rhs)
            self.here(node).branch(merge, [rhs])
        self.builder.block = merge
        return result

    def _selected(self, node: ast.Binary, condition: Value, *, is_or: bool) -> Value:
        """A short-circuit of overrides becomes a `select`, since `root` has no control flow."""
        rhs = self.value(node.rhs)
        false, true = (rhs, bool_constant(True)) if is_or else (bool_constant(False), rhs)
        return self.here(node).builtin_call("select", [false, true, condition])

    def call(self, node: ast.Call) -> Value:
        """A call, value constructor or conversion that is not constant."""
        target = self.facts.calls[node]
        arguments = [self.value(argument) for argument in node.arguments]
        builder = self.here(node)
        match target:
            case CallsFunction(function=function):
                return builder.call(self.functions[function], arguments)
            case CallsBuiltin(name=name, template_arguments=template_arguments):
                return builder.builtin_call(name, arguments, template_arguments=template_arguments)
            case Constructs(type=type):
                is_copy = len(arguments) == 1 and arguments[0].type is type
                return arguments[0] if is_copy else builder.construct(type, arguments)
            case Converts(type=type):
                return arguments[0] if arguments[0].type is type else builder.convert(type, arguments[0])
            case _:
                assert_never(target)

    def _part(self, node: ast.Index | ast.MemberAccess) -> Value:
        target = self.facts.members[node] if isinstance(node, ast.MemberAccess) else None
        if isinstance(target, SwizzleView):
            return self.value(node.object)
        if isinstance(target, Swizzle) and len(target.components) > 1:
            return self._swizzle(node.object, target.components, node)
        object, indices = self._chain(node)
        return self.here(node).access(object, indices)

    def _swizzle(self, object: ast.Expression, components: Sequence[int], node: ast.Expression) -> Value:
        vector = self.value(object)
        builder = self.here(node)
        if isinstance(vector.type, Pointer):
            vector = builder.load(vector)
        return builder.swizzle(vector, components)

    def _chain(self, node: ast.Index | ast.MemberAccess) -> tuple[Value, list[Value]]:
        """The object at the start of a chain like `a[i].b`, and all indices of the chain, which becomes one access."""
        object, indices = self._chain_object(node.object)
        view = self.facts.swizzle_view(node.object)
        if isinstance(node, ast.Index):
            place = self.value(node.index)
            indices.append(place if view is None else self._viewed(view, place, node))
            return object, indices
        target = self.facts.members[node]
        match target:
            case MemberIndex(index=index):
                indices.append(u32(index))
            case Swizzle(components=components):
                indices.append(u32(components[0] if view is None else view.components[components[0]]))
            case SwizzleView():
                raise AssertionError("a view is no part of a chain")
            case _:
                assert_never(target)
        return object, indices

    def _viewed(self, view: SwizzleView, index: Value, node: ast.Index) -> Value:
        """The component of a vector that an index means in a view of it."""
        if isinstance(index, Constant) and isinstance(index.value.value, int):
            return u32(view.components[index.value.value])
        components = ConstantValue(vector(len(view.components), U32), view.components)
        return self.here(node).access(Constant(components, components.type, None), [index])

    def _chain_object(self, node: ast.Expression) -> tuple[Value, list[Value]]:
        facts = self.facts_of(node)
        if facts.constant is None and not facts.loads:
            match node:
                case ast.Paren(operand=operand):
                    return self._chain_object(operand)
                case ast.Unary(op=UnaryOp.ADDRESS_OF | UnaryOp.INDIRECTION, operand=operand):
                    return self._chain_object(operand)
                case ast.Index():
                    return self._chain(node)
                case ast.MemberAccess() if self.facts.swizzle_view(node) is not None:
                    return self._chain_object(node.object)
                case ast.MemberAccess() if not self._is_multiple(node):
                    return self._chain(node)
                case ast.Unary() | ast.MemberAccess() | ast.Binary() | ast.Call() | ast.Identifier():
                    pass
                case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral():
                    pass
                case _:
                    assert_never(node)
        return self.value(node), []

    def _is_multiple(self, node: ast.MemberAccess) -> bool:
        target = self.facts.members[node]
        return isinstance(target, Swizzle) and len(target.components) > 1


def _own(value: Value) -> Value:
    """A value for one use of it: a constant is copied, since each use needs its own Constant."""
    return Constant(value.value, value.type, None, span=value.span) if isinstance(value, Constant) else value
