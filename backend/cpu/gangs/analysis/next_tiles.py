"""Tiles that the invocations of a workgroup copy, and compute with after a barrier, found for the loop that computes.

A copy waits for memory, which has nothing to do while the workgroup computes. So the loop that computes prefetches what
the next copy reads, a part in each of its turns: a burst of prefetches in the copy itself would fill the buffers for
misses, and wait as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import NamedTuple

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from ...layout import ArrayLayout
from ...memory import CACHE_LINE
from ...storage import Storage, StoragePlan
from ...trip_counts import max_trip_count
from .costs import operations_of_turn
from .forms import Form, form_of, movement, start

_MOST_ROWS = 32
"""The most rows of a tile, of each of which a turn prefetches a line."""
_MOST_TURNS = 64
"""The most turns of a loop over which prefetches are spread."""
_WORK = 8
"""The fewest operations of a turn for each line that it prefetches: with less, the loop waits for memory anyway."""


class Share(NamedTuple):
    """What a turn prefetches: so many lines of so many rows. So many turns take what is beside each other in rows."""

    rows: int
    lines: int
    across: int


@dataclass(frozen=True, slots=True)
class NextTile:
    """What the next copy of a tile reads and this one does not: `rows` of `lines` cache lines, `apart` bytes from each
    other. A read at `position` copies. `first` is where its current copy begins, in bytes of the storage, the next one
    begins `moved` bytes further on, and what is new there begins after the `known` bytes. The next copy is that of the
    next workgroup unless a `loop` around both copies all of them.
    """

    storage: Storage
    position: h.Node
    first: Form
    moved: int
    known: int
    is_in_loop: bool
    rows: int
    apart: int
    lines: int

    def share(self, turns: int) -> Share:
        """The least share of the lines with which so many turns prefetch all of them."""
        shares: list[Share] = []
        for lines in range(1, self.lines + 1):
            across = -(-self.lines // lines)
            if across <= turns:
                shares.append(Share(-(-self.rows // (turns // across)), lines, across))
        return min(shares, key=lambda it: it.rows * it.lines)


@dataclass(frozen=True, slots=True)
class SpreadTiles:
    """The tiles that a loop prefetches in its `turns`. `counter` is its Phi, which rises by `step` from `begin`."""

    loop: Loop
    counter: h.Phi
    begin: int
    step: int
    turns: int
    tiles: tuple[NextTile, ...]


def spread_tiles(placed: Placement, plan: StoragePlan, fork: h.Fork) -> Mapping[h.Fork, SpreadTiles]:
    """What loops prefetch in the forks that follow on each other around one fork: in each, the loop with the most
    operations of those with known trip counts. Each tile is prefetched once, in the first fork after its copy whose
    loop takes the time of the prefetches.
    """
    found, left = dict[h.Fork, SpreadTiles](), list[NextTile]()
    forks = _in_sequence(placed, fork) if _is_of_invocations(placed, fork) else []
    for it in forks:
        spread = _spread(placed, it, left)
        if spread is not None:
            found[it] = spread
            left = [tile for tile in left if tile not in spread.tiles]
        if it is not forks[-1]:
            left += _new_parts(placed, plan, it)
    return found


def _is_of_invocations(placed: Placement, fork: h.Fork) -> bool:
    """Whether a fork is the outermost one of the invocations of a workgroup."""
    around = placed.nest.around[fork][:-1]
    return bool(around) and not isinstance(around[-1].factor, h.DynamicLiteral)


def _in_sequence(placed: Placement, fork: h.Fork) -> list[h.Fork]:
    """The forks that follow on each other, each from where the one before is joined, with this one among them."""
    while isinstance(fork.control, h.Join):
        fork = placed.nest.forks[fork.control]
    forks = [fork]
    while isinstance(following := placed.graph.successors[placed.nest.joins[forks[-1]]][0], h.Fork):
        forks.append(following)
    return forks


def _spread(placed: Placement, fork: h.Fork, tiles: Sequence[NextTile]) -> SpreadTiles | None:
    """The tiles that a fork's loop has time to prefetch. None if there are none, or no such loop."""
    found = max(_loops(placed, fork), key=lambda it: it[0], default=None) if tiles else None
    if found is None:
        return None
    work, loop, counter, (begin, step), turns = found
    kept, lines = list[NextTile](), 0
    for tile in tiles:
        share = tile.share(turns)
        more = lines + share.rows * share.lines
        if more * _WORK <= work:
            lines = more
            kept.append(tile)
    return SpreadTiles(loop, counter, begin, step, turns, tuple(kept)) if kept else None


def _new_parts(placed: Placement, plan: StoragePlan, fork: h.Fork) -> Iterator[NextTile]:
    for leader, nodes in placed.blocks.items():
        if fork in placed.nest.around[leader]:
            reads = (it for it in nodes if isinstance(it, h.Read))
            found = (_new_part(placed, plan, it, leader, fork) for it in reads)
            yield from (it for it in found if it is not None)


