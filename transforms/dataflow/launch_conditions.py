"""What only the numbers of a launch decide about fused nodes. A launch that fails must run the graph as it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...ir import types as w
from ...ir.dataflow.expressions import Facts, Polynomial, evaluate
from ...ir.dataflow.nodes import Expression
from .accesses import Access, Cover
from .forms import variables
from .grids import Grid, domain
from .groups import Group
from .kernel_graph import KernelGraph
from .storings import Storing


@dataclass(frozen=True, slots=True)
class GroupTest:
    """What the numbers of a launch decide about a group of fused nodes.

    `outside` gives what an expression of their graph is in terms of the root graph; None for what is known only when
    the graph runs.
    """

    group: Group
    graph: KernelGraph
    outside: Callable[[Expression], Expression | None] = lambda it: it

    @property
    def is_known(self) -> bool:
        """Whether all numbers that it needs are known before the graph runs."""
        return all(self.outside(it) is not None for it in self._expressions())

    def _expressions(self) -> Iterator[Expression]:
        for name in self.group.nodes:
            yield from self.graph.flat.nodes[name].extents
            symbols = {symbol for form in self._forms(name) for symbol in variables(form)}
            yield from (found for it in symbols if (found := self.graph.number(name, it)) is not None)
        yield from (it.length for it in self.group.storings if it.test is not None and it.length is not None)

    def _forms(self, name: str) -> Iterator[Polynomial]:
        """The forms of a node's kernel that a launch evaluates."""
        accesses = self.graph.accesses(name)
        found: list[Access | Cover] = [it for them in accesses.accesses.values() for it in them]
        found += [it for them in accesses.covers.values() for it in them]
        yield from (it.index for it in found if it.index is not None)
        for guards in (*(it.guards for it in found), *accesses.stays.values()):
            yield from (form for it in guards.comparisons for form in (it.lhs, it.rhs))
        yield from (form for it in accesses.stays for form in (it.start, it.step))

    def failure(self, facts: Facts) -> str | None:
        """Why a launch must not run the group fused, in words; None if it may."""
        extents = [self._extents(name, facts) for name in self.group.nodes]
        if any(it != extents[0] for it in extents):
            return "the extents differ [grids]"
        grids = [self._grid(name, extents[0], facts) for name in self.group.nodes]
        for storing in self.group.storings:
            failure = None if storing.test is None else storing.test.failure(grids, self._length(storing, facts))
            if failure is not None:
                return failure
        return self._rounding(grids)

    def _value(self, expression: Expression | None, facts: Facts) -> int | None:
        """The value of an expression of the nodes' graph; None where it is not known."""
        outside = None if expression is None else self.outside(expression)
        return None if outside is None else evaluate(outside, facts)

    def _extents(self, name: str, facts: Facts) -> tuple[int, ...]:
        found = [self._value(it, facts) for it in self.graph.flat.nodes[name].extents]
        return tuple(it for it in found if it is not None)

    def _grid(self, name: str, extents: Sequence[int], facts: Facts) -> Grid:
        """The grid of a node's kernel by itself."""
        sizes = self.graph.accesses(name).entry.workgroup_size
        x, y, z = (
            -(-extent // size) for extent, size in zip((*extents, *(1, 1, 1)[len(extents) :]), sizes, strict=True)
        )

        def value(symbol: Hashable) -> int | None:
            return self._value(self.graph.number(name, symbol), facts)

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

    def _length(self, storing: Storing, facts: Facts) -> int | None:
        """The number of elements of an array, if it is known."""
        type = storing.storage.binding.type
        if isinstance(type, w.Array) and isinstance(type.count, int):
            return type.count
        return self._value(storing.length, facts)
