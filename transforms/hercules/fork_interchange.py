"""Fork interchange: of two forks one right inside the other, the inner becomes the outer.

For other schedules of `.hir` functions. No pipeline runs it: gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.hercules.cache import Analyses
from ...ir.hercules.nodes import Fork, Function, Module, Node
from .cleanup import remove_dead
from .forks import PLACED_CALLS, ForkBody, Forks


@dataclass(frozen=True)
class ForkInterchange:
    """Swaps the two forks of each nest that allows it, or only of the nest whose outer fork has the label `fork`.

    Two forks may change places if

    - no control runs between them: the outer forks right into the inner, whose join goes right into the outer join;
    - nothing is Collected: the array would be transposed;
    - what the outer carries, the inner just carries on, so that it is touched in the innermost threads only;
    - the order of these does not show: it is a fold, or every access has one of the two thread numbers among its
      positions (see `independence`), so that each element sees its threads in the order in which it saw them before.

    Of a deeper nest the outermost pair that can be swapped is.
    """

    fork: str = ""
    name = "fork_interchange"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= interchange(function, lambda outer, _: self.fork in ("", outer.fork.label))
        return changed


def interchange(function: Function, is_wanted: Callable[[ForkBody, ForkBody], bool]) -> bool:
    """Swap the pairs of forks, outer and inner, that are wanted and allow it; whether there were any."""
    forks = Forks.of(Analyses(function))
    done: set[Fork] = set()
    for outer in forks.bodies():
        inner = inner_of(outer)
        if inner is None or done & {outer.fork, inner.fork}:
            continue
        if obstacle(outer, inner) is None and is_wanted(outer, inner):
            _swap(outer, inner)
            done |= {outer.fork, inner.fork}
    return bool(done)


def inner_of(outer: ForkBody) -> ForkBody | None:
    """The fork that control comes to first inside another, if there is one."""
    (following,) = outer.forks.placed.graph.successors[outer.fork]
    return outer.forks.body(following) if isinstance(following, Fork) else None


def obstacle(outer: ForkBody, inner: ForkBody) -> str | None:
    """Why the two cannot change places; None if they can."""
    if inner.fork.control is not outer.fork or outer.join.control is not inner.join:
        return "control runs between the two forks"
    if outer.has_placed_calls:
        return PLACED_CALLS
    if outer.collects or inner.collects:
        return "a collect would be transposed"
    handed = {it.init: it for it in inner.reduces}
    for reduce in outer.reduces:
        on = handed.pop(reduce, None)
        if on is None or reduce.update is not on or outer.inside_users(reduce) != [on]:
            return "what the outer fork carries is not just carried on by the inner"
        if inner.outside_users(on) != [reduce]:
            return "what the inner fork leaves is used in the outer"
    if handed:
        return "the inner fork carries something that the outer does not"
    numbers: set[Node] = {*outer.threads, *inner.threads}
    for reduce in inner.reduces:
        if inner.iterations.fold(reduce, reduce.update) is None:
            own = inner.iterations.own_place(reduce, reduce.update, numbers)
            # What is the same in all inner threads may differ between outer ones.
            if own is None or own.form.others:
                return "the order of the threads shows in what they carry"
    return None


def _swap(outer: ForkBody, inner: ForkBody) -> None:
    """The forks take each other's factor and threads; all else stays where it is."""
    outer.fork.factor, inner.fork.factor = inner.fork.factor, outer.fork.factor
    outer.fork.label, inner.fork.label = inner.fork.label, outer.fork.label
    outer.join.label, inner.join.label = inner.join.label, outer.join.label
    for thread in outer.threads:
        thread.fork = inner.fork
    for thread in inner.threads:
        thread.fork = outer.fork
