"""Accesses that transpose: their elements are consecutive along the outer of two forks, but not along the inner.

A gang of as many rows as a vector has lanes makes them with whole vectors (see `memory.transposed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from .....ir.hercules.placement import Placement
from ..analysis.bounds import constant_value

_DEPTH = 12


def transposes_rows(placed: Placement, nest: Sequence[h.Fork], lanes: int) -> bool:
    """Whether a nest has a transposing access outside of loops, and threads for as many vectors as one has lanes."""
    if len(nest) < 2:
        return False
    outer, inner = nest[-2:]
    rows, row = (it.factor.value if isinstance(it.factor, h.DynamicLiteral) else 0 for it in (outer, inner))
    if row % lanes or rows * row % (lanes * lanes):
        return False
    outside_loops = [it for it in placed.members.blocks.get(inner, ()) if not placed.loops.around[it]]
    return any(
        isinstance(node, (h.Read, h.Write)) and is_transposed(node, outer, inner)
        for node in placed.members.in_blocks(outside_loops)
    )


def is_transposed(node: h.Read | h.Write, outer: h.Fork, inner: h.Fork) -> bool:
    """Whether an access transposes; its last index selects a scalar among consecutive ones."""
    positions = positions_of(node.indices)
    if not positions or not isinstance(node.indices[-1], h.PositionIndex):
        return False
    *before, last = positions
    follows = coefficient(last, outer) == 1 and all(coefficient(it, outer) == 0 for it in before)
    return follows and coefficient(last, inner) != 1 and any(coefficient(it, inner) != 0 for it in positions)


def coefficient(node: h.Node, fork: h.Fork, depth: int = _DEPTH) -> int | None:
    """The coefficient of a fork's thread number in a value; None if the value is not linear in it."""
    if depth == 0:
        return None
    match node:
        case h.ThreadID():
            return int(node.fork is fork)
        case h.ConstantNode() | h.DynamicConstantNode():
            return 0
        case h.Cast(operand=operand) | h.Bitcast(operand=operand):
            return coefficient(operand, fork, depth - 1)
        case h.Binary(op=op, lhs=lhs, rhs=rhs):
            left, right = coefficient(lhs, fork, depth - 1), coefficient(rhs, fork, depth - 1)
            if left is None or right is None:
                return None
            return _combined(op, left, right, constant_value(rhs))
        case h.Read(collection=h.Parameter(), indices=indices):
            positions = positions_of(indices)
            return 0 if all(coefficient(it, fork, depth - 1) == 0 for it in positions) else None
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return None
        case _:
            assert_never(node)


def _combined(op: h.BinaryOp, left: int, right: int, constant: int | None) -> int | None:
    match op:
        case h.BinaryOp.ADD:
            return left + right
        case h.BinaryOp.SUB:
            return left - right
        case h.BinaryOp.MUL if constant is not None:
            return left * constant
        case _:
            return 0 if left == right == 0 else None
