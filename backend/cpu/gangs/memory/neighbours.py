"""Neighbours: Reads of 32-bit words whose positions are likely next to each other in each lane.

Such are the texels that a linear filter blends, and elements at rounded coordinates. Half as many loads of
64 bits get both words of each pair. Whether positions really are next to each other is tested once for all pairs of a
group; at the border of a picture they may not be.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ...storage import Storage
from ..analysis.bounds import constant_value

_WORD = 4
_MOST_PAIRS = 2
"""Maximum number of pairs in a group: those of a bilinear filter. More would take the registers that other values need.
"""
_MOST_READS, _MOST_TERMS, _MOST_ORIGINS = 64, 16, 24
"""Maximum numbers of Reads of one storage, of terms of a position, and of values that a term may come from, in which
neighbours are looked for.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two Reads of one version. In each lane the second position is likely that of the first one plus 1."""

    first: h.Read
    second: h.Read


@dataclass(eq=False, slots=True)
class Neighbours:
    """Pairs of Reads of one storage that are made together, at the first one in the block."""

    storage: Storage
    pairs: list[Pair] = field(default_factory=list[Pair])

    @property
    def reads(self) -> list[h.Read]:
        """All Reads."""
        return [it for pair in self.pairs for it in (pair.first, pair.second)]


def find_neighbours(
    nodes: Sequence[h.Node],
    taken: Collection[h.Node],
    storage_of: Callable[[h.Read], Storage | None],
    is_scattered: Callable[[h.Node], bool],
) -> list[Neighbours]:
    """The groups in a block, without Reads that are `taken`. `is_scattered` says whether a position differs between
    lanes in no known way.
    """
    return [
        group
        for stretch in between_effects(nodes)
        for group in _groups(stretch, [it for it in stretch if it not in taken], storage_of, is_scattered)
    ]


def in_order(nodes: Sequence[h.Node], groups: Sequence[Sequence[h.Read]]) -> list[h.Node]:
    """The nodes of a block, where the positions of a group of Reads are computed before its first one."""
    leads = {min(reads, key=nodes.index): reads for reads in groups}
    ordered: dict[h.Node, None] = {}
    for node in nodes:
        if node in leads:
            reads = leads[node]
            needed = computed_from([index for it in reads for index in predecessors(it)], set(nodes))
            ordered.update(dict.fromkeys(it for it in nodes if it in needed and it not in reads))
        ordered[node] = None
    return list(ordered)


def between_effects(nodes: Sequence[h.Node]) -> Iterator[list[h.Node]]:
    """The parts of a block in which nothing is written, so that Reads may be made in any order."""
    stretch: list[h.Node] = []
    for node in nodes:
        if isinstance(node, (h.WritingNode, h.Call)):
            yield stretch
            stretch = []
        else:
            stretch.append(node)
    yield stretch


def _groups(
    stretch: Sequence[h.Node],
    free: Sequence[h.Node],
    storage_of: Callable[[h.Read], Storage | None],
    is_scattered: Callable[[h.Node], bool],
) -> list[Neighbours]:
    by_collection: dict[object, list[h.Read]] = {}
    for node in free:
        storage = storage_of(node) if isinstance(node, h.Read) else None
        if isinstance(node, h.Read) and storage is not None and _is_word(node, storage.layout, is_scattered):
            key = node.collection, *(it.field for it in node.indices if isinstance(it, h.FieldIndex))
            by_collection.setdefault(key, []).append(node)
    inside, groups = set(stretch), list[Neighbours]()
    for reads in by_collection.values():
        storage = storage_of(reads[0])
        assert storage is not None
        current = Neighbours(storage)
        for pair in _pairs(reads):
            if not _may_join(pair, current, inside) or len(current.pairs) == _MOST_PAIRS:
                current = Neighbours(storage)
            if not _may_join(pair, current, inside):
                continue
            if not current.pairs:
                groups.append(current)
            current.pairs.append(pair)
    return groups


def _is_word(read: h.Read, layout: Layout, is_scattered: Callable[[h.Node], bool]) -> bool:
    """Whether the last index of a Read, a scattered one, chooses a word of an array of words that is none's element."""
    *others, last = read.indices
    if not isinstance(last, h.PositionIndex) or not is_scattered(last.position):
        return False
    for index in others:
        if not isinstance(index, h.FieldIndex) or not isinstance(layout, ProductLayout):
            return False
        layout = layout.fields[index.field]
    if not isinstance(layout, ArrayLayout) or layout.stride != _WORD:
        return False
    return isinstance(layout.element, ScalarLayout) and layout.element.size == _WORD


