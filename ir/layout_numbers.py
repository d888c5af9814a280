"""The rules for converting numbers of any dtype to numbers of one type in memory.

- A float is rounded to the nearest number of a float type (ties to even, subnormal numbers included). NaN and the
  infinities are kept; a finite float that would become an infinity is rejected.
- Every other conversion is exact or rejected: an integer must be a number of the type, and a float for an integer type
  must be whole and in range.
- True and False are 1 and 0. Only booleans, integers and floats are numbers, in any container; a masked element is not
  a number.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from ..base.errors import InputError
from ..base.named_tuples import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
DType: TypeAlias = np.dtype[Any]
Where: TypeAlias = Callable[[tuple[int, ...]], str]
"""Returns the name of the element at an index in messages; for an empty index, that of the whole."""

_KINDS = "biuf"
_BLOCK = 1 << 16
"""Count of numbers checked per block: small enough for the block to stay in a core's cache until it is copied."""
_INTEGERS = (bool, int, np.bool_, np.integer)
_FLOATS = (float, np.floating)


def is_array(value: object) -> TypeGuard[Array]:
    """Whether a value is a numpy array."""
    return isinstance(value, np.ndarray)


def is_row(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, (list, tuple))


def is_flag(value: object) -> bool:
    """Whether a value is True or False, of Python or of numpy."""
    return isinstance(value, (bool, np.bool_))


def is_number(value: object) -> bool:
    """Whether a value is a boolean, an integer or a float, of Python or of numpy."""
    return isinstance(value, _INTEGERS + _FLOATS)


class NumberType(NamedTuple):
    """A type of numbers: its name in messages, and its dtype."""

    name: str
    dtype: DType


def store(source: Array, target: Array, type: NumberType, where: Where) -> None:
    """Put numbers of any dtype into an array of the same shape, whose dtype is the type's.

    Raises InputError, which names the first element that is not a number of the type; `target` may then be partly
    written.
    """
    kind, wanted = source.dtype.kind, target.dtype
    if kind == "O":
        _store_objects(source, target, type, where)
        return
    if kind not in _KINDS:
        expected = f"{type.name} takes {'numbers' if source.ndim else 'a number'}"
        raise InputError(f"{where(())}: {expected}, not {shown(source)}")
    if not np.can_cast(source.dtype, wanted, "safe"):
        if kind == wanted.kind == "f":
            _store_rounded(source, target, type, where)
            return
        _refuse_misfits(source, type, where)
    target[...] = source


def number(value: object, type: NumberType, place: str) -> bool | int | float:
    """One number, converted to the type. Raises InputError."""

    def where(_: tuple[int, ...]) -> str:
        return place

    given = as_array(value, type, where)
    if given.shape:
        raise InputError(f"{place} takes one number, not {shown(value)}")
    target = np.zeros((), type.dtype)
    store(given, target, type, where)
    return cast("bool | int | float", target.item())


def as_array(values: object, type: NumberType, where: Where) -> Array:
    """Converts lists, tuples or other objects that numpy accepts to an array of numbers. Raises InputError.

    Integers among the floats of a list stay integers if the type cannot represent them all.
    """
    array = as_given_array(values, where)
    kind = array.dtype.kind
    if is_array(values) or kind in "biuO":
        return array
    if kind == "f" and (not is_row(values) or not _hides_integers(array, type.dtype)):
        return array
    objects = _as_objects(values, where)
    return objects if objects.shape == array.shape else array


def _hides_integers(array: Array, wanted: DType) -> bool:
    """Whether floats that numpy made of a list may have been integers that the type, or a float, does not hold: numpy
    makes floats of integers of which some need an `int64` and others a `uint64`.
    """
    limit = _exact_integers(wanted if wanted.kind == "f" else array.dtype)
    return bool((np.abs(array) > limit).any())


