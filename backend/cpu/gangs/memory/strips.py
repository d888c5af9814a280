"""Strips: Reads of a block at `s * i + c` for several constants `c`, where each lane has a part of an array of its own.

Such are the items of an invocation that has four of them, and the columns of a tile that an invocation multiplies by.
The strips of all lanes lie one behind the other, like records: they are loaded as whole vectors, and shuffled. One test
says that no position is past the end. The sums do not wrap then: positions are as far apart as the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout, ProductLayout, ScalarLayout
from ...storage import Storage
from ..analysis.bounds import constant_value
from .interleave import MOST_WORDS, WORDS_FOR_EACH
from .neighbours import between_effects, computed_from

_MODULUS = 1 << 32
_DEPTH = 12
"""The most operations, one after another, of a position that is taken apart."""


@dataclass(frozen=True, eq=False, slots=True)
class Strip:
    """Reads of one version, in the order of their positions, and how many elements each is behind the first one."""

    storage: Storage
    reads: tuple[h.Read, ...]
    offsets: tuple[int, ...]


def find_strips(
    nodes: Sequence[h.Node],
    taken: Collection[h.Node],
    storage_of: Callable[[h.Read], Storage | None],
    distance_of: Callable[[h.Node], int | None],
) -> list[Strip]:
    """The strips in a block, without Reads that are `taken`. `distance_of` says how far apart the positions of adjacent
    lanes are, if that is the same for all.
    """
    return [
        strip
        for stretch in between_effects(nodes)
        for strip in _strips_in([it for it in stretch if it not in taken], storage_of, distance_of)
        if not computed_from([position_of(it) for it in strip.reads], set(stretch)).intersection(strip.reads)
    ]


def _strips_in(
    free: Sequence[h.Node],
    storage_of: Callable[[h.Read], Storage | None],
    distance_of: Callable[[h.Node], int | None],
) -> Iterator[Strip]:
    groups: dict[tuple[object, ...], list[tuple[int, h.Read]]] = {}
    found: dict[tuple[object, ...], tuple[Storage, int]] = {}
    for node in free:
        storage = storage_of(node) if isinstance(node, h.Read) else None
        if not isinstance(node, h.Read) or storage is None or not _is_of_scalars(node, storage):
            continue
        distance, form = distance_of(position_of(node)), _form(position_of(node))
        if form is not None and distance is not None and 1 < distance <= MOST_WORDS:
            terms, constant = form
            key: tuple[object, ...] = node.collection, tuple(node.indices[:-1]), distance, terms
            found[key] = storage, distance
            groups.setdefault(key, []).append((constant, node))
    for key, members in groups.items():
        storage, distance = found[key]
        for part in _parts(members, distance):
            if distance <= WORDS_FOR_EACH * len(part) and len(part) > 1:
                first, _ = part[0]
                yield Strip(storage, tuple(it for _, it in part), tuple(constant - first for constant, _ in part))


def _parts(members: Sequence[tuple[int, h.Read]], distance: int) -> Iterator[list[tuple[int, h.Read]]]:
    """Reads whose positions are within the distance of two lanes, one of each position."""
    part = list[tuple[int, h.Read]]()
    for constant, read in sorted(dict(members).items()):
        if part and constant - part[0][0] >= distance:
            yield part
            part = []
        part.append((constant, read))
    yield part


def position_of(read: h.Read) -> h.Node:
    """The position that the last index of a Read gives."""
    last = read.indices[-1]
    assert isinstance(last, h.PositionIndex)
    return last.position


def _is_of_scalars(read: h.Read, storage: Storage) -> bool:
    """Whether a Read is of an array of scalars without room between them, behind fields only."""
    *others, last = read.indices
    layout = storage.layout
    for index in others:
        if not isinstance(index, h.FieldIndex) or not isinstance(layout, ProductLayout):
            return False
        layout = layout.fields[index.field]
    if not isinstance(last, h.PositionIndex) or not isinstance(layout, ArrayLayout):
        return False
    return isinstance(layout.element, ScalarLayout) and layout.stride == layout.element.size


_Terms = frozenset[tuple[h.Node, int]]


def _form(position: h.Node) -> tuple[_Terms, int] | None:
    """A position that is a sum of 32-bit integers, modulo 2^32: its terms with their factors, and its constant, signed.
    None for other positions.
    """
    if not isinstance(position, h.Cast):
        return None
    terms: dict[h.Node, int] = {}
    constant = _add(position.operand, 1, terms, _DEPTH) % _MODULUS
    found = frozenset((node, factor % _MODULUS) for node, factor in terms.items() if factor % _MODULUS)
    return found, constant - _MODULUS if constant >= _MODULUS // 2 else constant


def _add(node: h.Node, factor: int, terms: dict[h.Node, int], depth: int) -> int:
    """Add a sum's terms, each times a factor, to others; returns the sum's constant."""
    value = constant_value(node)
    if value is not None:
        return factor * value
    match node:
        case h.Bitcast(operand=operand) if depth:
            return _add(operand, factor, terms, depth - 1)
        case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB as op, lhs=lhs, rhs=rhs) if depth:
            other = factor if op is h.BinaryOp.ADD else -factor
            return _add(lhs, factor, terms, depth - 1) + _add(rhs, other, terms, depth - 1)
        case h.Binary(op=h.BinaryOp.MUL, lhs=lhs, rhs=rhs) if depth and (count := constant_value(rhs)) is not None:
            return _add(lhs, factor * count, terms, depth - 1)
        case h.Binary(op=h.BinaryOp.MUL, lhs=lhs, rhs=rhs) if depth and (count := constant_value(lhs)) is not None:
            return _add(rhs, factor * count, terms, depth - 1)
        case h.Binary(op=h.BinaryOp.SHIFT_LEFT, lhs=lhs, rhs=rhs) if (
            depth and (bits := constant_value(rhs)) is not None
        ):
            return _add(lhs, factor << bits % 32, terms, depth - 1)
        case _:
            terms[node] = terms.get(node, 0) + factor
            return 0