def _may_join(pair: Pair, group: Neighbours, inside: Collection[h.Node]) -> bool:
    """Whether no position of a group with the pair depends on a value that the group reads."""
    reads = [*group.reads, pair.first, pair.second]
    return not computed_from([_position(it) for it in reads], inside).intersection(reads)


def computed_from(wanted: Sequence[h.Node], inside: Collection[h.Node]) -> set[h.Node]:
    """What of a block some of its values are computed from, and they themselves."""
    found, pending = set[h.Node](), list(wanted)
    while pending:
        node = pending.pop()
        if node in inside and node not in found:
            found.add(node)
            pending += predecessors(node)
    return found


def _pairs(reads: Sequence[h.Read]) -> Iterator[Pair]:
    forms = {it: _Form.of(_position(it)) for it in reads[:_MOST_READS]}
    paired = set[h.Read]()
    for one, other in combinations(forms, 2):
        if one in paired or other in paired:
            continue
        for first, second in ((one, other), (other, one)):
            if first not in paired and forms[second].follows(forms[first]):
                paired |= {first, second}
                yield Pair(first, second)


def _position(read: h.Read) -> h.Node:
    last = read.indices[-1]
    assert isinstance(last, h.PositionIndex)
    return last.position


@dataclass(frozen=True, slots=True)
class _Form:
    """A position as a sum. For each term, `origins` has values, and the constant distances from them, that the term has
    where it is not at a border.
    """

    terms: Counter[h.Node]
    origins: Mapping[h.Node, set[tuple[h.Node, int]]]

    @staticmethod
    def of(position: h.Node) -> _Form:
        """The form of a position."""
        terms = Counter(_terms(position))
        return _Form(terms, {it: set(_origins(it)) for it in terms})

    def follows(self, other: _Form) -> bool:
        """Whether the sums differ in one term only, which likely is greater by 1 here."""
        mine, others = list((self.terms - other.terms).elements()), list((other.terms - self.terms).elements())
        if not others and len(mine) == 1:
            return constant_value(mine[0]) == 1
        if len(mine) != 1 or len(others) != 1:
            return False
        before = other.origins[others[0]]
        return any((root, distance - 1) in before for root, distance in self.origins[mine[0]])


def _terms(position: h.Node) -> Iterator[h.Node]:
    """The terms of a sum of integers. The last ones are sums where there are many."""
    pending, count = [position], 1
    while pending:
        match pending.pop():
            case h.Cast(type=h.Integer(), operand=operand):
                pending.append(operand)
            case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs) if count < _MOST_TERMS:
                pending += [rhs, lhs]
                count += 1
            case term:
                yield term


def _origins(term: h.Node) -> Iterator[tuple[h.Node, int]]:
    """What a coordinate is computed from by additions of constants, and by what keeps it inside of a picture."""
    pending = deque([(term, 0)])
    for _ in range(_MOST_ORIGINS):
        if not pending:
            return
        node, distance = pending.popleft()
        yield node, distance
        match node:
            case h.Bitcast(operand=operand) | h.Cast(type=h.Integer(), operand=operand):
                pending.append((operand, distance))
            case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs):
                constants = (lhs, constant_value(rhs)), (rhs, constant_value(lhs))
                pending += [(value, distance + it) for value, it in constants if it is not None]
            case h.Select(if_true=if_true, if_false=if_false):
                pending += [(if_true, distance), (if_false, distance)]
            case h.Intrinsic(function="min" | "max" | "clamp", arguments=arguments):
                pending += [(it, distance) for it in arguments]
            case h.Binary(op=h.BinaryOp.REM, lhs=lhs):  # of a coordinate that is wrapped around
                pending.append((lhs, distance))
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)
