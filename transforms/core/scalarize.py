"""Computes vectors component by component.

For targets without vectors; no pipeline here runs it: GPUs take vectors, and Hercules IR has scalars from the start.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.builtins import componentwise_builtins
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import Matrix, Vector
from .rewriting import Rule, rewrite


@dataclass(frozen=True)
class Scalarize:
    """Splits operators, conversions and componentwise builtin functions on vectors; `algebraic` cleans up."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "scalarize"

    def run(self, module: nodes.Module) -> bool:
        """Whether an operation was split."""
        return rewrite(module, RULES)


def component(builder: Builder, value: Value, index: int) -> Value:
    """A component of a vector; a scalar is the same in all."""
    if not isinstance(value.type, Vector):
        return value
    if isinstance(value, nodes.Constant):
        found = value.value.element(index, value.type.element)
        return nodes.Constant(found, found.type, None, span=value.span)
    return builder.access(value, [u32(index)])


def unary(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`-v`."""
    if not isinstance(node, nodes.Unary) or not isinstance(node.type, Vector):
        return None
    parts = [builder.unary(node.op, component(builder, node.operand, i)) for i in range(node.type.width)]
    return builder.construct(node.type, parts)


def binary(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`v + w`, `v * s`; not products with matrices."""
    if not isinstance(node, nodes.Binary) or not isinstance(node.type, Vector) or not _are_plain(node):
        return None
    parts = [
        builder.binary(node.op, component(builder, node.lhs, i), component(builder, node.rhs, i))
        for i in range(node.type.width)
    ]
    return builder.construct(node.type, parts)


def _are_plain(node: nodes.Binary) -> bool:
    return not any(isinstance(it.type, Matrix) for it in node.operands) and node.op is not BinaryOp.LOGICAL_AND


def conversion(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`vec3f(v)`."""
    if not isinstance(node, nodes.Convert) or not isinstance(node.type, Vector):
        return None
    scalar = node.type.element
    parts = [builder.convert(scalar, component(builder, node.operand, i)) for i in range(node.type.width)]
    return builder.construct(node.type, parts)


def builtin_call(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`min(v, w)`."""
    if not isinstance(node, nodes.BuiltinCall) or not isinstance(node.type, Vector):
        return None
    if node.function not in componentwise_builtins():
        return None
    parts = [
        builder.builtin_call(node.function, [component(builder, it, i) for it in node.arguments])
        for i in range(node.type.width)
    ]
    return builder.construct(node.type, parts)


RULES: tuple[Rule, ...] = (unary, binary, conversion, builtin_call)
"""Tried in this order."""
