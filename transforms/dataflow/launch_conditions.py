"""What only the numbers of a launch decide about fused nodes. A launch that fails must run the graph as it was."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ...ir import types as w
from ...ir.dataflow.expressions import Facts, evaluate
from .grids import Grid, domain
from .groups import Group
from .kernel_graph import KernelGraph
from .storings import Storing


@dataclass(frozen=True, slots=True)
class GroupTest:
    """What the numbers of a launch decide about a group of fused nodes."""

    group: Group
    graph: KernelGraph

    def failure(self, facts: Facts) -> str | None:
        """Why a launch must not run the group fused, in words; None if it may."""
        extents = [self._extents(name, facts) for name in self.group.nodes]
        if any(it != extents[0] for it in extents):
            return "the extents differ [grids]"
        grids = [self._grid(name, extents[0], facts) for name in self.group.nodes]
        for storing in self.group.storings:
            failure = None if storing.test is None else storing.test.failure(grids, _length(storing, facts))
            if failure is not None:
                return failure
        return self._rounding(grids)

    def output_length(self, name: str, facts: Facts) -> int | None:
        """The number of elements of an output of the graph; None if it is not known before the launch."""
        source, _ = self.graph.flat.outputs[name]
        length = self.graph.length(source)
        return None if length is None else evaluate(length, facts)

    def _extents(self, name: str, facts: Facts) -> tuple[int, ...]:
        return tuple(evaluate(it, facts) for it in self.graph.flat.nodes[name].extents)

    def _grid(self, name: str, extents: Sequence[int], facts: Facts) -> Grid:
        """The grid of a node's kernel by itself."""
        sizes = self.graph.accesses(name).entry.workgroup_size
        x, y, z = (
            -(-extent // size) for extent, size in zip((*extents, *(1, 1, 1)[len(extents) :]), sizes, strict=True)
        )

        def value(symbol: Hashable) -> int | None:
            expression = self.graph.number(name, symbol)
            return None if expression is None else evaluate(expression, facts)

        return Grid((x * sizes[0], y * sizes[1], z * sizes[2]), (x, y, z), value)

    def _rounding(self, grids: Sequence[Grid]) -> str | None:
        """Why rounding up to the workgroups of the first kernel changes what another one writes."""
        for name, grid in zip(self.group.nodes, grids, strict=True):
            if grid.invocations == grids[0].invocations:
                continue
            fused = replace(grid, invocations=grids[0].invocations)
            for access in (
                it for them in self.graph.accesses(name).accesses.values() for it in them if it.kind != "read"
            ):
                apart, together = domain(access.guards, grid), domain(access.guards, fused)
                if (apart.low, apart.high) != (together.low, together.high):
                    return f"{name!r} writes where only the other kernel's workgroups have invocations [workgroups]"
        return None


def _length(storing: Storing, facts: Facts) -> int | None:
    """The number of elements of an array, if it is known."""
    type = storing.storage.binding.type
    if isinstance(type, w.Array) and isinstance(type.count, int):
        return type.count
    return None if storing.length is None else evaluate(storing.length, facts)
