"""The bytes that each cache gets from the next one, by what the loops around an access touch between two uses.

An array that is used again is still in a cache if all that is touched in between fits there. So of the loops around
the accesses, there is an outermost one of which one iteration fits. What that loop touches comes into the cache once
for each iteration of the loops around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final, Literal

from ..base.cached import cached_property
from ..ir.schedule.nodes import Affine, Execution, LevelName
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.tasks import Task
from .lanes import LINE, Lanes, element_bytes

_WAYS: Final = 8
"""The lines of a cache that may have equal numbers of sets: what is usual."""
_PAGE: Final = 4096
_PAGES: Final = 1536
"""The bytes of a page, and the pages of which a processor remembers where they are: what is usual."""
_FILLED: Final = 0.8
"""The share of a cache that holds what is used again."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access of an array, or several whose subscripts differ by constants only; `spans` is how far these are apart,
    for each subscript.
    """

    array: str
    subscripts: tuple[Affine, ...]
    spans: tuple[int, ...] = ()
    sort: Literal["load", "store", "copied"] = "load"
    """The elements that are copied lie side by side in workgroup memory."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop around accesses: of a level, or of workgroups that the accesses do not depend on."""

    dimension: str
    count: int
    stride: int


def joined_accesses(accesses: Iterable[Access]) -> list[Access]:
    """Accesses with what lies between those whose subscripts differ by constants."""
    found: dict[tuple[object, ...], list[Access]] = {}
    for it in accesses:
        found.setdefault((it.array, *(subscript.terms for subscript in it.subscripts)), []).append(it)
    return [_joined(its) for its in found.values()]


def _joined(accesses: Sequence[Access]) -> Access:
    constants = zip(*([subscript.constant for subscript in it.subscripts] for it in accesses), strict=True)
    return replace(accesses[0], spans=tuple(max(its) - min(its) for its in constants))


