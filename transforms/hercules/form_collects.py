"""Collect-forming: a Reduce of writes at each thread's own number becomes a Collect.

For other schedules of `.hir` functions. No pipeline runs it: gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_all
from ...ir.hercules.nodes import Array, Collect, Function, Module, Node, PositionIndex, Reduce, Type, Write
from ...ir.hercules.types import is_scalar
from .cleanup import remove_dead
from .forks import ForkBody, Forks


@dataclass(frozen=True)
class FormCollects:
    """Makes a Collect of each Reduce that only gathers one value a thread.

    That is a Reduce of an array of scalars with as many elements as the fork has threads (the same expression), of
    which each thread, on every path, writes the element of its number, and which no thread reads. What the array held
    before is not wanted any more. For a nest of forks around one write at all their numbers, outermost first, Collects
    of Collects are made, if the array has the factors for its extents.

    A Collect is storage of its own: an entry point that must give its buffers back keeps its writes.
    """

    name = "form_collects"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            known = Analyses(function)
            while _form_one(known):
                changed = True
            remove_dead(function)
        return changed


def _form_one(known: Analyses) -> bool:
    for body in Forks.of(known).bodies():
        for reduce in body.reduces:
            nest = nest_of(body, reduce)
            if obstacle(nest) is None:
                _form(known.function, nest)
                return True
    return False


Nest = list[tuple[ForkBody, Reduce]]
"""Forks from the outermost inwards, each with the Reduce that carries one array through it."""


def nest_of(body: ForkBody, reduce: Reduce) -> Nest:
    """The perfectly nested forks that a Reduce passes through, from its own fork inwards."""
    return list(_nest(body, reduce))


def _nest(body: ForkBody, reduce: Reduce) -> Iterator[tuple[ForkBody, Reduce]]:
    yield body, reduce
    inner = reduce.update
    if isinstance(inner, Reduce) and inner is not reduce and inner.init is reduce:
        fork = body.forks.placed.place[inner]
        yield from _nest(next(it for it in body.forks.bodies() if it.fork is fork), inner)


def obstacle(nest: Nest) -> str | None:
    """Why the array is not what the threads' values make when they are Collected; None if it is."""
    for (outer, reduce), (body, inner) in pairwise(nest):
        if outer.inside_users(reduce) != [inner] or body.outside_users(inner) != [reduce]:
            return "a thread looks at the array"
    body, reduce = nest[-1]
    write = reduce.update
    if not isinstance(write, Write) or write.collection is not reduce:
        return "not every thread ends with a write"
    if set(body.inside_users(reduce)) != {write}:
        return "a thread looks at the array"
    if any(it is not reduce for it in body.forks.users[write]):
        return "a thread looks at the array"
    if not is_scalar(body.forks.placed.types[write.value]) or len(write.indices) != len(nest):
        return "a thread writes more or less than one scalar"
    type: Type = body.forks.placed.types[reduce]
    for (outer, _), index in zip(nest, write.indices, strict=True):
        if not isinstance(index, PositionIndex) or index.position not in outer.threads:
            return "a thread writes elsewhere than at its number"
        if not isinstance(type, Array) or type.extent != outer.fork.factor:
            return "the array has not one element for each thread"
        type = type.element
    return None


def _form(function: Function, nest: Nest) -> None:
    write = nest[-1][1].update
    assert isinstance(write, Write)
    value: Node = write.value
    replacements: dict[Node, Node] = {}
    for body, reduce in reversed(nest):
        value = Collect(body.join, value, label=reduce.label, span=reduce.span)
        replacements[reduce] = value
    function.nodes = [replacements.get(it, it) for it in function.nodes]
    replace_all(function, {nest[0][1]: value})
