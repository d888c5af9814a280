"""Whether two devices gave the same answer, by WGSL's own measure ("Floating Point Accuracy").

An element agrees when it is equal, when both are NaN, or when its difference is within *any* bound of the tolerance:
units in the last place, absolute, or relative. As WGSL lets implementations flush subnormal numbers to zero, a
tolerance that allows anything at all also allows that; the sign of a zero never counts. Integers and booleans must
be equal, but for integers that are steps of a normalised texel format. Structures are compared field by field. A
multiset comparison orders the items of both sides first, for outputs that are appended in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Doubles: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two elements may be apart; all zero means equal. `multiset` makes the order of items irrelevant.

    `outliers` is the share of elements that may be any distance apart, integers too: for results that jump where a
    rounding tips the scales, since WGSL leaves implementations some freedom to round ("Reassociation and Fusion").
    `steps` is how far integers may be apart: for texels of a normalised format, where a float half way between two
    steps may go to either.
    """

    ulp: float = 0.0
    absolute: float = 0.0
    relative: float = 0.0
    outliers: float = 0.0
    multiset: bool = False
    steps: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether only equal elements (and NaN with NaN) agree."""
        return self.ulp == self.absolute == self.relative == 0.0

    def __str__(self) -> str:
        bounds = [("ulp", self.ulp), ("absolute", self.absolute), ("relative", self.relative), ("steps", self.steps)]
        words = [f"{name} {bound:g}" for name, bound in bounds if bound] or ["exact"]
        if self.outliers:
            words.append(f"{self.outliers:.2%} outliers")
        return ", ".join([*words, "in any order"] if self.multiset else words)


EXACT = Tolerance()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element beyond the tolerance. `field` is the path inside a structure ("velocity"), "" without one.

    For a multiset, `index` counts in the sorted order.
    """

    field: str
    index: tuple[int, ...]
    expected: float | int | bool
    actual: float | int | bool
    ulp: float
    absolute: float

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        field = f".{self.field}" if self.field else ""
        distance = f" ({self.ulp:.3g} ulp)" if isinstance(self.actual, float) and math.isfinite(self.ulp) else ""
        return f"[{place}]{field}: expected {self.expected!r}, got {self.actual!r}{distance}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on one buffer. The worst distances are taken over all pairs of numbers, also those that agree.

    `mismatches` is 0 and `first` None where all elements beyond the bounds are outliers that the tolerance grants.
    """

    compared: int
    mismatches: int
    worst_ulp: float
    worst_absolute: float
    first: Mismatch | None

    @property
    def agrees(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.mismatches == 0

    def __str__(self) -> str:
        if self.first is None:
            return f"{self.compared} agree (worst {self.worst_ulp:.3g} ulp, {self.worst_absolute:.3g} absolute)"
        return f"{self.mismatches} of {self.compared} differ, first {self.first}"


Path: TypeAlias = tuple[str, ...]
"""The names of nested fields; () in an array without fields."""
Allowance: TypeAlias = Mapping[Path, Doubles]
"""How far each element may be off beside a tolerance, for each column of scalars."""


def compare(
    expected: Array, actual: Array, tolerance: Tolerance = EXACT, allowance: Allowance | None = None
) -> Comparison:
    """Compares two arrays of one shape. An element's `allowance` is taken off its distance before the tolerance is
    applied.

    ULPs are those of `actual`'s type at the expected value, so that an expectation in double precision is measured
    without being rounded first. ValueError when shapes or fields differ.
    """
    if expected.shape != actual.shape:
        raise ValueError(f"the shapes differ: expected {expected.shape}, got {actual.shape}")
    pairs = [(path, _leaf(expected, path), leaf) for path, leaf in _leaves(actual)]
    allowed: Allowance = {path: np.zeros(got.shape) if allowance is None else allowance[path] for path, _, got in pairs}
    if tolerance.multiset:
        pairs, allowed = _sorted_items(pairs, allowed)
    return _joined([_compare_leaf(".".join(path), want, got, tolerance, allowed[path]) for path, want, got in pairs])


def distances(expected: Array, actual: Array) -> dict[Path, Doubles]:
    """|actual - expected| for each column of scalars of two arrays of one shape; infinite where one alone is NaN."""
    columns = {path: (_leaf(expected, path), leaf) for path, leaf in _leaves(actual)}
    return {path: _distance(one.astype(np.float64), other.astype(np.float64)) for path, (one, other) in columns.items()}


def ulp_distance(expected: Array, actual: Array) -> Doubles:
    """|actual - expected| in units in the last place of `actual`'s type at the expected value; 0 for NaN and NaN."""
    want, got = expected.astype(np.float64), actual.astype(np.float64)
    return _in_ulps(_distance(want, got), want, actual.dtype)


_Pair: TypeAlias = tuple[Path, Array, Array]


