"""Builtin functions on textures, and derivatives: rows of the table without evaluators (WGSL, "Texture Built-in
Functions").
"""

from __future__ import annotations

from typing import Final

from ..scalars import EvaluationError
from ..types import Scalar, Stage
from .registry import TABLE, Check, Flags, declare

_FRAGMENT = frozenset({Stage.FRAGMENT})
_DERIVATIVE = Flags(stages=_FRAGMENT, uniformity="derivative_uniformity", nonuniform_result=True)

_SAMPLED_2D = "texture_2d<S> | texture_2d_array<S> | texture_cube<S> | texture_cube_array<S>"
_DEPTH = "texture_depth_2d | texture_depth_2d_array | texture_depth_cube | texture_depth_cube_array"
_COMPONENT = "[C: integer, A: integer, S: word]"
_LOAD = "[C: integer, A: integer, L: integer, S: word, F: format, M: read | read_write]"
_INDEX = "[A: integer]"
_UV = "s: sampler, coords: vec2<f32>"
_UVW = "s: sampler, coords: vec3<f32>"
_UV_COMPARED = "s: sampler_comparison, coords: vec2<f32>"
_UVW_COMPARED = "s: sampler_comparison, coords: vec3<f32>"
_LAYER = "array_index: A"
_OFFSET = "offset?: vec2<i32>"
_TEXEL = "vec4<channel<F>>"
_STORE = "[C: integer, A: integer, F: format, M: write | read_write]"


def _check_component(scalar: Scalar, component: int) -> None:
    del scalar
    if not 0 <= component <= 3:
        raise EvaluationError(f"component {component} is not in the range from 0 to 3")


def _check_offset(scalar: Scalar | None, offset: int) -> None:
    del scalar
    if not -8 <= offset <= 7:
        raise EvaluationError(f"offset {offset} is not in the range from -8 to 7")


_COMPONENT_CHECK = Check(("component",), _check_component)
_OFFSET_CHECK = Check(("offset",), _check_offset)

for _name, _doc in (
    ("dpdx", "The change of a value from one pixel to the next along x."),
    ("dpdxCoarse", "The change of a value along x, the same for a few pixels."),
    ("dpdxFine", "The change of a value along x, found for each pixel."),
    ("dpdy", "The change of a value from one pixel to the next along y."),
    ("dpdyCoarse", "The change of a value along y, the same for a few pixels."),
    ("dpdyFine", "The change of a value along y, found for each pixel."),
    ("fwidth", "The sum of the absolute changes along x and y."),
    ("fwidthCoarse", "The sum of the absolute coarse changes along x and y."),
    ("fwidthFine", "The sum of the absolute fine changes along x and y."),
):
    declare(_name, "(e: f32) -> f32", "(e: vecN<f32>) -> vecN<f32>", doc=_doc, flags=_DERIVATIVE)

declare(
    "textureDimensions",
    "[S: word, F: format, M: read | write | read_write, T: texture_1d<S> | texture_storage_1d<F, M>](t: T) -> u32",
    "[S: word, L: integer](t: texture_1d<S>, level: L) -> u32",
    f"[S: word, F: format, M: read | write | read_write, T: {_SAMPLED_2D} | texture_multisampled_2d<S> | {_DEPTH}"
    " | texture_depth_multisampled_2d | texture_storage_2d<F, M> | texture_storage_2d_array<F, M> | texture_external]"
    "(t: T) -> vec2<u32>",
    f"[S: word, L: integer, T: {_SAMPLED_2D} | {_DEPTH}](t: T, level: L) -> vec2<u32>",
    "[S: word, F: format, M: read | write | read_write, T: texture_3d<S> | texture_storage_3d<F, M>]"
    "(t: T) -> vec3<u32>",
    "[S: word, L: integer](t: texture_3d<S>, level: L) -> vec3<u32>",
    doc="The width, height and depth of a texture, in texels.",
)
declare(
    "textureGather",
    f"{_COMPONENT}(component: C, t: texture_2d<S>, {_UV}, {_OFFSET}) -> vec4<S>",
    f"{_COMPONENT}(component: C, t: texture_2d_array<S>, {_UV}, {_LAYER}, {_OFFSET}) -> vec4<S>",
    f"{_COMPONENT}(component: C, t: texture_cube<S>, {_UVW}) -> vec4<S>",
    f"{_COMPONENT}(component: C, t: texture_cube_array<S>, {_UVW}, {_LAYER}) -> vec4<S>",
    f"(t: texture_depth_2d, {_UV}, {_OFFSET}) -> vec4<f32>",
    f"(t: texture_depth_cube, {_UVW}) -> vec4<f32>",
    f"{_INDEX}(t: texture_depth_2d_array, {_UV}, {_LAYER}, {_OFFSET}) -> vec4<f32>",
    f"{_INDEX}(t: texture_depth_cube_array, {_UVW}, {_LAYER}) -> vec4<f32>",
    doc="One component of the four texels that sampling would blend.",
    flags=Flags(const_parameters=("component", "offset")),
    checks=[_COMPONENT_CHECK, _OFFSET_CHECK],
)