@dataclass
class Traffic:
    """What the accesses of a task bring into caches. `passes` is how often the invocations of a workgroup go through
    all loops, each time some of them.
    """

    decided: Decided
    lanes: Lanes
    task: Task
    accesses: Sequence[Access]
    passes: int
    _known: dict[int, list[Box]] = field(default_factory=dict[int, "list[Box]"])

    def into(self, size: int, *, has_sets: bool) -> float:
        """The bytes that a cache of a size gets. With sets, rows that are a power of two apart share lines of it."""
        way = size // _WAYS if has_sets else 0

        def occupied(access: Access, box: Box) -> float:
            return box.occupied(0 if access.sort == "copied" else way)

        return self._missed(size, occupied, lambda _, box: box.covered(LINE))

    def pages(self) -> float:
        """How often loads wait until it is found where a page is. Stores do not wait."""

        def missed(access: Access, box: Box) -> float:
            return 0.0 if access.sort == "store" else box.covered(_PAGE) / _PAGE

        return self._missed(_PAGES, lambda _, box: box.covered(_PAGE) / _PAGE, missed)

    def _missed(
        self, size: int, occupied: Callable[[Access, Box], float], covered: Callable[[Access, Box], float]
    ) -> float:
        """What comes into something that has room for so much, where boxes occupy some of it."""
        _, gang = self._invocations
        around = len(self.loops) - len(gang)
        most = _FILLED * size
        fits = next(
            (it for it in range(around + 1) if sum(map(occupied, self.accesses, self._boxes(it))) <= most), around + 1
        )
        if fits == 0:
            return 0.0
        outer = prod(it.count for it in self.loops[: fits - 1])
        return outer * sum(map(covered, self.accesses, self._boxes(fits - 1)))

    def _boxes(self, at: int) -> list[Box]:
        """What one iteration of the loops outside of a position touches of each array."""
        if at not in self._known:
            self._known[at] = [self._box(it, self.loops[at:]) for it in self.accesses]
        return self._known[at]

    @cached_property
    def loops(self) -> list[Turns]:
        """All loops around the accesses, outermost first; the invocations of a gang are innermost."""
        passes, gang = self._invocations
        path = map(self._turns, self.decided.path(self.task))
        return [it for it in (*self._spread(Execution.WORKGROUP), *passes, *path) if it.count > 1] + gang

    @cached_property
    def _invocations(self) -> tuple[list[Turns], list[Turns]]:
        """The passes, and the invocations that go through the loops together."""
        gang, passes, left = self._spread(Execution.INVOCATION), list[Turns](), self.passes
        while gang and left > 1:
            turns = gang.pop(0)
            count = min(left, turns.count)
            within = -(-turns.count // count)
            passes.append(Turns(turns.dimension, count, turns.stride * within))
            gang = [Turns(turns.dimension, within, turns.stride), *gang] if within > 1 else gang
            left = -(-left // count)
        return passes, [it for it in gang if it.count > 1]

    def _spread(self, kind: Execution) -> list[Turns]:
        """The axes of workgroups or invocations, x last; levels of other tasks only repeat what the task does."""
        found: dict[int, Turns] = {}
        for level, axis in self.decided.axes(kind).items():
            if level.dimension in self.task.dimensions or axis not in found:
                found[axis] = self._turns(level)
        return [found[axis] for axis in sorted(found, reverse=True)]

    def _turns(self, level: LevelName) -> Turns:
        return Turns(
            level.dimension, max(self.decided.count(level) or 0, 1), self.decided.strides(level.dimension)[level]
        )

    def _box(self, access: Access, inside: Sequence[Turns]) -> Box:
        """What is touched of an array in some loops."""
        extents = self.lanes.extents[access.array]
        packed = self.decided.packed.get(access.array)
        if packed is not None:
            counts = tuple(self._touched(it, extent, inside) for it, extent in zip(packed, extents, strict=True))
            return Box(counts, extents, element_bytes(self.decided, access.array))
        reach: dict[str, int] = {}
        for it in inside:
            reach[it.dimension] = reach.get(it.dimension, 0) + (it.count - 1) * it.stride
        touched = [
            min(extent, 1 + span + sum(abs(it.coefficient) * reach.get(it.name, 0) for it in subscript.terms))
            for subscript, span, extent in zip(access.subscripts, access.spans, extents, strict=False)
        ]
        return Box((*touched, *extents[len(touched) :]), extents, element_bytes(self.decided, access.array))

    def _touched(self, level: LevelName, count: int, inside: Sequence[Turns]) -> int:
        """How many iterations of a level there are in some loops, of which some may go through a part of them."""
        stride = self.decided.strides(level.dimension)[level]
        own = [it for it in inside if it.dimension == level.dimension and stride <= it.stride < stride * count]
        return min(count, 1 + sum((it.count - 1) * it.stride // stride for it in own))


@dataclass(frozen=True)
class Box:
    """A part of an array: how many elements it has along each subscript."""

    touched: tuple[int, ...]
    extents: tuple[int, ...]
    size: int

    @cached_property
    def _rows(self) -> tuple[int, int, int]:
        """How many rows of neighbouring bytes there are, the bytes of a row, and how many bytes apart rows are."""
        rows, length, apart, is_whole = 1, self.size, self.size, True
        for touched, extent in zip(reversed(self.touched), reversed(self.extents), strict=True):
            if is_whole:
                length, apart, is_whole = length * touched, apart * extent, touched == extent
            else:
                rows *= touched
        return rows, length, apart

    def covered(self, unit: int) -> float:
        """The bytes of all units, lines of caches or pages, that have elements of it."""
        rows, length, apart = self._rows
        if apart <= unit:
            return float(-(-rows * apart // unit) * unit)
        return float(rows * -(-length // unit) * unit)

    def occupied(self, way: int) -> float:
        """The bytes of a cache that it takes. Rows that are a power of two apart leave the sets between them unused,
        but for those that are a whole `way` apart.
        """
        rows, length, apart = self._rows
        if rows == 1:
            return self.covered(LINE)
        return float(rows * max(-(-length // LINE) * LINE, min(apart & -apart, way)))
