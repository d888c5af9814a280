"""Forms over the invocations of one launch, whose numbers are known: ranges, positions and domains.

All arithmetic is on whole numbers, without wrapping; where a value would wrap in WGSL, nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from ...ir.dataflow.expressions import Polynomial
from ...ir.hercules.nodes import BinaryOp
from .forms import Counter, GlobalId, NumWorkgroups
from .guards import Comparison, Guards

AXES: Final = 3
"""The coordinates of an invocation."""
MOST_LOOPS: Final = 3
"""The loops whose counters are coordinates, after those of the invocation."""
_COORDINATES: Final = AXES + MOST_LOOPS
_WORDS: Final = 1 << 32
Factors: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, slots=True)
class Grid:
    """The invocations of a launch along x, y and z, after rounding up to workgroups, and the values of symbols.

    `loops` are the counters that are coordinates, from the outermost loop on: at most `MOST_LOOPS`.
    """

    invocations: tuple[int, int, int]
    workgroups: tuple[int, int, int]
    value: Callable[[Hashable], int | None]
    loops: tuple[Counter, ...] = ()

    def coordinate(self, variable: Hashable) -> int | None:
        """The number of the coordinate that a variable is."""
        if isinstance(variable, GlobalId):
            return variable.axis
        return AXES + self.loops.index(variable) if variable in self.loops else None


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant` + the sum of `factors` times the coordinates."""

    factors: Factors
    constant: int


