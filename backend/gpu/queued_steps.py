"""The steps of a sequence that the GPU's process replays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .resident import Resident
from .resident_messages import SequenceClear, SequenceCopy, SequenceDispatch


@dataclass(frozen=True, slots=True)
class BoundDispatch:
    """A dispatch of what `GpuQueue.bind` gave."""

    bound: Resident
    workgroups: tuple[int, int, int]

    def header(self) -> SequenceDispatch:
        """The step in a message."""
        return {
            "step": "dispatch",
            "bound": self.bound.id,
            "workgroups": self.workgroups,
            "indirect": None,
            "offset": 0,
        }

    def residents(self) -> tuple[Resident, ...]:
        """What must stay as long as the step may be replayed."""
        return (self.bound,)


@dataclass(frozen=True, slots=True)
class IndirectDispatch:
    """A dispatch whose numbers of workgroups are three u32 in a buffer, at a multiple of 4, when it begins.

    wgpu runs nothing, silently, if one of them is larger than 65,535; see `graphs.indirect`. The buffer is not bound
    for it.
    """

    bound: Resident
    arguments: Resident
    offset: int

    def header(self) -> SequenceDispatch:
        """The step in a message."""
        return {
            "step": "dispatch",
            "bound": self.bound.id,
            "workgroups": (0, 0, 0),
            "indirect": self.arguments.id,
            "offset": self.offset,
        }

    def residents(self) -> tuple[Resident, ...]:
        """What must stay as long as the step may be replayed."""
        return self.bound, self.arguments


@dataclass(frozen=True, slots=True)
class ClearRange:
    """Zeros for `size` bytes of a buffer from `start` on; both are multiples of 4."""

    target: Resident
    start: int
    size: int

    def header(self) -> SequenceClear:
        """The step in a message."""
        return {"step": "clear", "target": self.target.id, "target_offset": self.start, "size": self.size}

    def residents(self) -> tuple[Resident, ...]:
        """What must stay as long as the step may be replayed."""
        return (self.target,)


@dataclass(frozen=True, slots=True)
class CopyRange:
    """A copy of `size` bytes between two buffers; all numbers are multiples of 4. Or of a texture, as a whole."""

    source: Resident
    start: int
    target: Resident
    target_start: int
    size: int

    def header(self) -> SequenceCopy:
        """The step in a message."""
        return {
            "step": "copy",
            "source": self.source.id,
            "source_offset": self.start,
            "target": self.target.id,
            "target_offset": self.target_start,
            "size": self.size,
        }

    def residents(self) -> tuple[Resident, ...]:
        """What must stay as long as the step may be replayed."""
        return self.source, self.target


QueuedStep: TypeAlias = BoundDispatch | IndirectDispatch | ClearRange | CopyRange
