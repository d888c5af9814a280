"""Joins two nests, of which the first gives arrays to the second, into one nest without these arrays.

There are two ways. *Along equal dimensions*: each iteration of the second nest reads what the first stores in the
iteration with the same indices, and so comes into its loops. An epilogue is joined like this (a bias after a matrix
product), and so is what goes again over the rows whose sums the first nest made. *In line*: the first nest computes
each element from its place alone; wherever the second loads an element, the element is computed. That is a prologue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...ir.hints import unknown_name
from ...ir.schedule.functions import COPY
from ...ir.schedule.nodes import (
    Affine,
    Array,
    Boundary,
    Compute,
    Constant,
    Direction,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Nest,
    Operand,
    Scatter,
    Statement,
    Store,
    Use,
)
from ...ir.schedule.scope import Instruction
from ...ir.schedule.text import WORDS, affine_text
from ...ir.schedule.verify import verify
from .insert_copies import insert_copies
from .names import Names, names_of
from .recompute import recompute
from .substitute import Substitution, are_equal, name_of_plain, plain

_Element: TypeAlias = tuple[Sequence[Statement], Operand]
"""The statements that compute an element of an array, and the element."""


class NotJoinable(Exception):
    """Why two nests cannot be joined: a sentence."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A nest made of two, and what became of the names of the first and of the second, where they changed."""

    nest: Nest
    first: Substitution
    second: Substitution


def join(first: Nest, second: Nest, arrays: Mapping[str, str]) -> Joined:
    """The nest that does what `first` does and then `second`, whose inputs `arrays` has by outputs of the first.

    The names of one nest stay, so that decisions for that nest are decisions for the joined one: the second's, if the
    first is element-wise, else the first's. In the other nest, names that both have get a number, and sizes are those
    that equal arrays say. Raises NotJoinable.
    """
    _check_arrays(first, second, arrays)
    second_stays = is_elementwise(first)
    moved, stays = (first, second) if second_stays else (second, first)
    shared = dict(arrays) if second_stays else {to: it for it, to in arrays.items()}
    names = Names({*names_of(stays), *WORDS} - set(shared.values()))
    new, old = _new_names(moved, stays, shared, names), Substitution()
    of_first, of_second = (new, old) if second_stays else (old, new)
    for output, into in arrays.items():
        of_first.arrays[output] = of_second.arrays[into] = f"{output} -> {into}"
    for it in second.body:
        if isinstance(it, Gather) and it.array in arrays.values():
            raise NotJoinable(f"{second.name!r} loads elements of {it.array!r} at computed places: they must be stored")
    parts = _Parts(
        _renamed(first, of_first),
        _renamed(second, of_second),
        frozenset(of_first.arrays[it] for it in arrays),
        second_stays,
    )
    nest = _either(lambda: _along_equal_dimensions(parts), lambda: _in_line(parts, names))
    nest = insert_copies(recompute(replace(nest, name=names.fresh(f"{first.name}_{second.name}"))))
    mistakes = verify(nest)
    if mistakes:
        raise NotJoinable(f"as one nest, {mistakes[0].message}")
    return Joined(nest, of_first, of_second)


