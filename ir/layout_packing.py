"""Converts values to bytes in WGSL's memory layout, and back.

Values are numbers, lists, numpy arrays, and for a structure mappings, tuples or structured arrays, all without padding:
`array<vec3f>` is an array of shape (n, 3), `mat3x3f` one of shape (3, 3), columns first, an array of structures a
structured array. A numpy array with more dimensions than that, such as an image, is taken row by row. `pack` takes
arrays of `numpy_dtype`, with padding, as well. `layout_numbers` has the rules for converting numbers of other dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from ..base.errors import InputError
from ..base.records import dataclass
from .layout_leaves import START, LayoutPath, Leaf, extent_of, holds_structures, leaf, leaves
from .layout_numbers import as_array, as_given_array, is_array, is_row, shown, store
from .layout_numpy import PADDED_ROW, value_dtype
from .layout_sizes import (
    Counts,
    member_offsets,
    resolve_counts,
    runtime_array,
    runtime_count,
    sized,
    stride_of,
    whole_words,
)
from .types import Array, Matrix, Struct, Type, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

AnyArray: TypeAlias = "NDArray[Any]"
Values: TypeAlias = Sequence[object]

_LARGEST = (1 << 32) - 4
"""Maximum size in bytes of a binding: the code for CPUs computes with 32-bit indices."""
_LARGEST_STRUCTURE = (1 << 31) - 1
"""Maximum size in bytes of a structure: numpy has no larger dtypes."""


def pack(type: Type, value: object, counts: Counts = None, *, name: str = "the value") -> bytearray | memoryview:
    """The bytes of a value, padded to the size of a binding: a multiple of 4. They are the memory of the value itself,
    to be read only, if it is an array that has them in order, and else new ones.

    Raises InputError for a value that does not fit; the message names the place, as in `name.member[3]`, and what is
    expected there. Also raises InputError for a runtime-sized array in whose binding a shader would find more elements.
    """
    type = resolve_counts(type, counts)
    given = _in_one_dimension(type, _given(value, START, name))
    count = _given_count(type, given, name)
    size = checked_size(type, count, name)
    parts = list(_Reader(name, count).read(type, given, START))
    lent = _lent(parts, size)
    if lent is not None:
        return lent
    data = bytearray(size)
    for part, numbers in parts:
        store(numbers, part.view(data), part.type, partial(part.place.text, name))
    return data


def _lent(parts: Sequence[tuple[Leaf, AnyArray]], size: int) -> memoryview | None:
    """The memory of the only leaf's numbers, if these are all bytes of a value, in order."""
    if len(parts) != 1 or size == 0:
        return None
    ((part, numbers),) = parts
    is_plain = numbers.__class__ is np.ndarray and numbers.dtype == part.type.dtype and numbers.flags.c_contiguous
    if not is_plain or numbers.nbytes != size:
        return None
    return numbers.reshape(-1).view(np.uint8).data.toreadonly()


def _given(value: object, at: LayoutPath, name: str) -> object:
    """The value itself if it is a list, a tuple or a mapping; else the numpy array of it."""
    return value if is_row(value) or _is_mapping(value) else as_given_array(value, partial(at.text, name))


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, (dict, Mapping))


def _field_names(value: object) -> tuple[str, ...] | None:
    """The names in a structured array, or in one of its elements; None for anything else."""
    return value.dtype.names if is_array(value) or isinstance(value, np.void) else None


def _in_one_dimension(type: Type, given: object) -> object:
    """Reshapes an array with more dimensions than the type, such as an image: all dimensions before those of an element
    become one.
    """
    if not isinstance(type, Array) or not is_array(given):
        return given
    outer = max(given.ndim - _rank(type.element), 0)
    return given.reshape(prod(given.shape[:outer]), *given.shape[outer:]) if outer > 1 else given


def _rank(type: Type) -> int:
    """The number of dimensions of a value as an array; a structure has none."""
    match type:
        case Vector():
            return 1
        case Matrix():
            return 2
        case Array(element=element):
            return 1 + _rank(element)
        case _:
            return 0


def _given_count(type: Type, value: object, name: str) -> int:
    """The number of elements that the value has for the type's runtime-sized array; 0 if there is none."""
    found = runtime_array(type)
    if found is None:
        return 0
    at, tail = START, value
    if isinstance(type, Struct):
        at = at.member(type.members[-1].name, 0)
        tail = _given(_member(type, value, len(type.members) - 1, name), at, name)
    if is_row(tail) or (is_array(tail) and tail.ndim):
        return len(tail)
    raise _misfit(at.text(name), f"{found[1]} takes an array or a list", tail)


