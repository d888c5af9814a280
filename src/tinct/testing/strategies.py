"""Hypothesis strategies for the buffers of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import InputError
from ..ir import samplers
from ..ir.hints import unknown_name
from ..ir.layout_leaves import extent_of, holds_structures, number_type
from ..ir.layout_numbers import shown
from ..ir.types import Array, Sampler, Struct, Texture, Type
from ..reflection import BindingInfo
from ..shader import Kernel
from ..textures import texel_dtype
from ..wgsl_functions.signature import number_type_of, own_shape

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def buffers(
    kernel: Kernel,
    given: Mapping[str, Any] | None = None,
    *,
    lengths: SearchStrategy[int] | int | None = None,
    allow_nan: bool = False,
    allow_infinity: bool = False,
) -> SearchStrategy[dict[str, Any]]:
    """A strategy for all buffers of a kernel, as `Kernel.run` takes them.

    `given` has values, or strategies, for some bindings. Runtime-sized arrays of one example all have the same number
    of elements, which `lengths` draws: 1 to 64 without it. Numbers are any of their type; floats are finite unless
    `allow_nan` or `allow_infinity`. Needs Hypothesis. Raises InputError for names and types that do not fit.
    """
    from hypothesis import strategies as st

    fixed = dict(given or {})
    infos = {it.name: it for it in kernel.bindings}
    for name in fixed:
        if name not in infos:
            raise InputError(unknown_name(f"the entry point uses no buffer named {shown(name)}", name, infos))
    for info in (it for name, it in infos.items() if name not in fixed):
        if isinstance(info.type, Texture):
            dtype = texel_dtype(info.type)
            raise InputError(f"{info.name}: give a value or a strategy for {info.type}, which has texels of {dtype}")
    counts = st.integers(1, 64) if lengths is None else st.just(lengths) if isinstance(lengths, int) else lengths
    floats = {"allow_nan": allow_nan, "allow_infinity": allow_infinity}

    def of_length(count: int) -> SearchStrategy[dict[str, Any]]:
        parts = {
            name: _given(fixed[name]) if name in fixed else _binding(it, count, floats) for name, it in infos.items()
        }
        return st.fixed_dictionaries(parts)

    return counts.flatmap(of_length)


def _given(value: object) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    if isinstance(value, st.SearchStrategy):
        strategy: SearchStrategy[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return strategy
    return st.just(value)


def _binding(info: BindingInfo, count: int, floats: Mapping[str, bool]) -> SearchStrategy[Any]:
    from hypothesis.extra import numpy as of_numpy

    if isinstance(info.type, Sampler):
        return _samplers(info.type)
    return _of_type(info.type, count, floats, of_numpy)


def _samplers(type: Sampler) -> SearchStrategy[Any]:
    """Samplers that do not filter, which fit any texture; those that compare may filter, since they take depths."""
    from hypothesis import strategies as st

    modes, filters = st.sampled_from(samplers.ADDRESS_MODES), st.sampled_from(samplers.FILTERS)
    least, more = st.floats(0, 4, width=32), st.floats(0, 32, width=32)
    parts: dict[str, SearchStrategy[Any]] = {f"address_mode_{it}": modes for it in "uvw"}
    if type.comparison:
        parts |= {"compare": st.sampled_from(samplers.COMPARISONS[1:]), "mag_filter": filters, "min_filter": filters}
    levels = st.tuples(least, more).map(lambda it: {"lod_min_clamp": it[0], "lod_max_clamp": it[0] + it[1]})
    return st.tuples(levels, st.fixed_dictionaries(parts)).map(lambda it: samplers.sampler_from({**it[0], **it[1]}))


def _of_type(type: Type, count: int, floats: Mapping[str, bool], of_numpy: Any) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    match type:
        case Struct(members=members):
            return st.fixed_dictionaries({it.name: _of_type(it.type, count, floats, of_numpy) for it in members})
        case Array(element=element) if holds_structures(type):
            extent = extent_of(type, count)
            return st.lists(_of_type(element, count, floats, of_numpy), min_size=extent, max_size=extent)
        case Array(element=element):
            shape = (extent_of(type, count), *own_shape(element))
            return _numbers(type, shape, floats, of_numpy)
        case _:
            return _numbers(type, own_shape(type), floats, of_numpy)


def _numbers(
    type: Type, shape: tuple[int, ...], floats: Mapping[str, bool], of_numpy: Any
) -> SearchStrategy[np.ndarray[Any, Any]]:
    scalar = number_type_of(type)
    if scalar is None:
        raise InputError(f"no strategy makes values of {type}: give one")
    dtype = number_type(scalar).dtype
    elements = of_numpy.from_dtype(dtype, **(floats if dtype.kind == "f" else {}))
    made: SearchStrategy[np.ndarray[Any, Any]] = of_numpy.arrays(dtype, shape, elements=elements)
    return made
