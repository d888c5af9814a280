"""Extents that nodes write, in a plan: where a device reads them, and where a GPU makes its numbers of workgroups."""

from __future__ import annotations

from dataclasses import dataclass

from ..devices import adapter_named
from ..ir import types as wgsl
from .indirect import ARGUMENT_BYTES, MOST_CAPACITY, ExtentWord, packed_request
from .numbers_in import without_atomic
from .plan import Arguments, DataExtent, Extents
from .plan_bindings import PlannedNode
from .plan_draft import PlanDraft
from .plan_numbers import PlannedNumbers
from .plan_values import DataNumber, PlannedNumber


@dataclass(frozen=True, slots=True)
class PlannedExtents:
    """Records what extents need."""

    draft: PlanDraft

    def extent(self, number: PlannedNumber, node: PlannedNode) -> DataExtent:
        """Where the device finds a number when the step starts."""
        place = PlannedNumbers(self.draft, node.name, node.device).extent(number)
        is_signed = isinstance(number, DataNumber) and without_atomic(number.type) is wgsl.I32
        return DataExtent(place.buffer, place.offset, is_signed)

    def arguments(
        self, node: PlannedNode, extents: Extents, size: tuple[int, int, int], capacity: int | None
    ) -> Arguments:
        """Where the numbers of workgroups of the next step are made, which is one on a GPU."""
        draft, device = self.draft, node.device
        words = [it if isinstance(it, int) else ExtentWord(it.offset // 4, it.is_signed) for it in extents]
        packed = packed_request(words, size, capacity, len(draft.steps))
        request = draft.packed_constant(packed, f"{node.name}.extents", device)
        made = draft.new(f"{node.name}.workgroups", device, ARGUMENT_BYTES, "transient")
        return Arguments(request, made, draft.error(device))


def known_extents(extents: tuple[int | PlannedNumber, ...]) -> tuple[int, ...] | None:
    """Extents of which no node wrote one."""
    known = tuple(it for it in extents if isinstance(it, int))
    return known if len(known) == len(extents) else None


def may_be_read(capacity: int | None, device: str) -> bool:
    """Whether the device takes extents from a buffer."""
    if adapter_named(device) is not None:
        return capacity is not None and capacity <= MOST_CAPACITY
    return capacity is not None and device == "cpu"
