"""Which loops must look at the stop flag, so that a kernel that never ends can be stopped.

A look keeps LLVM from turning a loop into vector code, so loops that are sure to end soon do without: those whose
turns, times the turns of all inside, are at most 2^36. That is seconds for most, and about a minute for a slow one that
does turn so often. Code that is to be stopped within milliseconds looks where there are more than 2^16. A loop that
counts up or down by one to any limit turns at most 2^32 times, one that halves or doubles 32 times; one between
constants is known; any other may turn for ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop, block_leader
from ...ir.hercules.nodes import BinaryOp, UnaryOp
from ...ir.hercules.schedule import Schedule

_AT_MOST = 2.0**36
_AT_MOST_SOON = 2.0**16
_ALL_NUMBERS = 2.0**32
HALVINGS = 32
"""How often a number can be halved or doubled."""
_HALF = 2**30
_WORKGROUPS = 2.0**20
"""How many turns of a fork with a dynamic factor one call of the machine code makes, more or less."""

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


def watched_ends(placed: Schedule, *, soon: bool = False) -> frozenset[h.Node]:
    """The leaders of the blocks from which control goes back to the start of a loop or fork that may turn too long; to
    be stopped `soon`, too long is less.
    """
    return frozenset(_Turns(placed).watched(_AT_MOST_SOON if soon else _AT_MOST))


def most_turns(placed: Schedule, loop: Loop) -> float:
    """A bound of how often a loop turns each time it is entered."""
    return _Turns(placed).own_turns(loop)


class _Turns:
    def __init__(self, placed: Schedule) -> None:
        self._placed = placed
        graph = placed.graph
        self._bodies: dict[Loop | h.Fork, frozenset[h.Node]] = {it: frozenset(it.body) for it in placed.loops.loops}
        for fork in placed.nest.joins:
            self._bodies[fork] = frozenset(node for node in graph.order if fork in placed.nest.around[node])

    def watched(self, most: float) -> Iterator[h.Node]:
        """The ends of loops and forks with more turns than that."""
        turns: dict[Loop | h.Fork, float] = {}
        for loop in sorted(self._bodies, key=lambda it: len(self._bodies[it])):
            inside = sum(turns[it] for it in turns if _head(it) in self._bodies[loop])
            turns[loop] = self.own_turns(loop) * max(1.0, inside)
            if turns[loop] > most:
                yield from map(block_leader, self._ends(loop))

    def _ends(self, loop: Loop | h.Fork) -> Iterable[h.Node]:
        return loop.latches if isinstance(loop, Loop) else [self._placed.nest.joins[loop].control]

    def own_turns(self, loop: Loop | h.Fork) -> float:
        """A bound of the turns of a loop or fork, without what is around it."""
        if isinstance(loop, h.Fork):
            return loop.factor.value if isinstance(loop.factor, h.DynamicLiteral) else _WORKGROUPS
        return min((self._turns_until(node, loop) for node in loop.body if isinstance(node, h.If)), default=math.inf)

    def _turns_until(self, branch: h.If, loop: Loop) -> float:
        """How often a branch can stay in the loop, if it is passed in each turn."""
        dominators, body = self._placed.dominators, self._bodies[loop]
        stays = [it for it in self._placed.graph.successors[branch] if it in body]
        if len(stays) != 1 or not all(dominators.dominates(branch, latch) for latch in loop.latches):
            return math.inf
        (stay,) = stays
        assert isinstance(stay, h.Read)
        return _turns_while(branch.condition, loop, is_true=stay.indices == [h.ControlIndex(1)])


def _head(loop: Loop | h.Fork) -> h.Node:
    return loop.header if isinstance(loop, Loop) else loop


def _turns_while(condition: h.Node, loop: Loop, *, is_true: bool) -> float:
    match condition:
        case h.Unary(op=UnaryOp.NOT, operand=operand):
            return _turns_while(operand, loop, is_true=not is_true)
        case h.Binary(op=op, lhs=lhs, rhs=rhs) if op in _OPPOSITE:
            op = op if is_true else _OPPOSITE[op]
            return min(_counted_turns(op, lhs, rhs, loop), _counted_turns(_MIRRORED[op], rhs, lhs, loop))
        case _:
            return math.inf


def _counted_turns(op: BinaryOp, counter: h.Node, limit: h.Node, loop: Loop) -> float:
    """How often `counter op limit` can hold, if the counter is changed by a constant in each turn."""
    phi = counter if isinstance(counter, h.Phi) else _changed(counter)
    if not isinstance(phi, h.Phi) or phi.region is not loop.header:
        return math.inf
    pairs = list(zip(loop.header.predecessors, phi.values, strict=True))
    changes = {_change(value, phi) for control, value in pairs if control in loop.latches}
    starts = [_integer(value) for control, value in pairs if control not in loop.latches]
    start = starts[0] if len(starts) == 1 else None
    change = changes.pop() if len(changes) == 1 else None
    return math.inf if change is None else max(1.0, _bound(op, change, start, _integer(limit)))


def _bound(op: BinaryOp, change: tuple[BinaryOp, int], start: int | None, limit: int | None) -> float:
    """The most turns of `for (i = start; i op limit; i = i change)`, for whatever is not known of them."""
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
    """What a constant is added to, or the like."""
    match node:
        case h.Binary(lhs=lhs, rhs=h.ConstantNode()):
            return lhs
        case h.Binary(op=BinaryOp.ADD | BinaryOp.MUL, lhs=h.ConstantNode(), rhs=rhs):
            return rhs
        case _:
            return None


def _change(value: h.Node, phi: h.Phi) -> tuple[BinaryOp, int] | None:
    """How the phi changes in a turn: `phi op number`; what takes 1 away in any way is `phi - 1`."""
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
