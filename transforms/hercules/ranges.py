"""Simplification by ranges: comparisons with a known result, and bounds that never bind.

For `.hir` functions and experiments. No pipeline runs it: on the CPU kernels ran no faster (docs/ARCHITECTURE.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ...base.records import dataclass
from ...ir.hercules.conditions import facts
from ...ir.hercules.graph import replace_all
from ...ir.hercules.intervals import Bounds, Range
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    BoolConstant,
    ConstantNode,
    ControlNode,
    FloatingNode,
    Function,
    If,
    Integer,
    Intrinsic,
    Module,
    Node,
    PinnedNode,
    Reduce,
    Select,
)
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.ranges import Ranges
from .cleanup import remove_dead


@dataclass(frozen=True)
class RangeSimplification:
    """Replaces comparisons of integers that ranges decide by constants, and a `min`, `max`, `clamp` or remainder of
    integers, and a select, by the operand that it always gives.

    The facts are those of the guards, loops and thread numbers around a node. Branches on the constants are for `ccp`,
    which does all this itself if asked to (`ccp{ranges=true}`). `counts` is how many bits the dynamic constants that a
    function takes have: 32 for those of WGSL's entry points, where a conversion to u32 then changes nothing.
    """

    counts: int = 64
    name = "ranges"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= simplify_by_ranges(function, self.counts)
        return changed


def simplify_by_ranges(function: Function, counts: int = 64) -> bool:
    """Replace the nodes that ranges decide; whether there were any."""
    known = _Known(place_nodes(function), counts)
    constants = {truth: ConstantNode(BoolConstant(truth)) for truth in (False, True)}
    replacements = dict(_decided(known, constants))
    branches = {branch: constants[truth] for branch, truth in _decided_branches(known)}
    if not replacements and not branches:
        return False
    used = [node for node in constants.values() if node in (*replacements.values(), *branches.values())]
    for branch, constant in branches.items():
        branch.condition = constant
    function.nodes = [function.nodes[0], *used, *(it for it in function.nodes[1:] if it not in replacements)]
    replace_all(function, replacements)
    remove_dead(function)
    return True


class _Known:
    """What guards, and the ranges that follow from them, say of comparisons in each block."""

    def __init__(self, placed: Placement, counts: int) -> None:
        self.placed = placed
        self._ranges = Ranges(placed, counts)
        self._facts = facts(placed)

    def outcome(self, op: BinaryOp, lhs: Node, rhs: Node, block: Node) -> bool | None:
        """The result of a comparison of integers in a block, if it is known."""
        for fact, other in self._facts[block].get(lhs, ()):
            if other is rhs and not isinstance(lhs, Reduce) and not isinstance(rhs, Reduce):
                truth = _implied(fact, op)
                if truth is not None:
                    return truth
        return _outcome(op, self._side(lhs, block), self._side(rhs, block))

    def truth(self, condition: Node, block: Node) -> bool | None:
        """The truth value of a condition in a block, if it is a comparison of integers with a known result."""
        match condition:
            case Binary(op, lhs, rhs) if isinstance(self.placed.types[lhs], Integer):
                return self.outcome(op, lhs, rhs, block)
            case _:
                return None

    def is_natural(self, node: Node, block: Node) -> bool:
        """Whether an integer is never negative in a block."""
        return self._ranges.at(node, block).low >= 0

    def _side(self, node: Node, block: Node) -> _Side:
        return _Side(self._ranges.at(node, block), dict(self._ranges.forms(node, block)))


@dataclass(frozen=True, slots=True)
class _Side:
    """The range of one side of a comparison, and by how much it is above anchors, exactly."""

    range: Range
    forms: Bounds


def _implied(fact: BinaryOp, op: BinaryOp) -> bool | None:
    """Whether `x op y` where `x fact y`."""
    orders = _ORDERS[fact]
    if orders <= _ORDERS.get(op, frozenset()):
        return True
    return False if op in _ORDERS and not orders & _ORDERS[op] else None


_ORDERS = {
    BinaryOp.LESS: frozenset("<"),
    BinaryOp.LESS_EQUAL: frozenset("<="),
    BinaryOp.EQUAL: frozenset("="),
    BinaryOp.NOT_EQUAL: frozenset("<>"),
    BinaryOp.GREATER_EQUAL: frozenset(">="),
    BinaryOp.GREATER: frozenset(">"),
}
"""Which of less, equal and greater each comparison allows."""


def _decided(known: _Known, constants: dict[bool, ConstantNode]) -> Iterator[tuple[Node, Node]]:
    """The nodes that are decided where they are placed, each with what to put there."""
    for node, at in known.placed.place.items():
        match node:
            case Binary(BinaryOp.REM, lhs, rhs) if isinstance(known.placed.types[lhs], Integer):
                if known.is_natural(lhs, at) and known.outcome(BinaryOp.LESS, lhs, rhs, at):
                    yield node, lhs
            case Binary():
                truth = known.truth(node, at)
                if truth is not None:
                    yield node, constants[truth]
            case Select(condition, if_true, if_false):
                truth = known.truth(condition, at)
                if truth is not None:
                    yield node, if_true if truth else if_false
            case Intrinsic("min" | "max" as name, Integer(), [left, right]):
                is_less = known.outcome(BinaryOp.LESS_EQUAL, left, right, at)
                is_more = known.outcome(BinaryOp.GREATER_EQUAL, left, right, at)
                if is_less or is_more:
                    yield node, left if bool(is_less) is (name == "min") else right
            case Intrinsic("clamp", Integer(), [value, low, high]):
                if known.outcome(BinaryOp.GREATER_EQUAL, value, high, at):
                    yield node, high
                elif known.outcome(BinaryOp.GREATER_EQUAL, value, low, at) and known.outcome(
                    BinaryOp.LESS_EQUAL, value, high, at
                ):
                    yield node, value
            case FloatingNode() | PinnedNode() | ControlNode():
                pass
            case _:
                assert_never(node)


def _decided_branches(known: _Known) -> Iterator[tuple[If, bool]]:
    """The branches on a comparison that a branch above has decided, though not where it is computed."""
    for leader, branch in known.placed.exits.items():
        truth = known.truth(branch.condition, leader) if isinstance(branch, If) else None
        if isinstance(branch, If) and truth is not None:
            yield branch, truth


def _outcome(op: BinaryOp, left: _Side, right: _Side) -> bool | None:
    """The result of a comparison, if it is known."""
    match op:
        case BinaryOp.LESS:
            return _is_less(left, right, 0) or (False if _is_less(right, left, 1) else None)
        case BinaryOp.LESS_EQUAL:
            return _is_less(left, right, 1) or (False if _is_less(right, left, 0) else None)
        case BinaryOp.GREATER:
            return _outcome(BinaryOp.LESS, right, left)
        case BinaryOp.GREATER_EQUAL:
            return _outcome(BinaryOp.LESS_EQUAL, right, left)
        case BinaryOp.EQUAL | BinaryOp.NOT_EQUAL:
            is_equal = _is_equal(left, right)
            return is_equal if is_equal is None or op is BinaryOp.EQUAL else not is_equal
        case _:
            return None


def _is_equal(left: _Side, right: _Side) -> bool | None:
    if left.range.low == left.range.high == right.range.low == right.range.high:
        return True
    return False if _is_less(left, right, 0) or _is_less(right, left, 0) else None


def _is_less(left: _Side, right: _Side, slack: int) -> bool:
    """Whether each number of the left side is less than each of the right one plus a slack."""
    for anchor, above in right.forms.items():
        for bounds in (left.range.bounds, left.forms):
            if anchor in bounds and bounds[anchor] < above + slack:
                return True
    return left.range.high < right.range.low + slack
