"""Texture builtin functions on the collections that represent textures (see `ir.textures`).

Coordinates count as unsigned. A load outside of the texture clamps them to the last texel; a store there has no effect
(WGSL, "textureLoad", "textureStore").
"""

from __future__ import annotations

from collections.abc import Sequence

from ...base.records import dataclass
from ...ir import textures
from ...ir import types as wgsl
from ...ir.core import nodes as c
from ...ir.handle_facts import TextureFacts
from ...ir.hercules import nodes as h
from ...ir.texels import TexelFormat
from . import memory, texels
from . import types as t
from .machine import Machine
from .values import Cell, Designator, Tree, node_of, scalars_of

_COUNT = 3
"""The member of a size that is the number of levels or samples."""

ADD, SUB, MUL, LESS, AND = h.BinaryOp.ADD, h.BinaryOp.SUB, h.BinaryOp.MUL, h.BinaryOp.LESS, h.BinaryOp.AND


def is_texture_call(call: c.BuiltinCall) -> bool:
    """Whether the call is of a texture function that takes no sampler."""
    return call.function in _FUNCTIONS and textures.is_loadable(call.arguments[0].type)


def translate(machine: Machine, call: c.BuiltinCall, arguments: Sequence[Tree]) -> Tree | None:
    """The call's value; None for a store."""
    texture, type = arguments[0], call.arguments[0].type
    assert isinstance(texture, Designator)
    assert isinstance(type, wgsl.Texture)
    return _FUNCTIONS[call.function](_Texture(machine, texture, type), arguments[1:])


@dataclass(frozen=True, slots=True)
class _Texture:
    """A texture, with the designator of its whole structure."""

    machine: Machine
    at: Designator
    type: wgsl.Texture

    @property
    def facts(self) -> TextureFacts:
        """What is known of the texture."""
        assert isinstance(self.at.place, Cell)
        return self.machine.texture_facts[self.at.place]

    def op(self, op: h.BinaryOp, left: h.Node, right: h.Node) -> h.Node:
        """A Binary node."""
        return self.machine.graph.binary(op, left, right)

    def _member(self, member: int, index: int | h.Node) -> h.Node:
        element = self.at.element(member, wgsl.vector(4, wgsl.U32)).element(index, wgsl.U32)
        return node_of(memory.load(self.machine, element))

    def size(self, axis: int) -> h.Node:
        """A member of the size: width, height, depth or layers of the first level; the fourth is levels or samples."""
        if axis == _COUNT and self.facts.has_one_level:
            return self.machine.graph.u32(1)
        return self._member(textures.SIZE, axis)

    def clamped(self, value: h.Node, count: h.Node) -> h.Node:
        """An index as unsigned, clamped to the last one."""
        last = self.op(SUB, count, self.machine.graph.u32(1))
        return self.machine.graph.intrinsic("min", t.U32, self.unsigned(value), last)

    def unsigned(self, value: h.Node) -> h.Node:
        """An i32 or u32 as u32, bit for bit."""
        return self.machine.graph.bitcast(t.U32, value)

    def extents(self, level: h.Node | None) -> list[h.Node]:
        """Width, height, and depth or layers of an existing level; of the first level if none is given."""
        sizes = [self.size(axis) for axis in range(3)]
        if level is None:
            return sizes
        count = 2 if textures.is_layered(self.type) else 3
        return [self._shrunk(size, level) for size in sizes[:count]] + sizes[count:]

    def _shrunk(self, size: h.Node, level: h.Node) -> h.Node:
        graph = self.machine.graph
        return graph.intrinsic("max", t.U32, self.op(h.BinaryOp.SHIFT_RIGHT, size, level), graph.u32(1))

    def level(self, value: Tree | None) -> h.Node | None:
        """A level clamped to those that exist; None for the first one, which always exists."""
        if value is None or textures.is_multisampled(self.type) or self.facts.has_one_level:
            return None
        match node_of(value):
            case h.ConstantNode(value=h.IntegerConstant(value=0)):
                return None
            case node:
                return self.clamped(node, self.size(_COUNT))

    def start(self, level: h.Node | None) -> h.Node | None:
        """The number of the first texel of a level; None for the first level, where it is 0."""
        if level is None:
            return None
        return self._member(textures.STARTS, self.machine.graph.cast(t.U64, level))

    def texel(self, at: Sequence[h.Node], extents: Sequence[h.Node]) -> h.Node:
        """The number of a texel in its level."""
        number, *rest = reversed(at)
        for coordinate, extent in zip(rest, reversed(extents[: len(rest)]), strict=True):
            number = self.op(ADD, self.op(MUL, number, extent), coordinate)
        return number

    def words(self, number: h.Node) -> Designator:
        """The words of the texel with that number, in the form of `storage_type`."""
        array = textures.texel_array(self.type, in_bytes=self.facts.are_bytes is True)
        texels_ = self.at.element(textures.TEXELS, array)
        return texels_.element(self.machine.graph.cast(t.U64, number), array.element)

    def word(self, number: h.Node) -> Designator:
        """A word of all texels, where a texel is a vector of four in `storage_type`."""
        four = self.words(self.op(h.BinaryOp.SHIFT_RIGHT, number, self.machine.graph.u32(2)))
        place = self.op(AND, number, self.machine.graph.u32(3))
        return four.element(self.machine.graph.cast(t.U64, place), wgsl.U32)

    def are_bytes(self) -> h.Node:
        """Whether texels are bytes."""
        return self.op(h.BinaryOp.NOT_EQUAL, self._member(textures.FORMAT, 0), self.machine.graph.u32(0))


