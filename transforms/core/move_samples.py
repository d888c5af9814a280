"""Moves where samplers look, by distances in a buffer of our own: to see how far a result depends on them.

A GPU rounds the place of a sample to a fraction of a texel, and its level of detail to a fraction of a level (Vulkan,
`subTexelPrecisionBits` and `mipmapPrecisionBits`), rounds the products of these that are the weights of texels, and may
take another level for gradients ("Scale Factor Operation"). The words of the buffer say which samples of an invocation,
counted in the order in which it takes them, are moved, and how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir.builtins.textures import SPREADS
from ...ir.core import nodes
from ...ir.core.builder import Builder, constant, empty_block, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import F32, BindingPoint, Sampler, Texture, TextureKind
from .hidden_buffer import hidden_point
from .moves import OWN, AddedFunctions, common_text
from .replacing import copy_constant

MOVES, LEAST_LEVEL, SHARE, WEIGHTS = OWN, OWN + 4, OWN + 5, OWN + 6
"""The words of the buffer for samples, as f32. A sample is moved along x, y and z by those at `MOVES`, in texels, and
in its level of detail to the next multiple of the fourth, a power of two, down or up by its sign.

`LEAST_LEVEL` is the greatest `lod_min_clamp` of the samplers. Where the fourth move is not 0, a level that follows from
gradients moves by `SHARE` of the most that Vulkan allows, down or up.

The components of a sample are moved by the four at `WEIGHTS`, as multiples of its spread (see `SPREADS`).
"""
OWN_WORDS: Final = 10

ROUNDING: Final = 2.0**-21
"""How far coordinates are moved in addition, relative to them, or to 1 if they are less: four units in the last place.
A quotient is within 2.5 (WGSL, "Floating Point Accuracy"), and a sum and a product take half of one each.
"""

_LARGEST: Final = 2.0**20
_SHAPES: Final[Mapping[str, tuple[str, str, str]]] = {
    "line": ("f32", "x", "u32"),
    "plane": ("vec2f", "xy", "vec2u"),
    "space": ("vec3f", "xyz", "vec3u"),
    "cube": ("vec3f", "xyz", "vec2u"),
}
"""The types of coordinates and of extents, with the components of the moves."""

_COMMON: Final = f"""
var<private> moved_weights: vec4f;

fn move_words(first: u32) -> vec4f {{
    return vec4f(move_word(first), move_word(first + 1u), move_word(first + 2u), move_word(first + 3u));
}}

// How the place and the level of the next sample are moved: all 0 if it stays. `moved_weights` is for its components.
fn next_move() -> vec4f {{
    let is_moved = moves_next();
    moved_weights = select(vec4f(), move_words({WEIGHTS}), is_moved);
    return select(vec4f(), move_words({MOVES}), is_moved);
}}

fn moved_vec4f(found: vec4f, spread: vec4f) -> vec4f {{
    return select(found, found + moved_weights * spread, moved_weights != vec4f());
}}

fn moved_f32(found: f32, spread: f32) -> f32 {{ return moved_vec4f(vec4f(found), vec4f(spread)).x; }}

// The length of a texel of the coarser of the levels that a sample looks at, in texels of level 0.
fn texel_length(level: f32, levels: u32) -> f32 {{
    return exp2(clamp(ceil(max(level, move_word({LEAST_LEVEL}))), 0.0, f32(levels - 1u)));
}}

// The next level down or up that is a multiple of the move: a device's levels are, and a whole level is exact.
fn moved_level(level: f32, by: vec4f) -> f32 {{
    let step = select(1.0, abs(by.w), by.w != 0);
    let steps = level / step;
    return select(select(level, floor(steps) * step, by.w < 0), ceil(steps) * step, by.w > 0);
}}
"""
_OF_SHAPE: Final = """
fn texel_of_{shape}(at: {type}, size: {size}) -> {type} {{ return {texel}; }}

fn moved_{shape}(at: {type}, size: {size}, levels: u32, level: f32, by: vec4f) -> {type} {{
    let reach = abs(by.{axes}) * texel_length(level, levels) * texel_of_{shape}(at, size)
        + {rounding} * clamp(abs(at), {type}(1), {type}({largest}));
    return select(at, at + sign(by.{axes}) * reach, by.{axes} != {type}());
}}
"""
_OF_GRADIENTS: Final = """
// The level of detail of gradients.
fn level_of_{shape}(dx: {type}, dy: {type}, at: {type}, size: {size}) -> f32 {{
    let x = dx / texel_of_{shape}(at, size);
    let y = dy / texel_of_{shape}(at, size);
    return 0.5 * log2(max(dot(x, x), dot(y, y)));
}}

