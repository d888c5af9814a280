"""The sizes and inputs that points of a nest are checked with, and how far results may be apart."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, prod
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

from ..backend.cpu.aligned import aligned_zeros
from ..base.cached import cached_property
from ..base.interpreter_state import deep_nesting
from ..compare import EXACT, Tolerance
from ..ir.schedule import interp
from ..ir.schedule.extents import dimension_sizes, extents_of, range_of, size_mistakes
from ..ir.schedule.nodes import (
    Array,
    Compute,
    Constant,
    Direction,
    ElementType,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Nest,
    Operand,
    Scatter,
    Store,
    Use,
)
from ..ir.schedule.scope import Scope, Value, used_by

Arrays = dict[str, npt.NDArray[Any]]

_EXACT_UP_TO: Final = {ElementType.F32: 2**24, ElementType.F16: 2**11}
"""Whole numbers up to this have a float of their own."""
_EPSILON: Final = {ElementType.F32: 2.0**-23, ElementType.F16: 2.0**-10}
_FLOATS: Final = (ElementType.F32, ElementType.F16)
_AMPLITUDES: Final = (1000, 100, 10, 3, 1)
_INTERVALS: Final = ((-1.0, 1.0), (0.25, 0.75), (1.0, 2.0))
"""Where floats may be from: logarithms and powers of negative numbers are no numbers, nor is `acosh` below 1."""
_ODD: Final = (5, 19, 3, 11, 2)
"""Small sizes that no factor divides."""
_SMALLER: Final = (9, 5, 3, 2)
"""Of a nest that has too many points at those, all sizes are the first of these at which it has not."""
_COPYING: Final = ("min", "max", "select", "copy")
"""Functions whose result is one of the operands."""
_MOST_VALUES: Final = 100
"""Values of a nest of which magnitudes are found."""
_MOST_POINTS: Final = 6000
"""Points of all dimensions together that an interpreter goes through in a check."""
_PIECE: Final = 1 << 16
"""Numbers that are made at a time."""
_FREEDOM: Final = 64.0
"""Steps of the float type by which results may differ beside those of accumulating."""


@dataclass(frozen=True)
class TrialData:
    """What a nest is checked with at some sizes: inputs, and how far each output may be off.

    Where a nest of floats only adds, multiplies and compares, inputs are whole numbers so small that nothing is ever
    rounded: any order of additions gives the same bits. Otherwise inputs are from an interval, by default one in which
    results are finite, and the tolerance grows with the number of values that are accumulated.
    """

    nest: Nest
    sizes: Mapping[str, int]
    given: tuple[float, float] | None = None
    """The interval that floats are from."""

    @cached_property
    def scope(self) -> Scope:
        """The names of the nest."""
        return Scope(self.nest)

    @cached_property
    def amplitude(self) -> int | None:
        """The largest whole number of the inputs for which nothing is rounded; None if there is none."""
        return next((it for it in _AMPLITUDES if _is_exact(self.scope, self.sizes, it)), None)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is rounded with these inputs, so that any order of operations gives the same bits."""
        return self.amplitude is not None

    @cached_property
    def inputs(self) -> Arrays:
        """The inputs, by name; always the same."""
        arrays = [it for it in self.nest.arrays if it.direction is Direction.IN]
        return {it.name: self._array(it) for it in arrays}

    @cached_property
    def outputs(self) -> Arrays:
        """Zeros for the outputs."""
        arrays = [it for it in self.nest.arrays if it.direction is Direction.OUT]
        return {it.name: np.zeros(extents_of(it, self.sizes), interp.DTYPES[it.type]) for it in arrays}

    def _array(self, array: Array) -> npt.NDArray[Any]:
        """Random numbers, made piece by piece: memory that is used for the first time takes longer than all else."""
        random = np.random.default_rng(np.random.SeedSequence([zlib.crc32(array.name.encode())]))
        shape, dtype = extents_of(array, self.sizes), np.dtype(interp.DTYPES[array.type])
        whole = aligned_zeros(prod(shape) * dtype.itemsize).view(dtype)
        for start in range(0, whole.size, _PIECE):
            piece = whole[start : start + _PIECE]
            piece[:] = self._numbers(array, random, piece.size)
        return whole.reshape(shape)

    def _numbers(self, array: Array, random: np.random.Generator, count: int) -> npt.NDArray[Any]:
        """So many numbers for an array."""
        if array.name in self._of_places:
            return self._places(array.type, random, count)
        if array.type in _FLOATS and self.amplitude is None:
            low, high = self._interval
            return random.random(count, np.float32) * (high - low) + low
        most = self.amplitude or 10
        low = 0 if array.type is ElementType.U32 else -most
        return random.integers(low, most + 1, count, np.int16)

    @cached_property
    def _interval(self) -> tuple[float, float]:
        return _interval_of(self.nest) if self.given is None else self.given

    @cached_property
    def _of_places(self) -> frozenset[str]:
        """The inputs that decide only which elements are loaded, or to which ones values are joined."""
        subscripts = [it for access in self._computed_places for it in access.subscripts]
        names = _needed(subscripts, self.scope)
        values = self.scope.values.values()
        loads = {it.name: it.array for it in values if isinstance(it, (Load, Gather))}
        valued = _needed(_results(self.scope), self.scope, are_places=False)
        others = {array for name, array in loads.items() if name in valued}
        return frozenset(array for name, array in loads.items() if name in names) - others

    @property
    def _computed_places(self) -> list[Gather | Scatter]:
        return [it for it in self.nest.body if isinstance(it, (Gather, Scatter))]

    def _places(self, type: ElementType, random: np.random.Generator, count: int) -> npt.NDArray[Any]:
        """Whole numbers up to a little more than the largest extent of an array at computed places, so that some are
        outside; floats from -1 to 1.
        """
        if type in _FLOATS:
            return random.random(count, np.float32) * 2 - 1
        arrays = (self.scope.arrays[it.array] for it in self._computed_places)
        most = max((extent for it in arrays for extent in extents_of(it, self.sizes)), default=1)
        return random.integers(0, most + most // 8 + 1, count, np.int64)

    def tolerance(self, output: str) -> Tolerance:
        """How far the elements of an output may be from those of another order of operations."""
        epsilon = _EPSILON.get(self.scope.arrays[output].type)
        if epsilon is None or self.amplitude is not None:
            return EXACT
        bound = epsilon * (_FREEDOM + self._accumulated)
        return Tolerance(relative=bound, absolute=bound)

    @cached_property
    def _accumulated(self) -> int:
        extents = dimension_sizes(self.nest, self.sizes)
        counts = [prod(extents[d] for d in it.dimensions) for it in self.nest.body if isinstance(it, (Fby, Scatter))]
        return max(counts, default=0)


def small_sizes(nest: Nest) -> list[dict[str, int]]:
    """Sizes to check points at: none, one, and odd ones, as far as they are sizes of the nest; of those that take too
    long, the largest of some smaller ones.
    """
    names = nest.sizes
    rows = [dict.fromkeys(names, 0), dict.fromkeys(names, 1)]
    rows.append({name: _ODD[number % len(_ODD)] for number, name in enumerate(names)})
    fitting = _fitting(nest, rows)
    if len(fitting) < len(rows):
        fitting += _fitting(nest, [dict.fromkeys(names, it) for it in _SMALLER])[:1]
    return [dict(it) for it in dict.fromkeys(tuple(it.items()) for it in fitting)]


def _fitting(nest: Nest, rows: Sequence[dict[str, int]]) -> list[dict[str, int]]:
    scope = Scope(nest)
    return [it for it in rows if not list(size_mistakes(scope, it)) and _points(nest, it) <= _MOST_POINTS]


def _points(nest: Nest, sizes: Mapping[str, int]) -> int:
    extents = dimension_sizes(nest, sizes)
    scope = Scope(nest)
    return sum(prod(extents[it] for it in scope.dimensions_at(statement)) for statement in nest.body)


@lru_cache(maxsize=64)
def _interval_of(nest: Nest) -> tuple[float, float]:
    """The first interval in which all results are finite at the largest of the small sizes, or else most are."""
    shares: dict[tuple[float, float], float] = {}
    for sizes in small_sizes(nest)[-1:]:
        for interval in _INTERVALS:
            shares[interval] = _share_of_finite(TrialData(nest, sizes, interval))
            if shares[interval] == 1:
                return interval
    return max(shares, key=shares.__getitem__, default=_INTERVALS[0])


def _share_of_finite(data: TrialData) -> float:
    results = [it.astype(np.float64).ravel() for it in interp.run(data.nest, data.inputs, data.sizes).values()]
    return float(np.isfinite(np.concatenate(results)).mean()) if any(it.size for it in results) else 1.0


@deep_nesting()
def _is_exact(scope: Scope, sizes: Mapping[str, int], amplitude: int) -> bool:
    """Whether no float is rounded if inputs are whole numbers up to the amplitude."""
    bounds = _Magnitudes(scope, sizes, amplitude)
    valued = _valued(scope)
    results = [it for it in scope.values.values() if isinstance(it, Compute) and it.function not in _COPYING]
    floats = [it for it in results if it.type in _FLOATS and it.name in valued]
    scatters = [it for it in scope.nest.body if isinstance(it, Scatter)]
    types = {it: scope.arrays[it.array].type for it in scatters}
    if any(type in _FLOATS and bounds.joined(it) > _EXACT_UP_TO[type] for it, type in types.items()):
        return False
    if len(floats) > _MOST_VALUES:
        return False
    carried = {it.next: it.name for it in scope.values.values() if isinstance(it, Fby)}
    """The carried value, in its last iteration, is what the next value is at most."""
    return all(bounds.of(carried.get(it.name, it.name), {}) <= _EXACT_UP_TO[it.type] for it in floats)


def _valued(scope: Scope) -> frozenset[str]:
    """The values that results are made of: not those that only decide where values are joined."""
    return _needed(_results(scope), scope)


def _results(scope: Scope) -> list[Operand]:
    return [it.value for it in scope.nest.body if isinstance(it, (Store, Scatter))]


def _needed(operands: Iterable[Operand], scope: Scope, *, are_places: bool = True) -> frozenset[str]:
    """The values that operands are, and all that these are computed from; with `are_places` also computed subscripts of
    what is loaded.
    """
    pending = [it.name for it in operands if isinstance(it, Use)]
    found: set[str] = set()
    while pending:
        value = scope.values[pending.pop()]
        if value.name not in found:
            found.add(value.name)
            pending += used_by(value) if are_places or not isinstance(value, Gather) else ()
            pending += [value.next] if isinstance(value, Fby) else []
    return frozenset(found)


@dataclass
class _Magnitudes:
    """The greatest magnitude of each value for inputs that are whole numbers; infinite for what may be none."""

    scope: Scope
    sizes: Mapping[str, int]
    amplitude: int
    _found: dict[str, float] = field(default_factory=dict[str, float])

    @cached_property
    def _extents(self) -> dict[str, int]:
        return {name: max(it, 1) for name, it in dimension_sizes(self.scope.nest, self.sizes).items()}

    def of(self, name: str, assumed: Mapping[str, float]) -> float:
        """That of a value, where those of some carried values are assumed."""
        if name in assumed:
            return assumed[name]
        if assumed:
            return self._computed(self.scope.values[name], assumed)
        if name not in self._found:
            self._found[name] = self._computed(self.scope.values[name], assumed)
        return self._found[name]

    def joined(self, scatter: Scatter) -> float:
        """That of the elements that values are joined to."""
        first, each = self._operand(scatter.first, {}), self._operand(scatter.value, {})
        if scatter.function in ("min", "max"):
            return max(each, first if first < inf else 0.0)
        points = prod(self._extents[it] for it in scatter.dimensions)
        return first + points * each if scatter.function == "+" else inf

    def _computed(self, value: Value, assumed: Mapping[str, float]) -> float:
        match value:
            case Load() | Gather():
                return float(self.amplitude)
            case Index():
                return float(max(map(abs, range_of(value.value, self.sizes, self._extents))))
            case Compute():
                return _result(value.function, [self._operand(it, assumed) for it in value.operands])
            case Last() | Map():
                return self.of(value.value, assumed)
            case Fby():
                return self._carried(value, assumed)
            case _:
                assert_never(value)

    def _operand(self, operand: Operand, assumed: Mapping[str, float]) -> float:
        if not isinstance(operand, Constant):
            return self.of(operand.name, assumed)
        number = float(operand.value.value)
        return abs(number) if number.is_integer() and abs(number) <= _EXACT_UP_TO[ElementType.F32] else inf

    def _carried(self, fby: Fby, assumed: Mapping[str, float]) -> float:
        """The first value, if iterations do not increase it; else what it grows by in each, if that stays the same."""
        grown = [self._operand(fby.first, assumed)]
        for _ in range(3):
            grown.append(max(grown[-1], self.of(fby.next, {**assumed, fby.name: grown[-1]})))
        if grown[1] == grown[2]:
            return grown[1]
        step = grown[2] - grown[1]
        iterations = prod(self._extents[it] for it in fby.dimensions)
        return grown[1] + (iterations - 1) * step if grown[3] - grown[2] <= step < inf else inf


def _result(function: str, operands: list[float]) -> float:
    """The greatest magnitude of a function's result."""
    match function:
        case "+" | "-" if len(operands) == 2:
            return operands[0] + operands[1]
        case "*":
            return operands[0] * operands[1] if inf not in operands else inf
        case "min" | "max" | "copy" | "abs" | "-" | "f32" | "f16":
            return max(operands)
        case "fma":
            return operands[0] * operands[1] + operands[2] if inf not in operands else inf
        case "select":
            return max(operands[:2])
        case "sign" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "!":
            return 1.0
        case _:
            return inf
