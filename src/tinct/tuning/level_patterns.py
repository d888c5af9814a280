"""The levels that a dimension of a nest may sensibly have: the regular part of the space of schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..ir.limits import MOST_WORKGROUPS, PROMISED
from ..ir.schedule.nodes import Execution, Level

Levels = tuple[Level, ...]

_LOOP, _UNROLLED, _TREE = Execution.LOOP, Execution.UNROLLED, Execution.TREE
_INVOCATION, _WORKGROUP, _VECTOR = Execution.INVOCATION, Execution.WORKGROUP, Execution.VECTOR

MOST_UNROLLED: Final = 16
"""The most iterations of one level that are written out."""
MOST_INVOCATIONS: Final = PROMISED["maxComputeInvocationsPerWorkgroup"]
MOST_LOOP: Final = 256
"""The most iterations of a loop inside of another level of its dimension."""

MOST_SHARED: Final = 1 << 16
"""The most iterations of one of several workgroups that share a dimension: the limit of the product of factors."""

_SPREAD: Final[tuple[tuple[Execution, ...], ...]] = (
    (_WORKGROUP,),
    (_WORKGROUP, _INVOCATION),
    (_WORKGROUP, _UNROLLED),
    (_WORKGROUP, _LOOP),
    (_WORKGROUP, _UNROLLED, _INVOCATION),
    (_WORKGROUP, _INVOCATION, _UNROLLED),
    (_WORKGROUP, _LOOP, _INVOCATION),
    (_WORKGROUP, _LOOP, _UNROLLED),
    (_WORKGROUP, _INVOCATION, _VECTOR),
    (_WORKGROUP, _UNROLLED, _INVOCATION, _VECTOR),
    (_LOOP,),
    (_LOOP, _INVOCATION),
    (_LOOP, _UNROLLED),
    (_UNROLLED,),
    (_INVOCATION,),
)
_CARRIED: Final[tuple[tuple[Execution, ...], ...]] = (
    (_LOOP,),
    (_LOOP, _UNROLLED),
    (_UNROLLED,),
)
_IN_PARTS: Final[tuple[tuple[Execution, ...], ...]] = (
    (_LOOP, _TREE),
    (_LOOP, _INVOCATION),
    (_LOOP, _TREE, _INVOCATION),
    (_LOOP, _UNROLLED, _INVOCATION),
    (_LOOP, _INVOCATION, _TREE),
    (_LOOP, _VECTOR),
    (_LOOP, _INVOCATION, _VECTOR),
    (_TREE,),
    (_INVOCATION,),
)
_MOST: Final = {
    _LOOP: MOST_LOOP,
    _UNROLLED: MOST_UNROLLED,
    _TREE: MOST_UNROLLED,
    _INVOCATION: MOST_INVOCATIONS,
    _VECTOR: 4,
}
"""The largest factor of a level below the first one, and the most iterations of a first level that is no loop."""


def patterns(size: int, *, is_carried: bool, in_parts: bool) -> Iterator[Levels]:
    """The levels of a dimension of a size. One that is carried in order has loops and written-out levels only."""
    kinds = (*_CARRIED, *(_IN_PARTS if in_parts else ())) if is_carried else _SPREAD
    for executions in kinds:
        first, *rest = executions
        if first not in (_LOOP, _WORKGROUP) and not 1 < size <= _MOST[first]:  # the whole of a dimension
            continue
        yield from ((Level(first, None), *levels) for levels in _with_factors(rest, max(size, 1)))


def part_factors(size: int, inner: int) -> list[int]:
    """How many iterations of a loop, each of `inner` elements, workgroups may have that share a dimension of a size:
    powers of four, with which there are at least two workgroups and at most as many as one axis has.
    """
    powers = [4**it for it in range(1, MOST_SHARED.bit_length() // 2 + 1)]
    return [it for it in powers if it * inner <= MOST_SHARED and 1 < -(-size // (it * inner)) <= MOST_WORKGROUPS]


def _with_factors(executions: Sequence[Execution], size: int) -> Iterator[Levels]:
    """Factors that are powers of two, as long as the levels together do not have twice as many iterations as the size.

    A size that is no power of two is a factor, too, so that one level may be the whole dimension.
    """
    if not executions:
        yield ()
        return
    first, *rest = executions
    for factor in factors(size, _MOST[first]):
        yield from ((Level(first, factor), *levels) for levels in _with_factors(rest, -(-size // factor)))


def factors(size: int, most: int) -> list[int]:
    """The factors of a level that has up to `size` iterations."""
    powers = [2**it for it in range(1, most.bit_length()) if 2**it < 2 * size]
    return [*powers, size] if 2 < size <= most and size not in powers else powers
