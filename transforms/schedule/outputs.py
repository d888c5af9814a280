"""How outputs lie in memory: which are joined by atomic operations, and with what their elements begin."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ...ir import types as w
from ...ir.constants import RawValue
from ...ir.schedule.extents import value_of
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Constant, ElementType, Execution, Scatter
from ...ir.schedule.reductions import IDEMPOTENT, neutral_constant
from .decided import AT_ONCE, Decided

ATOMICS: Final = {
    "+": "atomicAdd",
    "min": "atomicMin",
    "max": "atomicMax",
    "&": "atomicAnd",
    "|": "atomicOr",
    "^": "atomicXor",
}
"""The functions that WGSL has atomic operations of, for i32 and u32."""
EXCHANGED: Final = ("+", "*", "min", "max")
"""The functions that exchanges of bits join f32 by."""


def can_be_atomic(function: str, type: ElementType) -> bool:
    """Whether atomic operations may join values of a type by a function."""
    if type is ElementType.F32:
        return function in EXCHANGED
    return function in ATOMICS and type in (ElementType.I32, ElementType.U32)


def is_atomic(array: str, decided: Decided) -> bool:
    """Whether several invocations may join values to one element of an output."""
    scatter = decided.scatter(array)
    if scatter is None:
        return decided.atomic_store(array) is not None
    return is_shared(scatter, decided, (Execution.WORKGROUP,) if scatter in decided.private else AT_ONCE)


def is_shared(scatter: Scatter, decided: Decided, kinds: Sequence[Execution]) -> bool:
    """Whether the points of a scatter are spread over workgroups or invocations, whichever are in `kinds`."""
    levels = (it for it in decided.order if it.dimension in scatter.dimensions and decided.kind(it) in kinds)
    return any(decided.count(it) != 1 for it in levels)


def is_bits(array: str, decided: Decided) -> bool:
    """Whether an output of f32 is bound as the bits of these, which atomic operations exchange."""
    return decided.scope.arrays[array].type is ElementType.F32 and is_atomic(array, decided)


def stored_type(type: ElementType, *, atomic: bool) -> w.Type:
    """The type of an element in memory."""
    if not atomic:
        return scalar_type(type)
    return w.atomic(w.U32 if type is ElementType.F32 else scalar_type(type))


def copied_type(scatter: Scatter, decided: Decided) -> w.Type:
    """The type of an element of a workgroup's copy of an output."""
    type = decided.scope.arrays[scatter.array].type
    return stored_type(type, atomic=is_shared(scatter, decided, (Execution.INVOCATION,)))


def known_length(array: str, decided: Decided) -> int | None:
    """The number of elements of an array, if it is known."""
    extents = decided.scope.arrays[array].extents
    if not all(it.name in decided.sizes for extent in extents for it in extent.terms):
        return None
    return prod(value_of(it, decided.sizes) for it in extents)


def neutral_of(scatter: Scatter) -> RawValue:
    """What changes no element: for a function that may join a value twice, what elements begin with."""
    first = scatter.first
    assert isinstance(first, Constant)
    made = first if scatter.function in IDEMPOTENT else neutral_constant(scatter.function, first.type)
    return made.value.value


def initial(array: str, decided: Decided) -> float:
    """What the elements of an output are before the dispatch: what joining begins with, else 0."""
    scatter, atomic = decided.scatter(array), decided.atomic_store(array)
    first = scatter.first if scatter is not None else None if atomic is None else atomic.fby.first
    return first.value.value if isinstance(first, Constant) else 0
