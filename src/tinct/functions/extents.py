"""The dynamic constants of a call: what the caller gives, and what follows from the shapes of arguments.

An array at any level of an argument, inside of products and sums too, has an extent by its type, an expression of
dynamic constants. Where that is linear in one constant that is not known yet, as in `n`, `n * 2 + 1` or `m * n` with a
known `m`, the number of elements determines it. In the end every extent must be what its array has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from ..arguments import mapping_of
from ..base.errors import InputError
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.storage import Variant
from ..ir.hercules.text import dynamic_text, type_text
from ..ir.hints import unknown_name
from ..ir.layout_numbers import Array, NumberType, as_given_array, is_array, is_row, number, shown
from .dtypes import extents, field_names, innermost
from .forms import is_mapping, is_structured, variant_of

_U64 = NumberType("u64", np.dtype("<u8"))


def dynamic_constants(function: h.Function, arguments: Sequence[object], given: Mapping[str, object]) -> list[int]:
    """The dynamic constants of a call with these arguments, in order.

    Raises InputError for unknown or missing constants, and for shapes that do not agree.
    """
    solver = _Solver(function.dynamic_constants)
    solver.take(given)
    observer = _Observer(function.dynamic_constants)
    pairs = zip(function.parameter_names, function.parameter_types, arguments, strict=True)
    found = [it for name, type, value in pairs for it in observer.lengths(type, value, name)]
    solver.solve(found)
    solver.check(found)
    return solver.values(found)


def given_constants(names: list[str], given: Mapping[str, object]) -> list[int]:
    """The dynamic constants of these names where there are no arguments, in order.

    Raises InputError for unknown or missing constants.
    """
    solver = _Solver(names)
    solver.take(given)
    return solver.values([])


@dataclass(frozen=True, slots=True)
class _Length:
    """An array with this many elements at a place, such as `axis 1 of a`, where its type has an extent."""

    extent: h.DynamicConstant
    count: int
    place: str


# Shapes of arguments


@dataclass(frozen=True, slots=True)
class _Observer:
    """Finds the arrays in arguments. What is no value of its type is left to `values`, which says why."""

    names: list[str]

    def lengths(self, type: h.Type, value: object, place: str) -> Iterator[_Length]:
        """The arrays in a value."""
        match type:
            case h.Array():
                yield from self._array(type, value, place)
            case h.Product(fields=fields):
                yield from self._product(type, fields, value, place)
            case h.Summation(variants=variants):
                yield from self._sum(type, variants, value, place)
            case h.Bool() | h.Integer() | h.Float() | h.Control():
                return
            case _:
                assert_never(type)

    def _array(self, type: h.Array, value: object, place: str) -> Iterator[_Length]:
        if is_row(value) and isinstance(innermost(type), (h.Product, h.Summation)):
            yield from self._rows(type, value, place)
            return
        array = as_given_array(value, lambda _: place)
        if is_row(value) and array.dtype.kind == "O" and array.ndim < len(extents(type)):
            yield from self._rows(type, value, place)
        else:
            yield from self._shaped(type, array, place, 0)

    def _rows(self, type: h.Array, value: Sequence[object], place: str) -> Iterator[_Length]:
        """The arrays in lists that are no array of numpy's."""
        yield _Length(type.extent, len(value), f"axis 0 of {place}")
        for position, item in enumerate(value):
            yield from self.lengths(type.element, item, f"{place}[{position}]")

    def _shaped(self, type: h.Type, array: Array, place: str, axis: int) -> Iterator[_Length]:
        """The arrays in an array of numpy's; `axis` is that of the type's elements."""
        first = axis
        for extent in extents(type):
            if axis == array.ndim:
                if array.size == 0 and axis > first:  # an empty list does not have the axes of what it lacks
                    return
                wanted = f"{type_text(type, self.names)} takes {len(extents(type))} dimensions"
                raise InputError(f"{place}: {wanted}, not {shown(array)}")
            yield _Length(extent, array.shape[axis], f"axis {axis} of {place}")
            axis += 1
        match innermost(type):
            case h.Product(fields=fields) as inner if is_structured(array, inner):
                for name, part in zip(field_names(inner), fields, strict=True):
                    yield from self._inside(part, array[name], f"{place}.{name}", axis)
            case h.Product(fields=fields) if array.ndim > axis and array.shape[axis] == len(fields):
                for number, part in enumerate(fields):
                    yield from self._inside(part, array.take(number, axis=axis), f"{place}.f{number}", axis)
            case h.Summation(variants=variants) as inner if is_structured(array, inner):
                for name, part in zip(field_names(inner)[1:], variants, strict=True):
                    yield from self._inside(part, array[name], f"{place}.{name}", axis)
            case _:
                return

    def _inside(self, type: h.Type, array: Array, place: str, axis: int) -> Iterator[_Length]:
        """The arrays in a field of the elements of an array."""
        if isinstance(type, (h.Array, h.Product, h.Summation)):
            yield from self._shaped(type, array, place, axis)

    def _product(self, type: h.Product, fields: Sequence[h.Type], value: object, place: str) -> Iterator[_Length]:
        if is_array(value) or isinstance(value, np.void):
            yield from self._shaped(type, np.asarray(value), place, 0)
            return
        names = field_names(type)
        parts: Sequence[object] = ()
        if is_mapping(value):
            parts = [value.get(name) for name in names]
        elif is_row(value) and len(value) == len(fields):
            parts = value
        for name, part, item in zip(names, fields, parts, strict=False):
            yield from self.lengths(part, item, f"{place}.{name}")

    def _sum(self, type: h.Summation, variants: Sequence[h.Type], value: object, place: str) -> Iterator[_Length]:
        if is_array(value) or isinstance(value, np.void):
            yield from self._shaped(type, np.asarray(value), place, 0)
            return
        held = variant_of(value)
        if isinstance(held, Variant) and 0 <= held.index < len(variants):
            yield from self.lengths(variants[held.index], held.value, f"{place}.v{held.index}")


