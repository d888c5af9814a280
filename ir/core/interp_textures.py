"""Texture builtin functions in the interpreter, on the bytes that `ir.textures` describes.

Coordinates, levels and samples outside of a texture are taken as unsigned and clamped to the last when a texel is
loaded; such a store is dropped (WGSL, "textureLoad", "textureStore").
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import cast

from ..constants import RawValue
from ..texels import TexelFormat
from ..textures import (
    HEADER_BYTES,
    TextureExtent,
    format_in,
    format_of,
    is_depth,
    is_layered,
    is_loadable,
    is_multisampled,
    level_extent,
    level_starts,
    rank,
    read_extent,
)
from ..types import Texture
from . import nodes
from .interp_frame import Frame, Memory, Operation


def texture_operation(node: nodes.BuiltinCall, arguments: tuple[int, ...], target: int) -> Operation | None:
    """The closure of a call on a texture without a sampler; None for any other call."""
    texture = node.arguments[0].type if node.arguments else None
    if not isinstance(texture, Texture) or not is_loadable(texture):
        return None
    match node.function:
        case "textureLoad":
            return _load(texture, TexelArguments(texture, node, arguments), arguments[0], target)
        case "textureStore":
            return _store(texture, TexelArguments(texture, node, arguments), arguments[0], arguments[-1])
        case "textureDimensions":
            return _dimensions(texture, arguments, target)
        case "textureNumLevels" | "textureNumSamples":
            return _asked(lambda extent: extent.count, arguments[0], target)
        case "textureNumLayers":
            faces = 6 if texture.dimension == "cube_array" else 1
            return _asked(lambda extent: extent.depth // faces, arguments[0], target)
        case _:
            return None


class TexelArguments:
    """The frame slots of the arguments of a load or a store: coordinates, then the layer, then the level or sample."""

    def __init__(self, texture: Texture, node: nodes.BuiltinCall, arguments: tuple[int, ...]) -> None:
        self.texture = texture
        rest = arguments[2:-1] if node.function == "textureStore" else arguments[2:]
        self.coordinates = arguments[1]
        self.layer = rest[0] if is_layered(texture) else None
        self.last = rest[-1] if len(rest) > is_layered(texture) else None

    def given(self, frame: Frame) -> tuple[list[int], int]:
        """The coordinates (x, y, z or layer), and the level or sample, all unsigned."""
        at = _numbers(frame[self.coordinates])
        if self.layer is not None:
            at.append(frame[self.layer])
        at += [0] * (3 - len(at))
        last: int = 0 if self.last is None else frame[self.last]
        return [number & 0xFFFFFFFF for number in at], last & 0xFFFFFFFF


def texel_offset(form: TexelFormat, texture: Texture, extent: TextureExtent, at: Sequence[int], last: int) -> int:
    """The offset in bytes of a texel, or of a sample of one, that is in the texture."""
    samples, level, sample = (extent.count, 0, last) if is_multisampled(texture) else (1, last, 0)
    width, height, _ = level_extent(texture, extent, level)
    number = (at[2] * height + at[1]) * width + at[0]
    index = level_starts(texture, extent)[level] + number * samples + sample
    return HEADER_BYTES + index * form.words * 4


def _load(texture: Texture, place: TexelArguments, slot: int, target: int) -> Operation:
    has_one_number = is_depth(texture)

    def run(frame: Frame) -> None:
        memory: Memory = frame[slot]
        extent = read_extent(memory)
        at, last = place.given(frame)
        last = min(last, extent.count - 1)
        level = 0 if is_multisampled(texture) else last
        inside = [min(a, size - 1) for a, size in zip(at, level_extent(texture, extent, level), strict=True)]
        form = format_in(texture, memory)
        offset = texel_offset(form, texture, extent, inside, last)
        texel = form.decode(struct.unpack_from(f"<{form.words}I", memory, offset))
        frame[target] = texel[0] if has_one_number else texel

    return run


def _store(texture: Texture, place: TexelArguments, slot: int, value: int) -> Operation:
    form = format_of(texture)
    pack_into = struct.Struct(f"<{form.words}I").pack_into

    def run(frame: Frame) -> None:
        memory: Memory = frame[slot]
        extent = read_extent(memory)
        at, _ = place.given(frame)
        if all(a < size for a, size in zip(at, level_extent(texture, extent, 0), strict=True)):
            pack_into(memory, texel_offset(form, texture, extent, at, 0), *form.encode(frame[value]))

    return run


def _dimensions(texture: Texture, arguments: tuple[int, ...], target: int) -> Operation:
    count, slot = rank(texture), arguments[0]
    level_slot = arguments[1] if len(arguments) > 1 else None

    def run(frame: Frame) -> None:
        extent = read_extent(frame[slot])
        level = 0 if level_slot is None else min(frame[level_slot] & 0xFFFFFFFF, extent.count - 1)
        sizes = level_extent(texture, extent, level)
        frame[target] = sizes[0] if count == 1 else sizes[:count]

    return run


def _asked(answer: Callable[[TextureExtent], int], slot: int, target: int) -> Operation:
    def run(frame: Frame) -> None:
        frame[target] = answer(read_extent(frame[slot]))

    return run


def _numbers(value: RawValue) -> list[int]:
    return [value] if isinstance(value, int) else list(cast("Sequence[int]", value))
