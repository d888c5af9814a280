"""A kernel on each block of Dask arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.errors import InputError
from ..ir.hints import unknown_name
from ..sessions.calls import Constants
from ..shader import Kernel
from .arrays import DaskArray, dask_arrays
from .blocks import Array, SizeOfBlock, element_dtype
from .plan import Boundary, Depth, Options, Plan, plan_of, written_names


def map_blocks(
    kernel: Kernel,
    buffers: Mapping[str, Any],
    *,
    threads: SizeOfBlock | None = None,
    workgroups: SizeOfBlock | None = None,
    depth: Depth = 0,
    boundary: Boundary = "none",
    outputs: Sequence[str] | None = None,
    constants: Constants | None = None,
    device: str = "cpu",
    via: str | None = None,
    timeout: float | None = None,
) -> DaskArray | dict[str, DaskArray]:
    """Dispatch a kernel once for each block of Dask arrays. Nothing runs before the result is computed.

    `buffers` has a value for each binding, by name:

    - a Dask array, of which each dispatch gets its block. All have the same leading extents and are cut alike; axes
      that only some have are not cut;
    - None for an output that no dispatch reads: zeros of the block's shape;
    - a function of the `Block`, for example for a uniform with its extents;
    - anything else that `Kernel.run` takes, the same for all blocks.

    The size of a dispatch is `threads` or `workgroups`, a size or a function of the `Block`; by default a thread for
    each element, x along the last axis. With `depth`, a number of elements for all axes or one for each, blocks
    overlap their neighbours by so much, and results are cut back; blocks smaller than that are joined. `boundary` says
    what lies beyond the ends: "none", "reflect", "periodic", "nearest", or a number.

    Returns the written binding as a Dask array; a dict by name if there are several, or if `outputs` names some.
    Raises InputError for arrays and names that do not fit, and where Dask is missing. What `Kernel.run` raises for a
    block is raised when it is computed.
    """
    plan = plan_of(kernel, buffers, depth, boundary)
    names = _outputs(plan, outputs)
    runs = plan.runs(names, Options(threads, workgroups, constants, device, via, timeout))
    found = {name: _picked(plan, runs, name) for name in names}
    return found[names[0]] if outputs is None and len(names) == 1 else found


def _outputs(plan: Plan, wanted: Sequence[str] | None) -> list[str]:
    written = written_names(plan)
    in_blocks = [name for name in written if name in plan.arrays or plan.values.get(name, 0) is None]
    for name in written if wanted is None else wanted:
        if name not in written:
            raise InputError(unknown_name(f"the kernel writes no binding named {name!r}", name, written))
        if name not in in_blocks:
            raise InputError(
                f"{name} is written by every block, but is no array of blocks: fold_blocks combines such results, and "
                f"outputs=… names those that are wanted"
            )
    return in_blocks if wanted is None else list(wanted)


def _picked(plan: Plan, runs: DaskArray, name: str) -> DaskArray:
    """One output of all blocks, without its halo."""
    da, axes = dask_arrays(), tuple(plan.axes)
    given = plan.arrays.get(name)
    inner = () if given is None else given.shape[len(axes) :]
    is_structure = given is not None and given.dtype.names is not None
    dtype = given.dtype if given is not None and is_structure else element_dtype(plan.kernel, name)
    indices = (*axes, *range(len(axes), len(axes) + len(inner)))
    new_axes = {len(axes) + number: extent for number, extent in enumerate(inner)}
    meta = np.empty((0,) * len(indices), dtype)
    whole = da.blockwise(_pick, indices, runs, axes, new_axes=new_axes, align_arrays=False, meta=meta, binding=name)
    return da.overlap.trim_internal(whole, plan.depth, plan.boundary) if any(plan.depth.values()) else whole


def _pick(run: Mapping[str, Array], *, binding: str) -> Array:
    return run[binding]
