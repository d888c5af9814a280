"""Buffers as numpy arrays: the dtype of every host-shareable type, packing and unpacking.

`numpy_dtype(type)` has the exact layout, for buffers that are to be filled in place: structures have fields at their
offsets. numpy has no gaps inside a field, so an `array<vec3f, N>` is a field of shape (N, 4) and a `mat3x3f` one of
shape (3, 4), the fourth number being padding. The dtype of a runtime-sized array is that of one element.

`pack` and `unpack` speak of values without padding: `array<vec3f>` is an array of shape (n, 3), `mat3x3f` one of
shape (3, 3), columns first, an array of structures a structured array. `pack` takes arrays of `numpy_dtype` as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .diagnostics import InputError
from .layout_sizes import (
    Counts,
    align_of,
    member_offsets,
    resolve_counts,
    runtime_array,
    runtime_count,
    size_of,
    sized,
    stride_of,
)
from .types import F16, F32, I32, U32, Array, Atomic, Matrix, Scalar, Struct, Type, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    AnyArray: TypeAlias = NDArray[Any]
    DType: TypeAlias = np.dtype[Any]

_BASES = {I32: "<i4", U32: "<u4", F32: "<f4", F16: "<f2"}
_PADDED_ROW = 4


@dataclass(frozen=True, slots=True)
class _Leaf:
    """All numbers at the end of one path of member names: an array of `shape` with `strides` in bytes from `offset`
    on.
    """

    path: tuple[str, ...]
    base: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def view(self, data: bytearray | memoryview) -> AnyArray:
        """The numbers in a buffer, in place."""
        import numpy as np

        return np.ndarray(self.shape, self.base, data, self.offset, self.strides)


def _leaves(type: Type, count: int, start: _Leaf | None = None) -> Iterator[_Leaf]:
    """The leaves of a type; a runtime-sized array has `count` elements."""
    at = start or _Leaf((), "", 0, (), ())
    match type:
        case Scalar():
            yield _Leaf(at.path, _base(type), at.offset, at.shape, at.strides)
        case Atomic(element=element):
            yield from _leaves(element, count, at)
        case Vector(width=width, element=element):
            yield from _leaves(element, count, _nested(at, width, size_of(element)))
        case Matrix(columns=columns):
            yield from _leaves(type.column, count, _nested(at, columns, stride_of(type)))
        case Array(element=element):
            extent = count if type.count is None else type.count
            if not isinstance(extent, int):
                raise InputError(f"the element count of {type} is not known")
            yield from _leaves(element, count, _nested(at, extent, stride_of(type)))
        case Struct(members=members):
            for member, offset in zip(members, member_offsets(type), strict=True):
                path = (*at.path, member.name)
                yield from _leaves(member.type, count, _Leaf(path, "", at.offset + offset, at.shape, at.strides))
        case _:
            raise InputError(f"{type} is not host-shareable")


def _nested(leaf: _Leaf, extent: int, stride: int) -> _Leaf:
    return _Leaf(leaf.path, "", leaf.offset, (*leaf.shape, extent), (*leaf.strides, stride))


def _base(scalar: Scalar) -> str:
    if scalar not in _BASES:
        raise InputError(f"{scalar} is not host-shareable")
    return _BASES[scalar]


# Types


def numpy_dtype(type: Type, counts: Counts = None, *, elements: int | None = None) -> DType:
    """The dtype with the exact layout of a host-shareable type; of one element for a runtime-sized array.

    A structure that ends in a runtime-sized array needs its number of `elements`. Raises InputError.
    """
    import numpy as np

    type = resolve_counts(type, counts)
    match type:
        case Scalar():
            return np.dtype(_base(type))
        case Atomic(element=element):
            return np.dtype(_base(element))
        case Vector(width=width, element=element):
            return np.dtype((_base(element), (width,)))
        case Matrix(columns=columns):
            return np.dtype((_padded(type.column), (columns,)))
        case Array(element=element, count=None) if elements is None:
            return _padded(element)
        case Array(element=element, count=count):
            extent = elements if count is None else count
            if not isinstance(extent, int):
                raise InputError(f"the element count of {type} is not known")
            return np.dtype((_padded(element), (extent,)))
        case Struct():
            return _struct_dtype(type, elements)
        case _:
            raise InputError(f"{type} is not host-shareable")


def _padded(type: Type) -> DType:
    """The dtype of an element, as wide as its stride."""
    import numpy as np

    if isinstance(type, Vector) and size_of(type) % align_of(type):
        return np.dtype((_base(type.element), (_PADDED_ROW,)))
    return numpy_dtype(type)


def _struct_dtype(type: Struct, elements: int | None) -> DType:
    import numpy as np

    if runtime_array(type) is not None and elements is None:
        raise InputError(f"{type} ends in a runtime-sized array: its number of elements is needed")
    fields: dict[str, Any] = {
        "names": [member.name for member in type.members],
        "formats": [numpy_dtype(member.type, elements=elements) for member in type.members],
        "offsets": list(member_offsets(type)),
        "itemsize": sized(type, elements or 0),
    }
    dtype: DType = np.dtype(cast(Any, fields))
    return dtype


def _value_dtype(type: Type, count: int) -> DType:
    """The dtype of a value without padding."""
    import numpy as np

    match type:
        case Struct(members=members):
            return np.dtype([(member.name, _value_dtype(member.type, count)) for member in members])
        case Array(element=element):
            extent = count if type.count is None else type.count
            return np.dtype((_value_dtype(element, count), (cast(int, extent),)))
        case _:
            (leaf,) = _leaves(type, count)
            return np.dtype((leaf.base, leaf.shape))


# Packing


def pack(type: Type, value: ArrayLike | Mapping[str, Any], counts: Counts = None) -> bytes:
    """The bytes of a value: numbers, arrays, structured arrays, or for a structure a mapping of member names to such.

    Integers must be in range; floats are rounded to the type. Raises InputError that says which shape and dtype was
    expected.
    """
    type = resolve_counts(type, counts)
    count = _given_count(type, value)
    data = bytearray(sized(type, count))
    prepared = _prepared(type, value, count)
    for leaf in _leaves(type, count):
        _store(type, leaf, leaf.view(data), _follow(prepared, leaf))
    return bytes(data)


def _given_count(type: Type, value: Any) -> int:
    """How many elements the value has for a runtime-sized array."""
    if runtime_array(type) is None:
        return 0
    tail = _member(value, type.members[-1].name) if isinstance(type, Struct) else value
    try:
        return len(tail)
    except TypeError as error:
        raise InputError(f"{type} needs an array, not {tail!r}") from error


def _member(value: Any, name: str) -> Any:
    try:
        return value[name]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"there is no member '{name}' in the given value") from error


def _prepared(type: Type, value: Any, count: int) -> Any:
    """The value with arrays in place of lists, also inside mappings."""
    if isinstance(type, Struct) and isinstance(value, Mapping):
        return {it.name: _prepared(it.type, _member(value, it.name), count) for it in type.members}
    return _as_array(type, value, count)


def _as_array(type: Type, value: Any, count: int) -> AnyArray:
    """The value as an array; structures may be given as tuples or mappings."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return cast("AnyArray", value)
    try:
        if next(_leaves(type, count)).path:
            return np.array(_with_tuples(type, value), _flat_dtype(type, count))
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"the given value does not fit {type}: {error}") from error


