"""Loops over segments of an array: two adjacent elements of another array say where a segment begins and ends."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from .bounds import constant_value


def segment_counter(placed: Placement, header: h.Node) -> h.Phi | None:
    """The counter of the loop with this header if it counts by 1 from one element of an array to the next element of
    that array; None for other loops.
    """
    exit = placed.exits[header]
    if not isinstance(exit, h.If) or not isinstance(exit.condition, h.Binary):
        return None
    match exit.condition:
        case h.Binary(op=h.BinaryOp.LESS | h.BinaryOp.GREATER_EQUAL, lhs=h.Phi() as counter, rhs=h.Read() as end):
            pass
        case h.Binary(op=h.BinaryOp.GREATER | h.BinaryOp.LESS_EQUAL, lhs=h.Read() as end, rhs=h.Phi() as counter):
            pass
        case _:
            return None
    if counter.region is not header or placed.types[counter] != h.Integer(32, signed=False):
        return None
    starts = [it for it in counter.values if not _is_next(it, counter)]
    if len(starts) != 1 or len(counter.values) != 2:
        return None
    (start,) = starts
    return counter if isinstance(start, h.Read) and _are_neighbours(start, end) else None


def _is_next(node: h.Node, counter: h.Phi) -> bool:
    return (
        isinstance(node, h.Binary)
        and node.op is h.BinaryOp.ADD
        and node.lhs is counter
        and constant_value(node.rhs) == 1
    )


def _are_neighbours(first: h.Read, second: h.Read) -> bool:
    """Whether two Reads are of adjacent elements of one version of an array."""
    match first.indices, second.indices:
        case [h.PositionIndex(position=left)], [h.PositionIndex(position=right)]:
            (root, offset), (other, other_offset) = _parted(left), _parted(right)
            return first.collection is second.collection and root is other and other_offset == offset + 1
        case _:
            return False


def _parted(node: h.Node) -> tuple[h.Node, int]:
    """Splits an integer into a node and the constant that is added to it."""
    match node:
        case h.Cast(operand=operand):
            return _parted(operand)
        case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs) if (value := constant_value(rhs)) is not None:
            root, offset = _parted(lhs)
            return root, offset + value
        case _:
            return node, 0
