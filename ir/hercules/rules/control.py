"""Rules on control: branches, forks and joins, loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ..analyses import (
    loop_nest,
)
from ..nodes import (
    ControlIndex,
    FloatingNode,
    Fork,
    If,
    Join,
    Match,
    Node,
    PinnedNode,
    Product,
    Read,
    Region,
    Return,
    Start,
)
from .context import Context, Rule


def _one_successor(node: Node, context: Context) -> Iterator[str]:
    if node not in context.graph.successors:
        return
    after = context.graph.successors[node]
    match node:
        case Return():
            pass
        case If() | Match():
            yield from _outputs(node, after, context)
        case Start() | Region() | Fork() | Join() | FloatingNode() | PinnedNode():
            if len(after) != 1:
                yield f"control goes on to {len(after)} nodes instead of one"
        case _:
            assert_never(node)


def _outputs(node: Node, after: tuple[Node, ...], context: Context) -> Iterator[str]:
    type = context.types[node]
    count = len(type.fields) if isinstance(type, Product) else 0
    taken = [
        it.output
        for output in after
        if isinstance(output, Read)
        for it in output.indices
        if isinstance(it, ControlIndex)
    ]
    if len(taken) != len(after) or sorted(taken) != list(range(count)):
        yield f"must be followed by {count} reads, one for each way out"


def _return_exists(context: Context) -> Iterator[tuple[Node | None, str]]:
    if not any(isinstance(it, Return) for it in context.graph.order):
        yield None, "no return can be reached"


def _fork_join(context: Context) -> Iterator[tuple[Node | None, str]]:
    nest = context.nest
    for node in nest.inconsistent:
        yield node, "the forks around it are not the same on every path, or it is a second join of one fork"
    for fork, join in nest.joins.items():
        if not context.dominators.dominates(fork, join):
            yield join, "its fork does not dominate it"
        if not context.post_dominators.dominates(join, fork):
            yield fork, "its join does not post-dominate it"
    for node in context.graph.order:
        if isinstance(node, Fork) and node not in nest.joins:
            yield node, "has no join"


def _reducible(context: Context) -> Iterator[tuple[Node | None, str]]:
    for node in loop_nest(context.graph, context.dominators).irreducible:
        yield node, "a loop can be entered in two places"


CONTROL: tuple[Rule, ...] = (
    Rule(
        "successors",
        "Control goes on to one node, and from an if or a match by a read for each way",
        each=_one_successor,
    ),
    Rule("returns", "A return can be reached", whole=_return_exists),
    Rule("fork-join", "Forks dominate their only joins, which post-dominate them", whole=_fork_join),
    Rule("reducible", "A loop is entered at its header", whole=_reducible),
)