def _declare_compare(name: str, result: str, doc: str, flags: Flags) -> None:
    """Declares a function that compares depths with a reference."""
    declare(
        name,
        f"(t: texture_depth_2d, {_UV_COMPARED}, depth_ref: f32, {_OFFSET}) -> {result}",
        f"{_INDEX}(t: texture_depth_2d_array, {_UV_COMPARED}, {_LAYER}, depth_ref: f32, {_OFFSET}) -> {result}",
        f"(t: texture_depth_cube, {_UVW_COMPARED}, depth_ref: f32) -> {result}",
        f"{_INDEX}(t: texture_depth_cube_array, {_UVW_COMPARED}, {_LAYER}, depth_ref: f32) -> {result}",
        doc=doc,
        flags=flags,
        checks=[_OFFSET_CHECK],
    )


_CONST_OFFSET = Flags(const_parameters=("offset",))
_SAMPLING = Flags(
    stages=_FRAGMENT,
    uniformity="derivative_uniformity",
    nonuniform_result=True,
    const_parameters=("offset",),
)
_declare_compare("textureGatherCompare", "vec4<f32>", "The comparisons of four depths with a reference.", _CONST_OFFSET)
_declare_compare("textureSampleCompare", "f32", "The blend of comparisons of depths with a reference.", _SAMPLING)
_declare_compare(
    "textureSampleCompareLevel",
    "f32",
    "The blend of comparisons of depths of the first level with a reference.",
    _CONST_OFFSET,
)

declare(
    "textureLoad",
    f"{_LOAD}(t: texture_1d<S>, coords: C, level: L) -> vec4<S>",
    f"{_LOAD}(t: texture_2d<S>, coords: vec2<C>, level: L) -> vec4<S>",
    f"{_LOAD}(t: texture_2d_array<S>, coords: vec2<C>, {_LAYER}, level: L) -> vec4<S>",
    f"{_LOAD}(t: texture_3d<S>, coords: vec3<C>, level: L) -> vec4<S>",
    f"{_LOAD}(t: texture_multisampled_2d<S>, coords: vec2<C>, sample_index: L) -> vec4<S>",
    f"{_LOAD}(t: texture_depth_2d, coords: vec2<C>, level: L) -> f32",
    f"{_LOAD}(t: texture_depth_2d_array, coords: vec2<C>, {_LAYER}, level: L) -> f32",
    f"{_LOAD}(t: texture_depth_multisampled_2d, coords: vec2<C>, sample_index: L) -> f32",
    f"{_LOAD}(t: texture_external, coords: vec2<C>) -> vec4<f32>",
    f"{_LOAD}(t: texture_storage_1d<F, M>, coords: C) -> {_TEXEL}",
    f"{_LOAD}(t: texture_storage_2d<F, M>, coords: vec2<C>) -> {_TEXEL}",
    f"{_LOAD}(t: texture_storage_2d_array<F, M>, coords: vec2<C>, {_LAYER}) -> {_TEXEL}",
    f"{_LOAD}(t: texture_storage_3d<F, M>, coords: vec3<C>) -> {_TEXEL}",
    doc="A single texel, without sampling.",
)
declare(
    "textureNumLayers",
    "[S: word, F: format, M: read | write | read_write, T: texture_2d_array<S> | texture_cube_array<S>"
    " | texture_depth_2d_array | texture_depth_cube_array | texture_storage_2d_array<F, M>](t: T) -> u32",
    doc="The number of layers of an array texture.",
)
declare(
    "textureNumLevels",
    f"[S: word, T: texture_1d<S> | texture_3d<S> | {_SAMPLED_2D} | {_DEPTH}](t: T) -> u32",
    doc="The number of mip levels of a texture.",
)
declare(
    "textureNumSamples",
    "[S: word, T: texture_multisampled_2d<S> | texture_depth_multisampled_2d](t: T) -> u32",
    doc="The number of samples of each texel of a multisampled texture.",
)


