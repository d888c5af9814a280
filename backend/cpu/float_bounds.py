"""Bounds of floats, from the nodes that compute them: conversions to integers need no tests for values in range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

from ...ir.hercules import nodes as h
from ...ir.scalars import round_f32

Bounds: TypeAlias = "tuple[float, float]"
"""The least and the greatest value of a float that is no NaN."""

Types: TypeAlias = "Mapping[h.Node, h.Type]"

_EVERYTHING = (-math.inf, math.inf)
_ROUNDING: dict[str, Callable[[float], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}
_OPERATIONS: dict[h.BinaryOp, Callable[[float, float], float]] = {
    h.BinaryOp.ADD: lambda a, b: a + b,
    h.BinaryOp.SUB: lambda a, b: a - b,
    h.BinaryOp.MUL: lambda a, b: a * b,
}


def float_bounds(node: h.Node, types: Types, depth: int = 8) -> Bounds | None:
    """Bounds of an f32; None if it may be NaN. A bound may be infinite."""
    if depth == 0:
        return None
    match node:
        case h.ConstantNode(value=h.FloatConstant(value=value)) if math.isfinite(value):
            return value, value
        case h.ConstantNode(value=h.ZeroConstant()):
            return 0.0, 0.0
        case h.Intrinsic(function="floor" | "ceil" | "trunc" as function, arguments=[operand]):
            return _mapped(float_bounds(operand, types, depth - 1), _ROUNDING[function])
        case h.Cast(operand=operand):
            return _of_integer(types[operand])
        case h.Intrinsic(function="saturate"):
            return 0.0, 1.0
        case h.Intrinsic(function="max" | "min" | "clamp" as function, arguments=[first, *limits]):
            return _limited(function, first, limits, types, depth)
        case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in _OPERATIONS:
            return _with_constant(
                _OPERATIONS[op], float_bounds(lhs, types, depth - 1), float_bounds(rhs, types, depth - 1)
            )
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return None
        case _:
            assert_never(node)


def _of_integer(type: h.Type) -> Bounds | None:
    """The bounds of a converted integer."""
    if not isinstance(type, h.Integer):
        return None
    return (-(2.0 ** (type.bits - 1)), 2.0 ** (type.bits - 1)) if type.signed else (0.0, 2.0**type.bits)


def _limited(function: str, first: h.Node, limits: list[h.Node], types: Types, depth: int) -> Bounds | None:
    """A NaN loses against a number, so that the bounds of one operand suffice for the others' being unknown."""
    found = float_bounds(first, types, depth - 1)
    names = ("max", "min") if function == "clamp" else (function,)
    for name, limit in zip(names, limits, strict=True):
        found = _between(name, found, float_bounds(limit, types, depth - 1))
    return found


def _between(function: str, one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None and other is None:
        return None
    (low, high), (least, most) = one or _EVERYTHING, other or _EVERYTHING
    low, high = (max(low, least), max(high, most)) if function == "max" else (min(low, least), min(high, most))
    if one is None or other is None:  # the unknown one may be NaN, and then the other one is the result
        known = one or other
        assert known is not None
        return min(low, known[0]), max(high, known[1])
    return low, high


def _mapped(bounds: Bounds | None, function: Callable[[float], int]) -> Bounds | None:
    if bounds is None:
        return None
    low, high = (it if math.isinf(it) else float(function(it)) for it in bounds)
    return low, high


def _with_constant(
    operation: Callable[[float, float], float], left: Bounds | None, right: Bounds | None
) -> Bounds | None:
    """The bounds of an operation of which an operand is a constant. It is monotonic in the other one, also rounded."""
    if left is None or right is None or (left[0] != left[1] and right[0] != right[1]):
        return None
    ends = [operation(a, b) for a in left for b in right]
    if any(map(math.isnan, ends)) or (any(math.isinf(it) for it in (*left, *right)) and 0.0 in (*left, *right)):
        return None
    low, high = (round_f32(it) for it in (min(ends), max(ends)))
    return low, high
