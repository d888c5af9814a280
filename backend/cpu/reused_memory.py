"""Memory of large arrays that is used again: the system clears new memory, which may take longer than filling it."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .aligned import Bytes, aligned_zeros

Array = npt.NDArray[Any]

_SMALLEST: Final = 1 << 16
"""Smaller arrays, in bytes, get memory of their own, which the C library uses again."""
_MOST: Final = 1 << 27
"""The bytes that are kept at most while no array has them."""


class ReusedMemory:
    """Gives the memory of an array that nobody has any more to a new one of the same size.

    An array has its memory as long as it, or a view of it, is alive. At most 128 MiB are kept that no array has.
    Threads may share it.
    """

    def __init__(self) -> None:
        self._free: list[_Piece] = []
        """The latest last. There is no lock, since each change is one operation of the list."""

    @property
    def kept(self) -> list[int]:
        """The sizes in bytes of what is kept, the latest last."""
        return [it.size for it in self._free]

    def copy(self, array: Array) -> Array:
        """A copy of an array whose elements are no Python objects, in C's order."""
        if array.nbytes < _SMALLEST:
            return array.copy(order="C")
        made = self._array(array.shape, array.dtype)
        np.copyto(made, array)
        return made

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array of zeros."""
        if dtype.itemsize * prod(shape) < _SMALLEST:
            return np.zeros(shape, dtype)
        made = self._array(shape, dtype)
        made.view(np.uint8).fill(0)
        return made

    def _array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        lease = _Lease(self._free, self._taken(dtype.itemsize * prod(shape)))
        return np.asarray(lease).view(dtype).reshape(shape)

    def _taken(self, size: int) -> _Piece:
        for piece in reversed(self._free):
            if piece.size == size and _is_removed(self._free, piece):
                return piece
        return _Piece(aligned_zeros(size))


class _Piece:
    """Memory that one array has, or none."""

    __slots__ = ("data", "size")

    def __init__(self, data: Bytes) -> None:
        self.data, self.size = data, data.nbytes


class _Lease:
    """Gives memory back when the array whose base it is, and all its views, are gone."""

    __slots__ = ("__array_interface__", "_free", "_piece")

    def __init__(self, free: list[_Piece], piece: _Piece) -> None:
        self._free, self._piece = free, piece
        self.__array_interface__ = piece.data.__array_interface__

    def __del__(self) -> None:
        free, size = self._free, self._piece.size
        if size > _MOST:
            return
        kept = tuple(free)
        for oldest in kept:
            if sum(it.size for it in kept) + size <= _MOST:
                break
            _is_removed(free, oldest)
            kept = kept[1:]
        free.append(self._piece)


def _is_removed(free: list[_Piece], piece: _Piece) -> bool:
    """Remove a piece; False if another thread has done it."""
    try:
        free.remove(piece)
    except ValueError:
        return False
    return True
