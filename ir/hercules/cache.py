"""Analyses that are kept for as long as the function stays as it was.

Passes edit nodes in place, and nothing tells a cache so. A *version* is therefore what the function is: every node with
the values of all its fields. It costs a walk over the nodes, which is a fraction of what a schedule costs. Whoever asks
for analyses again and again holds an `Analyses`, and asks it:

    known = Analyses(function)
    plan = known.get(schedule)      # computed
    plan = known.get(schedule)      # the same
    replace_predecessor(node, old, new)
    plan = known.get(schedule)      # computed again
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from .nodes import Call, Function, Node

T = TypeVar("T")
Version = tuple[Hashable, ...]


def version_of(function: Function) -> Version:
    """What the function is now: equal versions mean that nothing an analysis looks at has changed."""
    head = (tuple(function.dynamic_constants), tuple(function.parameter_types), function.return_type)
    return (*head, *(it for node in function.nodes for it in _fields(node)), *_callees(function))


def _fields(node: Node) -> list[Hashable]:
    found: list[Hashable] = [node]
    for info in node.FIELDS:
        value: object = getattr(node, info.name)
        found.append(tuple(cast("list[Hashable]", value)) if isinstance(value, list) else value)
    return found


def _callees(function: Function) -> list[Hashable]:
    """The versions of what is called: whether a parameter is consumed is seen in the callee."""
    callees = dict.fromkeys(node.callee for node in function.nodes if isinstance(node, Call))
    return [version_of(it) for it in callees]


class Analyses:
    """The analyses of one function, each computed when it is asked for and again only when the function has changed."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._version: Version = ()
        self._known: dict[object, object] = {}

    def get(self, analysis: Callable[[Function], T]) -> T:
        """The result of an analysis of the function as it is now."""
        version = version_of(self.function)
        if version != self._version:
            self._version = version
            self._known.clear()
        if analysis not in self._known:
            self._known[analysis] = analysis(self.function)
        return cast(T, self._known[analysis])
