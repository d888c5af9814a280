"""Loops in which each thread goes along a row of workgroup memory that is its own.

In a raking scan, a thread sums a run of words; in a radix sort, it scans its part of the counters. The loop is executed
at compile time for all threads of a fork, as far as positions go. So it does not matter by which formula a kernel says
them, in which order a thread takes its words, or whether rows have room between them against conflicts of banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...layout import ArrayLayout, ProductLayout, ScalarLayout
from ...memory import is_padded
from ...storage import Storage, StoragePlan
from .alike import turns_together
from .body import Level
from .known import KnownValues, Values

_WORD = 4
MOST_WORDS = 32
"""The most words of a row: vectors of this number are kept."""

_MOST_DENSE = 4
"""The most words of a row that are loaded and stored with those of the next threads, as whole vectors."""

Access = h.Read | h.Write


@dataclass(frozen=True, slots=True)
class Walk:
    """The word of a row that an access touches: `first` in the loop's first turn, `step` more in each one than in that
    before.
    """

    first: int
    step: int


@dataclass(frozen=True, eq=False, slots=True)
class OwnRows:
    """The rows of a storage in a loop. That of thread 0 has `size` words from the word `start` on; those of the next
    threads are `distance` words apart. A loop that takes `turns` turns touches no other words of the storage.

    `written` are the words of each row that it may change. If it surely writes the whole row before it reads any word,
    the row is not `read`.
    """

    storage: Storage
    start: int
    distance: int
    size: int
    walks: Mapping[Access, Walk]
    written: frozenset[int]
    is_read: bool
    turns: int

    @property
    def is_dense(self) -> bool:
        """Whether rows of all threads fill memory, and their size is a power of two."""
        return self.distance == self.size and self.size & (self.size - 1) == 0 and self.size <= _MOST_DENSE


def find_own_rows(
    placed: Placement,
    plan: StoragePlan,
    forks: Sequence[h.Fork],
    level: Level,
    outside: Mapping[h.Node, Values],
) -> list[OwnRows]:
    """The rows in a loop that has no loops inside and that all threads leave together."""
    if any(it.inner is not None for it in level.items):
        return []
    accesses = _accesses(placed, plan, level)
    found = turns_together(placed, forks, level, outside) if accesses else None
    if found is None or len(found) < 2:
        return []
    before = KnownValues(placed.types, forks, outside)
    known = [before.with_counters({**outside, **it.counters}) for it in found]
    rows = (_rows(placed, level, storage, nodes, known) for storage, nodes in accesses.items())
    return [it for it in rows if it is not None]


def _accesses(placed: Placement, plan: StoragePlan, level: Level) -> dict[Storage, list[Access]]:
    """The accesses of a loop to workgroup memory that is only read and written there."""
    found: dict[Storage, list[Access]] = {}
    others: set[Storage] = set()
    for leader in level.leaders:
        for node in placed.blocks[leader]:
            if isinstance(node, h.Call):
                return {}
            if isinstance(node, h.Atomic):
                others.add(plan.of(node))
            elif isinstance(node, h.Read) and _is_access(placed, node):
                found.setdefault(plan.of(node.collection), []).append(node)
            elif isinstance(node, h.Write) and not is_version_projection(node):
                if plan.needs_transfer(node.collection, node):
                    others.add(plan.of(node))
                found.setdefault(plan.of(node), []).append(node)
    return {it: nodes for it, nodes in found.items() if it not in others and _is_memory(it)}


def _is_access(placed: Placement, node: h.Read) -> bool:
    """Whether a Read is of a scalar in a storage."""
    types, collection = placed.types, node.collection
    is_inside = is_collection(types.get(collection)) and not isinstance(collection, h.ConstantNode)
    return is_inside and not is_collection(types.get(node)) and not is_version_projection(node)


def _is_memory(storage: Storage) -> bool:
    """Whether a storage is workgroup memory that is not in registers."""
    return is_padded(storage) and not storage.is_in_registers


def _rows(
    placed: Placement, level: Level, storage: Storage, nodes: Sequence[Access], known: Sequence[KnownValues]
) -> OwnRows | None:
    """The rows that some accesses touch, which are all accesses to a storage."""
    first_words: dict[Access, list[int]] = {}
    distances: set[int] = set()
    for node in nodes:
        for values in known if placed.place[node] is level.header else known[:-1]:
            words = _words(storage, node, values)
            if words is None or len(words) < 2:
                return None
            distance = words[1] - words[0]
            if any(it != words[0] + distance * thread for thread, it in enumerate(words)):
                return None
            distances.add(distance)
            first_words.setdefault(node, []).append(words[0])
    if len(distances) != 1:
        return None
    (distance,), start = distances, min(map(min, first_words.values()))
    size = max(map(max, first_words.values())) - start + 1
    walks = {node: _walk([it - start for it in words]) for node, words in first_words.items()}
    given = {node: it for node, it in walks.items() if it is not None}
    if size > min(distance, MOST_WORDS) or len(given) < len(walks):
        return None
    touched = {node: frozenset(it - start for it in words) for node, words in first_words.items()}
    written = frozenset[int]().union(*(it for node, it in touched.items() if isinstance(node, h.Write)))
    is_filled = all(isinstance(it, h.Write) for it in nodes) and len(_sure(placed, level, touched)) == size
    return OwnRows(storage, start, distance, size, given, written, not is_filled, len(known) - 1)


def _sure(placed: Placement, level: Level, touched: Mapping[Access, frozenset[int]]) -> frozenset[int]:
    """The words that are touched in blocks that each turn passes."""
    loop = level.container
    assert isinstance(loop, Loop)
    dominates, place = placed.dominators.dominates, placed.place
    passed = (it for node, it in touched.items() if all(dominates(place[node], latch) for latch in loop.latches))
    return frozenset[int]().union(*passed)


def _walk(words: Sequence[int]) -> Walk | None:
    """The walk with these words, one in each turn; None if they do not rise or fall evenly."""
    step = words[1] - words[0] if len(words) > 1 else 0
    is_even = all(it == words[0] + step * turn for turn, it in enumerate(words))
    return Walk(words[0], step) if is_even else None


def _words(storage: Storage, node: Access, known: KnownValues) -> list[int] | None:
    """The word that each thread accesses, which exists; None if that is not known."""
    layout, found = storage.layout, [0] * known.threads
    for index in node.indices:
        match index, layout:
            case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                found, layout = [it + offsets[field] for it in found], fields[field]
            case (
                h.PositionIndex(position=position),
                ArrayLayout(element=layout, extent=h.DynamicLiteral(value=count), stride=stride),
            ):
                values = known.of(position)
                if values is None or not all(0 <= it < count for it in values):
                    return None
                found = [at + stride * int(it) for at, it in zip(found, values, strict=True)]
            case _:
                return None
    is_word = isinstance(layout, ScalarLayout) and layout.size == _WORD and all(it % _WORD == 0 for it in found)
    return [it // _WORD for it in found] if is_word else None
