"""Statements that compute further values of a nest, also those that functions of WGSL compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.core import nodes as core
from ...ir.core.values import Value
from ...ir.schedule.functions import evaluator, result_type
from ...ir.schedule.nodes import (
    BoolLiteral,
    Compute,
    Constant,
    ElementType,
    FloatLiteral,
    IntegerLiteral,
    Operand,
    Statement,
    Use,
)
from .names import Names

Number = bool | int | float


def constant(type: ElementType, value: Number) -> Constant:
    """A constant of a nest. The type has the value."""
    match type:
        case ElementType.BOOL:
            return Constant(type, BoolLiteral(bool(value)))
        case ElementType.I32 | ElementType.U32:
            return Constant(type, IntegerLiteral(int(value)))
        case ElementType.F32 | ElementType.F16:
            return Constant(type, FloatLiteral(float(value)))


def f32(value: float) -> Constant:
    """A constant of type f32, which has the value."""
    return constant(ElementType.F32, value)


@dataclass(slots=True)
class Computations:
    """Statements, to which computations are added. `types` has those of all values so far."""

    names: Names
    types: dict[str, ElementType]
    body: list[Statement] = field(default_factory=list[Statement])

    def type_of(self, operand: Operand) -> ElementType:
        """The type of a constant, or of a value."""
        return operand.type if isinstance(operand, Constant) else self.types[operand.name]

    def call(self, function: str, *operands: Operand, on: tuple[str, ...]) -> Operand:
        """What a function gives on these dimensions, which are all that its operands are on; a constant if those are
        constants.
        """
        types = tuple(map(self.type_of, operands))
        result = result_type(function, types)
        assert result is not None, f"{function} takes {types}"
        values = [it.value.value for it in operands if isinstance(it, Constant)]
        if len(values) == len(operands):
            known = evaluator(function, types)(values)
            assert isinstance(known, (bool, int, float))
            return constant(result, known)
        return self.new(Compute(self.names.fresh("e"), result, function, operands, on))

    def copy(self, value: Operand, *, on: tuple[str, ...]) -> Use:
        """The value made anew on these dimensions."""
        return self.new(Compute(self.names.fresh("e"), self.type_of(value), "copy", (value,), on))

    def new(self, value: Compute) -> Use:
        """Add a computation, whose name is new."""
        self.types[value.name] = value.type
        self.body.append(value)
        return Use(value.name)

    def inlined(self, function: core.Function, arguments: Sequence[Operand], *, on: tuple[str, ...]) -> Operand:
        """What a function of core IR returns, which has numbers as parameters and no branches."""
        known: dict[Value, Operand] = dict(zip(function.parameters, arguments, strict=True))
        block = function.start_target
        for node in block.instructions:
            assert isinstance(node, Value)
            known[node] = self._inlined(node, known, on)
        assert block.branch is not None
        (result,) = block.branch.arguments
        return _operand(result, known)

    def _inlined(self, node: core.Instruction, known: Mapping[Value, Operand], on: tuple[str, ...]) -> Operand:
        operands = [_operand(it, known) for it in node.operands]
        if isinstance(node, core.Call):
            return self.inlined(node.callee, operands, on=on)
        assert isinstance(node, (core.BuiltinCall, core.Unary, core.Binary)), f"a nest has nothing like {node}"
        function = node.function if isinstance(node, core.BuiltinCall) else node.op.value
        return self.call(function, *operands, on=on)


def _operand(value: Value, known: Mapping[Value, Operand]) -> Operand:
    if isinstance(value, core.Constant):
        number = value.value.value
        assert isinstance(number, (bool, int, float))
        return constant(ElementType(str(value.type)), number)
    return known[value]
