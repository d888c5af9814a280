"""The meaning of nests: each value at each point of its dimensions, by its definition; slow, exact, obviously right.

There are no loops here but over the points of stores and along a Fby: a value is asked for at a point, and remembered.
The oracle of every schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from ...base.deadline import Deadline
from ...base.interpreter_state import deep_nesting
from ..constants import RawValue
from .extents import dimension_sizes, extents_of, value_of
from .functions import Evaluate, evaluator
from .nodes import (
    Affine,
    Boundary,
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
)
from .scope import Scope

Array: TypeAlias = npt.NDArray[Any]
Point: TypeAlias = Mapping[str, int]
"""An index for each of some dimensions."""

DTYPES: Final[Mapping[ElementType, type[np.generic]]] = {
    ElementType.I32: np.int32,
    ElementType.U32: np.uint32,
    ElementType.F32: np.float32,
    ElementType.F16: np.float16,
    ElementType.BOOL: np.bool_,
}


@deep_nesting()
def run(
    nest: Nest, arrays: Mapping[str, Array], sizes: Mapping[str, int], *, timeout: float | None = None
) -> dict[str, Array]:
    """The outputs of a verified nest, by name; elements that no store writes are 0.

    `arrays` have the types and extents of the nest's inputs, and `extents.size_mistakes` finds nothing at the sizes.
    Raises DeviceError after `timeout` seconds.
    """
    return _Run(Scope(nest), arrays, sizes, Deadline(timeout)).outputs()


@dataclass(slots=True)
class _Run:
    scope: Scope
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]
    deadline: Deadline
    dimensions: dict[str, int] = field(init=False)
    known: dict[tuple[str, tuple[int, ...]], RawValue] = field(
        default_factory=dict[tuple[str, tuple[int, ...]], RawValue]
    )
    on: dict[str, tuple[str, ...]] = field(init=False)
    evaluators: dict[str, Evaluate] = field(default_factory=dict[str, Evaluate])

    def __post_init__(self) -> None:
        scope = self.scope
        self.dimensions = dimension_sizes(scope.nest, self.sizes)
        self.on = {name: scope.ordered(scope.dimensions_of(name)) for name in scope.values}
        for value in scope.values.values():
            if isinstance(value, Compute):
                self.evaluators[value.name] = evaluator(value.function, tuple(map(scope.type_of, value.operands)))

    def outputs(self) -> dict[str, Array]:
        results = {
            it.name: np.zeros(extents_of(it, self.sizes), DTYPES[it.type])
            for it in self.scope.nest.arrays
            if it.direction is Direction.OUT
        }
        for store in self.scope.nest.body:
            if isinstance(store, Scatter):
                self.scatter(store, results[store.array])
            elif isinstance(store, Store):
                for point in self.points(store.dimensions):
                    self.deadline.check()
                    position = tuple(self.number(it, point) for it in store.subscripts)
                    results[store.array][position] = self.operand(store.value, point)
        return results

    def scatter(self, scatter: Scatter, results: Array) -> None:
        """Join values to elements, in order."""
        results.fill(self.operand(scatter.first, {}))
        type = self.scope.type_of(scatter.value)
        joined = evaluator(scatter.function, (type, type))
        for point in self.points(scatter.dimensions):
            self.deadline.check()
            position = [self.operand(it, point) for it in scatter.subscripts]
            place = tuple(it for it in position if isinstance(it, int))
            if _is_inside(place, results.shape):
                element: RawValue = results[place].item()
                results[place] = joined([element, self.operand(scatter.value, point)])

    def points(self, dimensions: tuple[str, ...]) -> Iterator[Point]:
        """All points of dimensions, in lexicographic order."""
        for indices in product(*(range(self.dimensions[it]) for it in dimensions)):
            yield dict(zip(dimensions, indices, strict=True))

    def number(self, affine: Affine, point: Point) -> int:
        return value_of(affine, {**self.sizes, **point})

    def operand(self, operand: Operand, point: Point) -> RawValue:
        return operand.value.value if isinstance(operand, Constant) else self.value(operand.name, point)

    def value(self, name: str, point: Point) -> RawValue:
        """A value at a point of its dimensions, and perhaps of others."""
        key = self.key(name, point)
        if key not in self.known:
            self.known[key] = self.computed(name, {it: point[it] for it in self.on[name]})
        return self.known[key]

    def computed(self, name: str, point: Point) -> RawValue:
        value = self.scope.values[name]
        match value:
            case Load():
                return self.loaded(value, point)
            case Gather():
                return self.gathered(value, point)
            case Index(value=affine):
                return self.number(affine, point)
            case Compute(operands=operands):
                return self.evaluators[name]([self.operand(it, point) for it in operands])
            case Fby():
                return self.carried(value, point)
            case Last(value=source, dimensions=dimensions):
                return self.last(source, dimensions, point)
            case Map(value=source, pairs=pairs):
                targets = {it.source: it.target for it in pairs}
                return self.value(source, {it: point[targets.get(it, it)] for it in self.on[source]})
            case _:
                assert_never(value)

    def loaded(self, load: Load, point: Point) -> RawValue:
        return self.element(load, [self.number(it, point) for it in load.subscripts])

    def gathered(self, gather: Gather, point: Point) -> RawValue:
        position = [self.operand(it, point) for it in gather.subscripts]
        return self.element(gather, [it for it in position if isinstance(it, int)])

    def element(self, load: Load | Gather, position: Sequence[int]) -> RawValue:
        """The element at a position, which may be outside of the array."""
        array = self.arrays[load.array]
        if load.boundary is Boundary.CLAMP:
            position = [min(max(it, 0), extent - 1) for it, extent in zip(position, array.shape, strict=True)]
        elif load.boundary is Boundary.ZERO and not _is_inside(position, array.shape):
            return 0 if load.type in (ElementType.I32, ElementType.U32) else 0.0
        element: RawValue = array[tuple(position)].item()
        return element

    def carried(self, fby: Fby, point: Point) -> RawValue:
        """The value of a Fby at a point. Those before it are asked for from the first one on, so that calls nest no
        deeper for more iterations.
        """
        outer = {it: index for it, index in point.items() if it not in fby.dimensions}
        before = self.before(fby.dimensions, point)
        if before is not None and self.key(fby.name, {**outer, **before}) in self.known:
            return self.value(fby.next, {**outer, **before})
        content = self.operand(fby.first, outer)
        for inner in self.points(fby.dimensions):
            self.deadline.check()
            here = {**outer, **inner}
            content = self.known.setdefault(self.key(fby.name, here), content)
            if here == point:
                break
            content = self.value(fby.next, here)
        return content

    def before(self, dimensions: tuple[str, ...], point: Point) -> Point | None:
        """The indices of the iteration before a point; None for the first one."""
        indices = {it: point[it] for it in dimensions}
        for it in reversed(dimensions):
            if indices[it]:
                indices[it] -= 1
                return indices
            indices[it] = self.dimensions[it] - 1
        return None

    def key(self, name: str, point: Point) -> tuple[str, tuple[int, ...]]:
        return name, tuple(point[it] for it in self.on[name])

    def last(self, source: str, dimensions: tuple[str, ...], point: Point) -> RawValue:
        end = {**point, **{it: self.dimensions[it] - 1 for it in dimensions}}
        value = self.scope.values[source]
        if not isinstance(value, Fby):
            return self.value(source, end)
        if any(self.dimensions[it] == 0 for it in dimensions):
            return self.operand(value.first, point)
        self.value(source, end)
        return self.value(value.next, end)


def _is_inside(position: Sequence[int], extents: tuple[int, ...]) -> bool:
    return all(0 <= it < extent for it, extent in zip(position, extents, strict=True))
