"""Computes the components of a vector at once.

`vec3(a.x + b.x, a.y + b.y, a.z + b.z)` is `a + b`, and so on inwards: an operand that is not the same vector's
component in each lane is put together itself.

For targets with vectors of their own, after `scalarize` or hand-written scalar code; no pipeline here runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.builtins import builtin, componentwise_builtins
from ...ir.core import nodes
from ...ir.core.builder import Builder, constant
from ...ir.core.values import Value
from ...ir.types import Scalar, Type, Vector, vector
from .replacing import copy_constant
from .rewriting import Rule, rewrite


@dataclass(frozen=True)
class Vectorize:
    """Joins vectors that are built of equal operations on scalars, each used once."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "vectorize"

    def run(self, module: nodes.Module) -> bool:
        """Whether a vector was joined."""
        return rewrite(module, RULES)


def whole_vector(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`vec2(v.x, v.y)` is v."""
    return _common_vector(node.elements, node.type) if isinstance(node, nodes.Construct) else None


def equal_operations(node: nodes.Instruction, builder: Builder) -> Value | None:
    """All components are made by one operation."""
    if not isinstance(node, nodes.Construct) or not isinstance(node.type, Vector):
        return None
    lanes = node.elements
    if len(lanes) != node.type.width or any(len(lane.uses) != 1 for lane in lanes):
        return None
    return _joined(lanes, node.type.width, builder)


def _joined(lanes: Sequence[Value], width: int, builder: Builder) -> Value | None:
    first = lanes[0]
    same = [lane for lane in lanes if isinstance(lane, nodes.Instruction) and _is_like(lane, first)]
    if len(same) < len(lanes) or not isinstance(first, (nodes.Unary, nodes.Binary, nodes.Convert, nodes.BuiltinCall)):
        return None
    if not all(isinstance(operand.type, Scalar) for operand in first.operands):
        return None
    columns = [[lane.operands[index] for lane in same] for index in range(len(first.operands))]
    if not any(_is_gathered(column) for column in columns):
        return None
    scalars = _scalar_positions(first)
    if not all(_is_shared(columns[index]) for index in scalars):
        return None
    operands = [
        _shared(column[0]) if index in scalars else _vector_of(column, width, builder)
        for index, column in enumerate(columns)
    ]
    match first:
        case nodes.Unary(op=op):
            return builder.unary(op, operands[0])
        case nodes.Binary(op=op):
            return builder.binary(op, operands[0], operands[1])
        case nodes.Convert():
            assert isinstance(first.type, Scalar)
            return builder.convert(vector(width, first.type), operands[0])
        case nodes.BuiltinCall(function=function):
            return builder.builtin_call(function, operands)
        case _:
            assert_never(first)


def _scalar_positions(call: nodes.Instruction) -> frozenset[int]:
    """The arguments that no overload of a builtin function takes as vectors."""
    function = builtin(call.function) if isinstance(call, nodes.BuiltinCall) else None
    if function is None:
        return frozenset()
    return frozenset(index for index in range(len(call.operands)) if not function.takes_vector(index))


def _is_shared(column: Sequence[Value]) -> bool:
    """Whether the operand is the same in all lanes."""
    first = column[0]
    if isinstance(first, nodes.Constant):
        return all(isinstance(it, nodes.Constant) and it.value.value == first.value.value for it in column)
    return all(it is first for it in column)


def _shared(operand: Value) -> Value:
    return copy_constant(operand) if isinstance(operand, nodes.Constant) else operand


def _is_like(lane: nodes.Instruction, first: Value) -> bool:
    match lane, first:
        case (nodes.Unary(op=op), nodes.Unary(op=other)) | (nodes.Binary(op=op), nodes.Binary(op=other)):
            is_same = op is other
        case nodes.Convert(), nodes.Convert():
            is_same = True
        case nodes.BuiltinCall(function=function), nodes.BuiltinCall(function=other_function):
            is_same = function == other_function and function in componentwise_builtins()
        case _:
            return False
    return is_same and [it.type for it in lane.operands] == [it.type for it in first.operands]


def _is_gathered(column: Sequence[Value]) -> bool:
    """Whether the lanes' operands are the components of one vector: then joining saves work."""
    first = column[0]
    return isinstance(first, nodes.Access) and _common_vector(column, first.object.type) is not None


def _common_vector(lanes: Sequence[Value], type: Type) -> Value | None:
    """The vector of that type whose components, in order, are the lanes."""
    if not isinstance(type, Vector) or len(lanes) != type.width:
        return None
    for index, lane in enumerate(lanes):
        if not isinstance(lane, nodes.Access) or lane.object.type is not type or len(lane.indices) != 1:
            return None
        position = lane.indices[0]
        if not isinstance(position, nodes.Constant) or position.value.value != index:
            return None
    sources = {lane.object for lane in lanes if isinstance(lane, nodes.Access)}
    return sources.pop() if len(sources) == 1 else None


def _vector_of(column: Sequence[Value], width: int, builder: Builder) -> Value:
    first = column[0]
    assert isinstance(first.type, Scalar)
    type = vector(width, first.type)
    found = _common_vector(column, type)
    if found is not None:
        return found
    constants = [it.value.value for it in column if isinstance(it, nodes.Constant)]
    if len(constants) == width:
        return constant(type, tuple(constants))
    if all(it is first for it in column):
        return builder.construct(type, [first])
    return builder.construct(type, list(column))


RULES: tuple[Rule, ...] = (whole_vector, equal_operations)
"""Tried in this order."""