def checked_size(type: Type, count: int, name: str) -> int:
    """The size in bytes of a binding with this many elements in its runtime-sized array. Raises InputError."""
    size = whole_words(sized(type, count))
    check_size(type, size, name)
    seen = runtime_count(type, size)
    if count and seen > count:
        raise InputError(
            f"{name}: a binding of {type} for {count} element{'s' if count > 1 else ''} has {size} bytes, in which a "
            f"shader finds {seen}: give {seen}"
        )
    return size


def check_size(type: Type, size: int, name: str) -> None:
    """Raise InputError for a binding that is too large."""
    most = _LARGEST_STRUCTURE if isinstance(type, Struct) else _LARGEST
    if size > most:
        raise InputError(f"{name}: {size} bytes are too many for a binding of {type}, which has at most {most}")


def _misfit(place: str, expected: str, given: object) -> InputError:
    return InputError(f"{place}: {expected}, not {shown(given)}")


# Members of structures


def _member(type: Struct, value: object, position: int, place: str) -> object:
    """The value of a member of one structure."""
    name = type.members[position].name
    if _is_mapping(value):
        if name not in value:
            raise InputError(f"{place}: there is no value for the member {name!r} of {type}")
        return value[name]
    if is_row(value):
        if len(value) == len(type.members):
            return value[position]
        raise InputError(f"{place}: {type} has {len(type.members)} members, not {len(value)}")
    return _field(type, value, name, place)


def _field(type: Struct, value: object, name: str, place: str) -> AnyArray:
    """A member of a structured array, or of one of its elements."""
    names = _field_names(value)
    if names is None:
        raise _misfit(place, f"{type} takes a mapping of its members' names to values, or a structured array", value)
    if name not in names:
        raise InputError(f"{place}: there is no value for the member {name!r} of {type}")
    return cast("AnyArray", value)[name]


def _check_names(type: Struct, value: object, place: str) -> None:
    """Raise InputError for names that are not members."""
    given = list(value) if _is_mapping(value) else _field_names(value) or ()
    known = [member.name for member in type.members]
    for name in given:
        if name not in known:
            raise InputError(f"{place}: {type} has no member {name!r}; its members are {', '.join(known)}")


