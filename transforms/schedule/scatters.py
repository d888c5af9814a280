"""Which decisions about outputs that values are joined to at computed places are legal: sentences for the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...ir.hints import unknown_name
from ...ir.schedule.nodes import ElementType, Execution, Scatter
from ...ir.schedule.text import level_name_text
from .decided import AT_ONCE, Decided
from .outputs import can_be_atomic, is_atomic, is_shared, known_length
from .tasks import Write

NO_ATOMICS: Final = (
    "atomic operations are +, min, max, &, | and ^ of i32 and u32; exchanges of bits join f32 by +, *, min and max"
)
_FLOATS: Final = (ElementType.F32, ElementType.F16)


def _scatters(decided: Decided) -> list[Scatter]:
    return [it.store for it in decided.tasks if isinstance(it, Write) and isinstance(it.store, Scatter)]


def not_private(decided: Decided) -> Iterator[str]:
    """Copies of what is no such output, or of an unknown number of elements."""
    private = decided.decisions.private
    scattered = {it.array: it for it in _scatters(decided)}
    for name in dict.fromkeys(private):
        if name not in scattered:
            yield unknown_name(f"no values are joined to an output {name!r}", name, scattered)
        elif private.count(name) > 1:
            yield f"{name!r} is private twice"
        elif known_length(name, decided) is None:
            yield f"the number of elements of {name!r} is not known: give sizes"
        elif known_length(name, decided) == 0:
            yield f"{name!r} has no elements"
        elif decided.scope.arrays[name].type in _FLOATS and not decided.reassociate:
            yield f"a copy of {name!r} has sums of floats in parts, which may not be reassociated"


def unjoinable(decided: Decided) -> Iterator[str]:
    """Outputs that several invocations join values to for which there is no atomic operation."""
    for scatter in _scatters(decided):
        type = decided.scope.arrays[scatter.array].type
        is_copied = scatter in decided.private and is_shared(scatter, decided, (Execution.INVOCATION,))
        if not (is_atomic(scatter.array, decided) or is_copied):
            continue
        if not can_be_atomic(scatter.function, type):
            yield f"several invocations cannot join values to {scatter.array!r}: {NO_ATOMICS}"


def out_of_order(decided: Decided) -> Iterator[str]:
    """Floats that may not be reassociated, and would be joined in another order than that of the nest."""
    for task in decided.tasks:
        scatter = task.store if isinstance(task, Write) else None
        if not isinstance(scatter, Scatter) or decided.reassociate:
            continue
        if decided.scope.arrays[scatter.array].type not in _FLOATS:
            continue
        if is_shared(scatter, decided, AT_ONCE):
            yield f"values are joined to {scatter.array!r} in order, so by one invocation"
            continue
        path = list(decided.path(task))
        positions = {name: number for number, name in enumerate(scatter.dimensions)}
        wanted = sorted(path, key=lambda it: (positions[it.dimension], it.level))
        is_last = all(not decided.is_vector(it) for it in path[:-1])
        if path != wanted or not is_last:
            yield f"values are joined to {scatter.array!r} in order: {', '.join(map(level_name_text, wanted))}"


def private_bytes(decided: Decided) -> int:
    """The bytes of workgroup memory that copies take."""
    types = {it.array: decided.scope.arrays[it.array].type for it in decided.private}
    return sum((known_length(it, decided) or 0) * (2 if type is ElementType.F16 else 4) for it, type in types.items())
