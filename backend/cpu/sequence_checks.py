"""What the steps of a sequence must be like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ...base.errors import InputError
from .aligned import BINDING_ALIGNMENT
from .sequence_steps import CopyStep, DispatchStep, ExtentInMemory, FillStep, GridFromMemory, Range, Step


def check_steps(steps: Sequence[Step], sizes: Sequence[int]) -> None:
    """Raise InputError for ranges outside of their memories, and bindings that are not aligned or overlap."""
    for number, step in enumerate(steps):
        try:
            for it in _ranges(step):
                _check_inside(it, sizes)
            _check_step(step)
        except InputError as error:
            raise InputError(f"step {number}: {error}") from None


def check_swaps(swaps: Mapping[int, int], sizes: Sequence[int]) -> tuple[int, ...]:
    """For each memory the one that takes its place; nothing if there are no swaps. Raises InputError."""
    if not swaps:
        return ()
    order = tuple(swaps.get(number, number) for number in range(len(sizes)))
    if sorted(order) != list(range(len(sizes))) or not all(0 <= it < len(sizes) for it in swaps):
        raise InputError(f"{dict(swaps)} is no permutation of {len(sizes)} memories")
    for number, other in enumerate(order):
        if sizes[number] != sizes[other]:
            raise InputError(
                f"memory {other} of {sizes[other]} bytes cannot take the place of {number}, of {sizes[number]}"
            )
    return order


def written_memories(steps: Sequence[Step], swaps: Sequence[int]) -> frozenset[int]:
    """The memories that may be written in some execution."""
    written = {it.memory for step in steps for it in _written(step)}
    for _ in swaps:
        written |= {swaps[it] for it in written}
    return frozenset(written)


def _ranges(step: Step) -> list[Range]:
    match step:
        case DispatchStep():
            return [*step.ranges.values(), *_extents(step)]
        case FillStep(target):
            return [target]
        case CopyStep(source, target):
            return [source, target]


def _extents(step: DispatchStep) -> list[Range]:
    """Where the grid is read from."""
    extents = step.grid.extents if isinstance(step.grid, GridFromMemory) else ()
    return [Range(it.memory, it.offset, 4) for it in extents if isinstance(it, ExtentInMemory)]


def _written(step: Step) -> list[Range]:
    match step:
        case DispatchStep():
            return [step.ranges[point] for point in step.written]
        case FillStep(target) | CopyStep(_, target):
            return [target]


def _check_inside(given: Range, sizes: Sequence[int]) -> None:
    if not 0 <= given.memory < len(sizes):
        raise InputError(f"there is no memory {given.memory}")
    if given.offset < 0 or given.size < 0 or given.offset + given.size > sizes[given.memory]:
        raise InputError(
            f"{given.size} bytes from {given.offset} on are not inside of memory {given.memory}, "
            f"which has {sizes[given.memory]}"
        )


def _check_step(step: Step) -> None:
    match step:
        case FillStep():
            pass
        case CopyStep(source, target):
            if source.size != target.size:
                raise InputError(f"{source.size} bytes cannot be copied to {target.size}")
            _check_apart(source, target)
        case DispatchStep():
            for point, it in step.ranges.items():
                if it.offset % BINDING_ALIGNMENT:
                    raise InputError(f"the offset {it.offset} of binding {point} is no multiple of {BINDING_ALIGNMENT}")
            for (first, one), (second, other) in combinations(step.ranges.items(), 2):
                if first in step.written or second in step.written:
                    _check_apart(one, other)


def _check_apart(one: Range, other: Range) -> None:
    if one.memory == other.memory and one.offset < other.offset + other.size and other.offset < one.offset + one.size:
        raise InputError(f"{one} and {other} overlap, and one is written")