def _new_part(placed: Placement, plan: StoragePlan, read: h.Read, leader: h.Node, fork: h.Fork) -> NextTile | None:
    """The part of a tile that one read in a fork copies, and the next copy has in addition."""
    match read:
        case h.Read(collection=collection, indices=[h.PositionIndex(position=position)]) if not isinstance(
            collection, h.ConstantNode
        ):
            storage = plan.of(collection)
        case _:
            return None
    if not storage.is_binding or not isinstance(storage.layout, ArrayLayout):
        return None
    stride = storage.layout.stride
    dimensions, step = _dimensions(placed, position, leader, fork), _step(placed, position, fork)
    if dimensions is None or step is None or step <= 0:
        return None
    first, extents = dimensions
    span, rows, apart = stride, 1, 0
    for size, count in sorted((factor * stride, count) for factor, count in extents):
        if size <= span:
            span += size * (count - 1)
        elif rows == 1:
            rows, apart = count, size
        else:
            return None
    if rows > _MOST_ROWS:
        return None
    moved = step * stride
    new = min(moved, span)
    bytes_of = Form({node: factor * stride for node, factor in first.terms.items()}, first.constant * stride)
    is_in_loop = bool(placed.loops.around[fork])
    lines = _lines(bytes_of, span - new, apart, new)
    return NextTile(storage, position, bytes_of, moved, span - new, is_in_loop, rows, apart, lines)


def _lines(first: Form, known: int, apart: int, new: int) -> int:
    """How many cache lines the `new` bytes after the `known` ones lie in at most, in rows that are so far `apart`."""
    is_fixed = all(factor % CACHE_LINE == 0 for factor in (*first.terms.values(), apart))
    before = (first.constant + known) % CACHE_LINE if is_fixed else CACHE_LINE - 1
    return -(-(before + new) // CACHE_LINE)


def _dimensions(
    placed: Placement, position: h.Node, leader: h.Node, fork: h.Fork
) -> tuple[Form, list[tuple[int, int]]] | None:
    """The least position that a read has in a fork, and the factors and the numbers of what is added to it: of counters
    of loops, and of threads. None if that is not known.
    """
    around = placed.loops.around[fork]
    loops = {it.header: it for it in placed.loops.around[leader] if it not in around}
    inside = {it for it in placed.nest.around[leader] if fork in placed.nest.around[it]}
    form, extents = form_of(position), list[tuple[int, int]]()
    first = Form(constant=form.constant)
    for term, factor in form.terms.items():
        if isinstance(term, h.Phi) and term.region in loops:
            counted = _counted(placed, loops[term.region], term)
            if counted is None or factor < 0:
                return None
            begin, step, turns = counted
            first = first.plus(Form(constant=begin), factor)
            extents.append((factor * step, turns))
        elif isinstance(term, h.ThreadID) and term.fork in inside:
            if factor < 0 or not isinstance(term.fork.factor, h.DynamicLiteral):
                return None
            extents.append((factor, term.fork.factor.value))
        elif placed.place.get(term) is not None and fork in placed.nest.around[placed.place[term]]:
            return None
        else:
            first = first.plus(Form({term: 1}), factor)
    return first, extents


def _step(placed: Placement, position: h.Node, fork: h.Fork) -> int | None:
    """By how many elements the next copy is further on: that of the next turn of the innermost loop around the fork, or
    else of the next workgroup.
    """
    around = placed.loops.around[fork]
    if around:
        moved = movement(position, around[-1], placed)
        return None if moved is None or moved.terms else moved.constant
    workgroups = placed.nest.around[fork][-2]
    terms = form_of(position).terms.items()
    return sum(factor for term, factor in terms if isinstance(term, h.ThreadID) and term.fork is workgroups)


def _loops(placed: Placement, fork: h.Fork) -> Iterator[tuple[float, Loop, h.Phi, tuple[int, int], int]]:
    """The outermost loops in a fork that count up to a known number: the operations of a turn, the loop, its counter,
    where that begins and by what it rises, and the number of turns.
    """
    around = placed.loops.around[fork]
    for loop in placed.loops.loops:
        is_inside = fork in placed.nest.around[loop.header]
        if not is_inside or placed.loops.around[loop.header] != (*around, loop):
            continue
        for user in placed.users.get(loop.header, ()):
            counted = _counted(placed, loop, user) if isinstance(user, h.Phi) else None
            if counted is not None:
                begin, step, turns = counted
                assert isinstance(user, h.Phi)
                if 1 < turns <= _MOST_TURNS:
                    yield operations_of_turn(placed, loop), loop, user, (begin, step), turns
                break


def _counted(placed: Placement, loop: Loop, phi: h.Phi) -> tuple[int, int, int] | None:
    """Where a counter begins, by what it rises, and in how many turns at most."""
    first = start(Form({phi: 1}), loop)
    moved = movement(phi, loop, placed)
    trips = max_trip_count(placed, loop)
    if first is None or first.terms or moved is None or moved.terms or moved.constant <= 0 or not isfinite(trips):
        return None
    return first.constant, moved.constant, max(1, ceil(trips - 1))
