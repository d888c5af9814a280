"""Values in memory: each is stored where it is computed, and loaded by all that read it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Execution, LevelName, Location
from .across import broadcast_first
from .addresses import Addresses, Indices
from .kept_values import Kept, length_of, other_axes
from .sharing import Group, group_length
from .tasks import Task
from .vectors import component, splat

_Key = tuple[int, ...]
"""Iterations of the written-out levels that have variables of their own."""


@dataclass(slots=True)
class Keeping:
    """The memory of a kernel's kept values."""

    addresses: Addresses
    kept: dict[str, Kept]
    groups: Sequence[Group]
    memory: dict[tuple[str, _Key], c.Var] = field(default_factory=dict[tuple[str, _Key], c.Var])
    task: Task | None = None
    """What is being done."""

    def is_far(self, name: str) -> bool:
        """Whether a value is kept, and was computed in another iteration than what is being done needs it in."""
        return name in self.kept and self.task not in self.kept[name].near

    def hold(self, name: str, compute: Callable[[], Value]) -> Value | None:
        """Keep a value at the current iterations. Returns it, where all invocations that need it there have it."""
        kept, addresses = self.kept[name], self.addresses
        if kept.keep.location is Location.WORKGROUP:
            first = [
                addresses.frame.builder.binary(BinaryOp.EQUAL, addresses.at[it], u32(0)) for it in self._others(kept)
            ]
            with addresses.guarded(first):
                value = compute()
                if kept.readings:
                    self._store_components(kept, value)
            return None if first else value
        value = self._broadcast(kept, compute) if kept.keep.location is Location.SUBGROUP else compute()
        value = splat(addresses.frame.builder, value, self._width(kept))
        if kept.readings:
            addresses.frame.builder.store(self._pointer(kept, {}), value)
        return value

    def _broadcast(self, kept: Kept, compute: Callable[[], Value]) -> Value:
        """What one invocation of each subgroup computes."""
        frame, builder = self.addresses.frame, self.addresses.frame.builder
        scalar, width = scalar_type(self.addresses.decided.scope.values[kept.keep.value].type), self._width(kept)
        own = frame.declared(f"{kept.keep.value}_first", scalar if width == 1 else w.vector(width, scalar))
        with self.addresses.guarded([builder.builtin_call("subgroupElect", [])]):
            builder.store(own, splat(builder, compute(), width))
        return broadcast_first(builder, builder.load(own))

    def _store_components(self, kept: Kept, value: Value) -> None:
        builder, level = self.addresses.frame.builder, self._vector(kept)
        if level is None or level in self.addresses.written:
            builder.store(self._pointer(kept, {}), value)
            return
        for lane in range(self.addresses.decided.count(level) or 1):
            with self.addresses.written_as(((level, lane),)):
                builder.store(self._pointer(kept, {}), component(builder, value, lane))

    def loaded(self, name: str, indices: Indices) -> Value:
        """A kept value at the current iterations, or, by `indices`, at those of other dimensions."""
        kept, builder = self.kept[name], self.addresses.frame.builder
        dimensions = [indices.get(it, it) for it in self._dimensions(kept)]
        if kept.keep.location is Location.WORKGROUP:
            return self.addresses.for_each_component(dimensions, lambda: builder.load(self._pointer(kept, indices)))
        found = builder.load(self._pointer(kept, indices))
        level = self.addresses.decided.vector_in(dimensions)
        lane = None if level is None else self.addresses.written.get(level)
        return found if lane is None else component(builder, found, lane)

    def _others(self, kept: Kept) -> list[LevelName]:
        return other_axes(kept.keep.value, self.addresses.decided)

    def _vector(self, kept: Kept) -> LevelName | None:
        return self.addresses.decided.vector_in(self._dimensions(kept))

    def _width(self, kept: Kept) -> int:
        return self.addresses.decided.width_in(self._dimensions(kept))

    def _dimensions(self, kept: Kept) -> frozenset[str]:
        return self.addresses.decided.scope.dimensions_of(kept.keep.value)

    # Places

    def _pointer(self, kept: Kept, indices: Indices) -> Value:
        frame, decided = self.addresses.frame, self.addresses.decided
        names = [_of(it, indices) for it in kept.variables(decided)]
        memory = self._memory(kept, tuple(self.addresses.written[it] for it in names))
        if not self._is_array(kept):
            return memory
        return frame.builder.access(memory, [self._offset(kept, kept.indexed(decided), indices)])

    def _is_array(self, kept: Kept) -> bool:
        return kept.keep.location is Location.WORKGROUP or bool(kept.indexed(self.addresses.decided))

    def _memory(self, kept: Kept, key: _Key) -> c.Var:
        name = kept.keep.value
        if (name, key) not in self.memory:
            if kept.keep.location is Location.WORKGROUP:
                self._make_shared(next(it for it in self.groups if name in [life.value for life in it]))
            else:
                self.memory[name, key] = self._variable(kept)
        return self.memory[name, key]

    def _make_shared(self, group: Group) -> None:
        """The memory of values that live one after the other, named like the first."""
        frame, decided = self.addresses.frame, self.addresses.decided
        name = group[0].value
        scalar = scalar_type(decided.scope.values[name].type)
        made = frame.shared(f"{name}_kept", scalar, group_length(group, self.kept, decided))
        self.memory.update({(it.value, ()): made for it in group})

    def _variable(self, kept: Kept) -> c.Var:
        name, decided, width = kept.keep.value, self.addresses.decided, self._width(kept)
        scalar = scalar_type(decided.scope.values[name].type)
        element = scalar if width == 1 else w.vector(width, scalar)
        type = w.array(element, length_of(kept, decided)) if self._is_array(kept) else element
        return self.addresses.frame.declared(f"{name}_kept", type)

    def _offset(self, kept: Kept, cells: Sequence[LevelName], indices: Indices) -> Value:
        """The number of an element: dimension by dimension, each by the iterations of its levels, or, where the reader
        has other levels, by its index.
        """
        frame, decided = self.addresses.frame, self.addresses.decided
        offset: Value = u32(0)
        for dimension in decided.scope.ordered({it.dimension for it in cells}):
            own = [it for it in cells if it.dimension == dimension]
            length = prod(decided.count(it) or 0 for it in own)
            target = indices.get(dimension, dimension)
            is_elsewhere = target != dimension and kept.keep.location is Location.WORKGROUP
            number = self._local(target) if is_elsewhere else self.addresses.number_of([_of(it, indices) for it in own])
            offset = frame.binary(BinaryOp.ADD, frame.binary(BinaryOp.MULTIPLY, offset, u32(length)), number)
        return offset

    def _local(self, dimension: str) -> Value:
        """The index in a dimension, less what the number of the workgroup makes of it."""
        decided = self.addresses.decided
        levels = [it for it in decided.names(dimension) if decided.kind(it) is not Execution.WORKGROUP]
        return self.addresses.part_of_index(dimension, levels, name=f"{dimension}_in")


def _of(level: LevelName, indices: Indices) -> LevelName:
    return LevelName(indices.get(level.dimension, level.dimension), level.level)
