"""Loads elements of inputs at computed subscripts, in core IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ...ir import types as w
from ...ir.core.values import Value
from ...ir.schedule.nodes import Affine, Gather, Index, LevelName, Load, Operand, Use
from .addresses import Indices
from .decided import Decided
from .frame import Frame
from .places import INSIDE, Ends
from .vectors import component


class Lowering(Protocol):
    """What gathering needs of the lowering of a nest."""

    decided: Decided
    frame: Frame
    written: dict[LevelName, int]

    def operand(self, operand: Operand, indices: Indices) -> Value:
        """A value at the current iterations."""
        ...

    def affine(self, affine: Affine, indices: Indices) -> Value:
        """A sum."""
        ...

    def active_vector(self, dimensions: Iterable[str]) -> LevelName | None:
        """The level of vectors among those of dimensions."""
        ...

    def for_each_component(self, used: Iterable[str], build: Callable[[], Value]) -> Value:
        """A scalar, or the vector of what is built for each of its components."""
        ...

    def fetched(self, load: Load | Gather, subscripts: Sequence[Value], ends: Sequence[Ends]) -> Value:
        """The element at subscripts, which may pass these ends of the array."""
        ...


def gathered(lowering: Lowering, gather: Gather, indices: Indices) -> Value:
    """The element at the current iterations, or the vector of elements. Subscripts that are sums of indices are tested
    as those of a load are.
    """
    used = [indices.get(it, it) for it in gather.dimensions]
    level = lowering.active_vector(used)
    extents = lowering.decided.scope.arrays[gather.array].extents
    places = [_place(lowering, it, extent, indices) for it, extent in zip(gather.subscripts, extents, strict=True)]

    def element() -> Value:
        lane = 0 if level is None else lowering.written[level]
        return lowering.fetched(gather, [number(lane) for number, _ in places], [ends for _, ends in places])

    return lowering.for_each_component(used, element)


def _place(
    lowering: Lowering, subscript: Operand, extent: Affine, indices: Indices
) -> tuple[Callable[[int], Value], Ends]:
    """A subscript of a lane as u32, and which ends of its extent it may pass."""
    index = lowering.decided.scope.values[subscript.name] if isinstance(subscript, Use) else None
    if isinstance(index, Index):
        affine, is_inside = index.value, lowering.decided.is_within(index.value, extent, indices)
        return lambda _: lowering.affine(affine, indices), INSIDE if is_inside else Ends(True, True)
    builder, number = lowering.frame.builder, lowering.operand(subscript, indices)
    if w.scalar_of(number.type) is w.U32:
        return lambda lane: component(builder, number, lane), Ends(False, True)
    return lambda lane: builder.convert(w.U32, component(builder, number, lane)), Ends(True, True)
