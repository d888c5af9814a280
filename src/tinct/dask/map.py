"""A kernel or a graph on each block of Dask arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.errors import InputError
from ..graphs import Graph, GraphProgram
from ..ir.hints import unknown_name
from ..kernel import Kernel
from ..sessions.calls import Constants
from .arrays import DaskArray, dask_arrays
from .callees import Array, Options, SizeOfBlock
from .plan import Boundary, Depth, Plan, plan_of


def map_blocks(
    function: Kernel | Graph | GraphProgram,
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
    """Dispatch a kernel, or execute a graph, once for each block of Dask arrays. Nothing runs before the result is
    computed.

    `buffers` has a value for each binding, or each input of the graph, by name:

    - a Dask array, of which each dispatch gets its block. All have the same leading extents and are cut alike; axes
      that only some have are not cut;
    - None for an output that no dispatch reads: zeros of the block's shape;
    - a function of the `Block`, for example for a uniform with its extents;
    - anything else that `Kernel.run` takes, the same for all blocks.

    The size of a dispatch is `threads` or `workgroups`, a size or a function of the `Block`; by default a thread for
    each element, x along the last axis. With `depth`, a number of elements for all axes or one for each, blocks
    overlap their neighbours by so much, and results are cut back; blocks smaller than that are joined. `boundary` says
    what lies beyond the ends: "none", "reflect", "periodic", "nearest", or a number.

    A graph has sizes, constants and outputs of its own: those of its outputs that are arrays of any length have as many
    elements as the block.

    Returns the written binding, or the output, as a Dask array; a dict by name if there are several, or if `outputs`
    names some.
    Raises InputError for arrays and names that do not fit, and where Dask is missing. What `Kernel.run` raises for a
    block is raised when it is computed.
    """
    plan = plan_of(function, buffers, depth, boundary, Options(threads, workgroups, constants, device, via, timeout))
    names = _outputs(plan, outputs)
    runs = plan.runs(names)
    found = {name: _picked(plan, runs, name) for name in names}
    return found[names[0]] if outputs is None and len(names) == 1 else found


def _outputs(plan: Plan, wanted: Sequence[str] | None) -> list[str]:
    written = plan.callee.outputs
    in_blocks = [it for it in written if it in plan.arrays or plan.callee.is_array(it, plan.values.get(it, 0))]
    for name in written if wanted is None else wanted:
        if name not in written:
            raise InputError(unknown_name(f"nothing that is written is named {name!r}", name, written))
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
    if given is not None and given.dtype.names is not None:
        dtype, inner = given.dtype, given.shape[len(axes) :]
    else:
        dtype, inner = plan.callee.form(name)
        inner = inner if given is None else given.shape[len(axes) :]
    indices = (*axes, *range(len(axes), len(axes) + len(inner)))
    new_axes = {len(axes) + number: extent for number, extent in enumerate(inner)}
    meta = np.empty((0,) * len(indices), dtype)
    whole = da.blockwise(_pick, indices, runs, axes, new_axes=new_axes, align_arrays=False, meta=meta, binding=name)
    return da.overlap.trim_internal(whole, plan.depth, plan.boundary) if any(plan.depth.values()) else whole


def _pick(run: Mapping[str, Array], *, binding: str) -> Array:
    return run[binding]
