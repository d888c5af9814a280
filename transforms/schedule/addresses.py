"""Indices, subscripts and elements of arrays in core IR, at the current iterations of all levels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import TypeAlias, TypeVar

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.extents import value_of as size_of
from ...ir.schedule.nodes import Affine, Boundary, Execution, Gather, LevelName, Load, Store, Term
from .decided import Decided
from .frame import Frame
from .places import INSIDE, Ends, Iterations, Part, Place
from .vectors import in_vectors, vector_of

_Multiple = TypeVar("_Multiple", Term, Part)
Point: TypeAlias = tuple[tuple[LevelName, int], ...]
"""Iterations of written-out levels."""
Indices: TypeAlias = dict[str, str]
"""Dimensions whose indices stand for those of others, by way of `map`."""


@dataclass(slots=True)
class Addresses:
    """Where lowering is in the loops of a nest, and what it has computed of that."""

    decided: Decided
    frame: Frame
    at: dict[LevelName, Value] = field(default_factory=dict[LevelName, Value])
    """The iteration of each level that is entered, and of all levels that are executed at once."""
    written: dict[LevelName, int] = field(default_factory=dict[LevelName, int])
    """The iteration of each written-out level that is entered."""
    known: list[dict[object, Value]] = field(default_factory=lambda: [{}])
    """The values that are computed, in the blocks around the current one."""
    sure: frozenset[tuple[str, int]] = frozenset()
    """Subscripts of loads, by position, that are known to be inside of their arrays."""

    @contextmanager
    def block(self) -> Generator[None]:
        """What is computed inside of the `with` is known only there."""
        self.known.append({})
        yield
        self.known.pop()

    @contextmanager
    def written_as(self, point: Point) -> Generator[None]:
        """Inside of the `with`, written-out levels are at these iterations."""
        before = [(name, self.written.get(name), self.at.get(name)) for name, _ in point]
        self.written.update(point)
        self.at.update((name, u32(number)) for name, number in point)
        yield
        for name, number, value in before:
            del self.written[name], self.at[name]
            if number is not None and value is not None:
                self.written[name], self.at[name] = number, value

    @contextmanager
    def guarded(self, conditions: Sequence[Value]) -> Generator[None]:
        """What is done inside of the `with` is done where all conditions hold."""
        with ExitStack() as stack:
            if conditions:
                stack.enter_context(self.frame.builder.when(conjunction(conditions, self.frame.builder)))
                stack.enter_context(self.block())
            yield

    def active_vector(self, dimensions: Iterable[str]) -> LevelName | None:
        """The level of vectors among those of dimensions, unless one of its components is being computed."""
        level = self.decided.vector_in(dimensions)
        return None if level in self.written else level

    def for_each_component(self, used: Iterable[str], build: Callable[[], Value]) -> Value:
        """A scalar, or, if it depends on the index of a vector's component, the vector of these."""
        level = self.active_vector([it for it in dict.fromkeys(used) if it in self.decided.scope.dimensions])
        if level is None:
            return build()
        parts: list[Value] = []
        for lane in range(self.decided.count(level) or 1):
            with self.written_as(((level, lane),)):
                parts.append(build())
        return vector_of(self.frame.builder, parts)

    def memo(self, key: object, build: Callable[[], Value]) -> Value:
        """The value of a key, which is built unless it is computed in a block around the current one."""
        found = next((it[key] for it in reversed(self.known) if key in it), None)
        if found is None:
            found = build()
            self.known[-1][key] = found
        return found

    def index(self, dimension: str) -> Value:
        """The index in a dimension, of the iterations of all its levels; of the first component of a vector."""
        return self.part_of_index(dimension, self.decided.names(dimension), name=dimension)

    def part_of_index(self, dimension: str, levels: Collection[LevelName], *, name: str, unit: int = 1) -> Value:
        """What some levels contribute to the index in a dimension, divided by `unit`: what is known of it is added
        last.
        """
        varying, known = self._iterations.split(dimension, tuple(levels), unit)
        return self.memo(
            ("index", dimension, varying, unit, known),
            lambda: self._named(
                self.frame.binary(BinaryOp.ADD, self._varying(dimension, varying, name, unit), u32(known)), name
            ),
        )

    @property
    def _iterations(self) -> Iterations:
        return Iterations(self.decided, self.written)

    def _named(self, made: Value, name: str) -> Value:
        if isinstance(made, c.Binary) and made.name is None:
            made.name = self.frame.name(name)
        return made

    def _varying(self, dimension: str, levels: Sequence[LevelName], name: str, unit: int = 1) -> Value:
        """What levels at iterations that are not known contribute to the index in a dimension, divided by `unit`."""
        strides = self.decided.strides(dimension)

        def build() -> Value:
            total: Value = u32(0)
            for it in levels:
                scaled = self.frame.binary(BinaryOp.MULTIPLY, self.at[it], u32(strides[it] // unit))
                total = self.frame.binary(BinaryOp.ADD, total, scaled)
            return self._named(total, name)

        return self.memo(("varying", dimension, tuple(levels), unit), build)

    def number_of(self, levels: Iterable[LevelName]) -> Value:
        """The number of the current iterations of levels among all of theirs, the first level most significant."""
        number: Value = u32(0)
        for it in levels:
            scaled = self.frame.binary(BinaryOp.MULTIPLY, number, u32(self.decided.count(it) or 0))
            number = self.frame.binary(BinaryOp.ADD, scaled, self.at[it])
        return number

    def size(self, dimension: str) -> Value:
        """The size of a dimension."""
        return self.affine(self.decided.scope.dimensions[dimension].size, {})

    def affine(self, affine: Affine, indices: Indices) -> Value:
        """A sum, modulo 2^32."""
        return self.summed(affine, lambda name, _: self._number(indices.get(name, name)))

    def _number(self, name: str) -> Value:
        return self.frame.sizes[name] if name in self.frame.sizes else self.index(name)

    def summed(self, affine: Affine, value_of: Callable[[str, int], Value]) -> Value:
        """A sum, modulo 2^32, of what `value_of` gives for each name and its coefficient; terms that are added come
        first.
        """
        total = self._added(affine.terms, lambda it: value_of(it.name, it.coefficient))
        return self._plus(total, affine.constant, u32(1))

    def _added(self, terms: Iterable[_Multiple], value_of: Callable[[_Multiple], Value]) -> Value:
        total: Value = u32(0)
        for term in sorted(terms, key=lambda it: it.coefficient < 0):
            total = self._plus(total, term.coefficient, value_of(term))
        return total

    def element(self, access: Load | Store, indices: Indices) -> Value:
        """The pointer to the element that a load or a store names."""
        return self.pointer(access.array, [self.affine(it, indices) for it in access.subscripts])

    def pointer(self, array: str, subscripts: Sequence[Value], extents: Sequence[Affine] | None = None) -> Value:
        """The pointer to an element; `extents` are those of the array, unless they are given."""
        subscripts = [*subscripts, *(self.at[it] for it in self._own_levels(array))]
        offset = self.offset(subscripts, extents or self.decided.scope.arrays[array].extents)
        return self.frame.builder.access(self.frame.arrays[array], [offset])

    def _own_levels(self, array: str) -> Sequence[LevelName]:
        """The levels that an array between dispatches has dimensions for."""
        return self.decided.partials.get(array) or self.decided.packed.get(array, ())

    def offset(self, subscripts: Sequence[Value], extents: Sequence[Affine]) -> Value:
        """The number of an element of an array with these extents, row by row."""
        offset: Value = u32(0)
        for subscript, extent in zip(subscripts, extents, strict=True):
            scaled = self.frame.binary(BinaryOp.MULTIPLY, offset, self.affine(extent, {}))
            offset = self.frame.binary(BinaryOp.ADD, scaled, subscript)
        return offset

    def lane(self) -> tuple[int, Value]:
        """The invocations of a workgroup, and the number of this one, along x first."""
        return self.decided.invocations, self.memo("lane", self._lane)

    def _lane(self) -> Value:
        lane: Value = u32(0)
        for axis in sorted(set(self.decided.axes(Execution.INVOCATION).values())):
            before = u32(prod(self.decided.workgroup_size()[:axis]))
            scaled = self.frame.binary(BinaryOp.MULTIPLY, self.frame.builtin(Execution.INVOCATION, axis), before)
            lane = self.frame.binary(BinaryOp.ADD, lane, scaled)
        return self._named(lane, "lane")

    def vector_pointer(self, access: Load | Store, level: LevelName) -> Value:
        """The pointer to the vector that an access to an array of vectors names."""
        width, dimension = self.frame.widths[access.array], level.dimension
        last = in_vectors(access.subscripts[-1], dimension, width, self.decided)
        names = self.decided.names(dimension)[:-1]

        def value_of(name: str, _: int) -> Value:
            if name != dimension:
                return self.index(name)
            return self.part_of_index(dimension, names, name=f"{dimension}_by_{width}", unit=width)

        return self.vector_at(
            access.array, [*(self.affine(it, {}) for it in access.subscripts[:-1]), self.summed(last, value_of)]
        )

    def vector_at(self, array: str, subscripts: Sequence[Value]) -> Value:
        """The pointer to an element of an array of vectors; the last subscript counts these."""
        *others, last = self.decided.scope.arrays[array].extents
        length = Affine((), size_of(last, self.decided.sizes) // self.frame.widths[array])
        return self.pointer(array, subscripts, [*others, length])

    def loaded(self, load: Load, indices: Indices) -> Value:
        """The element that a load gives, with tests of the subscripts that may be outside of the array. No element is
        loaded twice.
        """
        places = [self._iterations.place(it, indices) for it in load.subscripts]
        ends = [self._ends(load, position, place, indices) for position, place in enumerate(places)]
        boundary = Boundary.INSIDE if all(it == INSIDE for it in ends) else load.boundary
        levels = tuple(self.at[it] for it in self._own_levels(load.array))
        return self.memo(
            ("element", load.array, levels, boundary, tuple(places), tuple(ends)),
            lambda: self.fetched(load, [self._subscript(it) for it in places], ends),
        )

    def _ends(self, load: Load, position: int, place: Place, indices: Indices) -> Ends:
        """Which ends of the array a subscript may pass, wherever indices are in their dimensions."""
        is_sure = (load.name, position) in self.sure and not self._is_mapped(load, position, indices)
        if load.boundary is Boundary.INSIDE or is_sure:
            return INSIDE
        subscript, extent = load.subscripts[position], self.decided.scope.arrays[load.array].extents[position]
        below, above = self._iterations.ends(place, extent)
        return Ends(below, above and not self.decided.is_before_end(subscript, extent, indices))

    def _is_mapped(self, load: Load, position: int, indices: Indices) -> bool:
        return any(it.name in indices for it in load.subscripts[position].terms)

    def _subscript(self, place: Place) -> Value:
        """The number at a place, modulo 2^32; what is known is added last."""
        total = self.memo(("sum", place.parts), lambda: self._added(place.parts, self._part))
        return self._plus(total, place.constant, u32(1))

    def _part(self, part: Part) -> Value:
        return self._varying(part.name, part.levels, part.name) if part.levels else self.frame.sizes[part.name]

    def _plus(self, total: Value, coefficient: int, value: Value) -> Value:
        scaled = self.frame.binary(BinaryOp.MULTIPLY, u32(abs(coefficient)), value)
        return self.frame.binary(BinaryOp.SUBTRACT if coefficient < 0 else BinaryOp.ADD, total, scaled)

    def fetched(self, load: Load | Gather, subscripts: Sequence[Value], ends: Sequence[Ends]) -> Value:
        """The element at subscripts, which may pass these ends of the array."""
        builder = self.frame.builder
        tested = [it for it, its in enumerate(ends) if its != INSIDE]
        if load.boundary is Boundary.INSIDE or not tested:
            return builder.load(self.pointer(load.array, subscripts))
        extents = {it: self.affine(self.decided.scope.arrays[load.array].extents[it], {}) for it in tested}
        if load.boundary is Boundary.CLAMP:
            clamped = {it: self._clamped(subscripts[it], extent, ends[it]) for it, extent in extents.items()}
            places = [clamped.get(position, it) for position, it in enumerate(subscripts)]
            return builder.load(self.pointer(load.array, places))
        tests = [builder.binary(BinaryOp.LESS, subscripts[it], extent) for it, extent in extents.items()]
        is_inside = conjunction(tests, builder)
        value = builder.load(self.pointer(load.array, subscripts))
        return builder.builtin_call("select", [self.frame.zero(load.type), value, is_inside])

    def _clamped(self, subscript: Value, extent: Value, ends: Ends) -> Value:
        """The nearest number from 0 to `extent` - 1 of a subscript that may pass these ends."""
        builder, last = self.frame.builder, self.frame.binary(BinaryOp.SUBTRACT, extent, u32(1))
        if not ends.below:
            return builder.builtin_call("min", [subscript, last])
        signed, zero = builder.convert(w.I32, subscript), constant(w.I32, 0)
        if not ends.above:
            return builder.convert(w.U32, builder.builtin_call("max", [signed, zero]))
        return builder.convert(w.U32, builder.builtin_call("clamp", [signed, zero, builder.convert(w.I32, last)]))


def conjunction(conditions: Sequence[Value], builder: Builder) -> Value:
    """Whether all conditions hold."""
    return reduce(lambda lhs, rhs: builder.binary(BinaryOp.AND, lhs, rhs), conditions)