fn moved_gradient_{shape}(given: {type}, by: vec4f) -> {type} {{
    let levels = select({lower}, {upper}, by.w > 0) * move_word({share});
    return select(given, given * exp2(levels), by.w != 0);
}}
"""


@dataclass(frozen=True, slots=True)
class MovedSamples:
    """How the samples of a module may be moved, by the buffer at `point`: along so many `axes` at most.

    `has_levels` and `has_gradients` say whether calls state their level of detail, or gradients. Samples are blends of
    texels in so many `components` at most.
    """

    point: BindingPoint
    axes: int
    components: int
    has_levels: bool
    has_gradients: bool


def move_samples(module: nodes.Module, build: Callable[[str], nodes.Module]) -> MovedSamples | None:
    """Let the buffer move the samples of a module that was just built; `build` makes core IR of WGSL.

    None if no call takes a sampler. Raises InputError if no binding is left for the buffer.
    """
    sites = list(_sites(module))
    if not sites:
        return None
    shapes = list(dict.fromkeys(_shape(_texture(call)) for _, call in sites))
    point = hidden_point(module)
    library = AddedFunctions(module, build(_text(point, shapes)))
    for block, call in reversed(sites):
        _move(library, block, call)
    library.share_variables()
    return MovedSamples(
        point=point,
        axes=max(len(_SHAPES[it][1]) for it in shapes),
        components=max(_blended_components(call) for _, call in sites),
        has_levels=any(_has_level(call) for _, call in sites),
        has_gradients=any(call.function == "textureSampleGrad" for _, call in sites),
    )


def _sites(module: nodes.Module) -> Iterator[tuple[nodes.Block, nodes.BuiltinCall]]:
    for function in module.functions:
        for block in blocks_of(function):
            for call in block.instructions:
                if isinstance(call, nodes.BuiltinCall) and any(isinstance(it.type, Sampler) for it in call.arguments):
                    yield block, call


def _text(point: BindingPoint, shapes: Sequence[str]) -> str:
    return common_text(point, OWN_WORDS) + _COMMON + "".join(map(_text_of_shape, shapes))


def _text_of_shape(shape: str) -> str:
    type, axes, size = _SHAPES[shape]
    longest = "2 * max(max(abs(at.x), abs(at.y)), abs(at.z)) / f32(size.x)"
    texel = f"vec3f({longest})" if shape == "cube" else f"1 / {type}(size)"
    # The longest of n components is at least the length over sqrt(n), and their sum at most the length by sqrt(n).
    levels = 0.5 * math.log2(3 if shape == "space" else 2)
    values = {"shape": shape, "type": type, "axes": axes, "size": size, "texel": texel}
    text = _OF_SHAPE.format(**values, rounding=f"{type}({ROUNDING!r})", largest=_LARGEST)
    if shape == "line":
        return text
    return text + _OF_GRADIENTS.format(**values, share=SHARE, lower=-levels, upper=0.5 + levels)


def _texture(call: nodes.BuiltinCall) -> Texture:
    return next(it.type for it in call.arguments if isinstance(it.type, Texture))


def _shape(texture: Texture) -> str:
    if texture.dimension.startswith("cube"):
        return "cube"
    return {"1d": "line", "3d": "space"}.get(texture.dimension, "plane")


def _blended_components(call: nodes.BuiltinCall) -> int:
    """A gather blends nothing."""
    if call.function not in SPREADS:
        return 0
    return 1 if call.type is F32 else 4


def _has_level(call: nodes.BuiltinCall) -> bool:
    return call.function == "textureSampleLevel" and call.arguments[_first_own(call)].type is F32


def _sampler_index(call: nodes.BuiltinCall) -> int:
    return next(index for index, it in enumerate(call.arguments) if isinstance(it.type, Sampler))


def _first_own(call: nodes.BuiltinCall) -> int:
    """The index of the argument after the coordinates and the array index."""
    is_array = _texture(call).dimension in ("2d_array", "cube_array")
    return _sampler_index(call) + 2 + is_array


def _move(library: AddedFunctions, block: nodes.Block, call: nodes.BuiltinCall) -> None:
    """Put what moves a sample before its call, and what moves its components behind."""
    builder = Builder(library.module, empty_block())
    builder.span = call.span
    given = list(map(_copied, call.arguments))
    _move_arguments(library, builder, call)
    spread = builder.builtin_call(SPREADS[call.function], given) if call.function in SPREADS else None
    assert builder.block is not None
    position = block.instructions.index(call)
    block.instructions[position:position] = builder.block.instructions
    if spread is not None:
        _move_result(library, block, call, spread)


def _move_arguments(library: AddedFunctions, builder: Builder, call: nodes.BuiltinCall) -> None:
    own, where = _first_own(call), _sampler_index(call) + 1
    arguments, shape = list(call.arguments), _shape(_texture(call))
    by = library.call(builder, "next_move", [])
    at = arguments[where]
    size = builder.builtin_call("textureDimensions", [arguments[where - 2]])
    level: Value = constant(F32, 0.0)
    if call.function == "textureSampleGrad":
        dx, dy = arguments[own : own + 2]
        level = library.call(builder, f"level_of_{shape}", [dx, dy, at, size])
        for index in (own, own + 1):
            arguments[index] = library.call(builder, f"moved_gradient_{shape}", [arguments[index], by])
    elif call.function == "textureSampleLevel":
        level = _as_f32(builder, arguments[own])
        if _has_level(call):
            arguments[own] = library.call(builder, "moved_level", [level, by])
    levels = _levels(builder, arguments[where - 2])
    arguments[where] = library.call(builder, f"moved_{shape}", [at, size, levels, level, by])
    call.arguments = tuple(arguments)


def _move_result(library: AddedFunctions, block: nodes.Block, call: nodes.BuiltinCall, spread: Value) -> None:
    builder = Builder(library.module, empty_block())
    builder.span = call.span
    moved = library.call(builder, "moved_f32" if call.type is F32 else "moved_vec4f", [call, spread])
    for use in list(call.uses):
        if use.user is not moved:
            use.user.set_operand(use.index, moved)
    block.instructions.insert(block.instructions.index(call) + 1, moved)


def _as_f32(builder: Builder, level: Value) -> Value:
    return level if level.type is F32 else builder.convert(F32, _copied(level))


def _copied(value: Value) -> Value:
    return copy_constant(value) if isinstance(value, nodes.Constant) else value


def _levels(builder: Builder, texture: Value) -> Value:
    is_external = isinstance(texture.type, Texture) and texture.type.kind is TextureKind.EXTERNAL
    return u32(1) if is_external else builder.builtin_call("textureNumLevels", [texture])