def _coordinates(texture: _Texture, arguments: Sequence[Tree]) -> tuple[list[h.Node], Sequence[Tree]]:
    """The coordinates with the layer, if there are layers, and the arguments after them."""
    at = list(scalars_of(arguments[0]))
    if textures.is_layered(texture.type):
        return [*at, node_of(arguments[1])], arguments[2:]
    return at, arguments[1:]


def _load(texture: _Texture, arguments: Sequence[Tree]) -> Tree:
    at, rest = _coordinates(texture, arguments)
    level = texture.level(rest[0] if rest else None)
    extents = texture.extents(level)[: len(at)]
    inside = [texture.clamped(value, extent) for value, extent in zip(at, extents, strict=True)]
    number = texture.texel(inside, extents)
    start = texture.start(level)
    if start is not None:
        number = texture.op(ADD, start, number)
    if textures.is_multisampled(texture.type):
        count = texture.size(_COUNT)
        number = texture.op(ADD, texture.op(MUL, number, count), texture.clamped(node_of(rest[0]), count))
    form, in_bytes = textures.format_of(texture.type), textures.format_of_bytes(texture.type)
    match texture.facts.are_bytes:
        case True if in_bytes is not None:
            return _texel(texture, in_bytes, texture.words(number))
        case None if in_bytes is not None:
            return texture.machine.choose(
                texture.are_bytes(),
                lambda: _texel(texture, in_bytes, texture.word(number)),
                lambda: _texel(texture, form, texture.words(number)),
            )
        case _:
            texel = _texel(texture, form, texture.words(number))
            return texel[0] if textures.is_depth(texture.type) else texel


def _texel(texture: _Texture, form: TexelFormat, at: Designator) -> tuple[h.Node, ...]:
    """The texel whose words are there."""
    return texels.decode(texture.machine.graph, form, list(scalars_of(memory.load(texture.machine, at))))


def _store(texture: _Texture, arguments: Sequence[Tree]) -> None:
    machine = texture.machine
    at, (value,) = _coordinates(texture, arguments)
    at = [texture.unsigned(coordinate) for coordinate in at]
    extents = texture.extents(None)[: len(at)]
    words = texels.encode(machine.graph, textures.format_of(texture.type), list(scalars_of(value)))
    is_inside: h.Node | None = None
    for coordinate, extent in zip(at, extents, strict=True):
        test = texture.op(LESS, coordinate, extent)
        is_inside = test if is_inside is None else texture.op(AND, is_inside, test)
    assert is_inside is not None
    target = texture.words(texture.texel(at, extents))
    with machine.when(is_inside):
        memory.store(machine, target, words[0] if len(words) == 1 else tuple(words))


def _dimensions(texture: _Texture, arguments: Sequence[Tree]) -> Tree:
    extents = texture.extents(texture.level(arguments[0] if arguments else None))
    count = textures.rank(texture.type)
    return extents[0] if count == 1 else tuple(extents[:count])


def _count(texture: _Texture, arguments: Sequence[Tree]) -> Tree:
    del arguments
    return texture.size(_COUNT)


def _layers(texture: _Texture, arguments: Sequence[Tree]) -> Tree:
    del arguments
    layers = texture.size(2)
    if texture.type.dimension != "cube_array":
        return layers
    return texture.op(h.BinaryOp.DIV, layers, texture.machine.graph.u32(6))


_FUNCTIONS = {
    "textureLoad": _load,
    "textureStore": _store,
    "textureDimensions": _dimensions,
    "textureNumLevels": _count,
    "textureNumSamples": _count,
    "textureNumLayers": _layers,
}
