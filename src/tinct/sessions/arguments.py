"""The arguments of a dispatch in a session: a range of a memory for each binding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ..backend.cpu.aligned import Bytes
from ..base.errors import InputError
from ..reflection import BindingInfo
from .memory import Memory


@dataclass(frozen=True, slots=True)
class Argument:
    """`size` bytes of a memory from `offset` on, for a binding."""

    info: BindingInfo
    memory: Memory
    offset: int
    size: int

    @property
    def is_written(self) -> bool:
        """Whether the kernel may write it."""
        return self.info.is_written

    def host(self) -> Bytes:
        """The bytes of the host."""
        return self.memory.host()[self.offset : self.offset + self.size]

    def overlaps(self, other: Argument) -> bool:
        """Whether they have bytes in common."""
        if self.memory is not other.memory:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


def check_apart(arguments: Sequence[Argument]) -> None:
    """Raise InputError for a memory that is written at one binding and bound at another, as far as both have bytes of
    it in common (WebGPU, "Resource Usages"), and for one that is written and may only be read.
    """
    for argument in arguments:
        if argument.is_written and argument.memory.is_read_only:
            raise InputError(f"{argument.info.name} is written, but {argument.memory.label} may only be read")
    for one, other in combinations(arguments, 2):
        if (one.is_written or other.is_written) and one.overlaps(other):
            written = one if one.is_written else other
            raise InputError(
                f"{one.info.name} and {other.info.name} overlap in {one.memory.label}, and {written.info.name} is "
                "written: give each a buffer of its own, or views that lie apart"
            )