def as_given_array(value: object, where: Where) -> Array:
    """The numpy array of a value. Raises InputError if numpy cannot convert it, or if elements are masked."""
    if is_array(value):
        _refuse_masked(value, where)
        return np.asarray(value)
    try:
        return np.asarray(cast("npt.ArrayLike", value))
    except Exception:  # an object's own conversion may raise anything
        return _as_objects(value, where)


def is_masked(array: Array) -> bool:
    """Whether an array may have masked elements. Who makes such an array imports numpy.ma, which takes 10 ms."""
    return "numpy.ma" in sys.modules and isinstance(array, np.ma.MaskedArray)


def _refuse_masked(array: Array, where: Where) -> None:
    if is_masked(array) and any(np.ma.getmaskarray(array).tobytes()):
        raise InputError(f"{where(())} has masked elements: give them values first, as with .filled(0)")


def _as_objects(value: object, where: Where) -> Array:
    """An array of objects, for lists of rows of different lengths, or of items that are not numbers."""
    try:
        objects: Array = np.array(value, dtype=object)
    except Exception as error:
        raise InputError(f"{where(())}: numpy makes no array of {shown(value)}: {error}") from error
    return objects


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def shown(value: object) -> str:
    """The text of any value in a message, shortened."""
    if is_array(value):
        return f"an array of shape {value.shape} of {value.dtype}" if value.ndim else shown(value.item())
    try:
        return _REPR.repr(value)
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return f"a very long {type(value).__name__}"


# Floats of floats


def _store_rounded(source: Array, target: Array, type: NumberType, where: Where) -> None:
    """Overflows are detected by the processor's flag, which needs no further pass over the numbers."""
    try:
        with np.errstate(over="raise", invalid="ignore", under="ignore"):
            target[...] = source
    except FloatingPointError:
        _refuse_misfits(source, type, where)


# Exact conversions


def _refuse_misfits(source: Array, type: NumberType, where: Where) -> None:
    position = _first_misfit(source, type.dtype)
    if position is not None:
        index = tuple(map(int, np.unravel_index(position, source.shape)))
        raise InputError(f"{where(index)}: {_fault(source[index], type)}")


def _first_misfit(source: Array, wanted: DType) -> int | None:
    """The position, in C order, of the first number that the type cannot represent."""
    start = 0
    flags = ["external_loop", "buffered", "zerosize_ok"]
    for block in np.nditer(source, flags=flags, order="C", buffersize=_BLOCK):  # type: ignore[call-overload]
        numbers = cast("Array", block)
        if not _plainly_fit(numbers, wanted):
            misfits = _misfits(numbers, wanted)
            if misfits.any():
                return start + int(misfits.argmax())
        start += numbers.size
    return None


def _plainly_fit(numbers: Array, wanted: DType) -> bool:
    """Whether all numbers lie where the type has all integers, and are whole. False may be wrong."""
    if numbers.size == 0:
        return True
    least, most = _whole_range(wanted)
    if not _is_at_least(numbers, least) or not _is_at_most(numbers, most):
        return False
    return numbers.dtype.kind != "f" or bool((numbers == np.trunc(numbers)).all())


def _is_at_least(numbers: Array, least: int) -> bool:
    of_type = _range_of(numbers.dtype)
    return (of_type is not None and least <= of_type[0]) or least <= numbers.min().item()


def _is_at_most(numbers: Array, most: int) -> bool:
    of_type = _range_of(numbers.dtype)
    return (of_type is not None and of_type[1] <= most) or numbers.max().item() <= most


def _misfits(numbers: Array, wanted: DType) -> Array:
    """A mask of the numbers that the type cannot represent."""
    if wanted.kind == "f":
        return _infinite(numbers, wanted) if numbers.dtype.kind == "f" else _inexact(numbers, wanted)
    least, most = _whole_range(wanted)
    exact = numbers if numbers.dtype.kind != "f" else numbers.astype(np.promote_types(numbers.dtype, np.float64))
    misfits: Array = ~((exact == np.trunc(exact)) & (exact >= least) & (exact <= most))
    return misfits


