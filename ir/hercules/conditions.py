"""Facts from branches: the comparisons of integers that hold in each block.

`facts(placed)` gives, for each block, the comparisons that hold whenever control reaches the block. A node's value does
not change between the branch that compares it and any block that an arm of the branch dominates: whatever would compute
it again dominates the branch too. No fact is carried across a join, because a fork of factor 0 does not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from .graph import is_projection
from .nodes import (
    Binary,
    BinaryOp,
    Bool,
    BoolConstant,
    ConstantNode,
    ControlIndex,
    ControlNode,
    FloatingNode,
    If,
    Integer,
    Join,
    Node,
    Phi,
    PinnedNode,
    Read,
    Reduce,
    Region,
    Select,
    Unary,
    UnaryOp,
    ZeroConstant,
)
from .placement import Placement

Fact: TypeAlias = tuple[BinaryOp, Node]
"""`(op, other)`, about a node: `node op other` is true."""
Facts: TypeAlias = Mapping[Node, Sequence[Fact]]

OPPOSITE = {
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
    BinaryOp.EQUAL: BinaryOp.NOT_EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.EQUAL,
}
"""Each comparison of integers, and the one that holds where it does not."""
MIRRORED = {
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
    BinaryOp.EQUAL: BinaryOp.EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.NOT_EQUAL,
}
"""Each comparison with its operands exchanged."""


def facts(placed: Placement) -> Mapping[Node, Facts]:
    """The facts that hold in each block, by its leader: comparisons of integers, since with NaN none can be negated."""
    found: dict[Node, Facts] = {}
    for leader in placed.blocks:
        above = placed.nest.forks[leader] if isinstance(leader, Join) else placed.dominators.parent.get(leader)
        inherited: Facts = found[_leader(placed, above)] if above is not None else {}
        new = dict[Node, list[Fact]]()
        for op, lhs, rhs in _entering(placed, leader, found):
            if isinstance(lhs, Reduce) or isinstance(rhs, Reduce):
                continue  # one value inside its fork, another after it
            new.setdefault(lhs, []).append((op, rhs))
            new.setdefault(rhs, []).append((MIRRORED[op], lhs))
        merged = {node: [*inherited.get(node, ()), *them] for node, them in new.items()}
        found[leader] = {**inherited, **merged} if merged else inherited
    return found


def _leader(placed: Placement, node: Node) -> Node:
    while node not in placed.blocks:
        node = placed.dominators.parent[node]
    return node


Comparison: TypeAlias = tuple[BinaryOp, Node, Node]


def _entering(placed: Placement, leader: Node, found: Mapping[Node, Facts]) -> Iterator[Comparison]:
    """The comparisons that the branch arm leading into a block decides."""
    if isinstance(leader, Read) and is_projection(leader) and isinstance(leader.collection, If):
        (index,) = leader.indices
        assert isinstance(index, ControlIndex)
        yield from _implied(placed, leader.collection.condition, bool(index.output), found)


def implied(placed: Placement, condition: Node, truth: bool) -> Iterator[Comparison]:
    """The comparisons of integers implied by a condition with this truth value, at any place."""
    return (it for it in _implied(placed, condition, truth, {}) if not any(isinstance(node, Reduce) for node in it[1:]))


def _implied(placed: Placement, condition: Node, truth: bool, found: Mapping[Node, Facts]) -> Iterator[Comparison]:
    """The comparisons implied by a condition with this truth value."""
    match condition:
        case Unary(UnaryOp.NOT, operand):
            yield from _implied(placed, operand, not truth, found)
        case Binary(BinaryOp.AND, lhs, rhs) if truth:
            yield from _implied(placed, lhs, truth, found)
            yield from _implied(placed, rhs, truth, found)
        case Binary(BinaryOp.OR, lhs, rhs) if not truth:
            yield from _implied(placed, lhs, truth, found)
            yield from _implied(placed, rhs, truth, found)
        case Binary(op, lhs, rhs) if op in OPPOSITE and isinstance(placed.types[lhs], Integer):
            yield (op if truth else OPPOSITE[op]), lhs, rhs
        case Select(chooser, if_true, if_false):
            if constant_truth(if_false) is (not truth):
                yield from _implied(placed, chooser, True, found)
                yield from _implied(placed, if_true, truth, found)
            elif constant_truth(if_true) is (not truth):
                yield from _implied(placed, chooser, False, found)
                yield from _implied(placed, if_false, truth, found)
        case Phi(Region() as region, values):
            others = [index for index, value in enumerate(values) if constant_truth(value) is not (not truth)]
            if len(others) == 1:
                yield from _of_input(placed, region, others[0], values[others[0]], truth, found)
        case FloatingNode() | PinnedNode() | ControlNode():
            return
        case _:
            assert_never(condition)


def _of_input(
    placed: Placement, region: Region, index: int, value: Node, truth: bool, found: Mapping[Node, Facts]
) -> Iterator[Comparison]:
    """The facts implied if control entered a region from one predecessor, with this truth value there: short circuits.

    Only about nodes from above the region: those from below may have changed since.
    """
    known = list(_implied(placed, value, truth, found))
    if region.predecessors[index] in placed.graph.predecessors:
        before: Facts = found.get(_leader(placed, region.predecessors[index]), {})
        known += [(op, node, other) for node, them in before.items() for op, other in them]
    for op, lhs, rhs in known:
        if is_above(placed, lhs, region) and is_above(placed, rhs, region):
            yield op, lhs, rhs


def is_above(placed: Placement, node: Node, region: Region) -> bool:
    """Whether a node has one value on all paths into a region, because it is computed above the region."""
    at = placed.place.get(node)
    return at is not None and at is not region and placed.dominators.dominates(at, region)


def constant_truth(node: Node) -> bool | None:
    """The value of a constant condition; None for another node."""
    match node:
        case ConstantNode(BoolConstant(value)):
            return value
        case ConstantNode(ZeroConstant(Bool())):
            return False
        case _:
            return None