def is_elementwise(nest: Nest) -> bool:
    """Whether each element that the nest stores is computed in one iteration, from its place alone."""
    return not any(isinstance(it, (Fby, Last, Map, Scatter)) for it in nest.body)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Two nests that share names of sizes, and of the arrays that the first hands to the second."""

    first: Nest
    second: Nest
    handed: frozenset[str]
    second_stays: bool

    def nest(self, first: Nest, second: Nest, body: Sequence[Statement]) -> Nest:
        """One nest of both, without the arrays that are handed over, and with this body."""
        stays, moved = (second, first) if self.second_stays else (first, second)
        known = {it.name for it in stays.dimensions}
        return Nest(
            stays.name,
            tuple(dict.fromkeys((*stays.sizes, *moved.sizes))),
            (*stays.dimensions, *(it for it in moved.dimensions if it.name not in known)),
            tuple(it for it in (*stays.arrays, *moved.arrays) if it.name not in self.handed),
            tuple(body),
            (*stays.combines, *moved.combines),
        )

    def stores(self) -> Iterator[Store]:
        """The stores of what is handed over."""
        return (it for it in self.first.body if isinstance(it, Store) and it.array in self.handed)

    def loads(self, array: str) -> Iterator[Load]:
        """The loads of the second nest of an array."""
        return (it for it in self.second.body if isinstance(it, Load) and it.array == array)


def _either(*ways: Callable[[], Nest]) -> Nest:
    """What the first way gives that is possible."""
    reasons: list[str] = []
    for way in ways:
        try:
            return way()
        except NotJoinable as reason:
            reasons.append(str(reason))
    raise NotJoinable("; ".join(dict.fromkeys(reasons)))


# Along equal dimensions


def _along_equal_dimensions(parts: _Parts) -> Nest:
    first, second = parts.first, parts.second
    equal = _equal_dimensions(parts)
    if parts.second_stays:
        first = _renamed(first, Substitution(sums={it: plain(to) for to, it in equal.items()}))
    else:
        second = _renamed(second, Substitution(sums={it: plain(to) for it, to in equal.items()}))
    stores = [it for it in first.body if isinstance(it, Store) and it.array in parts.handed]
    elements = {it.array: _ready(it.value) for it in stores}
    rest = (it for it in first.body if it not in stores)
    return parts.nest(first, second, [*rest, *_given(second.body, elements)])


def _ready(element: Operand) -> Callable[[Load], _Element]:
    return lambda _: ((), element)


def _equal_dimensions(parts: _Parts) -> dict[str, str]:
    """For dimensions of the second nest, those of the first that have the same index wherever an element is loaded."""
    equal: dict[str, str] = {}
    for store in parts.stores():
        stored = _dimensions_in(store, parts.first)
        for load in parts.loads(store.array):
            for ours, theirs in zip(_dimensions_in(load, parts.second), stored, strict=True):
                if equal.setdefault(ours, theirs) != theirs:
                    raise NotJoinable(f"{ours!r} would be two dimensions of {parts.first.name!r}")
    if len(set(equal.values())) < len(equal):
        raise NotJoinable(f"elements of {_quoted(parts.handed)} are loaded at several indices")
    sizes = {it.name: it.size for nest in (parts.first, parts.second) for it in nest.dimensions}
    for ours, theirs in equal.items():
        if not are_equal(sizes[ours], sizes[theirs]):
            texts = affine_text(sizes[ours]), affine_text(sizes[theirs])
            raise NotJoinable(f"the loops over {_quoted(parts.handed)} go over {texts[0]} and {texts[1]} elements")
    return equal


def _dimensions_in(access: Load | Store, nest: Nest) -> list[str]:
    """The dimensions that are the subscripts, one each."""
    names = [name_of_plain(it) for it in access.subscripts]
    found = [it for it in names if it is not None]
    if len(set(found)) < len(names):
        raise NotJoinable(f"in {nest.name!r}, not each subscript of {access.array!r} is a dimension of its own")
    return found


# In line


def _in_line(parts: _Parts, names: Names) -> Nest:
    first = parts.first
    if not is_elementwise(first):
        raise NotJoinable(f"{first.name!r} carries values from one iteration to another: its elements must be stored")
    if any(isinstance(it, Store) and it.array not in parts.handed for it in first.body):
        raise NotJoinable(f"{first.name!r} has other outputs")
    elements = {it.array: _Computed(first, it, names).element for it in parts.stores()}
    return parts.nest(replace(first, dimensions=()), parts.second, list(_given(parts.second.body, elements)))


class _Computed:
    """The elements of an array that an element-wise nest stores. Raises NotJoinable if some are not stored."""

    def __init__(self, nest: Nest, store: Store, names: Names) -> None:
        self._nest = nest
        self._store = store
        self._names = names
        self._arrays = {it.name: it for it in nest.arrays}
        self._extents = dict(zip(_dimensions_in(store, nest), self._arrays[store.array].extents, strict=True))
        """The extents of the array by the dimensions that are its subscripts."""
        for it in nest.dimensions:
            if it.name in self._extents and not are_equal(it.size, self._extents[it.name]):
                texts = affine_text(it.size), affine_text(self._extents[it.name])
                raise NotJoinable(f"{nest.name!r} stores {texts[0]} of {texts[1]} elements; the others are 0")

    def element(self, load: Load) -> _Element:
        """The element that a load gives, after the statements that compute it, on dimensions of the load."""
        new = Substitution(sums=dict(zip(self._extents, load.subscripts, strict=True)))
        made: list[Statement] = []
        for it in self._nest.body:
            if isinstance(it, Instruction):
                new.values[it.name] = Use(self._names.fresh(it.name))
                statement = new.statement(self._bounded(it, load.boundary))
                assert isinstance(statement, Instruction)
                on = tuple(name for name in load.dimensions if name in statement.dimensions)
                made.append(replace(statement, dimensions=on))
        return made, new.operand(self._store.value)

    def _bounded(self, statement: Instruction, boundary: Boundary) -> Statement:
        """A statement that gives the same at indices past the ends as a load with that boundary."""
        if boundary is Boundary.INSIDE or isinstance(statement, (Gather, Compute)):
            return statement
        if boundary is Boundary.ZERO:
            raise NotJoinable(f"{self._store.array!r} is 0 outside, which {self._nest.name!r} does not compute")
        if isinstance(statement, Index) or not self._has_these_subscripts(statement):
            raise NotJoinable(f"{self._nest.name!r} does not compute clamped elements of {self._store.array!r}")
        return replace(statement, boundary=Boundary.CLAMP)

    def _has_these_subscripts(self, load: Load) -> bool:
        """Whether a load is from an array whose indices are clamped to the same numbers."""
        extents = self._arrays[load.array].extents
        names = [name_of_plain(it) for it in load.subscripts]
        return all(
            name is not None and name in self._extents and are_equal(extent, self._extents[name])
            for name, extent in zip(names, extents, strict=True)
        )


# Statements


def _given(body: Sequence[Statement], elements: Mapping[str, Callable[[Load], _Element]]) -> Iterator[Statement]:
    """The statements, with elements of some arrays given instead of loaded."""
    named = set(_named_values(body))
    new = Substitution()
    for statement in body:
        if not isinstance(statement, Load) or statement.array not in elements:
            yield new.statement(statement)
            continue
        before, element = elements[statement.array](statement)
        yield from before
        if statement.name in named or isinstance(element, Constant):
            yield Compute(statement.name, statement.type, COPY, (element,), statement.dimensions, span=statement.span)
        else:
            new.values[statement.name] = element


def _named_values(body: Sequence[Statement]) -> Iterator[str]:
    """The values that statements need as values, where no constant and no value of another place can stand."""
    for it in body:
        if isinstance(it, (Last, Map)):
            yield it.value
        elif isinstance(it, Fby):
            yield it.next


# Names


def _new_names(moved: Nest, stays: Nest, arrays: Mapping[str, str], names: Names) -> Substitution:
    """Names for all parts of a nest that the one which stays does not have; sizes are what the shared arrays say."""
    new = Substitution(sums=_sizes(moved, stays, arrays))
    for name in (*moved.sizes, *(it.name for it in moved.dimensions)):
        if name not in new.sums:
            new.sums[name] = plain(names.fresh(name))
    new.arrays.update({it.name: names.fresh(it.name) for it in moved.arrays if it.name not in arrays})
    new.arrays.update({it: names.fresh(it) for it in arrays})
    new.values.update({it.name: Use(names.fresh(it.name)) for it in moved.body if not isinstance(it, (Store, Scatter))})
    return new


def _sizes(moved: Nest, stays: Nest, arrays: Mapping[str, str]) -> dict[str, Affine]:
    """The sizes of one nest by those of the other, so that the arrays which they share have equal extents."""
    ours, theirs = ({it.name: it.extents for it in nest.arrays} for nest in (moved, stays))
    found: dict[str, Affine] = {}
    pairs = [pair for one, to in arrays.items() for pair in zip(ours[one], theirs[to], strict=True)]
    for mine, other in pairs:
        if len(mine.terms) == 1 and mine.terms[0].coefficient == 1:
            found.setdefault(mine.terms[0].name, replace(other, constant=other.constant - mine.constant))
    known = Substitution(sums=found)
    for mine, other in pairs:
        if not (all(it.name in found for it in mine.terms) and are_equal(known.sum(mine), other)):
            texts = affine_text(mine), affine_text(other)
            raise NotJoinable(f"{texts[0]} in {moved.name!r} may differ from {texts[1]} in {stays.name!r}")
    return found


def _renamed(nest: Nest, new: Substitution) -> Nest:
    sizes = (name_of_plain(new.sums.get(it, plain(it))) for it in nest.sizes)
    return replace(
        nest,
        sizes=tuple(it for it in sizes if it is not None),
        dimensions=tuple(replace(it, name=new.dimension(it.name), size=new.sum(it.size)) for it in nest.dimensions),
        arrays=tuple(replace(it, name=new.array(it.name), extents=new.all(it.extents)) for it in nest.arrays),
        body=tuple(map(new.statement, nest.body)),
        combines=tuple(replace(it, carried=tuple(map(new.name, it.carried))) for it in nest.combines),
    )


# Errors


def _check_arrays(first: Nest, second: Nest, arrays: Mapping[str, str]) -> None:
    outputs = {it.name: it for it in first.arrays if it.direction is Direction.OUT}
    inputs = {it.name: it for it in second.arrays if it.direction is Direction.IN}
    for output, into in arrays.items():
        if output not in outputs:
            raise NotJoinable(unknown_name(f"nest {first.name!r} has no output {output!r}", output, outputs))
        if into not in inputs:
            raise NotJoinable(unknown_name(f"nest {second.name!r} has no input {into!r}", into, inputs))
        one, other = outputs[output], inputs[into]
        if one.type is not other.type or len(one.extents) != len(other.extents):
            raise NotJoinable(f"{output!r} is {_type_text(one)}, but {into!r} is {_type_text(other)}")
    scattered = {it.array for it in first.body if isinstance(it, Scatter)}
    for output in arrays:
        if output in scattered:
            raise NotJoinable(f"{output!r} is complete only at the end of {first.name!r}")
    if len(set(arrays.values())) < len(arrays):
        raise NotJoinable("two outputs cannot be one input")


def _type_text(array: Array) -> str:
    return f"{array.type.value}[{', '.join(map(affine_text, array.extents))}]"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(sorted(map(repr, names)))
