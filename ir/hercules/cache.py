"""Caching of analyses while the function does not change.

Passes edit nodes in place without notice to the cache. A cached result is therefore keyed by a *version*: every node of
the function with the values of all its fields. Computing a version is a walk over the nodes, a fraction of the cost of
placing them. Code that needs analyses repeatedly keeps an `Analyses`:

    known = Analyses(function)
    placed = known.get(place_nodes)      # computed
    placed = known.get(place_nodes)      # the same object
    replace_predecessor(node, old, new)
    placed = known.get(place_nodes)      # computed again
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from .nodes import Call, Function, Node

T = TypeVar("T")
Version = tuple[Hashable, ...]


def version_of(function: Function) -> Version:
    """The current version: equal versions mean equal results of every analysis."""
    head = (tuple(function.dynamic_constants), tuple(function.parameter_types), function.return_type)
    return (*head, *(it for node in function.nodes for it in _fields(node)), *_callees(function))


def _fields(node: Node) -> list[Hashable]:
    found: list[Hashable] = [node]
    for info in node.FIELDS:
        value: object = getattr(node, info.name)
        found.append(tuple(cast("list[Hashable]", value)) if isinstance(value, list) else value)
    return found


def _callees(function: Function) -> list[Hashable]:
    """The versions of the callees: only the callee shows whether a parameter is consumed."""
    callees = dict.fromkeys(node.callee for node in function.nodes if isinstance(node, Call))
    return [version_of(it) for it in callees]


class Analyses:
    """The analyses of one function, each computed on demand and recomputed only after the function has changed."""

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
