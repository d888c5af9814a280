"""What is known where control has come through a branch: comparisons that hold in a block.

`facts(plan)` gives, for each block of a schedule, the comparisons that held for good when control came there. A node's
value does not change between the branch that compared it and any block which that way out of the branch dominates:
what would make it anew dominates the branch too. Nothing is taken over a join: a fork of factor 0 does not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from .graph import is_projection
from .nodes import (
    Binary,
    BinaryOp,
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
from .schedule import Schedule

Fact: TypeAlias = tuple[BinaryOp, Node]
"""`(op, other)`, about a node: `node op other` is true."""
Facts: TypeAlias = Mapping[Node, Sequence[Fact]]

_OPPOSITE = {
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
    BinaryOp.EQUAL: BinaryOp.NOT_EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.EQUAL,
}
MIRRORED = {
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
    BinaryOp.EQUAL: BinaryOp.EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.NOT_EQUAL,
}
"""Each comparison from the other side."""


def facts(plan: Schedule) -> Mapping[Node, Facts]:
    """The facts that hold in each block, by its leader. They are about integers; a float's NaN has no opposite."""
    found: dict[Node, Facts] = {}
    for leader in plan.blocks:
        above = plan.nest.forks[leader] if isinstance(leader, Join) else plan.dominators.parent.get(leader)
        inherited: Facts = found[_leader(plan, above)] if above is not None else {}
        new = dict[Node, list[Fact]]()
        for op, lhs, rhs in _entering(plan, leader, found):
            if isinstance(lhs, Reduce) or isinstance(rhs, Reduce):
                continue  # one value inside its fork, another after it
            new.setdefault(lhs, []).append((op, rhs))
            new.setdefault(rhs, []).append((MIRRORED[op], lhs))
        merged = {node: [*inherited.get(node, ()), *them] for node, them in new.items()}
        found[leader] = {**inherited, **merged} if merged else inherited
    return found


def _leader(plan: Schedule, node: Node) -> Node:
    while node not in plan.blocks:
        node = plan.dominators.parent[node]
    return node


Comparison: TypeAlias = tuple[BinaryOp, Node, Node]


def _entering(plan: Schedule, leader: Node, found: Mapping[Node, Facts]) -> Iterator[Comparison]:
    """The comparisons that the way into a block decides."""
    if isinstance(leader, Read) and is_projection(leader) and isinstance(leader.collection, If):
        (way,) = leader.indices
        assert isinstance(way, ControlIndex)
        yield from _implied(plan, leader.collection.condition, bool(way.output), found)


def implied(plan: Schedule, condition: Node, truth: bool) -> Iterator[Comparison]:
    """The comparisons of integers that follow from a condition's being true or false, wherever it is so."""
    return (it for it in _implied(plan, condition, truth, {}) if not any(isinstance(node, Reduce) for node in it[1:]))


def _implied(plan: Schedule, condition: Node, truth: bool, found: Mapping[Node, Facts]) -> Iterator[Comparison]:
    """The comparisons that follow from a condition's being true or false."""
    match condition:
        case Unary(UnaryOp.NOT, operand):
            yield from _implied(plan, operand, not truth, found)
        case Binary(BinaryOp.AND, lhs, rhs) if truth:
            yield from _implied(plan, lhs, truth, found)
            yield from _implied(plan, rhs, truth, found)
        case Binary(BinaryOp.OR, lhs, rhs) if not truth:
            yield from _implied(plan, lhs, truth, found)
            yield from _implied(plan, rhs, truth, found)
        case Binary(op, lhs, rhs) if op in _OPPOSITE and isinstance(plan.types[lhs], Integer):
            yield (op if truth else _OPPOSITE[op]), lhs, rhs
        case Select(chooser, if_true, if_false):
            if _is_constant(if_false, not truth):
                yield from _implied(plan, chooser, True, found)
                yield from _implied(plan, if_true, truth, found)
            elif _is_constant(if_true, not truth):
                yield from _implied(plan, chooser, False, found)
                yield from _implied(plan, if_false, truth, found)
        case Phi(Region() as region, values):
            others = [index for index, value in enumerate(values) if not _is_constant(value, not truth)]
            if len(others) == 1:
                yield from _of_way(plan, region, others[0], values[others[0]], truth, found)
        case FloatingNode() | PinnedNode() | ControlNode():
            return
        case _:
            assert_never(condition)


def _of_way(
    plan: Schedule, region: Region, way: int, value: Node, truth: bool, found: Mapping[Node, Facts]
) -> Iterator[Comparison]:
    """What follows from control having come to a region by one way, with this truth of its value: of short circuits.

    Only about nodes from above the region: those from below may have changed since.
    """
    known = list(_implied(plan, value, truth, found))
    if region.predecessors[way] in plan.graph.predecessors:
        before: Facts = found.get(_leader(plan, region.predecessors[way]), {})
        known += [(op, node, other) for node, them in before.items() for op, other in them]
    for op, lhs, rhs in known:
        if is_above(plan, lhs, region) and is_above(plan, rhs, region):
            yield op, lhs, rhs


def is_above(plan: Schedule, node: Node, region: Region) -> bool:
    """Whether a node is the same value on all ways into a region: it is made above it."""
    at = plan.place.get(node)
    return at is not None and at is not region and plan.dominators.dominates(at, region)


def _is_constant(node: Node, truth: bool) -> bool:
    match node:
        case ConstantNode(BoolConstant(value)):
            return value is truth
        case ConstantNode(ZeroConstant()):
            return not truth
        case _:
            return False
