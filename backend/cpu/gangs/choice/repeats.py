"""Gangs of a fork whose code differs in constants alone, which grow by the same from gang to gang.

Where thread numbers and counters are constants, each gang has code of its own. Of `i ^ 4`, gangs of 64 threads have
values that differ by multiples of 64: one loop can run them, which adds to each known value what it grows by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.arithmetic import ScalarValue
from .....ir.hercules.graph import predecessors
from .....ir.hercules.versions import is_version_projection
from ...storage import StoragePlan
from ..analysis.alike import turns
from ..analysis.body import Level
from ..analysis.live import Knowledge
from ..memory.addresses import array_steps

_WORD = 4


def every_turn(known: Knowledge, level: Level) -> Iterator[tuple[Knowledge, Level]]:
    """A level and those inside, with what is known in each turn of the loops of which turns are known."""
    yield known, level
    for inner in (it.inner for it in level.items if it.inner is not None):
        found = turns(known.placed, known.values.forks, inner, known.values.counters) if inner.is_loop else None
        if found is None:
            yield from every_turn(known, inner)
        else:
            for turn in found:
                yield from every_turn(known.in_turn(inner, turn), inner)


def blocks_of(level: Level) -> list[h.Node]:
    """The leaders of a level's blocks, without those of inner levels."""
    return [it.leader for it in level.items if it.inner is None]


def repeated_gangs(known: Knowledge, plan: StoragePlan, lanes: int, threads: int) -> list[range]:
    """The first threads of gangs of `threads` threads, in parts of `lanes` lanes. Gangs in one range have one code."""
    every = list(every_turn(known, known.body.top))
    values = [it for turn, level in every for it in _values(turn, level)]
    accesses = [it for turn, level in every for it in _accesses(turn, level, plan)]
    groups: dict[tuple[tuple[ScalarValue, ...], ...], list[list[int]]] = {}
    for first in range(0, known.values.threads, threads):
        pattern = tuple(_pattern(it[first : first + threads]) for it in values)
        found = groups.setdefault(pattern, [])
        if not (found and _follows(first, found[-1], values, accesses, lanes, threads)):
            found.append([])
        found[-1].append(first)
    ranges = (
        range(it[0], it[-1] + 1, it[1] - it[0] if len(it) > 1 else threads) for them in groups.values() for it in them
    )
    return sorted(ranges, key=lambda it: it.start)


def _values(known: Knowledge, level: Level) -> Iterator[Sequence[ScalarValue]]:
    """The known values that the blocks of a level may use, in each thread."""
    used: dict[h.Node, None] = {}
    for leader in blocks_of(level):
        exit = known.placed.exits.get(leader)
        used |= dict.fromkeys([exit.condition] if isinstance(exit, h.If) else [])
        for node in known.placed.blocks[leader]:
            used |= dict.fromkeys((node, *predecessors(node)))
    for node in used:
        is_scalar = isinstance(known.values.types.get(node), (h.Bool, h.Integer))
        found = known.values.of(node) if is_scalar else None
        if found is not None:
            yield found


def _pattern(values: Sequence[ScalarValue]) -> tuple[ScalarValue, ...]:
    """The values of a gang, without what may grow from gang to gang."""
    first = values[0]
    return tuple(values) if isinstance(first, bool) else tuple(it - first for it in values)


@dataclass(frozen=True, slots=True)
class _Access:
    """An access to memory of our own: each position, with the bytes between elements and their number, and whether each
    thread may make it.
    """

    steps: Sequence[tuple[Sequence[ScalarValue], int, int]]
    live: Sequence[bool | None]

    def moves_by(self, first: int, second: int) -> int:
        """The bytes between the places that two threads access."""
        return sum(stride * int(positions[second] - positions[first]) for positions, stride, _ in self.steps)

    def is_in_range(self, first: int, threads: int) -> bool:
        """Whether the elements that a gang accesses exist."""
        lanes = [it for it in range(first, first + threads) if self.live[it] is not False]
        return all(positions[it] < count for positions, _, count in self.steps for it in lanes)


def _accesses(known: Knowledge, level: Level, plan: StoragePlan) -> Iterator[_Access]:
    """The accesses of which all positions are known."""
    for leader in blocks_of(level):
        for node in known.placed.blocks[leader]:
            if not isinstance(node, (h.Read, h.Write)) or is_version_projection(node):
                continue
            collection = node.collection if isinstance(node, h.Read) else node
            if isinstance(collection, (h.ConstantNode, h.Atomic)) or plan.of(collection).is_binding:
                continue
            steps: list[tuple[Sequence[ScalarValue], int, int]] = []
            for position, extent, stride in array_steps(plan.of(collection).layout, node.indices):
                found = known.values.of(position)
                if found is None or not isinstance(extent, h.DynamicLiteral):
                    break
                steps.append((found, stride, extent.value))
            else:
                yield _Access(steps, known.live(leader))


def _follows(
    first: int,
    before: Sequence[int],
    values: Sequence[Sequence[ScalarValue]],
    accesses: Sequence[_Access],
    lanes: int,
    threads: int,
) -> bool:
    """Whether a gang may be the next one of a loop: values grow as they did before, and by whole vectors in memory."""
    last = before[-1]
    if len(before) > 1:
        distance = before[1] - before[0]
        if first - last != distance or any(it[first] - it[last] != it[last] - it[last - distance] for it in values):
            return False
    return all(
        it.moves_by(last, first) % (lanes * _WORD) == 0 and all(it.is_in_range(at, threads) for at in (last, first))
        for it in accesses
    )
