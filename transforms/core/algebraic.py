"""Algebraic identities that hold for all values.

Integers wrap (WGSL, "Integer Overflow"), so their ring laws hold. Of floats only what is exact for every value, NaN
and both zeros included, is used: `x * 1`, `x / 1`, `x - 0`, `x + -0`, `-(-x)`. `x + 0` is not: it makes 0 of -0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import Builder
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.types import BOOL, Array, Matrix, Pointer, Struct, Vector, scalar_of
from .replacing import copy_constant
from .rewriting import Rule, is_float, is_integer, number_of, rewrite, splat

_COMMUTATIVE = (BinaryOp.ADD, BinaryOp.MULTIPLY, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)
_OPPOSITE = {
    BinaryOp.EQUAL: BinaryOp.NOT_EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.EQUAL,
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
}


@dataclass(frozen=True)
class Algebraic:
    """Applies the table `RULES`."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "algebraic"

    def run(self, module: nodes.Module) -> bool:
        """Whether a rule applied."""
        return rewrite(module, RULES)


def neutral_integer(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x + 0`, `x - 0`, `x | 0`, `x ^ 0`, `x << 0`, `x >> 0`, `x * 1`, `x / 1`, `x & ~0`, and the other way round."""
    if not isinstance(node, nodes.Binary) or not is_integer(node.type):
        return None
    if node.lhs.type is node.type and _is_neutral(node.op, number_of(node.rhs)):
        return node.lhs
    swaps = node.op in _COMMUTATIVE and node.rhs.type is node.type
    return node.rhs if swaps and _is_neutral(node.op, number_of(node.lhs)) else None


def _is_neutral(op: BinaryOp, number: bool | int | float | None) -> bool:
    match op:
        case BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.OR | BinaryOp.XOR | BinaryOp.SHIFT_LEFT | BinaryOp.SHIFT_RIGHT:
            return number == 0
        case BinaryOp.MULTIPLY | BinaryOp.DIVIDE:
            return number == 1
        case BinaryOp.AND:
            return number in (-1, 0xFFFFFFFF)
        case _:
            return False


def absorbing_integer(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x * 0`, `x & 0`, `x % 1` are 0."""
    if not isinstance(node, nodes.Binary) or not is_integer(node.type):
        return None
    numbers = number_of(node.lhs), number_of(node.rhs)
    is_zero = node.op in (BinaryOp.MULTIPLY, BinaryOp.AND) and 0 in numbers
    return splat(node.type, 0) if is_zero or (node.op is BinaryOp.REMAINDER and numbers[1] == 1) else None


def with_itself(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x - x` and `x ^ x` are 0, `x & x` and `x | x` are x; `x == x` of integers and bools is known."""
    if not isinstance(node, nodes.Binary) or node.lhs is not node.rhs or is_float(node.lhs.type):
        return None
    match node.op:
        case BinaryOp.AND | BinaryOp.OR:
            return node.lhs
        case BinaryOp.SUBTRACT | BinaryOp.XOR if is_integer(node.type):
            return splat(node.type, 0)
        case BinaryOp.EQUAL | BinaryOp.LESS_EQUAL | BinaryOp.GREATER_EQUAL:
            return splat(node.type, True)
        case BinaryOp.NOT_EQUAL | BinaryOp.LESS | BinaryOp.GREATER:
            return splat(node.type, False)
        case _:
            return None


def neutral_float(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x * 1`, `1 * x`, `x / 1`, `x - 0`, `x + -0` and `-0 + x`."""
    if not isinstance(node, nodes.Binary) or not is_float(node.type):
        return None
    pairs = [(node.lhs, node.rhs)]
    pairs += [(node.rhs, node.lhs)] if node.op in _COMMUTATIVE else []
    for value, other in pairs:
        if value.type is node.type and _is_neutral_float(node.op, number_of(other)):
            return value
    return None


def _is_neutral_float(op: BinaryOp, number: bool | int | float | None) -> bool:
    if not isinstance(number, float):
        return False
    is_negative = math.copysign(1.0, number) < 0
    match op:
        case BinaryOp.MULTIPLY | BinaryOp.DIVIDE:
            return number == 1.0
        case BinaryOp.SUBTRACT:
            return number == 0.0 and not is_negative
        case BinaryOp.ADD:
            return number == 0.0 and is_negative
        case _:
            return False


def twice(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`-(-x)`, `~~x` and `!!x` are x."""
    if isinstance(node, nodes.Unary) and isinstance(node.operand, nodes.Unary) and node.op is node.operand.op:
        return node.operand.operand
    return None


def opposite_comparison(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`!(a < b)` is `a >= b` for integers; `!(a == b)` is `a != b` for all types."""
    if not isinstance(node, nodes.Unary) or node.op is not UnaryOp.NOT or not isinstance(node.operand, nodes.Binary):
        return None
    compared = node.operand
    if compared.op not in _OPPOSITE or len(compared.uses) > 1:
        return None
    if is_float(compared.lhs.type) and compared.op not in (BinaryOp.EQUAL, BinaryOp.NOT_EQUAL):
        return None
    return builder.binary(_OPPOSITE[compared.op], compared.lhs, compared.rhs)


def compared_with_bool(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x == true` and `x != false` are x."""
    if not isinstance(node, nodes.Binary) or scalar_of(node.lhs.type) is not BOOL:
        return None
    kept = {BinaryOp.EQUAL: True, BinaryOp.NOT_EQUAL: False}.get(node.op)
    return node.lhs if kept is not None and number_of(node.rhs) is kept else None


def known_select(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`select` by a constant, of one value twice, and of `false` and `true`."""
    if not isinstance(node, nodes.BuiltinCall) or node.function != "select":
        return None
    rejected, accepted, condition = node.arguments
    chosen = number_of(condition)
    if rejected is accepted or chosen is not None:
        return _operand(accepted if chosen is not False else rejected)
    is_identity = number_of(rejected) is False and number_of(accepted) is True
    return condition if is_identity and condition.type is node.type else None


def _operand(value: Value) -> Value:
    return copy_constant(value) if isinstance(value, nodes.Constant) else value


def same_type(node: nodes.Instruction, builder: Builder) -> Value | None:
    """A conversion to the type that a value has."""
    return node.operand if isinstance(node, nodes.Convert) and node.operand.type is node.type else None


def part_of_construct(node: nodes.Instruction, builder: Builder) -> Value | None:
    """A member, element or component of a value that has just been put together."""
    if not isinstance(node, nodes.Access) or not isinstance(node.object, nodes.Construct) or len(node.indices) != 1:
        return None
    number = number_of(node.indices[0])
    made = node.object
    if not isinstance(number, int) or number < 0 or not isinstance(made.type, (Struct, Array, Vector, Matrix)):
        return None
    if isinstance(made.type, Vector) and len(made.elements) == 1 and made.elements[0].type is node.type:
        return _operand(made.elements[0]) if number < made.type.width else None
    if number >= len(made.elements) or any(it.type is not node.type for it in made.elements[: number + 1]):
        return _member(made, number, node)
    return _operand(made.elements[number])


def _member(made: nodes.Construct, number: int, node: nodes.Access) -> Value | None:
    is_struct = isinstance(made.type, Struct) and number < len(made.elements)
    return _operand(made.elements[number]) if is_struct and made.elements[number].type is node.type else None


def part_of_part(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`x[i][j]` in one access, and `v.zyx.x` in one swizzle."""
    match node:
        case nodes.Access(object=nodes.Access() as inner, indices=indices) if not isinstance(node.type, Pointer):
            return builder.access(inner.object, list(map(_operand, (*inner.indices, *indices))))
        case nodes.Swizzle(object=nodes.Swizzle() as inner, components=components):
            return builder.swizzle(inner.object, [inner.components[it] for it in components])
        case _:
            return None


def constants_together(node: nodes.Instruction, builder: Builder) -> Value | None:
    """`(x + 1) + 2` is `x + 3`; `*`, `&`, `|` and `^` likewise. Integers only."""
    if not isinstance(node, nodes.Binary) or not is_integer(node.type) or node.op not in _COMMUTATIVE:
        return None
    inner = node.lhs
    if not isinstance(inner, nodes.Binary) or inner.op is not node.op or len(inner.uses) > 1:
        return None
    if not isinstance(node.rhs, nodes.Constant) or not isinstance(inner.rhs, nodes.Constant):
        return None
    if inner.rhs.type is not node.rhs.type or inner.lhs.type is not node.type:
        return None
    together = builder.binary(node.op, copy_constant(inner.rhs), copy_constant(node.rhs))
    return builder.binary(node.op, inner.lhs, together)


RULES: tuple[Rule, ...] = (
    neutral_integer,
    absorbing_integer,
    with_itself,
    neutral_float,
    twice,
    opposite_comparison,
    compared_with_bool,
    known_select,
    same_type,
    part_of_construct,
    part_of_part,
    constants_together,
)
"""Tried in this order."""
