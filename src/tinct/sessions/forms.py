"""What the bytes of a buffer are as an array, and which bindings they fit.

A buffer's bytes never change to fit a binding. They fit if the binding has its numbers at the same places: a float32
array of n numbers fits `array<f32>` and `array<vec4f>`, but not `array<vec3f>`, whose elements lie 16 bytes apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.records import dataclass
from ..buffers import check_minimum, pack_binding, unpack_binding
from ..ir import layout
from ..ir.layout_leaves import leaves
from ..ir.layout_numbers import is_masked, shown
from ..ir.layout_packing import check_size, value_form
from ..ir.textures import are_bytes, format_of, format_of_bytes, is_sampled_as
from ..ir.types import Buffer as RawBuffer
from ..ir.types import Struct, Texture, Type
from ..reflection import BindingInfo
from ..textures import first_level_form

AnyArray: TypeAlias = npt.NDArray[Any]
Dims: TypeAlias = tuple[tuple[int, int], ...]
Places: TypeAlias = tuple[tuple[int, str, Dims], ...]
"""Where numbers lie: for each group of them the offset of the first, the dtype, and (extent, stride) of each dimension.

Numbers of one dtype without a gap are one group without dimensions.
"""


class Form(Protocol):
    """What the bytes of a buffer are."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        ...

    @property
    def texture(self) -> Texture | None:
        """The type of a texture."""
        ...

    def read(self, data: memoryview) -> AnyArray:
        """The bytes as a new array."""
        ...

    def pack(self, values: object, name: str) -> bytes | bytearray | memoryview:
        """The bytes of values of the same form. Raises InputError."""
        ...

    def places(self, size: int) -> Places | None:
        """Where the numbers lie; None for bytes without a type."""
        ...


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """A numpy array, in its own layout. One of bytes (uint8) fits any binding."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def texture(self) -> Texture | None:
        """None: it is memory."""
        return None

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.dtype.itemsize * prod(self.shape)

    def read(self, data: memoryview) -> AnyArray:
        """The bytes as a new array."""
        return np.frombuffer(data, np.uint8).copy().view(self.dtype).reshape(self.shape)

    def pack(self, values: object, name: str) -> bytes | bytearray | memoryview:
        """The bytes of an array of this dtype and shape."""
        array = as_plain_array(values, name)
        if array.dtype != self.dtype or array.shape != self.shape:
            wanted = f"an array of shape {self.shape} of {self.dtype}"
            raise InputError(f"{name} takes {wanted}, not {shown(array)}")
        return array.tobytes()

    def places(self, size: int) -> Places | None:
        """Where the numbers lie."""
        if self.dtype == np.uint8:
            return None
        return _tidied(_of_dtype(self.dtype, 0, _dims(self.shape, self.dtype.itemsize)))


@dataclass(frozen=True, slots=True)
class BindingForm:
    """A value in the layout of a binding. `like` has the dtype and shape in which it was given, if as an array.
    `header` has the first bytes of a texture, which describe it.
    """

    info: BindingInfo
    size: int
    like: AnyArray | None = None
    header: bytes = b""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        return self._value_form()[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        return self._value_form()[1]

    @property
    def texture(self) -> Texture | None:
        """The type of a texture."""
        return self.info.type if isinstance(self.info.type, Texture) else None

    def _value_form(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        if self.like is not None:
            return self.like.dtype, self.like.shape
        if self.texture is not None:
            return first_level_form(self.texture, self.header)
        if isinstance(self.info.type, RawBuffer):
            return np.dtype(np.uint8), (self.size,)
        return value_form(self.info.type, layout.runtime_count(self.info.type, self.size))

    def read(self, data: memoryview) -> AnyArray:
        """The bytes as a new array, in the form in which they were given."""
        if isinstance(self.info.type, RawBuffer):
            return np.frombuffer(data, np.uint8).copy()
        return unpack_binding(self.info, data, self.like)

    def pack(self, values: object, name: str) -> bytes | bytearray | memoryview:
        """The bytes of a value for the binding, as many as the buffer has."""
        texture = self.texture
        is_compact = texture is not None and are_bytes(texture, self.header)
        data = pack_binding(self.info, values, "compact" if is_compact else "wide")
        if len(data) != self.size or bytes(data[: len(self.header)]) != self.header:
            made_of = f", made from {self.dtype}," if texture is not None else ""
            size, type = self.size, self.info.type
            raise InputError(f"{name}{made_of} has {size} bytes of {type}, and cannot become {len(data)} bytes")
        return data

    def places(self, size: int) -> Places | None:
        """Where the numbers lie."""
        return None if isinstance(self.info.type, RawBuffer) else places_of(self.info.type, size)


def like(values: object) -> AnyArray | None:
    """An array without memory of its own, of the dtype and shape of an array."""
    if not isinstance(values, np.ndarray):
        return None
    array = cast("AnyArray", values)
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def as_plain_array(values: object, name: str) -> AnyArray:
    """A contiguous array of numbers, copied if need be; bytes are one of uint8. Raises InputError."""
    if isinstance(values, (bytes, bytearray, memoryview)):
        return np.frombuffer(cast("bytes", values), np.uint8)
    if not isinstance(values, np.ndarray):
        raise InputError(
            f"{name} is made from a numpy array or bytes, not {shown(values)}; for others name its binding"
        )
    array = cast("AnyArray", values)
    if is_masked(array) or array.dtype.hasobject or not array.dtype.itemsize:
        raise InputError(f"{name} is made from an array of numbers, not {type(array).__name__} of {array.dtype}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def check_fits(form: Form, info: BindingInfo, size: int, name: str) -> None:
    """Raise InputError for `size` bytes of a buffer that cannot be bound."""
    if isinstance(info.type, Texture) or form.texture is not None:
        _check_texture(form, info, name)
        return
    if size >= info.minimum_size and size != layout.whole_words(size):
        raise InputError(f"{info.name}: {size} bytes are given, but a binding's size is a multiple of 4")
    check_minimum(info, size)
    check_size(info.type, size, info.name)
    given = form.places(size)
    if given is None or isinstance(info.type, RawBuffer):
        return
    wanted = places_of(info.type, size)
    if given != wanted and not _has_exact_dtype(form, info, size):
        raise InputError(f"{info.name}: {info.type} does not fit {name}, {_described(form)}: {_reason(given, wanted)}")


def _check_texture(form: Form, info: BindingInfo, name: str) -> None:
    if not isinstance(info.type, Texture):
        raise InputError(f"{info.name}: {info.type} does not fit {name}, which is a {form.texture}")
    if form.texture is None:
        raise InputError(f"{info.name}: {info.type} needs a texture: make {name} with this binding")
    if is_sampled_as(form.texture, info.type):
        return
    is_compact = isinstance(form, BindingForm) and are_bytes(form.texture, form.header)
    given = "bytes" if is_compact and format_of_bytes(info.type) is None else format_of(form.texture).name
    wanted = format_of(info.type).name
    if given != wanted:
        raise InputError(
            f"not supported: {name}, a {form.texture}, as {info.name}, a {info.type}: their texels are {given} and "
            f"{wanted}"
        )
    if form.texture.dimension != info.type.dimension or (
        form.texture.kind is not info.type.kind and (form.texture.format is None and info.type.format is None)
    ):
        raise InputError(f"{info.name}: {info.type} does not fit {name}, which is a {form.texture}")


def _described(form: Form) -> str:
    return f"an array of shape {form.shape} of {form.dtype}"


def _reason(given: Places, wanted: Places) -> str:
    kinds = [sorted({np.dtype(kind).name for _, kind, _ in it}) for it in (given, wanted)]
    if kinds[0] != kinds[1]:
        return f"it takes {' and '.join(kinds[1])}, not {' and '.join(kinds[0])}"
    return "its numbers lie at other places (make the buffer with the binding: session.buffer(array, binding))"


def _has_exact_dtype(form: Form, info: BindingInfo, size: int) -> bool:
    """Whether an array has the dtype that reflection shows, with the padding of vectors of three as numbers."""
    is_open = isinstance(info.type, Struct) and info.size is None
    try:
        dtype = info.dtype_with(layout.runtime_count(info.type, size)) if is_open else info.dtype
    except InputError:
        return False
    return dtype is not None and form.dtype == dtype.base and form.shape[-1:] == (dtype.shape or form.shape)[-1:]


def places_of(type: Type, size: int) -> Places:
    """Where the numbers of a type lie in so many bytes."""
    found = leaves(type, layout.runtime_count(type, size))
    return _tidied(
        (it.place.offset, it.type.dtype.str, tuple(zip(it.place.shape, it.place.strides, strict=True))) for it in found
    )


def _dims(shape: Sequence[int], itemsize: int) -> Dims:
    """The dimensions of a contiguous array."""
    return tuple((extent, itemsize * prod(shape[number + 1 :])) for number, extent in enumerate(shape))


def _of_dtype(dtype: np.dtype[Any], offset: int, dims: Dims) -> list[tuple[int, str, Dims]]:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return _of_dtype(base, offset, (*dims, *_dims(shape, base.itemsize)))
    if dtype.fields is None:
        return [(offset, dtype.str, dims)]
    found: list[tuple[int, str, Dims]] = []
    for field in dtype.fields.values():
        found += _of_dtype(field[0], offset + field[1], dims)
    return found


def _tidied(found: Iterable[tuple[int, str, Dims]]) -> Places:
    """Places that are equal where the numbers are at the same places."""
    places = sorted((offset, kind, _merged(dims)) for offset, kind, dims in found)
    kinds = {kind for _, kind, _ in places}
    if len(kinds) != 1:
        return tuple(places)
    (kind,) = kinds
    ends = [offset + sum((extent - 1) * stride for extent, stride in dims) for offset, _, dims in places if _full(dims)]
    width = np.dtype(kind).itemsize
    numbers = sum(prod(extent for extent, _ in dims) for _, _, dims in places)
    span = max(ends, default=-width) + width - min((it[0] for it in places), default=0)
    return ((0, kind, ()),) if numbers * width == span else tuple(places)


def _full(dims: Dims) -> bool:
    return all(extent for extent, _ in dims)


def _merged(dims: Dims) -> Dims:
    """The dimensions, with those that follow one another without a gap as one, and without those of extent 1."""
    merged: list[tuple[int, int]] = []
    for extent, stride in dims:
        if extent == 1:
            continue
        if merged and merged[-1][1] == extent * stride:
            merged[-1] = merged[-1][0] * extent, stride
        else:
            merged.append((extent, stride))
    return tuple(merged)
