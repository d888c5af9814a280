"""The table of instruction kinds: the typing rule of each and, if it is pure, its evaluator.

The builder gives a new instruction the type that its rule says, and the verifier computes that type again. An evaluator
is a function from the raw values of the operands to the raw value of the result; interpreters and folding share it. In
`Mode.CONST` evaluators raise EvaluationError where WGSL wants an error; in `Mode.RUNTIME` they are total.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from ..builtins import builtin, constructor, converter, evaluator
from ..constants import ConstantValue, RawValue
from ..conversions import elements
from ..operators import binary_evaluator, unary_evaluator
from ..scalars import EvaluationError, Mode
from ..types import VOID, Pointer, Type
from . import nodes, rules

Evaluate: TypeAlias = Callable[[Sequence[RawValue]], RawValue]


def result_type(instruction: nodes.Instruction) -> Type:
    """The type that the instruction's result must have. Raises RuleError.

    The operands of `Convert`, `Construct`, `Var` and `Override` do not determine the type: the instruction's own type
    is checked against them and returned.
    """
    match instruction:
        case nodes.Unary(op=op, operand=operand):
            return rules.unary_type(op, operand.type)
        case nodes.Binary(op=op, lhs=lhs, rhs=rhs):
            return rules.binary_type(op, lhs.type, rhs.type)
        case nodes.Convert(operand=operand, type=type):
            return rules.convert_type(type, operand.type)
        case nodes.Construct(elements=elements, type=type):
            return rules.construct_type(type, [element.type for element in elements])
        case nodes.Access(object=object, indices=indices):
            return rules.access_type(object.type, indices)
        case nodes.Swizzle(object=object, components=components):
            return rules.swizzle_type(object.type, components)
        case nodes.Load(pointer=source):
            return rules.load_type(source.type)
        case nodes.Store(pointer=target, value=value):
            return rules.store_type(target.type, value.type)
        case nodes.Var(initializer=initializer, type=type):
            return rules.var_type(type, initializer)
        case nodes.Override(default=default, type=type):
            return rules.override_type(type, default)
        case nodes.Call(callee=callee, arguments=arguments):
            return rules.call_type(callee, arguments)
        case nodes.BuiltinCall(function=function, template_arguments=template_arguments, arguments=arguments):
            return rules.builtin_type(function, template_arguments, arguments)
        case nodes.Discard():
            return VOID
        case _:
            assert_never(instruction)


def constant_result(instruction: nodes.Instruction, mode: Mode) -> ConstantValue | None:
    """The constant result of an instruction; None if an operand is not constant or the result exists only at run time.

    Raises EvaluationError in CONST mode, for what WGSL calls a shader-creation or pipeline-creation error.
    """
    operands = [operand.value.value for operand in instruction.operands if isinstance(operand, nodes.Constant)]
    if len(operands) < len(instruction.operands):
        return None
    evaluate = pure_evaluator(instruction, mode)
    return None if evaluate is None else ConstantValue(instruction.type, evaluate(operands))


def pure_evaluator(node: nodes.Instruction, mode: Mode) -> Evaluate | None:
    """The evaluator of a pure instruction; None if the instruction declares, accesses memory, calls or waits."""
    match node:
        case nodes.Unary(op=op, operand=operand):
            unary = unary_evaluator(op, operand.type, mode)
            return lambda args: unary(args[0])
        case nodes.Binary(op=op, lhs=lhs, rhs=rhs):
            binary = binary_evaluator(op, lhs.type, rhs.type, mode)
            return lambda args: binary(args[0], args[1])
        case nodes.Convert(operand=operand, type=type):
            convert = converter(operand.type, type, mode)
            return lambda args: convert(args[0])
        case nodes.Construct(elements=parts, type=type):
            return constructor(type, tuple(part.type for part in parts), mode)
        case nodes.Swizzle(components=components):
            return _swizzle(tuple(components))
        case nodes.Access(object=object):
            return None if isinstance(object.type, Pointer) else _element(mode)
        case nodes.BuiltinCall(function=name):
            function = builtin(name)
            return _builtin(node, mode) if function is not None and function.is_const else None
        case nodes.ReadingInstruction() | nodes.WritingInstruction() | nodes.ExitingInstruction():
            return None
        case nodes.Var() | nodes.Override():
            return None
        case _:
            assert_never(node)


def _builtin(node: nodes.BuiltinCall, mode: Mode) -> Evaluate:
    types = tuple(argument.type for argument in node.arguments)
    return evaluator(node.function, tuple(node.template_arguments), types, node.type, mode)


def _swizzle(components: tuple[int, ...]) -> Evaluate:
    def run(args: Sequence[RawValue]) -> RawValue:
        vector = elements(args[0])
        return tuple([vector[it] for it in components])

    return run


def _element(mode: Mode) -> Evaluate:
    return _checked_access if mode is Mode.CONST else _clamped_access


def _clamped_access(args: Sequence[RawValue]) -> RawValue:
    """Indices are taken as unsigned, so that a negative index is large, and clamped to the last element."""
    part = args[0]
    for index in args[1:]:
        assert isinstance(index, int)
        whole = elements(part)
        part = whole[index if 0 <= index < len(whole) else -1]
    return part


def _checked_access(args: Sequence[RawValue]) -> RawValue:
    part = args[0]
    for index in args[1:]:
        whole = elements(part)
        if not isinstance(index, int) or not 0 <= index < len(whole):
            raise EvaluationError(f"index {index} is out of range for {len(whole)} elements")
        part = whole[index]
    return part
