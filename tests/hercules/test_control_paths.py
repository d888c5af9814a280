"""Paths of control that avoid blocks are those that a search of the whole graph finds."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tinct.ir.hercules.analyses import ControlGraph, Dominators, block_leader, control_graph, dominators, loop_nest
from tinct.ir.hercules.control_paths import ControlPaths
from tinct.ir.hercules.nodes import Node

from .generate import generate

_MOST = 3000
"""Questions asked of each function."""


@pytest.mark.parametrize("seed", range(25))
def test_paths_agree_with_a_search_of_the_whole_graph(seed: int) -> None:
    graph = control_graph(generate(seed).functions[0])
    tree = dominators(graph)
    leaders = {it: block_leader(it) for it in graph.order}
    paths = ControlPaths(graph, tree, loop_nest(graph, tree), leaders)
    blocks = [it for it in graph.order if leaders[it] is it]
    asked = [it for it in product(blocks, repeat=3) if _is_above(tree, *it)]
    for cut, block, target in Random(seed).sample(asked, min(_MOST, len(asked))):
        assert paths.can_reach(block, target, (cut,)) == _can_reach(graph, leaders, block, target, cut)


def _is_above(tree: Dominators, cut: Node, block: Node, target: Node) -> bool:
    return tree.dominates(cut, block) and tree.dominates(cut, target)


def _can_reach(graph: ControlGraph, leaders: dict[Node, Node], block: Node, target: Node, cut: Node) -> bool:
    seen, pending = {cut}, [block]
    while pending:
        leader = pending.pop()
        inside = [it for it in graph.order if leaders[it] is leader]
        following = {leaders[to] for it in inside for to in graph.successors[it] if leaders[to] is to}
        if target in following - {cut}:
            return True
        pending += following - seen
        seen |= following
    return False
