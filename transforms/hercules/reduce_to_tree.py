"""Reductions to a tree: a fork that folds scalars becomes a parallel fork of partial folds, and a fold of these.

For grids: the threads of a fold depend on each other, those of the partial folds do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.hercules import dynamic
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_predecessor
from ...ir.hercules.nodes import (
    Collect,
    DynamicLiteral,
    Fork,
    Function,
    Join,
    Module,
    Node,
    PositionIndex,
    Read,
    Reduce,
    ThreadID,
)
from .cleanup import remove_dead
from .folds import divide, folds_of, with_thread
from .fork_tiling import Tiles, interleaved
from .forks import PLACED_CALLS, ForkBody, Forks


@dataclass(frozen=True)
class ReduceToTree:
    """Makes of each outermost fork that folds scalars a parallel fork, in which each thread folds `size` of the values,
    and a fork that folds their results; that one again becomes two, up to `levels` times in all.

    The values are integers and bools, minima and maxima, which may be folded in any order (see `independence`), and
    values that are selected together, such as the greatest one and its position (see `folds`); with `reassociate`,
    sums and products of floats too, which then round differently. So many neighbouring threads as a thread folds values
    share a block of values, in which they read neighbouring elements at a time. Where a thread runs a loop or a fork of
    its own, or the fork makes more than folds, each thread gives one value, and only the second fork is divided
    further. The partial results are a Collect.

    A fork of at most `size` threads stays, if that is known; so does one with calls that say where they are. `counts`
    are the bits that dynamic constants have at most; whoever runs the result checks that.
    """

    size: int = 64
    levels: int = 2
    reassociate: bool = False
    counts: int = 64
    name = "reduce_to_tree"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= _divide_all(function, self)
        return changed


def _divide_all(function: Function, options: ReduceToTree) -> bool:
    known = Analyses(function)
    wanted = [it for it in function.nodes if isinstance(it, Fork)]
    changed = False
    for outermost in wanted:
        fork = outermost
        for _ in range(options.levels):
            body = Forks.of(known).body(fork)
            if obstacle(body, options) is not None:
                break
            fork = _divide(known, body, options)
            changed = True
    return changed


def obstacle(body: ForkBody, options: ReduceToTree) -> str | None:
    """Why a fork is not divided; None if it is."""
    if options.size < 2:
        return "a thread would fold one value"
    if not body.is_outermost:
        return "it is inside another fork"
    folds = {it for fold in folds_of(body, reassociate=options.reassociate) for it in fold.reduces}
    if not folds:
        return "it folds nothing"
    if body.has_placed_calls:
        return PLACED_CALLS
    if isinstance(body.fork.factor, DynamicLiteral) and body.fork.factor.value <= options.size:
        return "one thread folds its values as well"
    own = body.iterations
    others = [it for it in body.reduces if it not in folds]
    if any(own.own_place(it, it.update, body.threads) is None for it in others):
        return "its threads depend on each other otherwise, too"
    return None


def _is_light(body: ForkBody) -> bool:
    """Whether a thread runs no fork and no loop."""
    loops = body.forks.placed.loops
    return not any(isinstance(it, Fork) or loops.around[it] != loops.around[body.fork] for it in body.control)


def _divide(known: Analyses, body: ForkBody, options: ReduceToTree) -> Fork:
    """Divide a fork; the fork that folds the partial results."""
    nodes = known.function.nodes
    most = dynamic.greatest(body.fork.factor, (1 << options.counts) - 1)
    folds = [with_thread(body, it, most) for it in folds_of(body, reassociate=options.reassociate)]
    members = {it for fold in folds for it in fold.reduces}
    is_tiled = members.issuperset(body.reduces) and not body.collects and _is_light(body)
    tiles = Tiles.in_blocks(body.fork.factor, options.size) if is_tiled else None
    (after,) = body.forks.placed.graph.successors[body.join]
    fork = Fork(body.join, tiles.count if tiles else body.fork.factor, span=body.fork.span)
    join, thread = Join(fork, span=body.join.span), ThreadID(fork)
    nodes += [fork, thread, join]
    takers: dict[Reduce, Node] = {}
    for fold in folds:
        parts = [Collect(body.join, it.update, span=it.span) for it in fold.reduces]
        values = [Read(it, [PositionIndex(thread)]) for it in parts]
        totals = [Reduce(join, it.init, it.init, label=it.label, span=it.span) for it in fold.reduces]
        nodes += [*parts, *values, *totals]
        for total, update in zip(totals, fold.combined(totals, values, nodes.append), strict=True):
            total.update = update
        takers |= zip(fold.reduces, parts, strict=True)
        for reduce, total in zip(fold.reduces, totals, strict=True):
            for user in body.forks.users.get(reduce, ()):
                if not body.is_inside(user):
                    replace_predecessor(user, reduce, total)
    replace_predecessor(after, body.join, join)
    divide(known, body.fork, folds, takers, None if tiles is None else (tiles, interleaved))
    return fork
