"""The rules for kernels that run in one invocation, one after another, and share arrays.

An array that one of them writes is shared one-to-one if all accesses of all of them are to the invocation's own
element: `share` checks what the shaders and the graph say, and returns a `LaunchTest` of what the numbers of a launch
decide. The rules are `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir.dataflow.expressions import Polynomial, constant_form, product_of, sum_of
from ...ir.source import Span
from .accesses import Access, KernelAccesses
from .forms import GlobalId, StrideId, variables
from .grids import Affine, Domain, Grid, affine, count, domain, hull, is_injective
from .refusal import Refused

RULES: Final = {
    "grids": "both kernels have equal extents",
    "element": "the array is a binding of its own, accessed by elements: no atomics, no part of a structure",
    "position": "each position is a sum of products of global_invocation_id with numbers of the dispatch",
    "same-position": "all accesses of all kernels to the array are at the same position",
    "own-element": "no two invocations have the same position",
    "in-range": "no position is past the end of the array, where it would be clamped to another invocation's element",
    "covered": "what a kernel reads has been written by a kernel before it, wherever it reads it",
    "versions": "no kernel needs a value that a kernel before it has overwritten",
    "order": "no node outside runs between the two",
    "workgroups": "neither kernel has barriers, workgroup memory or operations on subgroups; if the sizes of their "
    "workgroups differ, neither uses the numbers of workgroups or of invocations in them",
    "limits": "the fused kernel has at most 8 storage buffers and 12 uniform buffers",
}
"""What must hold for kernels to be fused, by the name of the rule."""


@dataclass(frozen=True, slots=True)
class Use:
    """A kernel's use of a shared array under the name of a binding. `in_graph` gives a number of the kernel in the
    graph's terms, and `kernel` is its index among the kernels.
    """

    kernel: int
    name: str
    accesses: KernelAccesses
    binding: str
    in_graph: Callable[[Hashable], Polynomial | None]

    @property
    def all(self) -> Sequence[Access]:
        """All accesses."""
        return self.accesses.accesses.get(self.binding, ())


@dataclass(frozen=True, slots=True)
class LaunchTest:
    """What the numbers of a launch decide about an array that kernels share."""

    uses: tuple[Use, ...]
    strides: frozenset[int]

    def failure(self, grids: Sequence[Grid], length: int | None) -> str | None:
        """Why the array is not shared one-to-one in a launch with these grids of the kernels, in words; None if it is.

        `length` is the number of elements, if it is known.
        """
        if length is None:
            return f"the length of {self.uses[0].binding!r} is not known"
        return next(self._failures(grids, length), None)

    def _failures(self, grids: Sequence[Grid], length: int) -> Iterator[str]:
        found = [
            (use, it, affine(it.index, grids[use.kernel]))
            for use in self.uses
            for it in use.all
            if it.index is not None
        ]
        forms = {form for _, _, form in found}
        name = self.uses[0].binding
        if len(forms) != 1 or None in forms:
            yield f"the positions in {name!r} differ, or are not affine [same-position]"
            return
        (form,) = forms
        assert form is not None
        domains = [domain(it.guards, grids[use.kernel], strides=self.strides) for use, it, _ in found]
        if not is_injective(form, hull(domains)):
            yield f"two invocations access the same element of {name!r} [own-element]"
        for (use, access, _), within in zip(found, domains, strict=True):
            if not within.is_empty and not _is_in_range(form, within, length):
                place = f"past the end of {use.binding!r}, which has {length} elements"
                yield f"{use.name!r} may {access.kind} {place} [in-range]"
        yield from self._uncovered(grids)

    def _uncovered(self, grids: Sequence[Grid]) -> Iterator[str]:
        covers: list[tuple[tuple[int, ...], Domain]] = []
        for use in self.uses:
            for access in use.all if covers else ():
                if access.kind != "read":
                    continue
                needed = domain(access.guards, grids[use.kernel], strides=self.strides)
                if not any(part == access.part and within.contains(needed) for part, within in covers):
                    yield f"{use.name!r} reads elements of {use.binding!r} that no kernel before it wrote [covered]"
            covers += [
                (it.part, domain(it.guards, grids[use.kernel], strides=self.strides))
                for it in use.accesses.covers.get(use.binding, ())
            ]


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
    _check_positions(uses)
    _check_covered(uses)
    found = {it for use in uses for access in use.all if access.index is not None for it in variables(access.index)}
    strides = frozenset(it.axis for it in found if isinstance(it, StrideId))
    if strides & {it.axis for it in found if isinstance(it, GlobalId)}:
        raise Refused(
            f"{uses[0].binding!r} is accessed inside and outside of a grid-stride loop [same-position]",
            strided_place(uses),
            uses[0].name,
        )
    return LaunchTest(tuple(uses), strides)


def strided_place(uses: Sequence[Use]) -> Span | None:
    """The first access in a grid-stride loop of the first kernel."""
    for access in uses[0].all:
        if access.index is not None and any(isinstance(it, StrideId) for it in variables(access.index)):
            return access.span
    return None


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
    strides = frozenset(
        it.axis for access in all_of_it for it in variables(access.index or frozenset()) if isinstance(it, StrideId)
    )
    written: set[tuple[int, ...]] = set()
    for cover in accesses.covers.get(binding, ()):
        form, within = affine(cover.index, grid), domain(cover.guards, grid, strides=strides)
        if form is None or within.is_empty or count(within) != length:
            continue
        if is_injective(form, within) and _is_in_range(form, within, length):
            written.add(cover.part)
    return written == set(accesses.parts(binding))
