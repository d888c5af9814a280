"""Places of scalars in collections whose arrays of narrow integers and bools are packed into words (`packed_arrays`).

A read extracts the element from its word. A write changes a word that other threads may change at the same time, so it
is two atomics, one that clears the element and one that sets it. A function without forks has one thread, and reads
and writes the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.hercules import nodes as h
from ...ir.hercules.intervals import Range
from ...ir.hercules.placement import Placement
from ...ir.hercules.ranges import Ranges
from ...ir.hercules.types import I32, U32, U64, element_type, is_collection
from ...ir.hercules.versions import is_version_projection, taken_over, version_of
from .packed_arrays import bits_in_buffers, extents, packed_element
from .words import ALL_ONES, Op, Words, literal


@dataclass(frozen=True, slots=True)
class Place:
    """Where a scalar lies: the indices of what holds it, and the shift of its bits if that is a word of several."""

    indices: list[h.Index]
    type: h.Type
    shift: h.Node | None = None
    is_word: bool = False
    """A bool as a u32 of its own."""


@dataclass(slots=True)
class PackedPlaces:
    """Finds, reads and writes scalars in the collections of a function; the nodes that it makes go to `words`.

    `packed` are the versions that share storage with a parameter. Dynamic constants of the function, and the
    expressions `small`, are below 2^32. `replaced` maps nodes to what is computed in their place.
    """

    placed: Placement
    small: frozenset[h.DynamicConstant]
    words: Words
    replaced: Mapping[h.Node, h.Node]
    packed: set[h.Node] = field(init=False)
    is_alone: bool = field(init=False)
    _ranges: Ranges | None = None

    def __post_init__(self) -> None:
        self.packed = _versions_of_parameters(self.placed)
        self.is_alone = not any(isinstance(node, h.Fork) for node in self.placed.function.nodes)

    def range(self, node: h.Node, block: h.Node) -> Range:
        """The values of an integer at a block."""
        if self._ranges is None:
            self._ranges = Ranges(self.placed, 32, self.small)
        return self._ranges.at(node, block)

    def place(self, collection: h.Node, indices: Sequence[h.Index], block: h.Node) -> Place | None:
        """Where the indices lead now; None if to the same place as before."""
        return self.place_in(self.placed.types[collection], indices, block) if self.is_packed(collection) else None

    def place_in(self, type: h.Type, indices: Sequence[h.Index], block: h.Node) -> Place | None:
        """Where the indices lead in a packed collection."""
        for number, index in enumerate(indices):
            if packed_element(type) is not None:
                return self._packed_place(type, list(indices[:number]), indices[number:], block)
            inner = element_type(type, index)
            assert inner is not None
            if isinstance(type, h.Product) and isinstance(inner, h.Bool):
                return Place(list(indices), inner, is_word=True)
            type = inner
        return None

    def _packed_place(self, type: h.Type, above: list[h.Index], indices: Sequence[h.Index], block: h.Node) -> Place:
        scalar, sizes = packed_element(type), extents(type)
        assert scalar is not None
        words = self.words
        number: h.Node = words.u32(0)
        for size, index in zip(sizes, indices, strict=True):
            assert isinstance(index, h.PositionIndex)
            place = self._clamped(index.position, size, block)
            number = words.binary(Op.ADD, words.binary(Op.MUL, number, self._extent(size)), place)
        bits = bits_in_buffers(scalar)
        steps = 2 if bits == 8 else 1
        word = words.binary(Op.SHIFT_RIGHT, number, words.u32(steps))
        within = words.both(number, words.u32((1 << steps) - 1))
        shift = words.binary(Op.SHIFT_LEFT, within, words.u32(5 - steps))
        return Place([*above, h.PositionIndex(self._wide(word))], scalar, shift)

    def _wide(self, word: h.Node) -> h.Node:
        known = literal(word)
        return self.words.cast(U64, word) if known is None else self.words.integer(U64, int(known))

    def _extent(self, extent: h.DynamicConstant) -> h.Node:
        if isinstance(extent, h.DynamicLiteral):
            return self.words.u32(extent.value & ALL_ONES)
        return self.words.cast(U32, self.words.add(h.DynamicConstantNode(extent)))

    def _clamped(self, position: h.Node, extent: h.DynamicConstant, block: h.Node) -> h.Node:
        """A position as a u32, at most that of the last element."""
        words = self.words
        known = literal(position)
        if known is not None and isinstance(extent, h.DynamicLiteral):
            return words.u32(min(int(known), max(extent.value - 1, 0)))
        if known is not None:
            number = words.u32(min(int(known), ALL_ONES))
        elif isinstance(position, h.Cast):
            number = self.replaced.get(position.operand, position.operand)
        else:
            number = words.cast(U32, position)
        if position in self.placed.place and self.range(position, block).is_below(extent):
            return number
        last = words.binary(Op.SUB, self._extent(extent), words.u32(1))
        return words.intrinsic("min", U32, number, last)

    def extracted(self, place: Place, word: h.Node) -> h.Node:
        """The scalar in a word, or in what holds it alone."""
        words = self.words
        if place.is_word:
            return words.is_not_zero(word)
        if place.shift is None:
            return word
        bits = bits_in_buffers(place.type)
        if isinstance(place.type, h.Integer) and place.type.signed:
            up = words.binary(Op.SUB, words.u32(32 - bits), place.shift)
            moved = words.bitcast(I32, words.binary(Op.SHIFT_LEFT, word, up))
            return words.binary(Op.SHIFT_RIGHT, moved, words.integer(I32, 32 - bits))
        found = words.both(words.binary(Op.SHIFT_RIGHT, word, place.shift), words.u32((1 << bits) - 1))
        return words.is_not_zero(found) if isinstance(place.type, h.Bool) else found

    def in_place(self, place: Place, value: h.Node) -> h.Node:
        """The bits of a scalar at its place in a word that is zero elsewhere."""
        words = self.words
        assert place.shift is not None
        if isinstance(place.type, h.Bool):
            value = words.cast(U32, value)
        elif isinstance(place.type, h.Integer) and place.type.signed:
            mask = words.u32((1 << place.type.bits) - 1)
            value = words.both(words.bitcast(U32, value), mask)
        return words.binary(Op.SHIFT_LEFT, value, place.shift)

    def others(self, place: Place) -> h.Node:
        """The mask of the bits of a word that belong to other elements."""
        words = self.words
        assert place.shift is not None
        mask = words.binary(Op.SHIFT_LEFT, words.u32((1 << bits_in_buffers(place.type)) - 1), place.shift)
        return words.unary(h.UnaryOp.NOT, mask)

    def inserted(self, place: Place, word: h.Node, value: h.Node) -> h.Node:
        """What holds a scalar, after the scalar is written there."""
        if place.shift is None:
            return value
        words = self.words
        return words.either(words.both(word, self.others(place)), self.in_place(place, value))

    def is_packed(self, node: h.Node) -> bool:
        """Whether a version of a collection shares storage with a parameter."""
        return node in self.packed or version_of(node) in self.packed

    def stored(self, version: h.Node, place: Place, value: h.Node) -> h.Node:
        """The collection after a scalar is written."""
        words = self.words
        if place.shift is None:
            stored = words.cast(U32, value) if place.is_word else value
            return words.add(h.Write(version, stored, list(place.indices)))
        if self.is_alone:
            word = words.add(h.Read(version, list(place.indices)))
            return words.add(h.Write(version, self.inserted(place, word, value), list(place.indices)))
        version, _ = self.on_word(h.AtomicOp.AND, version, place, self.others(place))
        version, _ = self.on_word(h.AtomicOp.OR, version, place, self.in_place(place, value))
        return version

    def on_word(self, op: h.AtomicOp, version: h.Node, place: Place, *operands: h.Node) -> tuple[h.Read, h.Read]:
        """An atomic: the collection after it, and the old word."""
        atomic = self.words.add(h.Atomic(op, version, list(place.indices), list(operands)))
        after, old = (self.words.add(h.Read(atomic, [h.FieldIndex(number)])) for number in range(2))
        return after, old


def _versions_of_parameters(placed: Placement) -> set[h.Node]:
    """The versions of collections that share storage with a parameter on some path."""
    neighbours: dict[h.Node, list[h.Node]] = {}
    pending: list[h.Node] = []
    for node in placed.function.nodes:
        if not is_collection(placed.types[node]):
            continue
        if isinstance(node, h.Parameter):
            pending.append(node)
        before = [version_of(node)] if is_version_projection(node) else [*taken_over(node)]
        for other in before:
            neighbours.setdefault(node, []).append(other)
            neighbours.setdefault(other, []).append(node)
    found = set[h.Node]()
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += neighbours.get(node, ())
    return found
