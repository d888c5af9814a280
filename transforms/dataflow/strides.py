"""Grid-stride loops: each invocation goes through elements that lie a stride apart.

    for (var i = global_id.x; i < n; i += stride) { … }

No two iterations of any invocations have one counter if the stride is at least the number of invocations. Loops of
several kernels have the same iterations if they begin, step and end alike: by their forms, or by the numbers of a
launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...ir.source import Span
from .accesses import KernelAccesses
from .forms import Counter, counters_in
from .grids import AXES, MOST_LOOPS, Affine, Domain, Grid, affine, domain, end_of_counter, everywhere, is_injective
from .refusal import Refused

_WORDS: Final = 1 << 32


def loops_of(accesses: KernelAccesses, binding: str, name: str) -> tuple[Counter, ...]:
    """The loops in which a kernel accesses an array at their counters, from the outermost one on.

    Raises Refused, about the kernel `name`, unless these are the same for all accesses and enclose nothing but each
    other.
    """
    found: tuple[Counter, ...] | None = None
    for access in accesses.accesses.get(binding, ()):
        loops = tuple(sorted(counters_in(access.index or frozenset()), key=lambda it: it.depth))
        if found is not None and loops != found:
            message = f"{binding!r} is accessed in several loops, or inside and outside of one [same-position]"
            raise Refused(message, access.span, name)
        if found is None:
            _check_nest(accesses, loops, binding, access.span, name)
        found = loops
    return found or ()


def _check_nest(
    accesses: KernelAccesses, loops: Sequence[Counter], binding: str, place: Span | None, name: str
) -> None:
    reason = next((accesses.strays[it] for it in loops if it in accesses.strays), "")
    if not reason and [it.depth for it in loops] != list(range(1, len(loops) + 1)):
        reason = "its position does not depend on the counters of all loops around it"
    if not reason and len(loops) > MOST_LOOPS:
        reason = f"it is in more than {MOST_LOOPS} nested loops"
    if reason:
        raise Refused(f"{binding!r}: {reason} [strides]", place, name)


@dataclass(frozen=True, slots=True)
class StridedKernel:
    """A kernel in a launch, whose grid has the loops of its accesses."""

    name: str
    accesses: KernelAccesses
    grid: Grid


@dataclass(frozen=True, slots=True)
class _Iterations:
    """Which values the counters of a kernel's loops have: where they start, how they step, and where they go on."""

    starts: tuple[Affine | None, ...]
    steps: tuple[int | None, ...]
    stay: Domain


def failure_of_loops(kernels: Sequence[StridedKernel]) -> str | None:
    """Why the loops of kernels do not have the same iterations in a launch, or not each its own counters, in words."""
    return next(_failures(kernels), None)


def _failures(kernels: Sequence[StridedKernel]) -> Iterator[str]:
    first = _iterations(kernels[0])
    for kernel in kernels[1:]:
        other = _iterations(kernel)
        names = f"the loops of {kernels[0].name!r} and {kernel.name!r}"
        if other.starts != first.starts:
            yield f"{names} begin at different positions [strides]"
        if other.steps != first.steps:
            yield f"{names} have different strides [strides]"
        if other.stay != first.stay:
            yield f"{names} end at different positions [strides]"
        if kernel.grid.invocations != kernels[0].grid.invocations:
            yield f"{kernels[0].name!r} and {kernel.name!r} have different numbers of invocations [strides]"
    for kernel in kernels:
        yield from _own_failures(kernel)


def _iterations(kernel: StridedKernel) -> _Iterations:
    loops = kernel.grid.loops
    plain = replace(kernel.grid, loops=())
    starts = tuple(affine(it.start, plain) for it in loops)
    steps = tuple(_number(affine(it.step, plain)) for it in loops)
    return _Iterations(starts, steps, domain(kernel.accesses.stays[loops[-1]], kernel.grid))


def _number(form: Affine | None) -> int | None:
    """The step that a form is, which all invocations share."""
    return None if form is None else form.constant % _WORDS


def _own_failures(kernel: StridedKernel) -> Iterator[str]:
    """Why a kernel does not go through each counter once, from its start to the end."""
    found, whole = _iterations(kernel), everywhere(kernel.grid)
    of = f"a loop of {kernel.name!r}"
    if not _ends_upwards(found.stay, whole, len(kernel.grid.loops)):
        yield f"{of} does not go on as long as its counter is below a number of the launch [strides]"
    for level, (counter, start, step) in enumerate(zip(kernel.grid.loops, found.starts, found.steps, strict=True)):
        if start is None or step is None:
            yield f"the start or the stride of {of} is not known [strides]"
            return
        if whole.is_empty or found.stay.is_empty:
            return
        least, greatest = whole.ends(start)
        highest = max(found.stay.high[AXES + level] - 1, greatest)
        if least < 0 or highest + step >= end_of_counter(counter):
            yield f"the counter of {of} may wrap [strides]"
        if not _is_apart(start, step, level, whole):
            yield f"two invocations have one counter in {of}, since its stride is {step} [own-element]"


def _ends_upwards(stay: Domain, whole: Domain, count: int) -> bool:
    """Whether loops go on exactly as long as their counters are below some ends."""
    counters = range(AXES, AXES + count)
    is_bounded_above = all(stay.low[it] == whole.low[it] for it in counters)
    return stay.is_exact and is_bounded_above and all(factors[it] >= 0 for factors in stay.sums for it in counters)


def _is_apart(start: Affine, step: int, level: int, whole: Domain) -> bool:
    """Whether invocations that begin at different values never share one, however often the counter is raised."""
    factors = list(start.factors)
    factors[AXES + level] = step
    used = [factor != 0 for factor in factors]
    high = [high if is_used else low + 1 for is_used, low, high in zip(used, whole.low, whole.high, strict=True)]
    return step > 0 and is_injective(Affine(tuple(factors), 0), Domain(list(whole.low), high))


def without_starts(box: Domain, form: Affine, grid: Grid) -> Domain:
    """The box without the coordinates of invocations that the counters of loops tell, unless the form has them."""
    told = {axis for it in grid.loops for axis in it.axes if not form.factors[axis]}
    high = [low + 1 if axis in told else high for axis, (low, high) in enumerate(zip(box.low, box.high, strict=True))]
    return Domain(list(box.low), high)


def takes_all_counters(kernel: StridedKernel) -> bool:
    """Whether each number from 0 on is a counter of exactly one invocation along the axes of each loop."""
    found, whole = _iterations(kernel), everywhere(kernel.grid)
    axes = [axis for it in kernel.grid.loops for axis in it.axes]
    starts = zip(found.starts, found.steps, strict=True)
    return len(axes) == len(set(axes)) and all(_reach(start, whole) == step for start, step in starts)


def _reach(start: Affine | None, whole: Domain) -> int | None:
    """How many numbers from 0 on a start is, each for one invocation; None if there are gaps."""
    if start is None or start.constant:
        return None
    reach = 1
    extents = zip(start.factors, whole.high, strict=True)
    for factor, extent in sorted((factor, extent) for factor, extent in extents if factor and extent > 1):
        if factor != reach:
            return None
        reach *= extent
    return reach
