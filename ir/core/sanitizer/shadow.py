"""The shadow of a memory: for each scalar the accesses that a later one may race with.

Happens-before is simple here: only barriers order, and they order whole workgroups. So an access carries the number of
its workgroup and the epoch, which each barrier of its address space ends; two accesses of different invocations are
ordered only if their workgroup is the same and the epoch is not.

A few accesses stand for all: of each kind, one of another workgroup, and in the running epoch those of two
invocations, of which one at least is not the invocation to come. So no race on a scalar is missed, though of many that
are alike only some are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...constants import RawValue
from ...types import AddressSpace, Type
from .. import nodes
from ..interp_frame import Invocation


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An instruction that loads or stores. `offsets`: of the scalars it touches, from the pointer on.

    `vector` is the vector type of which a store writes one component.
    """

    node: nodes.Instruction
    space: AddressSpace
    is_write: bool
    offsets: tuple[int, ...]
    vector: Type | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One access: by which invocation, at which instruction, from where on, and the whole value.

    `texel` is the coordinates of a texture's texel, which counts as one scalar.
    """

    site: Site
    invocation: Invocation
    group: int
    epoch: int
    offset: int
    value: RawValue
    texel: str = ""

    def is_unordered_with(self, other: Touch) -> bool:
        """Whether nothing says which of the two comes first."""
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
        """Take in a new access; it stands for those that it makes superfluous."""
        known = self.writes if touch.site.is_write else self.reads
        elsewhere = [it for it in known if it.group != touch.group]
        here = [it for it in known if it.group == touch.group and it.epoch == touch.epoch]
        others = [it for it in here if it.invocation is not touch.invocation]
        known[:] = [*elsewhere[:1], *others[:1], touch]

    def fill(self, touch: Touch) -> None:
        """A write. Early reads that race with it are reported as that; the writer's own rely on the zero on purpose."""
        if self.first_write is None:
            self.first_write = touch
            is_too_early = [it.epoch != touch.epoch and it.invocation is not touch.invocation for it in self.unready]
            self.unready = [it for it, early in zip(self.unready, is_too_early, strict=True) if early]

    def read_unready(self, touch: Touch) -> None:
        """A read; kept if nothing has been written yet."""
        if self.first_write is None and len(self.unready) < _UNREADY_KEPT:
            self.unready.append(touch)


_UNREADY_KEPT = 4


@dataclass(slots=True, eq=False)
class Shadow:
    """The cells of one variable's memory, by offset; made when they are first touched."""

    variable: Variable
    cells: dict[int, Cell] = field(default_factory=dict[int, Cell])

    def cell(self, offset: int) -> Cell:
        """The cell of the scalar that lies there."""
        found = self.cells.get(offset)
        if found is None:
            found = self.cells[offset] = Cell()
        return found
