"""The part of Dask that is used here, as protocols: Dask ships no type information of its own."""

# ruff: noqa: D102 (the names are Dask's, and its documentation describes them)

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError


class Delayed(Protocol):
    """A value that a task will compute."""

    def __getitem__(self, key: str) -> Delayed: ...


class DaskArray(Protocol):
    """A `dask.array.Array`."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def numblocks(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[np.generic]: ...
    def rechunk(self, chunks: tuple[tuple[int, ...], ...]) -> DaskArray: ...
    def to_delayed(self) -> npt.NDArray[np.object_]: ...
    def compute(self) -> npt.NDArray[np.generic]: ...


class _Overlap(Protocol):
    def ensure_minimum_chunksize(self, size: int, chunks: tuple[int, ...]) -> tuple[int, ...]: ...
    def overlap(self, x: DaskArray, depth: Mapping[int, int], boundary: Mapping[int, object]) -> DaskArray: ...
    def trim_internal(self, x: DaskArray, axes: Mapping[int, int], boundary: Mapping[int, object]) -> DaskArray: ...


class DaskArrays(Protocol):
    """The module `dask.array`."""

    @property
    def overlap(self) -> _Overlap: ...
    def from_array(self, x: npt.NDArray[np.intp], chunks: int) -> DaskArray: ...
    def from_delayed(self, value: Delayed, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> DaskArray: ...
    def blockwise(
        self,
        function: Callable[..., object],
        indices: Sequence[int],
        *pairs: DaskArray | Sequence[int],
        new_axes: Mapping[int, int] | None = None,
        concatenate: bool = True,
        align_arrays: bool = False,
        dtype: object = None,
        meta: npt.NDArray[np.generic] | None = None,
        **arguments: object,
    ) -> DaskArray: ...


class _Dask(Protocol):
    def delayed(self, function: Callable[..., object], pure: bool) -> Callable[..., Delayed]: ...


def dask_arrays() -> DaskArrays:
    """`dask.array`. Raises InputError where Dask is not installed."""
    return cast("DaskArrays", _imported("dask.array"))


def delayed(function: Callable[..., object]) -> Callable[..., Delayed]:
    """A function that makes tasks; equal arguments make the same task."""
    return cast("_Dask", _imported("dask")).delayed(function, pure=True)


def is_dask_array(value: object) -> TypeGuard[DaskArray]:
    """Whether a value is a `dask.array.Array`."""
    return type(value).__module__.startswith("dask.array") and type(value).__name__ == "Array"


def _imported(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"tinct.dask needs Dask, which cannot be imported ({error}): install tinct[dask]") from error
