"""The operations on scalars: the result type, operand rules and evaluator of each kind of `ScalarNode`.

Type inference asks for `result_type`, the verifier for `mistakes`, constant folding and the interpreter for `kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from ...base.records import dataclass
from . import arithmetic
from .arithmetic import ScalarValue, UnknownOperation
from .nodes import (
    AnyScalarNode,
    Binary,
    Bitcast,
    Bool,
    Cast,
    Intrinsic,
    Node,
    ScalarNode,
    Select,
    Type,
    Unary,
    UnaryOp,
)
from .types import BOOL, COMPARISONS, Scalar, has_known_width, is_scalar

Kernel: TypeAlias = Callable[..., ScalarValue]
"""A function from the operands' values to the result's."""
TypeText: TypeAlias = Callable[[Node], str]
"""Shows the type of a node."""


def result_type(node: AnyScalarNode, types: Mapping[Node, Type]) -> Type | None:
    """The type of the result; None while the operands' types do not suffice."""
    match node:
        case Binary(op, lhs):
            return BOOL if op in COMPARISONS else types.get(lhs)
        case Unary(operand=like) | Select(if_true=like):
            return types.get(like)
        case Cast(type) | Bitcast(type) | Intrinsic(type=type):
            return type
        case _:
            assert_never(node)


def kernel(node: AnyScalarNode, operands: Sequence[Scalar], result: Scalar) -> Kernel:
    """The evaluator for operands of these types. It is total."""
    match node:
        case Unary(op):
            return arithmetic.unary(op, operands[0])
        case Binary(binary_op):
            return arithmetic.binary(binary_op, operands[0])
        case Select():
            return _choose
        case Cast():
            return arithmetic.cast(operands[0], result)
        case Bitcast():
            return arithmetic.bitcast(operands[0], result)
        case Intrinsic(function):
            run = arithmetic.intrinsic(function, operands, result)
            return lambda *values: run(values)
        case _:
            assert_never(node)


def _choose(condition: ScalarValue, if_true: ScalarValue, if_false: ScalarValue) -> ScalarValue:
    return if_true if condition else if_false


@dataclass(frozen=True, slots=True)
class OperandRule:
    """A rule of the verifier: its name, what it demands, and the kinds that it is about."""

    name: str
    sentence: str
    kinds: tuple[type[ScalarNode], ...]


OPERAND_RULES: Final = (
    OperandRule("unary", "A unary operation has its operand's type", (Unary,)),
    OperandRule("binary", "A binary operation has two operands of one type that has it", (Binary,)),
    OperandRule("select", "A select chooses by a bool between scalars of one type", (Select,)),
    OperandRule("conversion", "Conversions are of scalars; a bitcast keeps the width", (Cast, Bitcast)),
    OperandRule("intrinsic", "An intrinsic is a WGSL builtin function of scalars", (Intrinsic,)),
)


def mistakes(node: AnyScalarNode, types: Mapping[Node, Type], show: TypeText) -> Iterator[str]:
    """The errors in the operands, all of which have types."""
    match node:
        case Unary(op, operand):
            yield from _unary_mistakes(op, types[operand], show(operand))
        case Binary():
            yield from _binary_mistakes(node, types, show)
        case Select():
            yield from _select_mistakes(node, types, show)
        case Cast() | Bitcast():
            yield from _conversion_mistakes(node, types, show)
        case Intrinsic():
            yield from _intrinsic_mistakes(node, types, show)
        case _:
            assert_never(node)


def _unary_mistakes(op: UnaryOp, type: Type, shown: str) -> Iterator[str]:
    if not is_scalar(type) or not _exists(lambda: arithmetic.unary(op, type)):
        yield f"there is no {op.value} of {shown}"


def _binary_mistakes(node: Binary, types: Mapping[Node, Type], show: TypeText) -> Iterator[str]:
    type = types[node.lhs]
    if type != types[node.rhs]:
        yield f"the operands have types {show(node.lhs)} and {show(node.rhs)}"
    elif not is_scalar(type) or not _exists(lambda: arithmetic.binary(node.op, type)):
        yield f"there is no {node.op.value} of {show(node.lhs)}"


def _select_mistakes(node: Select, types: Mapping[Node, Type], show: TypeText) -> Iterator[str]:
    if types[node.condition] != BOOL:
        yield f"the condition has type {show(node.condition)} instead of bool"
    if types[node.if_true] != types[node.if_false]:
        yield f"chooses between {show(node.if_true)} and {show(node.if_false)}"
    if not is_scalar(types[node.if_true]):
        yield "chooses between values that are no scalars; a phi can"


def _conversion_mistakes(node: Cast | Bitcast, types: Mapping[Node, Type], show: TypeText) -> Iterator[str]:
    source, target = types[node.operand], node.type
    if not is_scalar(source) or not is_scalar(target) or not has_known_width(target):
        yield "converts what is no scalar"
    elif isinstance(node, Bitcast) and (
        arithmetic.bit_width(source) != arithmetic.bit_width(target) or isinstance(source, Bool)
    ):
        yield f"there is no bitcast from {show(node.operand)} to {show(node)}"


def _intrinsic_mistakes(node: Intrinsic, types: Mapping[Node, Type], show: TypeText) -> Iterator[str]:
    arguments = [types[it] for it in node.arguments]
    scalars = [it for it in arguments if is_scalar(it)]
    result = node.type
    if len(scalars) != len(arguments) or not is_scalar(result):
        yield "has an argument or a result that is no scalar"
    elif not _exists(lambda: arithmetic.intrinsic(node.function, scalars, result)):
        yield f"there is no builtin function {node.function}({', '.join(map(show, node.arguments))}) -> {show(node)}"


def _exists(make: Callable[[], object]) -> bool:
    try:
        make()
    except UnknownOperation:
        return False
    return True
