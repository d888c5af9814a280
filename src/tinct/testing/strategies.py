"""Hypothesis strategies for the buffers of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import InputError
from ..ir import samplers
from ..ir.hints import unknown_name
from ..ir.layout_leaves import extent_of, number_type
from ..ir.layout_numbers import shown
from ..ir.layout_numpy import value_dtype
from ..ir.textures import is_multisampled
from ..ir.types import Array, Buffer, Sampler, Struct, Texture, TextureKind, Type
from ..kernel import Kernel
from ..reflection import BindingInfo
from ..textures import channel_shape, texel_dtype
from ..wgsl_functions.signature import number_type_of, own_shape

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_LONGEST_SIDE = 3
"""Maximum number of texels along a side of a texture."""
_SAMPLES = 4
"""Number of samples of a multisampled texture, the only one that WebGPU has."""


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
    of elements, which `lengths` draws: 1 to 64 without it. Arrays of structures are structured arrays. Textures have 1
    to 3 texels along each side, and one mip level. Numbers are any of their type; floats are finite unless `allow_nan`
    or `allow_infinity`. Needs Hypothesis. Raises InputError for names and types that do not fit.
    """
    from hypothesis import strategies as st

    fixed = dict(given or {})
    infos = {it.name: it for it in kernel.bindings}
    for name in fixed:
        if name not in infos:
            raise InputError(unknown_name(f"the entry point uses no buffer named {shown(name)}", name, infos))
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
    match info.type:
        case Sampler():
            return _samplers(info.type)
        case Texture():
            return _textures(info.type, floats)
        case Buffer():
            return _arrays(np.dtype(np.uint8), (4 * count if info.size is None else info.size,))
        case _:
            return _of_type(info.type, count, floats)


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


def _textures(type: Texture, floats: Mapping[str, bool]) -> SearchStrategy[Any]:
    """Textures of one mip level; depths are from 0 to 1."""
    from hypothesis import strategies as st

    dtype = texel_dtype(type)
    is_depth = type.kind in (TextureKind.DEPTH, TextureKind.DEPTH_MULTISAMPLED)
    numbers = st.floats(0, 1, width=32) if is_depth else _elements(dtype, floats)
    last = (*((_SAMPLES,) if is_multisampled(type) else ()), *channel_shape(type))
    return _extents(type.dimension).flatmap(lambda it: _arrays(dtype, (*it, *last), numbers))


def _extents(dimension: str) -> SearchStrategy[tuple[int, ...]]:
    """The dimensions of an array for a texture of this dimension, before those of samples and channels."""
    from hypothesis import strategies as st

    side = st.integers(1, _LONGEST_SIDE)
    match dimension:
        case "1d":
            return st.tuples(side)
        case "2d":
            return st.tuples(side, side)
        case "cube":
            return side.map(lambda it: (6, it, it))
        case "cube_array":
            return st.tuples(st.integers(1, 2), side).map(lambda it: (6 * it[0], it[1], it[1]))
        case _:
            return st.tuples(side, side, side)


def _of_type(type: Type, count: int, floats: Mapping[str, bool], outer: tuple[int, ...] = ()) -> SearchStrategy[Any]:
    """Values with the dimensions `outer`: an array, or for a single structure a mapping of its members."""
    from hypothesis import strategies as st

    match type:
        case Struct(members=members):
            parts = {it.name: _of_type(it.type, count, floats, outer) for it in members}
            made = st.fixed_dictionaries(parts)
            return made.map(partial(_structures, value_dtype(type, count), outer)) if outer else made
        case Array(element=element):
            return _of_type(element, count, floats, (*outer, extent_of(type, count)))
        case _:
            scalar = number_type_of(type)
            if scalar is None:
                raise InputError(f"no strategy makes values of {type}: give one")
            dtype = number_type(scalar).dtype
            return _arrays(dtype, (*outer, *own_shape(type)), _elements(dtype, floats))


def _structures(dtype: np.dtype[Any], shape: tuple[int, ...], parts: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """A structured array of arrays of its members."""
    made = np.zeros(shape, dtype)
    for name, values in parts.items():
        made[name] = values
    return made


def _elements(dtype: np.dtype[Any], floats: Mapping[str, bool]) -> SearchStrategy[Any]:
    from hypothesis.extra import numpy as of_numpy

    options: Any = floats if dtype.kind == "f" else {}
    made: SearchStrategy[Any] = of_numpy.from_dtype(dtype, **options)
    return made


def _arrays(
    dtype: np.dtype[Any], shape: tuple[int, ...], elements: SearchStrategy[Any] | None = None
) -> SearchStrategy[Any]:
    from hypothesis.extra import numpy as of_numpy

    made: SearchStrategy[Any] = of_numpy.arrays(dtype, shape, elements=elements)
    return made
