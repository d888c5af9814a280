"""Extents that nodes write, in a plan: where a device reads them, and where a GPU makes its numbers of workgroups."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..devices import adapter_named
from ..ir import types as wgsl
from .indirect import ARGUMENT_BYTES, ERROR_BYTES, MOST_CAPACITY, ExtentWord, packed_request
from .numbers_in import without_atomic
from .plan import Arguments, Constant, DataExtent, Extents, Transfer
from .plan_bindings import PlannedNode
from .plan_draft import PlanDraft
from .plan_values import DataNumber


@dataclass(frozen=True, slots=True)
class PlannedExtents:
    """Records what extents need."""

    draft: PlanDraft
    _errors: dict[str, int] = field(default_factory=dict[str, int])
    """By GPU, where refused extents are left."""

    def extent(self, number: DataNumber, node: PlannedNode) -> DataExtent:
        """A number where the device has it, or else a copy of nothing but the number."""
        draft, content, offset = self.draft, number.content, number.offset
        why = f"the extent of {node.name!r} is in it"
        is_signed = without_atomic(number.type) is wgsl.I32
        if node.device not in content.buffers and content.buffers:
            copy = draft.new(content.label, node.device, 4, "transient")
            draft.steps.append(Transfer(next(iter(content.buffers.values())), offset, copy, 0, 4, why))
            return DataExtent(copy, 0, is_signed)
        return DataExtent(draft.on(content, node.device, why), offset, is_signed)

    def arguments(
        self, node: PlannedNode, extents: Extents, size: tuple[int, int, int], capacity: int | None
    ) -> Arguments:
        """Where the numbers of workgroups of the next step are made, which is one on a GPU."""
        draft, device = self.draft, node.device
        words = [it if isinstance(it, int) else ExtentWord(it.offset // 4, it.is_signed) for it in extents]
        packed = packed_request(words, size, capacity, len(draft.steps))
        request = draft.packed_constant(packed, f"{node.name}.extents", device)
        if device not in self._errors:
            self._errors[device] = draft.new("refused extents", device, ERROR_BYTES, "error")
            draft.constants.append(Constant(self._errors[device], bytes(ERROR_BYTES), ()))
        made = draft.new(f"{node.name}.workgroups", device, ARGUMENT_BYTES, "transient")
        return Arguments(request, made, self._errors[device])


def known_extents(extents: tuple[int | DataNumber, ...]) -> tuple[int, ...] | None:
    """Extents of which no node wrote one."""
    known = tuple(it for it in extents if isinstance(it, int))
    return known if len(known) == len(extents) else None


def may_be_read(capacity: int | None, device: str) -> bool:
    """Whether the device takes extents from a buffer."""
    if adapter_named(device) is not None:
        return capacity is not None and capacity <= MOST_CAPACITY
    return capacity is not None and device == "cpu"
