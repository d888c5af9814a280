"""Results of a kernel on each block, combined into one by a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias, cast

from ..base.errors import InputError
from ..graphs import Graph, GraphProgram
from ..kernel import Kernel
from ..sessions.calls import Constants
from .arrays import DaskArray, Delayed, dask_arrays, delayed
from .callees import Array, Options, SizeOfBlock
from .plan import Plan, plan_of

Combine: TypeAlias = Callable[[Array, Array], Array]
_Results: TypeAlias = Mapping[str, Array]


def fold_blocks(
    function: Kernel | Graph | GraphProgram,
    buffers: Mapping[str, Any],
    *,
    combine: Combine | Mapping[str, Combine],
    split_every: int = 8,
    threads: SizeOfBlock | None = None,
    workgroups: SizeOfBlock | None = None,
    constants: Constants | None = None,
    device: str = "cpu",
    via: str | None = None,
    timeout: float | None = None,
) -> DaskArray | dict[str, DaskArray]:
    """Dispatch a kernel, or execute a graph, once for each block of Dask arrays, and combine the results: sums,
    histograms, extremes.

    `buffers` is as for `map_blocks`. A binding that the kernel writes has an array, from which every block starts, so
    that it must not change what is combined: zeros for sums. `combine` gives one result from two, `numpy.add` for
    example, or is a dict of such functions by binding; it must be associative, and results are combined in the order of
    blocks, `split_every` at a time.

    What a graph returns for a block is combined if it is no array of any length.

    Returns the combined binding as a Dask array, or a dict by name if there are several. Raises InputError as
    `map_blocks` does.
    """
    if split_every < 2:
        raise InputError(f"split_every is 2 or more, not {split_every}")
    plan = plan_of(function, buffers, 0, "none", Options(threads, workgroups, constants, device, via, timeout))
    names = [
        name
        for name in plan.callee.outputs
        if name not in plan.arrays and not plan.callee.is_array(name, plan.values.get(name))
    ]
    if not names:
        raise InputError(
            "nothing that is written has a value of its own for each block, so there is nothing to combine"
        )
    functions: Mapping[str, Combine] = dict.fromkeys(names, combine) if callable(combine) else combine
    missing = [name for name in names if name not in functions]
    if missing:
        raise InputError(f"combine has no function for {', '.join(missing)}")
    whole = _tree(plan.runs(names), {name: functions[name] for name in names}, split_every)
    found = {name: _picked(plan, whole, name) for name in names}
    return found[names[0]] if len(names) == 1 else found


def _tree(runs: DaskArray, functions: Mapping[str, Combine], split_every: int) -> Delayed:
    level = cast("list[Delayed]", runs.to_delayed().ravel().tolist())
    combined = delayed(_combined)
    while True:
        groups = [level[start : start + split_every] for start in range(0, len(level), split_every)]
        level = [combined(functions, group) for group in groups]
        if len(level) == 1:
            return level[0]


def _combined(functions: Mapping[str, Combine], results: Sequence[_Results]) -> _Results:
    return {name: reduce(function, (it[name] for it in results)) for name, function in functions.items()}


def _picked(plan: Plan, whole: Delayed, name: str) -> DaskArray:
    dtype, shape = plan.callee.whole_form(name, plan.values.get(name))
    return dask_arrays().from_delayed(delayed(_pick)(whole, name), shape, dtype)


def _pick(results: _Results, name: str) -> Array:
    return results[name]
