"""Finds the indices that may be out of range, by a walk over a function with the known ranges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.types import Array, OverrideCount, Pointer, Struct, Type, element_count, element_type
from .range_walk import RangeWalk
from .ranges import constant_of, length_key

Checks: TypeAlias = dict[nodes.Access, list[int]]
"""The positions of the indices of an access that are not proved to be in range."""


def unproved(module: nodes.Module, function: nodes.Function) -> Checks:
    """The accesses with indices that are not proved to be in range."""
    walk = _Walk(module, function)
    walk.region(function.start_target)
    return walk.found


class _Walk(RangeWalk):
    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        super().__init__(function)
        self.counts = {it.count: it.value for it in module.counts}
        self.found: Checks = {}

    def instruction(self, instruction: nodes.Instruction, stored: set[Value]) -> None:
        super().instruction(instruction, stored)
        if isinstance(instruction, nodes.Access):
            positions = list(self._positions(instruction))
            if positions:
                self.found[instruction] = positions

    def _positions(self, access: nodes.Access) -> Iterator[int]:
        type: Type | None = access.object.type
        type = type.store if isinstance(type, Pointer) else type
        for position, index in enumerate(access.indices):
            assert type is not None
            if not isinstance(type, Struct) and not self._is_in_range(access, position, type):
                yield position
            type = element_type(type, constant_of(index) or 0)

    def _is_in_range(self, access: nodes.Access, position: int, type: Type) -> bool:
        range = self.ranges.of(access.indices[position])
        count = element_count(type)
        if range.low < 0:
            return False
        if isinstance(count, int):
            return range.high < count
        if range.high == 0:  # every array has an element
            return True
        if isinstance(count, OverrideCount):
            return self.ranges.key(self.counts[count]) in range.below
        assert isinstance(type, Array)
        length = length_key(access.object, access.indices[:position])
        return length is not None and length in range.below
