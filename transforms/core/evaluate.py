"""The value of a single operation whose operands are constants."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import builtins
from ...ir.constants import ConstantValue, RawValue
from ...ir.conversions import convert, elements
from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.operators import evaluate_binary, evaluate_unary
from ...ir.scalars import Mode
from ...ir.types import Type


def constant_result(instruction: nodes.Instruction, mode: Mode) -> ConstantValue | None:
    """The constant that the instruction gives; None where an operand is not constant or only a running shader knows.

    Raises EvaluationError in CONST mode, for what WGSL calls a shader-creation or pipeline-creation error.
    """
    operands = [operand.value for operand in instruction.operands if isinstance(operand, nodes.Constant)]
    if len(operands) < len(instruction.operands):
        return None
    value = _evaluate(instruction, [operand.value for operand in operands], mode)
    return None if value is None else ConstantValue(instruction.type, value)


def _evaluate(instruction: nodes.Instruction, args: Sequence[RawValue], mode: Mode) -> RawValue | None:
    match instruction:
        case nodes.Unary(op=op, operand=operand):
            return evaluate_unary(op, operand.type, args[0], mode)
        case nodes.Binary(op=op, lhs=lhs, rhs=rhs):
            return evaluate_binary(op, lhs.type, rhs.type, args[0], args[1], mode)
        case nodes.Convert(operand=operand, type=type):
            return convert(args[0], operand.type, type, mode)
        case nodes.Construct(elements=parts, type=type):
            return builtins.construct(type, _types(parts), args, mode)
        case nodes.Access():
            return _part(args[0], args[1:], mode)
        case nodes.Swizzle(components=components):
            return tuple(elements(args[0])[component] for component in components)
        case nodes.BuiltinCall(function=name, template_arguments=template_arguments, arguments=arguments, type=type):
            function = builtins.builtin(name)
            if function is None or not function.is_const:
                return None
            return builtins.evaluate(name, tuple(template_arguments), type, _types(arguments), args, mode)
        case _:
            return None


def _types(values: Sequence[Value]) -> tuple[Type, ...]:
    return tuple(value.type for value in values)


def _part(whole: RawValue, indices: Sequence[RawValue], mode: Mode) -> RawValue:
    for index in indices:
        assert isinstance(index, int)
        parts = elements(whole)
        if mode is Mode.CONST and not 0 <= index < len(parts):
            raise builtins.EvaluationError(f"index {index} is out of range for {len(parts)} elements")
        whole = parts[min(index & 0xFFFFFFFF, len(parts) - 1)]
    return whole
