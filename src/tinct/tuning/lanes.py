"""How the invocations of a workgroup become vectors, and what loading or storing one vector takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from ..base.cached import cached_property
from ..ir.schedule.extents import extents_of
from ..ir.schedule.nodes import Affine, Execution, Gather, Index, LevelName, Load, Operand, Term, Use
from ..ir.schedule.scope import Scope
from ..transforms.schedule.decided import WRITTEN_OUT, Decided
from ..transforms.schedule.vectors import vector_arrays
from .rates import Rates

_UNIFORM: Final = 0.6
"""Loads that a load of one element for all lanes stands for."""
_RUN: Final = 2.0
"""Loads that each of several runs of a vector stands for: it is loaded, and put in its place."""
_INTERLEAVED: Final = 2.0
"""Loads that each of several interleaved vectors stands for beside its own: those of neighbours in memory of which the
same invocations access several, at most `_MOST_INTERLEAVED`.
"""
_MOST_INTERLEAVED: Final = 4
_SPLIT: Final = 1.6
"""Loads that a vector stands for that crosses the end of a cache line."""
_APART: Final = 17
"""How far apart elements of neighbouring lanes are taken to lie that are loaded at computed subscripts: more than a
line of a cache.
"""
LINE: Final = 64
"""The bytes of a line of a cache."""


def element_bytes(decided: Decided, array: str) -> int:
    """The bytes of an element of an array."""
    return 2 if decided.scope.arrays[array].type.value == "f16" else 4


def as_load(name: str, scope: Scope) -> Load | None:
    """A value that is loaded, as a load; None for another value. One at computed subscripts as a load that takes about
    as long: neighbouring iterations may be anywhere in the array.
    """
    value = scope.values[name]
    if not isinstance(value, Gather):
        return value if isinstance(value, Load) else None
    last = len(value.subscripts) - 1
    subscripts = tuple(_likely(it, scope, _APART if at == last else 1) for at, it in enumerate(value.subscripts))
    return Load(value.name, value.type, value.array, subscripts, value.boundary, value.dimensions)


def _likely(subscript: Operand, scope: Scope, apart: int) -> Affine:
    """A computed subscript as a sum of indices: what it is, or each of them times `apart`."""
    value = scope.values[subscript.name] if isinstance(subscript, Use) else None
    if isinstance(value, Index):
        return value.value
    names = () if value is None else scope.ordered(scope.dimensions_of(value.name))
    return Affine(tuple(Term(apart, it) for it in names), 0)


@dataclass
class Lanes:
    """The lanes of a nest with decisions on a device. All sizes are known. Workgroups of one invocation share vectors
    on a CPU, if the nest `merges` them.
    """

    decided: Decided
    rates: Rates
    merges: bool = True

    @cached_property
    def extents(self) -> dict[str, tuple[int, ...]]:
        """The extents of each array."""
        return {name: extents_of(it, self.decided.sizes) for name, it in self.decided.scope.arrays.items()}

    @cached_property
    def invocations(self) -> int:
        """The invocations of a workgroup."""
        return self.decided.invocations

    @cached_property
    def merged(self) -> int:
        """Workgroups that share a vector."""
        if not self.merges or self.rates.spreads or self.rates.is_software:
            return 1
        along = [
            self.decided.count(it) or 1 for it, axis in self.decided.axes(Execution.WORKGROUP).items() if axis == 0
        ]
        return min(*along, self.rates.lanes) if self.invocations == 1 and along else 1

    @cached_property
    def levels(self) -> list[tuple[LevelName, int]]:
        """The levels whose iterations are lanes, innermost first, with their numbers of iterations."""
        axes = self.decided.axes(Execution.INVOCATION if self.invocations > 1 else Execution.WORKGROUP)
        counts = [(it, self.decided.count(it) or 1) for it in sorted(axes, key=axes.__getitem__)]
        return [it for it in counts if it[1] > 1]

    @cached_property
    def used(self) -> int:
        """The lanes of a vector that have invocations."""
        return min(self.rates.lanes, self.invocations * self.merged)

    @cached_property
    def vectors(self) -> int:
        """The vectors of a workgroup, or of the workgroups that share one."""
        return -(-self.invocations * self.merged // self.rates.lanes)

    @cached_property
    def _share_of_vector(self) -> dict[str, float]:
        """For each array that a GPU in software has as vectors, the loads that one of their elements stands for."""
        of_four = self.rates.of_four
        widths = vector_arrays(self.decided)
        return {array: (1 + (of_four - 1) * (width - 1) / 3) / width for array, width in widths.items()}

    def access(self, array: str, subscripts: Sequence[Affine]) -> float:
        """The loads of a whole vector that one access stands for."""
        if self.rates.is_software:
            return self._share_of_vector.get(array, 1.0)
        if not self.levels:
            return _UNIFORM
        lanes = self.used
        steps = [(abs(self._step(array, subscripts, it)), count) for it, count in self.levels]
        if all(step == 0 for step, _ in steps):
            return _UNIFORM
        run, reach = self._run(steps)
        if run >= lanes and reach == 1:
            return _SPLIT if self._is_split(array, subscripts) else 1.0
        if run >= lanes:
            return _UNIFORM
        if self._is_transposed(steps):
            return float(self.rates.lanes.bit_length())
        level, _ = self.levels[0]
        if run == 1 and 1 < steps[0][0] <= min(self._written_beside(level, subscripts), _MOST_INTERLEAVED):
            return 1.0 + _INTERLEAVED * steps[0][0]
        return 1.0 + min(_RUN * lanes / run, max(self.rates.gather / self.rates.load, lanes / 2))

    def _run(self, steps: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """How many neighbouring lanes have neighbouring elements, or the same one; and how far these are apart."""
        (first, run), *others = steps
        if first > 1:
            return 1, first
        for step, count in others:
            if run >= self.rates.lanes or step != first * run:
                break
            run *= count
        return run, first

    def _is_transposed(self, steps: Sequence[tuple[int, int]]) -> bool:
        """Whether lanes of a CPU lie apart, but those of as many vectors beside each other: these are accessed as they
        lie, and transposed in registers, in a shuffle for each halving.
        """
        square = self.rates.gather > 0 and len(steps) > 1 and steps[0][1] >= self.rates.lanes // 2
        return square and steps[0][0] > 1 and steps[1][0] == 1 and steps[1][1] >= self.rates.lanes // 2

    def _step(self, array: str, subscripts: Sequence[Affine], level: LevelName) -> int:
        """How many elements apart neighbouring iterations of a level are."""
        if array in self.decided.packed:
            levels = self.decided.packed[array]
            return dict(zip(levels, row_strides(self.extents[array]), strict=True)).get(level, 0)
        stride = self.decided.strides(level.dimension)[level]
        strides = row_strides(self.extents[array])
        return sum(
            term.coefficient * stride * width
            for subscript, width in zip(subscripts, strides, strict=False)
            for term in subscript.terms
            if term.name == level.dimension
        )

    def _written_beside(self, level: LevelName, subscripts: Sequence[Affine]) -> int:
        """The elements between those of neighbouring lanes that the same invocations access in the same turn."""
        if not subscripts or not any(it.name == level.dimension for it in subscripts[-1].terms):
            return 1
        inner = [it for it in self.decided.names(level.dimension) if it.level > level.level]
        kinds = [self.decided.execution(it) for it in inner]
        if any(it not in (*WRITTEN_OUT, Execution.VECTOR) for it in kinds):
            return 1
        return prod(self.decided.count(it) or 1 for it in inner)

    def _is_split(self, array: str, subscripts: Sequence[Affine]) -> bool:
        """Whether vectors begin within cache lines and are as long as these: rows that are no multiples of a line, or
        an index with a constant.
        """
        size, lanes = element_bytes(self.decided, array), self.used
        if lanes * size < LINE or not subscripts:
            return False
        extents = self.extents[array]
        is_shifted = subscripts[-1].constant * size % LINE != 0 or len(subscripts[-1].terms) > 1
        return is_shifted or (len(extents) > 1 and extents[-1] * size % LINE != 0)


def row_strides(extents: Sequence[int]) -> list[int]:
    """How many elements apart neighbours along each subscript are."""
    return [prod(max(it, 1) for it in extents[position + 1 :]) for position in range(len(extents))]
