"""Fission for grids: the parallel parts of a sequential fork become forks of their own.

For grids: a fork whose threads depend on each other in one part runs as a loop of one invocation as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from ...ir.hercules.nodes import Module, Node, Reduce
from .cleanup import remove_dead
from .fork_fission import Fission, Part, split_all

_WORTH = 4
"""Operations that must leave the sequential parts for each split, and for each array that is passed between parts."""


@dataclass(frozen=True)
class GridFission:
    """Splits each outermost fork whose threads depend on each other, if that makes forks of independent threads and
    takes work off the others. `fork_fission` says which forks can be split, and how.

    What depends on nothing that is carried may be computed in several parts; only operations that no sequential part
    computes any more count as taken off.
    """

    name = "grid_fission"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= split_all(function, _makes_grid)
        return changed


def _makes_grid(fission: Fission) -> bool:
    body = fission.body
    if not body.is_outermost or body.is_parallel:
        return False
    work: dict[bool, set[Node]] = {True: set(), False: set()}
    for part, computed in zip(fission.parts, fission.computed, strict=True):
        work[_is_parallel(fission, part)].update(computed)
    arrays = len(set(chain.from_iterable(fission.handed)))
    return len(work[True] - work[False]) >= _WORTH * (1 + arrays)


def _is_parallel(fission: Fission, part: Part) -> bool:
    own, threads = fission.body.iterations, fission.body.threads
    reduces = [it for it in part if isinstance(it, Reduce)]
    return all(own.own_place(it, it.update, threads) is not None for it in reduces)
