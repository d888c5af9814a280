"""Where loads are at the current iterations: what of a subscript varies, what is known, and which ends it may pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...ir.schedule.extents import value_of
from ...ir.schedule.nodes import Affine, LevelName
from .decided import Decided


class Part(NamedTuple):
    """A multiple of a size, which has no levels, or of what levels of a dimension contribute to its index."""

    coefficient: int
    name: str
    levels: tuple[LevelName, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A subscript: a sum of what varies, and a number. Loads at equal places of an array give the same element."""

    parts: tuple[Part, ...]
    constant: int


class Ends(NamedTuple):
    """Whether a subscript may be less than 0, and whether it may be past the last element."""

    below: bool
    above: bool


INSIDE = Ends(below=False, above=False)
ANYWHERE = Ends(below=True, above=True)


@dataclass(frozen=True, slots=True)
class Iterations:
    """A nest with decisions, while some written-out levels are at known iterations."""

    decided: Decided
    written: Mapping[LevelName, int]

    def split(self, dimension: str, levels: Sequence[LevelName], unit: int = 1) -> tuple[tuple[LevelName, ...], int]:
        """The levels that vary, and what the others contribute to the index, divided by `unit`. Components of vectors
        do not vary: an index is that of the first one, unless it is known which one is meant.
        """
        strides = self.decided.strides(dimension)
        varying = tuple(it for it in levels if it not in self.written and not self.decided.is_vector(it))
        return varying, sum(self.written[it] * (strides[it] // unit) for it in levels if it in self.written)

    def place(self, subscript: Affine, indices: Mapping[str, str]) -> Place:
        """A subscript, with some indices for others."""
        constant = subscript.constant
        coefficients: dict[tuple[str, tuple[LevelName, ...]], int] = {}
        for term in subscript.terms:
            name, levels = indices.get(term.name, term.name), tuple[LevelName, ...]()
            if name in self.decided.sizes:
                constant += term.coefficient * self.decided.sizes[name]
                continue
            if name in self.decided.scope.dimensions:
                levels, known = self.split(name, self.decided.names(name))
                constant += term.coefficient * known
                if not levels:
                    continue
            coefficients[name, levels] = coefficients.get((name, levels), 0) + term.coefficient
        parts = (Part(coefficient, *key) for key, coefficient in coefficients.items() if coefficient)
        return Place(tuple(parts), constant)

    def ends(self, place: Place, extent: Affine) -> Ends:
        """Which ends of an array a subscript may pass, while all indices are in their dimensions."""
        low, high = place.constant, place.constant
        is_low = is_high = True
        for part in place.parts:
            last = self._last(part)
            if part.coefficient > 0:
                high, is_high = high + part.coefficient * (last or 0), is_high and last is not None
            else:
                low, is_low = low + part.coefficient * (last or 0), is_low and last is not None
        is_high = is_high and all(it.name in self.decided.sizes for it in extent.terms)
        return Ends(not is_low or low < 0, not is_high or high >= value_of(extent, self.decided.sizes))

    def _last(self, part: Part) -> int | None:
        """The greatest value of what varies; None if it is not known."""
        if not part.levels:
            return None
        counts = [(self.decided.count(it), self.decided.strides(part.name)[it]) for it in part.levels]
        size, most = self.decided.size(part.name), 0
        for count, stride in counts:
            if count is None:
                return None
            most += (count - 1) * stride
        known = self.split(part.name, self.decided.names(part.name))[1]
        return most if size is None else max(min(most, size - 1 - known), 0)
