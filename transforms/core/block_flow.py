"""Which blocks must be counted so that the counts of all others follow.

Control that enters a place leaves it: what flows into an If flows out by its arms, what branches to a merge goes on
from there. So the blocks of a function are the edges of a graph whose vertices are these places, and the counts are a
flow in it. The blocks outside of a spanning tree determine all others (Knuth and Stevenson, "Optimal measurement of
points for program frequency counts", 1973). In structured control flow every edge is a block: no edge has to be split.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, assert_never

from ...ir.core import nodes
from ...ir.core.structure import blocks_of
from .regions import blocks_from, last_block, region

_ITERATIONS: Final = 10.0
"""The number of iterations that a loop is expected to make."""
_LEAVING: Final = 0.1
"""How often an arm that ends in a return, a `break` or a `continue` is expected to be taken."""

Place: TypeAlias = Hashable


class Step(NamedTuple):
    """The count of a block is the sum of the counts of some blocks, less those of others."""

    block: int
    plus: tuple[int, ...]
    minus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks of a function by number. Those `counted` and the first, which is entered once a call, give the counts
    of all others by `steps`, in this order. `is_looped` has the blocks in loops.
    """

    blocks: Sequence[nodes.Block]
    counted: frozenset[int]
    steps: tuple[Step, ...]
    is_looped: frozenset[int]


def flow_of(function: nodes.Function) -> Flow:
    """The flow of a function. Blocks that control never enters have no part in it."""
    blocks = blocks_of(function)
    edges = _edges(function, blocks)
    expected = dict(_expected(function.start_target, 1.0))
    numbers = {id(block): number for number, block in enumerate(blocks)}
    weights = {numbers[key]: it for key, it in expected.items()}
    by_weight = sorted(edges.keys() - {0}, key=lambda it: (-weights[it], it))
    tree = _spanning_tree(edges, by_weight)
    counted = frozenset(edges.keys() - tree - {0})
    return Flow(blocks, counted, tuple(_steps(edges, tree)), frozenset(_looped(blocks, numbers)))


def _edges(function: nodes.Function, blocks: Sequence[nodes.Block]) -> dict[int, tuple[Place, Place]]:
    """The places at which control enters and leaves each block that is not dead."""
    entered: dict[int, Place] = {id(function.start_target): id(function)}
    for block in blocks:
        node = None if block.branch is None else block.branch.target
        for arm in _arms(node):
            entered[id(arm)] = id(node)
    found: dict[int, tuple[Place, Place]] = {}
    for number, block in enumerate(blocks):
        left = _left_to(function, block)
        if left is not None:
            found[number] = entered.get(id(block), id(block)), left
    return found


def _arms(node: nodes.Flow | None) -> Sequence[nodes.Block]:
    if isinstance(node, nodes.If):
        return node.true_target, node.false_target
    return [it.target for it in node.cases] if isinstance(node, nodes.Switch) else []


def _left_to(function: nodes.Function, block: nodes.Block) -> Place | None:
    """Where control goes from a block; a return goes back to the function's beginning. None for dead blocks."""
    assert block.branch is not None
    target = block.branch.target
    match target:
        case nodes.Block() | nodes.If() | nodes.Switch():
            return id(target)
        case nodes.Loop(start_target=start):
            return id(start)
        case nodes.Terminator(unreachable=dead):
            return None if dead else id(function)
        case _:
            assert_never(target)


def _expected(start: nodes.Block, times: float) -> Iterator[tuple[int, float]]:
    """How often each block of a region is expected to run, if the region runs so many times."""
    pending = [(start, times)]
    while pending:
        first, often = pending.pop()
        for block in region(first):
            yield id(block), often
            node = None if block.branch is None else block.branch.target
            pending += _expected_parts(node, often)
            if isinstance(node, nodes.If):
                often *= sum(it for arm, it in _expected_parts(node, 1.0) if not _is_left(arm, node)) or 1.0


def _expected_parts(node: nodes.Flow | None, times: float) -> list[tuple[nodes.Block, float]]:
    match node:
        case nodes.If(true_target=true, false_target=false):
            leaving = [_is_left(it, node) for it in (true, false)]
            share = {(True, False): _LEAVING, (False, True): 1 - _LEAVING}.get((leaving[0], leaving[1]), 0.5)
            return [(true, times * share), (false, times * (1 - share))]
        case nodes.Switch(cases=cases):
            return [(it.target, times / len(cases)) for it in cases]
        case nodes.Loop(start_target=start, continuing_target=continuing):
            return [(start, times * _ITERATIONS), (continuing, times * _ITERATIONS)]
        case nodes.Block() | nodes.Terminator() | None:
            return []
        case _:
            assert_never(node)


def _is_left(arm: nodes.Block, node: nodes.If) -> bool:
    """Whether control leaves an arm otherwise than to the merge."""
    branch = last_block(arm).branch
    return branch is None or branch.target is not node.merge_target


def _spanning_tree(edges: dict[int, tuple[Place, Place]], order: Sequence[int]) -> set[int]:
    """A forest that spans the graph, of the first edges in an order (Kruskal)."""
    parents: dict[Place, Place] = {}

    def root(place: Place) -> Place:
        while (parent := parents.get(place, place)) != place:
            place = parent
        return place

    tree: set[int] = set()
    for edge in order:
        start, end = map(root, edges[edge])
        if start != end:
            parents[start] = end
            tree.add(edge)
    return tree


def _steps(edges: dict[int, tuple[Place, Place]], tree: set[int]) -> Iterator[Step]:
    """The blocks of the tree, each after those of which its count is a sum: leaves of the rest of the tree first."""
    into: dict[Place, list[int]] = {}
    out: dict[Place, list[int]] = {}
    for edge, (start, end) in edges.items():
        out.setdefault(start, []).append(edge)
        into.setdefault(end, []).append(edge)
    unknown = {place: {it for it in (*into.get(place, ()), *out.get(place, ())) if it in tree} for place in into | out}
    leaves = [place for place, found in unknown.items() if len(found) == 1]
    while leaves:
        place = leaves.pop()
        if not unknown[place]:
            continue
        edge = unknown[place].pop()
        ends, starts = into.get(place, []), out.get(place, [])
        known, others = (ends, starts) if edge in starts else (starts, ends)
        yield Step(edge, tuple(known), tuple(it for it in others if it != edge))
        (other,) = (it for it in edges[edge] if it != place)
        unknown[other].discard(edge)
        if len(unknown[other]) == 1:
            leaves.append(other)


def _looped(blocks: Sequence[nodes.Block], numbers: dict[int, int]) -> Iterator[int]:
    """The blocks inside of loops."""
    for block in blocks:
        loop = None if block.branch is None else block.branch.target
        if isinstance(loop, nodes.Loop):
            inside = (*blocks_from(loop.start_target), *blocks_from(loop.continuing_target))
            yield from (numbers[id(it)] for it in inside)