def _infinite(numbers: Array, wanted: DType) -> Array:
    with np.errstate(over="ignore"):
        misfits: Array = np.isfinite(numbers) & np.isinf(numbers.astype(wanted))
    return misfits


def _inexact(numbers: Array, wanted: DType) -> Array:
    """A mask of the integers that a float type cannot represent: too large, or with too many significant bits."""
    magnitudes = np.abs(numbers.astype(f"={numbers.dtype.str[1:]}")).view(f"u{numbers.dtype.itemsize}")
    lowest = np.maximum(magnitudes & (~magnitudes + magnitudes.dtype.type(1)), 1)
    misfits: Array = (magnitudes > _largest(wanted)) | (magnitudes // lowest > _exact_integers(wanted))
    return misfits


@cache
def _whole_range(dtype: DType) -> tuple[int, int]:
    """The least and the greatest integer of the range in which the type represents all integers."""
    found = _range_of(dtype)
    return (-_exact_integers(dtype), _exact_integers(dtype)) if found is None else found


@cache
def _range_of(dtype: DType) -> tuple[int, int] | None:
    """The least and the greatest number of a type; None for floats."""
    match dtype.kind:
        case "b":
            return 0, 1
        case "f":
            return None
        case _:
            limits = np.iinfo(dtype)
            return int(limits.min), int(limits.max)


@cache
def _exact_integers(dtype: DType) -> int:
    """The greatest integer up to which a float type represents all integers from 0 on."""
    return 1 << (int(np.finfo(dtype).nmant) + 1)


@cache
def _largest(dtype: DType) -> int:
    """The largest finite number of a float type, which is whole."""
    return int(np.finfo(dtype).max)


# Objects and messages


def _store_objects(source: Array, target: Array, type: NumberType, where: Where) -> None:
    for index, item in np.ndenumerate(source):
        value = item[()] if is_array(item) and not item.ndim else item
        fault = _fault(value, type)
        if fault is not None:
            raise InputError(f"{where(index)}: {fault}")
        target[index] = value


def _fault(value: object, type: NumberType) -> str | None:
    """The reason why a value is not a number of the type; None if it is one."""
    if not is_number(value):
        return f"{type.name} takes a number, not {shown(value)}"
    of_kind = _fault_of_integer if isinstance(value, _INTEGERS) else _fault_of_float
    return of_kind(cast("Any", value), type)


def _fault_of_integer(value: int, type: NumberType) -> str | None:
    value = int(value)
    if type.dtype.kind != "f":
        return None if _is_in_range(value, type.dtype) else _out_of_range(value, type)
    if abs(value) > _largest(type.dtype):
        return _out_of_range(value, type)
    odd = abs(value) // max(1, value & -value)
    if odd <= _exact_integers(type.dtype):
        return None
    return f"{value} is not exactly representable as {type.name}: give {value}.0, a float, to have it rounded"


def _fault_of_float(value: float, type: NumberType) -> str | None:
    if type.dtype.kind == "f":
        with np.errstate(over="ignore"):
            overflows = bool(np.isfinite(value)) and not np.isfinite(type.dtype.type(value))
        return _out_of_range(value, type) if overflows else None
    if not np.isfinite(value) or value != np.trunc(value):
        return f"{value!s} is not a whole number, which {type.name} takes"
    return None if _is_in_range(int(value), type.dtype) else _out_of_range(value, type)


def _is_in_range(value: int, dtype: DType) -> bool:
    least, most = _whole_range(dtype)
    return least <= value <= most


def _out_of_range(value: float, type: NumberType) -> str:
    text = shown(value) if isinstance(value, int) else str(value)
    if type.dtype.kind == "f":
        return f"{text} is out of range for {type.name}, whose largest number is {float(np.finfo(type.dtype).max)}"
    least, most = _whole_range(type.dtype)
    return f"{text} is out of range for {type.name}, which holds {least} to {most}"
