"""Shadow memory: for each scalar, the earlier accesses that a later one may race with.

Happens-before is simple here: only barriers order accesses, and they order whole workgroups. So an access carries the
number of its workgroup and the epoch, which each barrier of its address space ends; two accesses of different
invocations are ordered only if they are of the same workgroup and of different epochs.

A cell remembers only a few accesses. Of the reads and of the writes it keeps one by another workgroup, and in the
current epoch those by two invocations, at least one of which differs from the next invocation to access the scalar. So
every scalar with a race is found, though not every pair of accesses that race on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...constants import RawValue
from ...types import AddressSpace, Type
from .. import nodes
from ..interp_frame import Invocation


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An instruction that loads or stores. `offsets` are those of the scalars that it accesses, relative to its
    pointer.

    `vector` is the type of the vector if the instruction stores one component of it.
    """

    node: nodes.Instruction
    space: AddressSpace
    is_write: bool
    offsets: tuple[int, ...]
    vector: Type | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access: the instruction, the invocation, the offset of its pointer, and the whole value.

    `texel` has the coordinates of a texel if the access is to a texture: a texel counts as one scalar.
    """

    site: Site
    invocation: Invocation
    group: int
    epoch: int
    offset: int
    value: RawValue
    texel: str = ""

    def is_unordered_with(self, other: Touch) -> bool:
        """Whether no barrier orders the two accesses, which are by different invocations."""
        return self.invocation is not other.invocation and (self.group != other.group or self.epoch == other.epoch)


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable that lies in memory."""

    name: str
    type: Type
    space: AddressSpace


@dataclass(slots=True, eq=False)
class Cell:
    """The history of one scalar. `unready` are reads by other invocations before its first write."""

    reads: list[Touch] = field(default_factory=list[Touch])
    writes: list[Touch] = field(default_factory=list[Touch])
    first_write: Touch | None = None
    unready: list[Touch] = field(default_factory=list[Touch])

    def rivals(self, touch: Touch) -> list[Touch]:
        """The remembered accesses that race with a new one."""
        known = [*self.writes, *self.reads] if touch.site.is_write else self.writes
        return [other for other in known if touch.is_unordered_with(other)]

    def remember(self, touch: Touch) -> None:
        """Add a new access, and drop those that it makes superfluous."""
        known = self.writes if touch.site.is_write else self.reads
        elsewhere = [it for it in known if it.group != touch.group]
        here = [it for it in known if it.group == touch.group and it.epoch == touch.epoch]
        others = [it for it in here if it.invocation is not touch.invocation]
        known[:] = [*elsewhere[:1], *others[:1], touch]

    def fill(self, touch: Touch) -> None:
        """Record a write. At the first one, drop the early reads that need no warning: those in its epoch race with it
        and are reported as races, and those by the writer itself rely on the initial zero.
        """
        if self.first_write is None:
            self.first_write = touch
            is_too_early = [it.epoch != touch.epoch and it.invocation is not touch.invocation for it in self.unready]
            self.unready = [it for it, early in zip(self.unready, is_too_early, strict=True) if early]

    def read_unready(self, touch: Touch) -> None:
        """Record a read, if nothing has been written yet."""
        if self.first_write is None and len(self.unready) < _UNREADY_KEPT:
            self.unready.append(touch)


_UNREADY_KEPT = 4


@dataclass(slots=True, eq=False)
class Shadow:
    """The cells of one variable's memory, by offset; each is created at the first access."""

    variable: Variable
    cells: dict[int, Cell] = field(default_factory=dict[int, Cell])

    def cell(self, offset: int) -> Cell:
        """The cell of the scalar at an offset."""
        found = self.cells.get(offset)
        if found is None:
            found = self.cells[offset] = Cell()
        return found
