"""The rules for kernels that run in one invocation, one after another, and share arrays.

An array that one of them writes is shared one-to-one if all accesses of all of them are to the invocation's own
element: `share` checks what the shaders and the graph say, and returns a `LaunchTest` of what the numbers of a launch
decide. The rules are `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...ir.dataflow.expressions import Polynomial, constant_form, product_of, sum_of
from .accesses import Access, Cover, KernelAccesses
from .forms import Counter, GlobalId, StrideId, counters_in, variables
from .grids import MOST_LOOPS, Affine, Domain, Grid, affine, count, domain, hull, is_injective
from .refusal import Refused
from .strides import StridedKernel, failure_of_loops, loops_of, takes_all_counters, without_starts

RULES: Final = {
    "grids": "both kernels have equal extents",
    "element": "the array is a binding of its own, accessed by elements: no atomics, no part of a structure",
    "position": "each position is a sum of products of global_invocation_id, or of counters of grid-stride loops, with "
    "numbers of the dispatch",
    "same-position": "all accesses of all kernels to the array are at the same position",
    "strides": "loops whose counters are positions start, step and end alike in all kernels, never share a counter "
    "between invocations, and are in no branch",
    "own-element": "no two invocations have the same position",
    "in-range": "no position is past the end of the array, where it would be clamped to another invocation's element",
    "covered": "what a kernel reads has been written by a kernel before it, wherever it reads it",
    "versions": "no kernel needs a value that a kernel before it has overwritten",
    "levels": "what decides about nodes of an inner graph is known of its inputs before the run",
    "order": "no node outside runs between the two",
    "workgroups": "neither kernel has barriers, workgroup memory or operations on subgroups; if the sizes of their "
    "workgroups differ, neither uses the numbers of workgroups or of invocations in them",
    "limits": "the fused kernel has at most 8 storage buffers and 12 uniform buffers",
}
"""What must hold for kernels to be fused, by the name of the rule."""


@dataclass(frozen=True, slots=True)
class Use:
    """A kernel's use of a shared array under the name of a binding. `in_graph` gives a number of the kernel in the
    graph's terms, and `kernel` is its index among the kernels. `loops` have the counters that its accesses are at.
    """

    kernel: int
    name: str
    accesses: KernelAccesses
    binding: str
    in_graph: Callable[[Hashable], Polynomial | None]
    loops: tuple[Counter, ...] = ()

    @property
    def all(self) -> Sequence[Access]:
        """All accesses."""
        return self.accesses.accesses.get(self.binding, ())


@dataclass(frozen=True, slots=True)
class LaunchTest:
    """What the numbers of a launch decide about an array that kernels share."""

    uses: tuple[Use, ...]

    def failure(self, grids: Sequence[Grid], length: int | None) -> str | None:
        """Why the array is not shared one-to-one in a launch with these grids of the kernels, in words; None if it is.

        `length` is the number of elements, if it is known.
        """
        if length is None:
            return f"the length of {self.uses[0].binding!r} is not known"
        return next(self._failures([replace(grids[it.kernel], loops=it.loops) for it in self.uses], length), None)

    def _failures(self, grids: Sequence[Grid], length: int) -> Iterator[str]:
        """`grids` has one for each use."""
        uses = list(zip(self.uses, grids, strict=True))
        found = [
            (use, it, affine(it.index, grid), domain(it.guards, grid))
            for use, grid in uses
            for it in use.all
            if it.index is not None
        ]
        forms = {form for _, _, form, _ in found}
        name = self.uses[0].binding
        if len(forms) != 1 or None in forms:
            yield f"the positions in {name!r} differ, or are not affine [same-position]"
            return
        (form,) = forms
        assert form is not None
        if self.uses[0].loops:
            failure = failure_of_loops([StridedKernel(use.name, use.accesses, grid) for use, grid in uses])
            if failure is not None:
                yield failure
        if not is_injective(form, without_starts(hull([it for _, _, _, it in found]), form, grids[0])):
            yield f"two invocations access the same element of {name!r} [own-element]"
        for use, access, _, within in found:
            if not within.is_empty and not _is_in_range(form, within, length):
                place = f"past the end of {use.binding!r}, which has {length} elements"
                yield f"{use.name!r} may {access.kind} {place} [in-range]"
        yield from self._uncovered(grids)

    def _uncovered(self, grids: Sequence[Grid]) -> Iterator[str]:
        covers: list[tuple[tuple[int, ...], Domain]] = []
        for use, grid in zip(self.uses, grids, strict=True):
            for access in use.all if covers else ():
                if access.kind != "read":
                    continue
                needed = domain(access.guards, grid)
                if not any(part == access.part and within.contains(needed) for part, within in covers):
                    yield f"{use.name!r} reads elements of {use.binding!r} that no kernel before it wrote [covered]"
            covers += [(it.part, domain(it.guards, grid)) for it in use.accesses.covers.get(use.binding, ())]


def _is_in_range(form: Affine, within: Domain, length: int) -> bool:
    least, greatest = within.ends(form)
    return least >= 0 and greatest < length


def share(uses: Sequence[Use]) -> LaunchTest | None:
    """The test of an array that kernels share, in their order; None if none of them writes it.

    Raises Refused, with the place in the shader.
    """
    if not any(it.accesses.writes(it.binding) for it in uses):
        return None
    for use in uses:
        if use.binding in use.accesses.whole:
            raise Refused(f"{use.binding!r}: {use.accesses.whole[use.binding]} [element]", None, use.name)
        for access in use.all:
            _check_access(use, access)
    looped = tuple(replace(it, loops=loops_of(it.accesses, it.binding, it.name)) for it in uses)
    _check_loops(looped)
    _check_positions(looped)
    _check_covered(looped)
    return LaunchTest(looped)


def _check_loops(uses: Sequence[Use]) -> None:
    """Raise Refused for loops that differ in number, in where they start or in how they step, whatever the numbers of
    the launch are.
    """
    first = uses[0]
    for use in uses[1:]:
        if len(use.loops) != len(first.loops):
            numbers = f"in {len(first.loops)} grid-stride loops by {first.name!r}, in {len(use.loops)} by this kernel"
            place = use.all[0].span if use.all else None
            raise Refused(f"{use.binding!r} is accessed {numbers} [same-position]", place, use.name)
        for one, other in zip(first.loops, use.loops, strict=True):
            _check_alike("start", in_graph(one.start, first), in_graph(other.start, use), use)
            _check_alike("step", in_graph(one.step, first), in_graph(other.step, use), use)


def _check_alike(what: str, one: Polynomial | None, other: Polynomial | None, use: Use) -> None:
    """Raise Refused for a start or a step of a loop that another one's never equals."""
    if one is None or other is None:
        reason = f"the {what} of its loop depends on a number that another node gives"
    elif is_never_zero(sum_of(other, one, -1)):
        reason = f"its loop does not {what} like that of the kernel before"
    else:
        return
    raise Refused(f"{use.binding!r}: {reason} [strides]", use.all[0].span, use.name)


