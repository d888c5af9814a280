"""Calls of kernels and graphs in functions that describe a graph (`tinct.graph`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

from .arguments import mapping_of
from .base.errors import InputError


@runtime_checkable
class GraphValue(Protocol):
    """An input or a port of a graph that a function under `tinct.graph` describes."""

    def call(self, callee: object, buffers: Mapping[str, object], /, **options: object) -> dict[str, Any]:
        """Add a node that executes `callee`."""
        ...


def call_on_ports(callee: object, buffers: Mapping[str, object], **options: object) -> dict[str, Any]:
    """Call a kernel or a graph in the graph whose values are among `buffers`. Raises InputError if there are none."""
    given = mapping_of(buffers, "buffers", ("src",))
    members = [
        part for it in given.values() if isinstance(it, Mapping) for part in cast("Mapping[str, Any]", it).values()
    ]
    for value in (*given.values(), *members):
        if isinstance(value, GraphValue):
            return value.call(callee, given, **options)
    raise InputError(
        "a kernel or a graph is called with inputs or ports among its buffers, in a function under @tinct.graph; run() "
        "takes arrays"
    )
