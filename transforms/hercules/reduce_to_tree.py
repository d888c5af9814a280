"""Reductions to a tree: a fork that folds one scalar becomes a parallel fork of partial folds, and a fold of these.

For grids: the threads of a fold depend on each other, those of the partial folds do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ...ir.hercules.arithmetic import integer_range
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_predecessor
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bool,
    BoolConstant,
    Collect,
    Constant,
    ConstantNode,
    DynamicLiteral,
    Float,
    FloatConstant,
    Fork,
    Function,
    Integer,
    IntegerConstant,
    Intrinsic,
    Join,
    Module,
    Node,
    PositionIndex,
    Read,
    Reduce,
    ThreadID,
    Type,
)
from ...ir.hercules.types import is_scalar
from .cleanup import remove_dead
from .fork_tiling import strided, tile
from .forks import PLACED_CALLS, ForkBody, Forks
from .independence import Fold


@dataclass(frozen=True)
class ReduceToTree:
    """Makes of each outermost fork that folds scalars a parallel fork, in which each thread folds `size` of the values,
    and a fork that folds their results; that one again becomes two, up to `levels` times in all.

    The values are integers and bools, which may be folded in any order (see `independence`); with `reassociate`, floats
    too, whose sum then rounds differently. Thread t of b folds the values t, t + b, t + 2b …, so that neighbouring
    threads read neighbouring elements. Where a thread runs a loop or a fork of its own, or the fork makes more than
    folds, each thread gives one value, and only the second fork is divided further. The partial results are a Collect.

    A fork of at most `size` threads stays, if that is known; so does one with calls that say where they are.
    """

    size: int = 64
    levels: int = 2
    reassociate: bool = False
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
    if not _folds(body, options):
        return "it folds nothing"
    if body.has_placed_calls:
        return PLACED_CALLS
    if isinstance(body.fork.factor, DynamicLiteral) and body.fork.factor.value <= options.size:
        return "one thread folds its values as well"
    own = body.iterations
    others = [it for it in body.reduces if it not in _folds(body, options)]
    if any(own.own_place(it, it.update, body.threads) is None for it in others):
        return "its threads depend on each other otherwise, too"
    return None


def _folds(body: ForkBody, options: ReduceToTree) -> dict[Reduce, Fold]:
    """The Reduces that fold a scalar, and by what."""
    found = {it: body.iterations.fold(it, it.update, reassociate=options.reassociate) for it in body.reduces}
    return {reduce: fold for reduce, fold in found.items() if fold is not None}


def _is_light(body: ForkBody) -> bool:
    """Whether a thread runs no fork and no loop."""
    loops = body.forks.placed.loops
    return not any(isinstance(it, Fork) or loops.around[it] != loops.around[body.fork] for it in body.control)


def _divide(known: Analyses, body: ForkBody, options: ReduceToTree) -> Fork:
    """Divide a fork; the fork that folds the partial results."""
    folds, types = _folds(body, options), body.forks.placed.types
    kinds = {it: types[it] for it in folds}
    if len(folds) == len(body.reduces) and not body.collects and _is_light(body):
        tile(body, options.size, strided)
        body = Forks.of(known).body(body.fork)
    function, (after,) = known.function, body.forks.placed.graph.successors[body.join]
    fork = Fork(body.join, body.fork.factor, span=body.fork.span)
    join, thread = Join(fork, span=body.join.span), ThreadID(fork)
    made: list[Node] = [fork, thread, join]
    for reduce, fold in folds.items():
        type = kinds[reduce]
        start = ConstantNode(_identity(fold, type))
        inside, outside = body.inside_users(reduce), body.outside_users(reduce)
        partial = Collect(body.join, reduce.update, span=reduce.span)
        value = Read(partial, [PositionIndex(thread)])
        total = Reduce(join, reduce.init, reduce.init, label=reduce.label, span=reduce.span)
        total.update = _combined(fold, type, total, value)
        made += [start, partial, value, total, total.update]
        for user in inside:
            replace_predecessor(user, reduce, start)
        for user in outside:
            replace_predecessor(user, reduce, total)
    replace_predecessor(after, body.join, join)
    function.nodes = [*(it for it in function.nodes if it not in folds), *made]
    return fork


def _combined(fold: Fold, type: Type, left: Node, right: Node) -> Node:
    if isinstance(fold, BinaryOp):
        return Binary(fold, left, right)
    return Intrinsic(fold, type, [left, right])


def _identity(fold: Fold, type: Type) -> Constant:
    """The value that changes no other by a fold."""
    assert is_scalar(type)
    match type:
        case Bool():
            return BoolConstant(fold is BinaryOp.AND)
        case Integer():
            return IntegerConstant(type, _integer_identity(fold, type))
        case Float():
            known = {BinaryOp.ADD: -0.0, BinaryOp.MUL: 1.0, "min": float("inf"), "max": float("-inf")}
            return FloatConstant(type, known[fold])
        case _:
            assert_never(type)


def _integer_identity(fold: Fold, type: Integer) -> int:
    low, high = integer_range(type)
    match fold:
        case BinaryOp.MUL:
            return 1
        case BinaryOp.AND:
            return -1 if type.signed else high
        case "min":
            return high
        case "max":
            return low
        case _:
            return 0