# Reading values


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the numbers of each leaf from a value. A runtime-sized array has `count` elements."""

    name: str
    count: int

    def read(self, type: Type, value: object, at: LayoutPath) -> Iterator[tuple[Leaf, AnyArray]]:
        """The leaves of one value."""
        given = _given(value, at, self.name)
        if not is_array(given):
            return self._read_all(type, [given], at)
        if given.dtype.kind == "O" and holds_structures(type):
            return self._read_all(type, [given.tolist()], at)
        return self._read_array(type, given, at)

    def _read_array(self, type: Type, array: AnyArray, at: LayoutPath) -> Iterator[tuple[Leaf, AnyArray]]:
        """Read from an array that has the dimensions of `at`, followed by those of a value."""
        match type:
            case Struct(members=members):
                place = at.text(self.name)
                _check_names(type, array, place)
                for member, offset in zip(members, member_offsets(type), strict=True):
                    part = _field(type, array, member.name, place)
                    yield from self._read_array(member.type, part, at.member(member.name, offset))
            case Array(element=element) if holds_structures(element):
                yield from self._read_array(element, array, at.nested(extent_of(type, self.count), stride_of(type)))
            case _:
                yield self._numbers(type, array, at)

    def _read_all(self, type: Type, values: Values, at: LayoutPath) -> Iterator[tuple[Leaf, AnyArray]]:
        """Read from a sequence with a value for each position of `at`, in C order."""
        match type:
            case Struct(members=members):
                self._check_all(type, values, at)
                for position, (member, offset) in enumerate(zip(members, member_offsets(type), strict=True)):
                    inner = at.member(member.name, offset)
                    parts = [_member(type, value, position, "") for value in values]
                    yield from (
                        self._read_all(member.type, parts, inner)
                        if at.shape
                        else self.read(member.type, parts[0], inner)
                    )
            case Array(element=element) if holds_structures(element):
                rows = [self._elements(type, value, at, number) for number, value in enumerate(values)]
                inner = at.nested(extent_of(type, self.count), stride_of(type))
                yield from self._read_all(element, list(chain.from_iterable(rows)), inner)
            case _:
                yield self._numbers(type, values if at.shape else values[0], at)

    def _check_all(self, type: Struct, values: Values, at: LayoutPath) -> None:
        """Raise InputError for a structure with missing or unknown members."""
        names = {member.name for member in type.members}
        for number, value in enumerate(values):
            if _is_mapping(value) and set(value) == names:
                continue
            place = self._text(at, number)
            _check_names(type, value, place)
            for position in range(len(names)):
                _member(type, value, position, place)

    def _elements(self, type: Array, value: object, at: LayoutPath, number: int) -> Values:
        """The elements of one array of structures."""
        extent = extent_of(type, self.count)
        given = _given(value, at, self.name)
        if not is_row(given) and not (is_array(given) and given.ndim):
            expected = f"{type} takes an array or a list of {extent} structures"
            raise _misfit(self._text(at, number), expected, value)
        if len(given) != extent:
            raise InputError(f"{self._text(at, number)}: {type} takes {extent} elements, not {len(given)}")
        return list(given)

    def _numbers(self, type: Type, values: object, at: LayoutPath) -> tuple[Leaf, AnyArray]:
        """The numbers of a type that contains no structure, in the shape of its leaf."""
        found = leaf(type, self.count, at)
        shape = found.place.shape
        array = as_array(values, found.type, partial(found.place.text, self.name))
        if array.shape == shape:
            return found, array
        if is_row(values) and len(at.shape) > 1:
            array = array.reshape(at.shape + array.shape[1:])
        array = _without_padding(array, shape)
        if array.size == prod(shape) == 0:
            array = array.reshape(shape)
        if array.shape != shape:
            raise self._misshapen(type, values, array, found, at)
        return found, array

    def _misshapen(self, type: Type, values: object, array: AnyArray, found: Leaf, at: LayoutPath) -> InputError:
        """The error for numbers whose shape is not the leaf's; in a list of values, for the first such value."""
        shape = found.place.shape
        place = at.text(self.name)
        if at.shape and is_row(values):
            shape, where = shape[len(at.shape) :], partial(found.place.text, self.name)
            parts = [as_array(value, found.type, where) for value in values]
            number = next(number for number, part in enumerate(parts) if part.shape != shape)
            place, array, values = self._text(at, number), parts[number], values[number]
        expected = f"{type} takes shape {shape} of {found.type.dtype}" if shape else f"{type} takes one number"
        if array.dtype.kind == "O" or not array.shape:
            return _misfit(place, expected, values)
        return InputError(f"{place}: {expected}, not shape {array.shape} of {array.dtype}")

    def _text(self, at: LayoutPath, number: int) -> str:
        """The name in messages of the value with index `number` among the values for all positions of `at`."""
        index = np.unravel_index(number, at.shape) if at.shape else ()
        return at.text(self.name, tuple(map(int, index)))


def _without_padding(array: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """The numbers without the fourth one of each vector of three, if the array has this padding (`numpy_dtype`)."""
    is_padded = array.shape[:-1] == shape[:-1] and array.shape[-1:] == (PADDED_ROW,)
    return array[..., : PADDED_ROW - 1] if is_padded and shape[-1:] == (PADDED_ROW - 1,) else array


# Unpacking


def unpack(
    type: Type, data: bytes | bytearray | memoryview, counts: Counts = None, *, may_keep: bool = False
) -> AnyArray:
    """An array with the value in a buffer; see the module's docstring for its shape. The array has memory of its own,
    unless it `may_keep` the buffer. Raises InputError if the buffer is too short.
    """
    type = resolve_counts(type, counts)
    count = runtime_count(type, len(data))
    needed = sized(type, count) if runtime_array(type) is None else 0
    if len(data) < needed:
        raise InputError(f"{type} takes {needed} bytes, not {len(data)}")
    buffer = memoryview(data)
    if not holds_structures(type):
        numbers = leaf(type, count).view(buffer)
        return numbers if may_keep and numbers.flags.c_contiguous else numbers.copy()
    dtype, shape = value_form(type, count)
    value: AnyArray = np.zeros(shape, dtype)
    for found in leaves(type, count):
        part: AnyArray = value
        for name in found.place.path:
            part = part[name]
        part[...] = found.view(buffer)
    return value


def value_form(type: Type, count: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and shape of the array that `unpack` gives; a runtime-sized array has `count` elements."""
    if holds_structures(type):
        return _flat_dtype(type, count), _outer_shape(type, count)
    place, number = leaf(type, count)
    return number.dtype, place.shape


def _flat_dtype(type: Type, count: int) -> np.dtype[Any]:
    """The dtype of a structure, or of the structures in an array."""
    while isinstance(type, Array):
        type = type.element
    return value_dtype(type, count)


def _outer_shape(type: Type, count: int) -> tuple[int, ...]:
    """The extents of the arrays around a structure."""
    return (extent_of(type, count), *_outer_shape(type.element, count)) if isinstance(type, Array) else ()