def _check_access(use: Use, access: Access) -> None:
    if access.kind == "atomic":
        raise Refused(f"{use.binding!r} is accessed by atomic operations [element]", access.span, use.name)
    if access.index is None:
        rule = "element" if "no array" in access.why else "position"
        raise Refused(f"{use.binding!r}: {access.why} [{rule}]", access.span, use.name)
    if access.part is None:
        raise Refused(f"{use.binding!r}: which part of the element depends on data [element]", access.span, use.name)


def _check_positions(uses: Sequence[Use]) -> None:
    """Raise Refused for positions that differ, whatever the numbers of the launch are."""
    first: Polynomial | None = None
    for use in uses:
        for access in use.all:
            assert access.index is not None
            index = in_graph(access.index, use)
            first = index if first is None else first
            if index is None or first is None:
                raise Refused(
                    f"{use.binding!r}: its position depends on a number that another node gives [position]",
                    access.span,
                    use.name,
                )
            rest = sum_of(index, first, -1)
            if is_never_zero(rest):
                raise Refused(
                    f"{use.binding!r} is accessed at another position than elsewhere [same-position]",
                    access.span,
                    use.name,
                )


def is_never_zero(form: Polynomial) -> bool:
    """Whether a form is not zero for all invocations, whatever the numbers of the launch are: a constant, or a form
    that some component of `global_invocation_id` changes by a constant factor.
    """
    ids = [it for it in variables(form) if isinstance(it, (GlobalId, StrideId))]
    for number in ids:
        (monomial, _), *others = [it for it in form if number in {variable for variable, _ in it[0]}]
        if not others and monomial == frozenset({(number, 1)}):
            return True
    return bool(form) and not variables(form)