def _leaves(array: Array, path: Path = ()) -> Iterator[tuple[Path, Array]]:
    """The columns of scalars in a (nested) structured array, with the paths of their fields."""
    names = array.dtype.names
    if names is None:
        yield path, array
        return
    for name in names:
        yield from _leaves(array[name], (*path, name))


def _leaf(array: Array, path: Path) -> Array:
    for name in path:
        array = array[name]
    return array


def _sorted_items(pairs: list[_Pair], allowed: Allowance) -> tuple[list[_Pair], Allowance]:
    """Both sides with their items, the entries along the first axis, in lexicographic order; what is allowed goes with
    the expected ones.
    """
    if not pairs or pairs[0][1].ndim == 0:
        return pairs, allowed
    want_order = _order([want for _, want, _ in pairs])
    got_order = _order([got for _, _, got in pairs])
    ordered = [(path, want[want_order], got[got_order]) for path, want, got in pairs]
    return ordered, {path: it[want_order] for path, it in allowed.items()}


def _order(columns: list[Array]) -> npt.NDArray[np.intp]:
    keys = [part for column in columns for part in column.reshape(len(column), math.prod(column.shape[1:])).T]
    return np.lexsort(keys[::-1])


def _compare_leaf(field: str, expected: Array, actual: Array, tolerance: Tolerance, allowed: Doubles) -> Comparison:
    if expected.shape != actual.shape:
        raise ValueError(f"the shapes of '{field}' differ: expected {expected.shape}, got {actual.shape}")
    want, got = expected.astype(np.float64), actual.astype(np.float64)
    distance = _distance(want, got)
    excess = _distance(allowed, np.maximum(distance, allowed))
    if actual.dtype.kind == "f":
        ulps = _in_ulps(distance, want, actual.dtype)
        bad = ~_within(want, got, excess, actual.dtype, tolerance)
    else:
        ulps = np.zeros_like(distance)
        bad = np.asarray((expected != actual) & (excess > tolerance.steps))
    if np.count_nonzero(bad) <= tolerance.outliers * actual.size:
        bad = np.zeros_like(bad)
    return Comparison(
        compared=actual.size,
        mismatches=int(np.count_nonzero(bad)),
        worst_ulp=_worst(ulps),
        worst_absolute=_worst(distance),
        first=_first_mismatch(field, bad, expected, actual, ulps, distance),
    )


def _distance(want: Doubles, got: Doubles) -> Doubles:
    """|got - want|: 0 for equal infinities and for two NaNs, infinite where only one is a NaN."""
    with np.errstate(invalid="ignore"):
        distance = np.abs(got - want)
    alike = (want == got) | (np.isnan(want) & np.isnan(got))
    return np.where(alike, 0.0, np.where(np.isnan(distance), np.inf, distance))


def _in_ulps(distance: Doubles, want: Doubles, dtype: np.dtype[Any]) -> Doubles:
    limits = np.finfo(dtype)
    lowest = float(limits.smallest_normal)
    _, exponent = np.frexp(np.maximum(np.abs(np.where(np.isfinite(want), want, 1.0)), lowest))
    spacing = np.ldexp(1.0, exponent - 1 - limits.nmant)
    return np.asarray(distance / spacing)


def _within(want: Doubles, got: Doubles, distance: Doubles, dtype: np.dtype[Any], tolerance: Tolerance) -> Mask:
    if tolerance.is_exact:
        return np.asarray(distance == 0.0)
    ulps = _in_ulps(distance, want, dtype)
    smallest_normal = float(np.finfo(dtype).smallest_normal)
    flushed = (np.abs(want) < smallest_normal) & (np.abs(got) < smallest_normal)
    magnitude = np.where(np.isfinite(want), np.abs(want), 0.0)
    near = (
        (ulps <= tolerance.ulp) | (distance <= tolerance.absolute) | (distance <= tolerance.relative * magnitude)
    ) & np.isfinite(distance)
    return np.asarray(near | flushed | (distance == 0.0))


def _worst(distances: Doubles) -> float:
    return float(distances.max(initial=0.0))


def _first_mismatch(
    field: str, bad: Mask, expected: Array, actual: Array, ulps: Doubles, distance: Doubles
) -> Mismatch | None:
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    return Mismatch(
        field=field,
        index=index,
        expected=expected[index].item(),
        actual=actual[index].item(),
        ulp=float(ulps[index]),
        absolute=float(distance[index]),
    )


def _joined(parts: list[Comparison]) -> Comparison:
    """The verdict on all fields; the first mismatch is that with the lowest index."""
    firsts = [part.first for part in parts if part.first is not None]
    return Comparison(
        compared=sum(part.compared for part in parts),
        mismatches=sum(part.mismatches for part in parts),
        worst_ulp=max((part.worst_ulp for part in parts), default=0.0),
        worst_absolute=max((part.worst_absolute for part in parts), default=0.0),
        first=min(firsts, key=lambda mismatch: mismatch.index, default=None),
    )
