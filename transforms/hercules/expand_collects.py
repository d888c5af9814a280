"""The inverse of collect-forming: a Collect becomes a Reduce of writes.

For other schedules of `.hir` functions. No pipeline runs it: gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_all
from ...ir.hercules.nodes import (
    ConstantNode,
    Function,
    Module,
    Node,
    PositionIndex,
    Reduce,
    ThreadID,
    Write,
    ZeroConstant,
)
from .cleanup import remove_dead
from .forks import ForkBody, Forks


@dataclass(frozen=True)
class ExpandCollects:
    """Makes of each Collect a Reduce, from zeros, in which each thread writes the element of its number.

    Always possible; after it forks can be tiled and interchanged. `form_collects` undoes it.
    """

    name = "expand_collects"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= _expand_all(function)
        return changed


def _expand_all(function: Function) -> bool:
    bodies = [it for it in Forks.of(Analyses(function)).bodies() if it.collects]
    for body in bodies:
        _expand(function, body)
    return bool(bodies)


def _expand(function: Function, body: ForkBody) -> None:
    thread = body.threads[0] if body.threads else ThreadID(body.fork)
    made: list[Node] = [] if body.threads else [thread]
    replacements: dict[Node, Node] = {}
    for collect in body.collects:
        zero = ConstantNode(ZeroConstant(body.forks.placed.types[collect]))
        reduce = Reduce(body.join, zero, zero, label=collect.label, span=collect.span)
        reduce.update = Write(reduce, collect.value, [PositionIndex(thread)], span=collect.span)
        replacements[collect] = reduce
        made += [zero, reduce.update]
    function.nodes = [*(replacements.get(it, it) for it in function.nodes), *made]
    replace_all(function, replacements)
