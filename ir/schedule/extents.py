"""Sizes as numbers: the values of sums, and what is checked of a nest when its sizes are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from .nodes import Affine, Array, Boundary, ElementType, Fby, Gather, Index, Last, Load, Nest, Store
from .scope import Scope

MOST_BYTES: Final = 2**31
"""The largest array: its byte offsets fit in 32 bits with a sign."""
MOST_ITERATIONS: Final = 2**31
"""The largest dimension: indices that schedules round up still have 32 bits."""
_BYTES: Final = {ElementType.F16: 2}
_RANGES: Final = {ElementType.I32: (-(2**31), 2**31 - 1), ElementType.U32: (0, 2**32 - 1)}


def value_of(affine: Affine, values: Mapping[str, int]) -> int:
    """The value of a sum."""
    return sum(it.coefficient * values[it.name] for it in affine.terms) + affine.constant


def range_of(affine: Affine, sizes: Mapping[str, int], dimensions: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value of a sum of sizes and of indices in dimensions with iterations."""
    low = high = affine.constant
    for term in affine.terms:
        first, last = (sizes[term.name],) * 2 if term.name in sizes else (0, dimensions[term.name] - 1)
        ends = term.coefficient * first, term.coefficient * last
        low, high = low + min(ends), high + max(ends)
    return low, high


def extents_of(array: Array, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of an array."""
    return tuple(value_of(it, sizes) for it in array.extents)


def dimension_sizes(nest: Nest, sizes: Mapping[str, int]) -> dict[str, int]:
    """The size of each dimension."""
    return {it.name: value_of(it.size, sizes) for it in nest.dimensions}


def size_mistakes(scope: Scope, sizes: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with a nest at sizes, one for each of its names: sentences."""
    nest = scope.nest
    dimensions = dimension_sizes(nest, sizes)
    wrong = {name: size for name, size in dimensions.items() if not 0 <= size <= MOST_ITERATIONS}
    yield from (f"the size of dimension {name!r} is {size}" for name, size in wrong.items())
    for array in nest.arrays:
        yield from array_mistakes(array, sizes)
    if wrong:
        return
    for statement in nest.body:
        is_executed = all(dimensions[it] for it in scope.dimensions_at(statement))
        if isinstance(statement, Last) and not isinstance(scope.values[statement.value], Fby):
            empty = [it for it in statement.dimensions if dimensions[it] == 0]
            yield from (
                f"{statement.name!r} is the last of {statement.value!r} on {it!r}, which is empty" for it in empty
            )
        elif isinstance(statement, (Load, Store)) and is_executed:
            yield from _subscript_mistakes(statement, scope, sizes, dimensions)
        elif isinstance(statement, Gather) and is_executed:
            if statement.boundary is Boundary.CLAMP and 0 in extents_of(scope.arrays[statement.array], sizes):
                yield f"a clamped load from {statement.array!r}, which is empty"
        elif isinstance(statement, Index) and is_executed:
            low, high = range_of(statement.value, sizes, dimensions)
            least, most = _RANGES[statement.type]
            if low < least or high > most:
                yield f"{statement.name!r} is {low} to {high}, past the range of {statement.type.value}"


def array_mistakes(array: Array, sizes: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with the extents of an array at sizes: sentences."""
    extents = extents_of(array, sizes)
    if any(it < 0 for it in extents):
        yield f"the extents of {array.name!r} are {extents}"
        return
    count = _BYTES.get(array.type, 4)
    for extent in extents:
        count *= max(extent, 1)
    if count > MOST_BYTES:
        yield f"{array.name!r} has {count} bytes; an array has at most {MOST_BYTES}"


def _subscript_mistakes(
    statement: Load | Store, scope: Scope, sizes: Mapping[str, int], dimensions: Mapping[str, int]
) -> Iterator[str]:
    array = scope.arrays[statement.array]
    extents = extents_of(array, sizes)
    boundary = statement.boundary if isinstance(statement, Load) else Boundary.INSIDE
    for position, (subscript, extent) in enumerate(zip(statement.subscripts, extents, strict=True)):
        low, high = range_of(subscript, sizes, dimensions)
        if boundary is Boundary.INSIDE and not 0 <= low <= high < extent:
            yield f"subscript {position} of {array.name!r} is {low} to {high}, and the extent is {extent}"
        if boundary is Boundary.CLAMP and extent == 0:
            yield f"a clamped load from {array.name!r}, which is empty"
        if max(abs(low), abs(high)) >= 2**31:
            yield f"subscript {position} of {array.name!r} is {low} to {high}, past the range of i32"
