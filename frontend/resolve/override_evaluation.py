"""Evaluation of expressions once overrides have values (WGSL, "`override` Expressions").

An expression that depends on known values only has a value; in all others, every part with a value is checked: a zero
divisor, an index out of bounds, an invalid argument.
"""

from __future__ import annotations

from typing import assert_never

from ...ir.builtins import builtin, check_arguments, construct, evaluate
from ...ir.builtins.buffer_views import VIEWS, view_fault
from ...ir.constants import RawValue
from ...ir.conversions import elements
from ...ir.diagnostics import DiagnosticList
from ...ir.operators import check_right_operand, evaluate_binary, evaluate_unary
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.scalars import EvaluationError, Mode
from ...ir.types import Array, Buffer, OverrideCount, Pointer, Reference, Type
from ...ir.wgsl import ast
from ...ir.wgsl.program import CallsBuiltin, Constructs, Converts, Facts, MemberIndex, Swizzle, SwizzleView, Variable
from .access import index_fault


class OverrideEvaluator:
    """Evaluates under `values` of overrides and `counts` of elements, both filled by its user; reports errors."""

    def __init__(self, facts: Facts, diagnostics: DiagnosticList) -> None:
        self._facts = facts
        self._diagnostics = diagnostics
        self.values: dict[Variable, RawValue] = {}
        self.counts: dict[OverrideCount, int] = {}

    def evaluate(self, node: ast.Expression) -> RawValue | None:
        """The value if it is known, else None; all parts are checked."""
        facts = self._facts.expressions[node]
        if facts.constant is not None:
            return facts.constant.value
        try:
            match node:
                case ast.Identifier():
                    return self.values.get(self._facts.names[node])
                case ast.Paren():
                    return self.evaluate(node.operand)
                case ast.Unary():
                    return self._unary(node)
                case ast.Binary():
                    return self._short_circuit(node) if node.op.is_short_circuit else self._binary(node)
                case ast.Call():
                    return self._call(node)
                case ast.Index():
                    return self._index(node)
                case ast.MemberAccess():
                    return self._member(node)
                case ast.BoolLiteral() | ast.IntLiteral() | ast.FloatLiteral():
                    return None
                case _:
                    assert_never(node)
        except EvaluationError as error:
            self._diagnostics.error("evaluation-error", error.message, node.span)
            return None

    def _type(self, node: ast.Expression) -> Type:
        return self._facts.expressions[node].result

    def _unary(self, node: ast.Unary) -> RawValue | None:
        value = self.evaluate(node.operand)
        if value is None or node.op in (UnaryOp.ADDRESS_OF, UnaryOp.INDIRECTION):
            return None
        return evaluate_unary(node.op, self._type(node.operand), value, Mode.CONST)

    def _short_circuit(self, node: ast.Binary) -> RawValue | None:
        left = self.evaluate(node.lhs)
        if left is (node.op is BinaryOp.LOGICAL_OR):
            return left
        right = self.evaluate(node.rhs)
        return None if left is None else right

    def _binary(self, node: ast.Binary) -> RawValue | None:
        left, right = self.evaluate(node.lhs), self.evaluate(node.rhs)
        if right is None:
            return None
        left_type, right_type = self._type(node.lhs), self._type(node.rhs)
        if left is None:
            check_right_operand(node.op, left_type, right_type, right)
            return None
        return evaluate_binary(node.op, left_type, right_type, left, right, Mode.CONST)

    def _call(self, node: ast.Call) -> RawValue | None:
        arguments = [self.evaluate(argument) for argument in node.arguments]
        known = [value for value in arguments if value is not None]
        types = tuple([self._type(argument) for argument in node.arguments])
        match self._facts.calls[node]:
            case CallsBuiltin(name=name, template_arguments=templates):
                function = builtin(name)
                if len(known) == len(arguments) and function is not None and function.is_const:
                    return evaluate(name, templates, self._type(node), types, known, Mode.CONST)
                check_arguments(name, types, arguments, templates)
                if name in VIEWS:
                    self._check_view(node, templates[0], arguments)
            case Constructs(type=type) | Converts(type=type) if len(known) == len(arguments):
                return construct(type, types, known, Mode.CONST)
            case _:
                pass
        return None

    def _check_view(self, node: ast.Call, type: Type, arguments: list[RawValue | None]) -> None:
        """WGSL, "Buffer View Built-in Functions"."""
        pointer = self._type(node.arguments[0])
        assert isinstance(pointer, Pointer)
        assert isinstance(pointer.store, Buffer)
        length = pointer.store.size
        if isinstance(length, OverrideCount):
            length = self.counts.get(length)
        offset, size = [value if isinstance(value, int) else None for value in (*arguments[1:], None)][:2]
        fault = view_fault(type, length, offset, size)
        if fault is not None:
            place = node.arguments[fault.argument] if fault.argument else node
            self._diagnostics.error("evaluation-error", fault.message, place.span)

    def _index(self, node: ast.Index) -> RawValue | None:
        object, index = self.evaluate(node.object), self.evaluate(node.index)
        if not isinstance(index, int):
            return None
        composite = self._type(node.object)
        if isinstance(composite, (Reference, Pointer)):
            composite = composite.store
        fault = index_fault(composite, index)
        if isinstance(composite, Array) and isinstance(composite.count, OverrideCount):
            count = self.counts.get(composite.count)
            if count is not None and index >= count:
                fault = f"index {index} is out of bounds: there are {count} elements"
        if fault is not None:
            self._diagnostics.error("index-out-of-bounds", fault, node.index.span)
            return None
        return None if object is None else elements(object)[index]

    def _member(self, node: ast.MemberAccess) -> RawValue | None:
        object = self.evaluate(node.object)
        if object is None:
            return None
        match self._facts.members[node]:
            case MemberIndex(index=index):
                return elements(object)[index]
            case Swizzle(components=(component,)):
                return elements(object)[component]
            case Swizzle(components=components):
                return tuple([elements(object)[component] for component in components])
            case SwizzleView():
                return None
