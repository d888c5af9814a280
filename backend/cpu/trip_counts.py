"""Upper bounds of trip counts: of loops between constants, and of loops that halve or double a number."""

from __future__ import annotations

import math

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.nodes import BinaryOp, UnaryOp
from ...ir.hercules.placement import Placement

_ALL_NUMBERS = 2.0**32
HALVINGS = 32
"""The trip count of a loop that halves or doubles a 32-bit number."""
_HALF = 2**30

_MIRRORED = {
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
}
_OPPOSITE = {
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
}


def max_trip_count(placed: Placement, loop: Loop) -> float:
    """The maximum trip count of a loop each time it is entered; infinity if none is known."""
    body = frozenset(loop.body)
    branches = (node for node in loop.body if isinstance(node, h.If))
    return min((_trips_until(node, loop, body, placed) for node in branches), default=math.inf)


def _trips_until(branch: h.If, loop: Loop, body: frozenset[h.Node], placed: Placement) -> float:
    """The maximum number of iterations before a branch leaves the loop, if every iteration passes it."""
    stays = [it for it in placed.graph.successors[branch] if it in body]
    if len(stays) != 1 or not all(placed.dominators.dominates(branch, latch) for latch in loop.latches):
        return math.inf
    (stay,) = stays
    assert isinstance(stay, h.Read)
    return _trips_while(branch.condition, loop, is_true=stay.indices == [h.ControlIndex(1)])


def _trips_while(condition: h.Node, loop: Loop, *, is_true: bool) -> float:
    match condition:
        case h.Unary(op=UnaryOp.NOT, operand=operand):
            return _trips_while(operand, loop, is_true=not is_true)
        case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in _OPPOSITE:
            op = op if is_true else _OPPOSITE[op]
            return min(_counted_trips(op, lhs, rhs, loop), _counted_trips(_MIRRORED[op], rhs, lhs, loop))
        case _:
            return math.inf


def _counted_trips(op: BinaryOp, counter: h.Node, limit: h.Node, loop: Loop) -> float:
    """The maximum number of iterations in which `counter op limit` holds, if a constant changes the counter in each."""
    phi = counter if isinstance(counter, h.Phi) else _changed(counter)
    if not isinstance(phi, h.Phi) or phi.region is not loop.header:
        return math.inf
    pairs = list(zip(loop.header.predecessors, phi.values, strict=True))
    changes = {constant_change(value, phi) for control, value in pairs if control in loop.latches}
    starts = [_integer(value) for control, value in pairs if control not in loop.latches]
    start = starts[0] if len(starts) == 1 else None
    change = changes.pop() if len(changes) == 1 else None
    return math.inf if change is None else max(1.0, _bound(op, change, start, _integer(limit)))


def _bound(op: BinaryOp, change: tuple[BinaryOp, int], start: int | None, limit: int | None) -> float:
    """The maximum trip count of `for (i = start; i op limit; i = i change)`; None stands for any number."""
    match op, change:
        case BinaryOp.LESS, (BinaryOp.ADD, 1):
            return _ALL_NUMBERS if start is None or limit is None else limit - start + 1
        case BinaryOp.GREATER, (BinaryOp.SUB, 1):
            return _ALL_NUMBERS if start is None or limit is None else start - limit + 1
        case BinaryOp.LESS, (BinaryOp.ADD, step) if limit is not None and 0 < step <= _HALF and limit <= _HALF:
            return (_ALL_NUMBERS if start is None else limit - start) / step + 1
        case BinaryOp.LESS_EQUAL, (BinaryOp.ADD, step) if limit is not None and limit < _HALF:
            return _bound(BinaryOp.LESS, (BinaryOp.ADD, step), start, limit + 1)
        case BinaryOp.GREATER_EQUAL, (BinaryOp.SUB, 1) if limit is not None and limit > 0:
            return _bound(BinaryOp.GREATER, (BinaryOp.SUB, 1), start, limit - 1)
        case BinaryOp.LESS, (BinaryOp.MUL | BinaryOp.SHIFT_LEFT, _) if limit is not None and limit <= _HALF:
            return math.inf if start is None or start <= 0 else max(limit // start, 0).bit_length() + 1
        case BinaryOp.LESS_EQUAL, (BinaryOp.MUL | BinaryOp.SHIFT_LEFT, _) if limit is not None and limit < _HALF:
            return math.inf if start is None or start <= 0 else max(limit // start, 0).bit_length() + 1
        case BinaryOp.GREATER, (BinaryOp.DIV | BinaryOp.SHIFT_RIGHT, _) if limit is not None and limit >= 0:
            return HALVINGS if start is None else min(max(start, 0).bit_length() + 1, HALVINGS)
        case _:
            return math.inf


def _changed(node: h.Node) -> h.Node | None:
    """The operand that an operation with a constant changes."""
    match node:
        case h.Binary(lhs=lhs, rhs=h.ConstantNode()):
            return lhs
        case h.Binary(op=BinaryOp.ADD | BinaryOp.MUL, lhs=h.ConstantNode(), rhs=rhs):
            return rhs
        case _:
            return None


def constant_change(value: h.Node, phi: h.Phi) -> tuple[BinaryOp, int] | None:
    """How an iteration changes the phi: `phi op number`. Each form of subtracting 1 is `phi - 1`. None if it is no such
    change.
    """
    if _changed(value) is not phi or not isinstance(value, h.Binary):
        return None
    number = _integer(value.lhs if value.rhs is phi else value.rhs)
    match value.op, number:
        case BinaryOp.ADD, -1 | 0xFFFFFFFF:
            return BinaryOp.SUB, 1
        case BinaryOp.SUB, -1 | 0xFFFFFFFF:
            return BinaryOp.ADD, 1
        case (BinaryOp.SHIFT_LEFT | BinaryOp.SHIFT_RIGHT) as op, 1:
            return op, 1
        case (BinaryOp.MUL | BinaryOp.DIV) as op, 2:
            return op, 2
        case (BinaryOp.ADD | BinaryOp.SUB) as op, int():
            return op, number
        case _:
            return None


def _integer(node: h.Node) -> int | None:
    if isinstance(node, h.ConstantNode) and isinstance(node.value, h.IntegerConstant):
        return node.value.value
    return None