def in_graph(form: Polynomial, use: Use) -> Polynomial | None:
    """A form in the graph's terms; None where a number is not known before the launch."""
    total = constant_form(0)
    for monomial, coefficient in form:
        term = constant_form(coefficient)
        for variable, power in monomial:
            value = use.in_graph(variable)
            if value is None:
                return None
            for _ in range(power):
                term = product_of(term, value)
        total = sum_of(total, term)
    return total


def _check_covered(uses: Sequence[Use]) -> None:
    """Raise Refused for a read of what kernels before it do not write, or write under conditions on data."""
    writer: Use | None = None
    parts: set[tuple[int, ...]] = set()
    for use in uses:
        for access in use.all if writer is not None else ():
            if access.kind == "read" and access.part not in parts:
                assert writer is not None
                message = f"{use.binding!r} is read, but {writer.name!r} does not surely write it first [covered]"
                raise Refused(message, access.span, use.name)
        if use.accesses.writes(use.binding):
            writer = use
            parts |= {it.part for it in use.accesses.covers.get(use.binding, ()) if it.guards.exact}


def written_whole(accesses: KernelAccesses, binding: str, grid: Grid, length: int) -> bool:
    """Whether a launch writes every element of an array before it reads anything of the array.

    `length` is the number of elements. Each part of an element that the kernel reads, or that is in the element, must
    be written.
    """
    all_of_it = accesses.accesses.get(binding, ())
    if binding in accesses.whole or not all_of_it or any(it.kind != "write" or it.part is None for it in all_of_it):
        return False
    written: set[tuple[int, ...]] = set()
    for cover in accesses.covers.get(binding, ()):
        if _takes_as_many(accesses, cover, grid, length):
            written.add(cover.part)
    return written == set(accesses.parts(binding))


def _takes_as_many(accesses: KernelAccesses, cover: Cover, grid: Grid, length: int) -> bool:
    """Whether what is surely written are all of so many elements."""
    loops = tuple(sorted(counters_in(cover.index), key=lambda it: it.depth))
    grid = replace(grid, loops=loops)
    form, within = affine(cover.index, grid), domain(cover.guards, grid)
    if form is None or within.is_empty or len(loops) > MOST_LOOPS:
        return False
    if loops and not _goes_through_all(StridedKernel("", accesses, grid), form, within):
        return False
    box = without_starts(within, form, grid)
    number = None if count(within) is None else count(box)
    return number == length and is_injective(form, box) and _is_in_range(form, box, length)


def _goes_through_all(kernel: StridedKernel, form: Affine, within: Domain) -> bool:
    """Whether the counters in a domain of a kernel's loops are those of some invocation each."""
    grid = kernel.grid
    for axis in (axis for it in grid.loops for axis in it.axes):
        if form.factors[axis] or within.low[axis] or within.high[axis] < grid.invocations[axis]:
            return False
    return failure_of_loops([kernel]) is None and takes_all_counters(kernel)
