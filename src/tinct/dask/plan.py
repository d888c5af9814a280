"""What `map_blocks` and `fold_blocks` share: checks of the arguments, and the tasks that run on each block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..base.errors import InputError
from ..ir.hints import unknown_name
from .arrays import DaskArray, dask_arrays, is_dask_array
from .blocks import BlockRun
from .callees import Callee, Options, callee_of
from .grid import Grid

Depth: TypeAlias = "int | Sequence[int]"
Boundary: TypeAlias = "str | float | Sequence[str | float]"


@dataclass(frozen=True, slots=True)
class Plan:
    """Dask arrays of the same blocks, with their names; `depth` and `boundary` by axis."""

    callee: Callee
    options: Options
    arrays: Mapping[str, DaskArray]
    values: Mapping[str, object]
    depth: Mapping[int, int]
    boundary: Mapping[int, str | float]

    @property
    def axes(self) -> range:
        """The axes along which arrays are cut into blocks."""
        return range(len(self.depth))

    @property
    def first(self) -> DaskArray:
        """An array with these axes only."""
        return min(self.arrays.values(), key=lambda it: it.ndim)

    def runs(self, outputs: Sequence[str]) -> DaskArray:
        """A Dask array whose blocks are not arrays but the outputs, by name."""
        da = dask_arrays()
        depth = tuple(self.depth[axis] for axis in self.axes)
        closed = tuple(self.boundary[axis] != "none" for axis in self.axes)
        made = {name: self.callee.form(name)[0] for name, value in self.values.items() if value is None}
        run = BlockRun(
            callee=self.callee,
            names=tuple(self.arrays),
            values={name: value for name, value in self.values.items() if value is not None},
            made=made,
            outputs=tuple(outputs),
            grid=Grid(self.first.chunks, depth, closed),
            options=self.options,
        )
        pairs: list[DaskArray | Sequence[int]] = []
        for array in self.arrays.values():
            pairs += [self._with_halo(array), tuple(range(array.ndim))]
        for axis in self.axes:
            pairs += [da.from_array(np.arange(self.first.numblocks[axis]), chunks=1), (axis,)]
        empty = np.empty((0,) * len(self.axes), object)
        return da.blockwise(run, tuple(self.axes), *pairs, align_arrays=False, concatenate=True, meta=empty)

    def _with_halo(self, array: DaskArray) -> DaskArray:
        return dask_arrays().overlap.overlap(array, self.depth, self.boundary) if any(self.depth.values()) else array


def plan_of(function: object, buffers: Mapping[str, Any], depth: Depth, boundary: Boundary, options: Options) -> Plan:
    """The plan. Raises InputError for arrays that cannot be cut into the same blocks, and for unknown names."""
    callee = callee_of(function, options)
    names = callee.names
    for name in buffers:
        if name not in names:
            raise InputError(unknown_name(f"{callee.title} no buffer named {name!r}", name, names))
    arrays = {name: value for name, value in buffers.items() if is_dask_array(value)}
    if not arrays:
        raise InputError("none of the buffers is a Dask array, so there are no blocks: use run")
    first_name, first = min(arrays.items(), key=lambda it: it[1].ndim)
    for name, array in arrays.items():
        if any(np.isnan(extent) for extent in array.shape):
            raise InputError(f"{name}: its extents are not known; compute_chunk_sizes() finds them")
        if array.shape[: first.ndim] != first.shape:
            raise InputError(
                f"{name} has the shape {array.shape}, which does not begin like {first_name}'s {first.shape}"
            )
    if first.ndim == 0:
        raise InputError(f"{first_name} has no axis along which it could be cut into blocks")
    depths = _by_axis("depth", depth, first.ndim)
    chunks = _chunks(first_name, first, depths)
    same = {name: it.rechunk((*chunks, *((n,) for n in it.shape[first.ndim :]))) for name, it in arrays.items()}
    values = {name: value for name, value in buffers.items() if name not in arrays}
    return Plan(callee, options, same, values, depths, _by_axis("boundary", boundary, first.ndim))


def _chunks(name: str, array: DaskArray, depths: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """The extents of blocks along each axis: as they are, but none less than the depth."""
    for axis, depth in depths.items():
        if depth > array.shape[axis]:
            raise InputError(f"{name} has {array.shape[axis]} elements along axis {axis}, less than the depth {depth}")
    enlarged = dask_arrays().overlap.ensure_minimum_chunksize
    return tuple(enlarged(depths[axis], sizes) if depths[axis] else sizes for axis, sizes in enumerate(array.chunks))


def _by_axis(what: str, value: Any, axes: int) -> dict[int, Any]:
    """A value for each axis, from one for all or from a sequence."""
    values = [value] * axes if isinstance(value, (str, int, float)) else list(value)
    if len(values) != axes:
        raise InputError(f"{what} has {len(values)} entries, but the blocks have {axes} axes")
    if what == "depth" and not all(isinstance(it, int) and it >= 0 for it in values):
        raise InputError(f"depth is a number of elements, 0 or more, not {value!r}")
    return dict(enumerate(values))