@dataclass(slots=True)
class Domain:
    """Coordinates from `low` to `high`, which is not one of them, where each sum in `sums` is at most its bound."""

    low: list[int]
    high: list[int]
    sums: dict[Factors, int] = field(default_factory=dict[Factors, int])
    is_exact: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether it is known to hold nothing."""
        return any(low >= high for low, high in zip(self.low, self.high, strict=True))

    def ends(self, form: Affine) -> tuple[int, int]:
        """The least and the greatest value of a form; the domain is not empty."""
        pairs = [
            (factor * low, factor * (high - 1))
            for factor, low, high in zip(form.factors, self.low, self.high, strict=True)
        ]
        least = form.constant + sum(min(it) for it in pairs)
        greatest = form.constant + sum(max(it) for it in pairs)
        if form.factors in self.sums:
            greatest = min(greatest, form.constant + self.sums[form.factors])
        return least, greatest

    def contains(self, other: Domain) -> bool:
        """Whether all of another domain is in this one, whose bounds must be exact."""
        if other.is_empty:
            return True
        inside = all(
            low <= least and greatest <= high
            for low, least, greatest, high in zip(self.low, other.low, other.high, self.high, strict=True)
        )
        return self.is_exact and inside and all(other.ends(Affine(it, 0))[1] <= most for it, most in self.sums.items())

    def limit(self, form: Affine) -> None:
        """Keep only the coordinates at which the form is at most 0."""
        used = [axis for axis, factor in enumerate(form.factors) if factor]
        if not used:
            if form.constant > 0:
                self.high = list(self.low)
        elif len(used) > 1:
            self.sums[form.factors] = min(self.sums.get(form.factors, -form.constant), -form.constant)
        else:
            (axis,) = used
            factor = form.factors[axis]
            if factor > 0:
                self.high[axis] = max(min(self.high[axis], -form.constant // factor + 1), self.low[axis])
            else:
                self.low[axis] = min(max(self.low[axis], -(form.constant // factor)), self.high[axis])

    def tighten(self) -> None:
        """Use the sums to bound the coordinates one by one."""
        for factors, most in self.sums.items():
            if self.is_empty:
                return
            least, _ = self.ends(Affine(factors, 0))
            for axis, factor in enumerate(factors):
                if factor > 0:
                    others = least - factor * self.low[axis]
                    self.high[axis] = max(min(self.high[axis], (most - others) // factor + 1), self.low[axis])


def affine(form: Polynomial, grid: Grid) -> Affine | None:
    """The form for the numbers of a launch; None where it is not affine, or a number is not known."""
    factors, constant = [0] * _COORDINATES, 0
    for monomial, coefficient in form:
        axis: int | None = None
        for variable, power in monomial:
            coordinate = grid.coordinate(variable)
            if coordinate is not None:
                if axis is not None or power != 1:
                    return None
                axis = coordinate
                continue
            value = grid.workgroups[variable.axis] if isinstance(variable, NumWorkgroups) else grid.value(variable)
            if value is None:
                return None
            coefficient *= value**power
        if axis is None:
            constant += coefficient
        else:
            factors[axis] += coefficient
    return Affine(tuple(factors), constant)


def end_of_counter(counter: Counter) -> int:
    """The first number that a counter cannot be."""
    return _WORDS // 2 if counter.is_signed else _WORDS


def domain(guards: Guards, grid: Grid) -> Domain:
    """The coordinates for which guards hold, as far as they are understood."""
    found = everywhere(grid)
    found.is_exact = guards.exact
    for comparison in guards.comparisons:
        limits = _limits(comparison, grid, found)
        found.is_exact = found.is_exact and limits is not None
        for limit in limits or ():
            found.limit(limit)
    found.tighten()
    return found


def everywhere(grid: Grid) -> Domain:
    """All coordinates: all invocations, and counters from their least start to the greatest number of their type."""
    unused = MOST_LOOPS - len(grid.loops)
    found = Domain([0] * _COORDINATES, [*grid.invocations, *map(end_of_counter, grid.loops), *[1] * unused])
    for number, counter in enumerate(grid.loops, AXES):
        start = affine(counter.start, grid)
        if start is not None and not found.is_empty:
            found.low[number] = min(max(found.ends(start)[0], 0), found.high[number])
    return found


def _limits(comparison: Comparison, grid: Grid, within: Domain) -> list[Affine] | None:
    """Forms that are at most 0 where a comparison holds; None where its operands may wrap in the domain."""
    left = _operand(comparison.lhs, comparison, grid, within)
    right = _operand(comparison.rhs, comparison, grid, within)
    if left is None or right is None:
        return None
    factors = tuple(one - other for one, other in zip(left.factors, right.factors, strict=True))
    below = Affine(factors, left.constant - right.constant)
    match comparison.op:
        case BinaryOp.LESS:
            return [Affine(below.factors, below.constant + 1)]
        case BinaryOp.EQUAL:
            return [below, Affine(tuple(-it for it in factors), -below.constant)]
        case _:
            return [below]


def _operand(form: Polynomial, comparison: Comparison, grid: Grid, within: Domain) -> Affine | None:
    """An operand of a comparison, if it is affine and does not wrap. One that all invocations share may."""
    found = affine(form, grid)
    if found is None:
        return None
    lowest = -_WORDS // 2 if comparison.is_signed else 0
    if not any(found.factors):
        return Affine(found.factors, (found.constant - lowest) % _WORDS + lowest)
    if within.is_empty:
        return found
    least, greatest = within.ends(found)
    return found if lowest <= least and greatest < lowest + _WORDS else None


def is_injective(form: Affine, within: Domain) -> bool:
    """Whether no two coordinates in the box of a domain have one value: each factor exceeds what those below reach."""
    reach = 0
    extents = [high - low for low, high in zip(within.low, within.high, strict=True)]
    for factor, extent in sorted((abs(factor), extent) for factor, extent in zip(form.factors, extents, strict=True)):
        if extent <= 1:
            continue
        if factor <= reach:
            return False
        reach += factor * (extent - 1)
    return True


def count(within: Domain) -> int | None:
    """The number of coordinates in a domain that is exact and has no sums."""
    if within.sums or not within.is_exact:
        return None
    return prod(high - low for low, high in zip(within.low, within.high, strict=True))


def hull(domains: list[Domain]) -> Domain:
    """The smallest box around domains that are not empty."""
    some = [it for it in domains if not it.is_empty]
    low = [min((it.low[axis] for it in some), default=0) for axis in range(_COORDINATES)]
    high = [max((it.high[axis] for it in some), default=0) for axis in range(_COORDINATES)]
    return Domain(low, high)