def _declare_sample(name: str, extra: str, doc: str, flags: Flags) -> None:
    """Declares a function that samples float textures of two and three dimensions; `extra` are its other parameters."""
    declare(
        name,
        f"(t: texture_2d<f32>, {_UV}{_for(extra, 2)}, {_OFFSET}) -> vec4<f32>",
        f"{_INDEX}(t: texture_2d_array<f32>, {_UV}, {_LAYER}{_for(extra, 2)}, {_OFFSET}) -> vec4<f32>",
        f"(t: texture_3d<f32>, {_UVW}{_for(extra, 3)}, offset?: vec3<i32>) -> vec4<f32>",
        f"(t: texture_cube<f32>, {_UVW}{_for(extra, 3)}) -> vec4<f32>",
        f"{_INDEX}(t: texture_cube_array<f32>, {_UVW}, {_LAYER}{_for(extra, 3)}) -> vec4<f32>",
        *_MORE_SAMPLE_OVERLOADS.get(name, ()),
        doc=doc,
        flags=flags,
        checks=[_OFFSET_CHECK],
    )


def _for(extra: str, dimensions: int) -> str:
    return extra.replace("vec", f"vec{dimensions}")


_LEVEL = "[A: integer, L: integer]"
_MORE_SAMPLE_OVERLOADS = {
    "textureSample": (
        "(t: texture_1d<f32>, s: sampler, coords: f32) -> vec4<f32>",
        f"(t: texture_depth_2d, {_UV}, {_OFFSET}) -> f32",
        f"{_INDEX}(t: texture_depth_2d_array, {_UV}, {_LAYER}, {_OFFSET}) -> f32",
        f"(t: texture_depth_cube, {_UVW}) -> f32",
        f"{_INDEX}(t: texture_depth_cube_array, {_UVW}, {_LAYER}) -> f32",
    ),
    "textureSampleLevel": (
        "(t: texture_1d<f32>, s: sampler, coords: f32, level: f32) -> vec4<f32>",
        f"{_LEVEL}(t: texture_depth_2d, {_UV}, level: L, {_OFFSET}) -> f32",
        f"{_LEVEL}(t: texture_depth_2d_array, {_UV}, {_LAYER}, level: L, {_OFFSET}) -> f32",
        f"{_LEVEL}(t: texture_depth_cube, {_UVW}, level: L) -> f32",
        f"{_LEVEL}(t: texture_depth_cube_array, {_UVW}, {_LAYER}, level: L) -> f32",
    ),
}
_declare_sample("textureSample", "", "A sample of a texture.", _SAMPLING)
_declare_sample("textureSampleBias", ", bias: f32", "A sample of a texture at a biased mip level.", _SAMPLING)
_declare_sample(
    "textureSampleGrad",
    ", ddx: vec<f32>, ddy: vec<f32>",
    "A sample of a texture at the mip level for given changes of the coordinates.",
    _CONST_OFFSET,
)
_declare_sample("textureSampleLevel", ", level: f32", "A sample of a texture at a given mip level.", _CONST_OFFSET)
declare(
    "textureSampleBaseClampToEdge",
    f"[T: texture_2d<f32> | texture_external](t: T, {_UV}) -> vec4<f32>",
    doc="A sample of the first level of a texture that never wraps around an edge.",
)
declare(
    "textureStore",
    f"{_STORE}(t: texture_storage_1d<F, M>, coords: C, value: {_TEXEL})",
    f"{_STORE}(t: texture_storage_2d<F, M>, coords: vec2<C>, value: {_TEXEL})",
    "[C: integer, A: integer, F: format, M: write | read_write](t: texture_storage_2d_array<F, M>, coords: vec2<C>,"
    f" {_LAYER}, value: {_TEXEL})",
    f"{_STORE}(t: texture_storage_3d<F, M>, coords: vec3<C>, value: {_TEXEL})",
    doc="Writes a single texel.",
    flags=Flags(must_use=False, has_side_effects=True),
)

SPREADS: Final = {
    name: f"__{name}Spread"
    for name in (
        "textureSampleLevel",
        "textureSampleGrad",
        "textureSampleCompareLevel",
        "textureSampleBaseClampToEdge",
    )
}
"""Functions of our own, which WGSL does not have, by the function whose arguments they take (see `move_samples`).

The spread of a sample is by how much, at most, each component of it changes if each rounding of a product of weights is
off by 1: the sum of the distances of its texels from their mean, times the number of products in a weight. It is 0 for
nearest filters.
"""
for _name, _spread in SPREADS.items():
    _row = TABLE[_name]
    declare(_spread, *_row.signatures, doc=f"The spread of `{_name}`.", flags=_row.flags, checks=_row.checks)
