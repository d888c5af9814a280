"""Buffers: arrays that stay on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import numpy as np
import numpy.typing as npt

from ..arguments import count_of
from ..base.errors import InputError
from ..ir.layout_numbers import shown
from .calls import Held
from .forms import ArrayForm, Form, as_plain_array
from .memory import HOST, Memory

if TYPE_CHECKING:
    from ..reflection import BindingInfo
    from .session import Session

VIEW_ALIGNMENT: Final = 256
"""The offset of a view is a multiple of so many bytes: WebGPU's limits `minStorageBufferOffsetAlignment` and
`minUniformBufferOffsetAlignment`, on all devices.
"""


class Buffer(Held):
    """An array, or a texture, that a session holds. A dispatch changes it in place.

    It may be given to `Session.run` and `Kernel.run` wherever an array may. Its newest bytes are on one device or
    several; they are copied when another needs them, and only then. A session makes buffers; see `Session.buffer`,
    `adopt` and `empty`.
    """

    def __init__(self, session: Session, memory: Memory, form: Form, offset: int, size: int) -> None:
        self._session = session
        self._memory = memory
        self._form = form
        self._offset = offset
        self._size = size
        self.fitting: dict[int, BindingInfo] = {}
        """The bindings that it was found to fit, by their ids, for the session."""
        memory.users += 1

    def __repr__(self) -> str:
        return f"<Buffer {self.label}: shape {self.shape} of {self.dtype}>"

    def __reduce__(self) -> NoReturn:
        raise InputError(f"{self.label} cannot be copied or pickled, as it is memory of a session: take its numpy()")

    def __del__(self) -> None:
        self._memory.users -= 1
        self._session.forget(self)

    @property
    def session(self) -> Session:
        """The session that holds it."""
        return self._session

    @property
    def label(self) -> str:
        """The name in messages and in `Session.copies`."""
        return self._memory.label

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of an element."""
        return self._form.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        return self._form.shape

    @property
    def nbytes(self) -> int:
        """Its bytes in WGSL's memory layout, with padding."""
        return self._size

    @property
    def offset(self) -> int:
        """The first byte of a view within the buffer that it is a view of."""
        return self._offset

    @property
    def device(self) -> str:
        """The name of a device that has the newest bytes: `cpu` stands for the host's memory."""
        return self._memory.device

    def numpy(self) -> npt.NDArray[Any]:
        """The values as a new array, which no later dispatch changes: waits for the dispatches that write them.

        Raises InputError after the end of the session, and DeviceError for bytes that are torn or lost.
        """
        with self._session.entered():
            self._memory.need(HOST, "the program reads it")
            return self._form.read(self._host())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The values for numpy, which are always a copy."""
        if copy is False:
            raise InputError(f"the values of {self.label} are always a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def write(self, values: npt.ArrayLike | bytes | bytearray | memoryview) -> None:
        """Replace all values, by ones of the same dtype and shape. Raises InputError."""
        with self._session.entered():
            data = self._form.pack(values, self.label)
            if self._memory.is_read_only:
                raise InputError(f"{self.label} may only be read")
            if self._size == self._memory.size:
                self._check_not_released()
                self._memory.set_host(data)
                return
            self._memory.need(HOST, "the program writes a part of it")
            self._host()[:] = data
            self._memory.wrote(HOST)

    def request(self) -> None:
        """Have the newest bytes in the host's memory: for an adopted array, in the caller's own."""
        with self._session.entered():
            self._memory.need(HOST, "the program asks for it")

    def changed(self) -> None:
        """Say that the caller has changed the adopted array: its bytes are the newest from now on."""
        with self._session.entered():
            if not self._memory.is_adopted:
                raise InputError(f"{self.label} is no adopted array: write its values")
            self._check_not_released()
            self._memory.set_host(self._memory.host().data)

    def view(
        self,
        offset: int = 0,
        *,
        dtype: npt.DTypeLike | None = None,
        shape: int | tuple[int, ...] | None = None,
    ) -> Buffer:
        """A part of the buffer: an array of that dtype (its own, if none is given) that begins `offset` bytes after the
        buffer's first and has that shape, or all that is left in one dimension.

        The offset is a multiple of 256 (WebGPU's `minStorageBufferOffsetAlignment`), on all devices. Raises InputError.
        """
        with self._session.entered():
            self._check_not_released()
            if self._form.texture is not None:
                raise InputError(f"{self.label} is a texture, of which there are no views")
            start = count_of(offset, "the offset of a view")
            kind = dtype_of(self.dtype if dtype is None else dtype)
            form = ArrayForm(kind, self._view_shape(start, kind, shape))
            if start < 0 or start % VIEW_ALIGNMENT or start + form.size > self._size:
                raise InputError(
                    f"a view of {form.size} bytes at offset {start} of {self.label}, which has {self._size}: "
                    f"it must lie inside, and the offset be a multiple of {VIEW_ALIGNMENT}"
                )
            return Buffer(self._session, self._memory, form, self._offset + start, form.size)

    def _view_shape(self, start: int, kind: np.dtype[Any], shape: int | tuple[int, ...] | None) -> tuple[int, ...]:
        if shape is None:
            return (max(self._size - start, 0) // kind.itemsize,)
        return shape_of(shape)

    def release(self) -> None:
        """Free its memory, also that of its views: no use of it is allowed any more."""
        self._session.release(self)

    def _check_not_released(self) -> None:
        if self._memory.is_released:
            raise InputError(f"{self.label} was released")

    def _host(self) -> memoryview:
        return self._memory.host()[self._offset : self._offset + self._size].data

    # For the session

    @property
    def memory(self) -> Memory:
        """The memory that it is a part of, for the session."""
        return self._memory

    @property
    def form(self) -> Form:
        """What its bytes are, for the session."""
        return self._form


def shape_of(shape: object) -> tuple[int, ...]:
    """The extents of an array. Raises InputError."""
    parts: Sequence[object] = cast("Sequence[object]", shape) if isinstance(shape, (tuple, list)) else (shape,)
    extents = tuple(count_of(it, "each extent of a shape") for it in parts)
    if min(extents, default=0) < 0:
        raise InputError(f"the extents of a shape cannot be negative: {shown(extents)}")
    return extents


def dtype_of(given: object) -> np.dtype[Any]:
    """A dtype of numbers. Raises InputError."""
    try:
        dtype: np.dtype[Any] = np.dtype(cast(Any, given))
    except (TypeError, ValueError):
        raise InputError(f"{shown(given)} is no dtype") from None
    as_plain_array(np.empty(0, dtype), "a buffer")
    return dtype
