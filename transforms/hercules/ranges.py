"""What ranges decide: comparisons that always come out the same way, and bounds that never bind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir.hercules.graph import replace_all
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    BoolConstant,
    ConstantNode,
    Function,
    Integer,
    Intrinsic,
    Module,
    Node,
)
from ...ir.hercules.ranges import Range, Ranges
from ...ir.hercules.schedule import schedule
from .cleanup import remove_dead


@dataclass(frozen=True)
class RangeSimplification:
    """Replaces comparisons of integers that ranges decide by constants, and a `min` or `max` of integers by the operand
    that it always gives.

    The facts are those of the guards, loops and thread numbers around a node. Branches on the constants are for `ccp`,
    which does all this itself if asked to (`ccp{ranges=true}`).
    """

    name = "ranges"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= simplify_by_ranges(function)
        return changed


def simplify_by_ranges(function: Function) -> bool:
    """Put there what ranges decide; whether they decide anything."""
    known = Ranges(schedule(function))
    constants = {truth: ConstantNode(BoolConstant(truth)) for truth in (False, True)}
    replacements = dict(_decided(known, constants))
    if not replacements:
        return False
    used = [node for node in constants.values() if node in replacements.values()]
    function.nodes = [function.nodes[0], *used, *(it for it in function.nodes[1:] if it not in replacements)]
    replace_all(function, replacements)
    remove_dead(function)
    return True


def _decided(known: Ranges, constants: dict[bool, ConstantNode]) -> Iterator[tuple[Node, Node]]:
    """The nodes that ranges decide, each with what to put there."""
    plan = known.plan
    for node, at in plan.place.items():
        match node:
            case Binary(op, lhs, rhs) if isinstance(plan.types[lhs], Integer):
                truth = _outcome(op, known.at(lhs, at), known.at(rhs, at))
                if truth is not None:
                    yield node, constants[truth]
            case Intrinsic("min" | "max" as name, Integer(), [left, right]):
                is_less = _outcome(BinaryOp.LESS_EQUAL, known.at(left, at), known.at(right, at))
                is_more = _outcome(BinaryOp.GREATER_EQUAL, known.at(left, at), known.at(right, at))
                if is_less or is_more:
                    yield node, left if bool(is_less) is (name == "min") else right
            case _:
                pass


def _outcome(op: BinaryOp, left: Range, right: Range) -> bool | None:
    """How a comparison always comes out, if it does."""
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


def _is_equal(left: Range, right: Range) -> bool | None:
    if left.low == left.high == right.low == right.high:
        return True
    return False if _is_less(left, right, 0) or _is_less(right, left, 0) else None


def _is_less(left: Range, right: Range, slack: int) -> bool:
    """Whether each number of the left range is less than each of the right one plus a slack."""
    return left.high < right.low + slack