# Equations


@dataclass(slots=True)
class _Solver:
    names: list[str]
    known: dict[int, int] = field(default_factory=dict[int, int])
    origins: dict[int, str] = field(default_factory=dict[int, str])

    def take(self, given: Mapping[str, object]) -> None:
        """The constants that the caller gives."""
        for name, value in mapping_of(given, "constants", self.names or ("n",)).items():
            if name not in self.names:
                raise InputError(unknown_name(f"no dynamic constant is named {shown(name)}", name, self.names))
            self._set(self.names.index(name), int(number(value, _U64, f"constant {name!r}")), "as a constant")

    def solve(self, lengths: Sequence[_Length]) -> None:
        """Find further constants, until no extent determines one."""
        pending = list(lengths)
        while True:
            left = [it for it in pending if not self._determines(it)]
            if len(left) == len(pending):
                return
            pending = left

    def _determines(self, length: _Length) -> bool:
        """Whether an extent determines the constant in it that is not known, which is known then."""
        unknown = self._unknown(length.extent)
        if len(unknown) != 1:
            return False
        (index,) = unknown
        form = _linear(length.extent, index, self.known)
        if form is None or form.factor == 0:
            return False
        value, remainder = divmod(length.count - form.offset, form.factor)
        if remainder or not 0 <= value <= dynamic.MASK:
            extent, name = self._text(length.extent), self.names[index]
            raise InputError(f"{length.place} has {_elements(length.count)}, which {extent} is for no {name}")
        self._set(index, value, f"by {length.place}")
        return True

    def _set(self, index: int, value: int, origin: str) -> None:
        self.known[index] = value
        self.origins[index] = origin

    def check(self, lengths: Sequence[_Length]) -> None:
        """Raise InputError for an array whose extent is another."""
        for length in lengths:
            if self._unknown(length.extent):
                continue
            wanted = dynamic.evaluate(length.extent, self._all())
            if wanted != length.count:
                raise InputError(f"{length.place} has {_elements(length.count)}, but {self._why(length, wanted)}")

    def _why(self, length: _Length, wanted: int) -> str:
        used = sorted(set(dynamic.parameters(length.extent)))
        if not used:
            return f"its type has {wanted}"
        origins = " and ".join(f"{self.names[it]} is {self.known[it]} {self.origins[it]}" for it in used)
        if isinstance(length.extent, h.DynamicParameter):
            return origins
        return f"{self._text(length.extent)} is {wanted}, where {origins}"

    def values(self, lengths: Sequence[_Length]) -> list[int]:
        """All constants. Raises InputError if one is missing."""
        for index, name in enumerate(self.names):
            if index not in self.known:
                seen = [it for it in lengths if index in dynamic.parameters(it.extent)]
                hint = "".join(f"; {it.place} has the extent {self._text(it.extent)}" for it in seen[:1])
                raise InputError(f"nothing determines the dynamic constant {name!r}{hint}: it must be given")
        return self._all()

    def _all(self) -> list[int]:
        return [self.known.get(index, 0) for index in range(len(self.names))]

    def _unknown(self, extent: h.DynamicConstant) -> set[int]:
        return {it for it in dynamic.parameters(extent) if it not in self.known}

    def _text(self, extent: h.DynamicConstant) -> str:
        return dynamic_text(extent, self.names)


def _elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Linear:
    """`factor * unknown + offset`."""

    factor: int
    offset: int


def _linear(extent: h.DynamicConstant, unknown: int, known: Mapping[int, int]) -> _Linear | None:
    """An extent as a linear form of one dynamic constant, whole numbers without wrapping; None if it is none."""
    match extent:
        case h.DynamicLiteral(value=value):
            return _Linear(0, value)
        case h.DynamicParameter(index=index):
            return _Linear(1, 0) if index == unknown else _Linear(0, known[index])
        case h.DynamicBinary(op=op, lhs=lhs, rhs=rhs):
            left, right = _linear(lhs, unknown, known), _linear(rhs, unknown, known)
            return None if left is None or right is None else _combined(op, left, right)
        case _:
            assert_never(extent)


def _combined(op: h.DynamicOp, left: _Linear, right: _Linear) -> _Linear | None:
    match op:
        case h.DynamicOp.ADD:
            return _Linear(left.factor + right.factor, left.offset + right.offset)
        case h.DynamicOp.SUB:
            return _Linear(left.factor - right.factor, left.offset - right.offset)
        case h.DynamicOp.MUL if left.factor == 0:
            return _Linear(left.offset * right.factor, left.offset * right.offset)
        case h.DynamicOp.MUL if right.factor == 0:
            return _Linear(left.factor * right.offset, left.offset * right.offset)
        case _:
            is_known = left.factor == right.factor == 0
            return (
                _Linear(0, dynamic.compute(op, left.offset & dynamic.MASK, right.offset & dynamic.MASK))
                if is_known
                else None
            )