def _with_tuples(type: Type, value: Any) -> Any:
    """The value with structures as tuples and arrays of them as lists, as numpy wants them."""
    match type:
        case Struct(members=members):
            by_name = isinstance(value, Mapping)
            parts: list[Any] = [value[member.name] for member in members] if by_name else list(value)
            return tuple(_with_tuples(member.type, part) for member, part in zip(members, parts, strict=True))
        case Array(element=element):
            return [_with_tuples(element, part) for part in value]
        case _:
            return value


def _flat_dtype(type: Type, count: int) -> DType:
    """The dtype for numpy to make structures from tuples: arrays of structures are an outer dimension."""
    while isinstance(type, Array):
        type = type.element
    return _value_dtype(type, count)


def _follow(value: Any, leaf: _Leaf) -> AnyArray:
    """The numbers at the end of a path."""
    import numpy as np

    for name in leaf.path:
        value = _member(value, name)
    array: AnyArray = np.asarray(value)
    has_padding = array.shape[:-1] == leaf.shape[:-1] and array.shape[-1:] == (_PADDED_ROW,)
    return array[..., : leaf.shape[-1]] if has_padding and leaf.shape[-1:] == (_PADDED_ROW - 1,) else array


def _store(type: Type, leaf: _Leaf, target: AnyArray, source: AnyArray) -> None:
    import numpy as np

    if source.shape != target.shape or not _is_castable(source, target):
        where = f" in member '{'.'.join(leaf.path)}'" if leaf.path else ""
        raise InputError(
            f"{type} takes {_describe(target)}{where}, not {_describe(source)}"
            + (" out of range" if source.shape == target.shape and source.dtype.kind in "iu" else "")
        )
    with np.errstate(over="ignore"):
        target[...] = source


def _is_castable(source: AnyArray, target: AnyArray) -> bool:
    """Whether numbers may be stored: floats as floats, integers as either when they are in range."""
    import numpy as np

    if source.dtype.kind not in "biuf" or (source.dtype.kind == "f" and target.dtype.kind != "f"):
        return False
    if source.dtype.kind in "bf" or target.dtype.kind == "f" or source.size == 0:
        return True
    limits = np.iinfo(target.dtype)
    return int(source.min()) >= limits.min and int(source.max()) <= limits.max


def _describe(array: AnyArray) -> str:
    return f"shape {array.shape} of {array.dtype}"


# Unpacking


def unpack(type: Type, data: bytes | bytearray | memoryview, counts: Counts = None) -> AnyArray:
    """A new array with the value in a buffer; see the module's docstring for its shape. Raises InputError if it is
    too short.
    """
    import numpy as np

    type = resolve_counts(type, counts)
    count = runtime_count(type, len(data))
    needed = sized(type, count) if runtime_array(type) is None else 0
    if len(data) < needed:
        raise InputError(f"{type} takes {needed} bytes, not {len(data)}")
    buffer = memoryview(data)
    leaves = list(_leaves(type, count))
    if leaves[0].path == ():
        return leaves[0].view(buffer).copy()
    value: AnyArray = np.zeros(_outer_shape(type, count), _flat_dtype(type, count))
    for leaf in leaves:
        part: AnyArray = value
        for name in leaf.path:
            part = part[name]
        part[...] = leaf.view(buffer)
    return value


def _outer_shape(type: Type, count: int) -> tuple[int, ...]:
    """The dimensions of arrays of structures."""
    if not isinstance(type, Array):
        return ()
    extent = count if type.count is None else cast(int, type.count)
    return (extent, *_outer_shape(type.element, count))
