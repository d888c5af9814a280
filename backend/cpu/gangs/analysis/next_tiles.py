"""Tiles that the invocations of a workgroup copy, and compute with after a barrier, found for the loop that computes.

A copy waits for memory, which has nothing to do while the workgroup computes. So the loop that computes prefetches what
the next copy reads, a part in each of its turns: a burst of prefetches in the copy itself would fill the buffers for
misses, and wait as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isfinite

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from ...layout import ArrayLayout
from ...storage import Storage, StoragePlan
from ...trip_counts import max_trip_count
from .costs import operations_of_turn
from .forms import Form, form_of, movement, start

_LINE = 64
"""The bytes of a cache line."""
_MOST_ROWS = 32
"""The most rows of a tile, of each of which a turn prefetches a line."""
_MOST_TURNS = 64
"""The most turns of a loop over which prefetches are spread."""
_WORK = 8
"""The fewest operations of a turn for each line that it prefetches: with less, the loop waits for memory anyway."""


@dataclass(frozen=True, slots=True)
class NextTile:
    """What the next copy of a tile reads and this one does not: `rows` of `lines` cache lines, `apart` bytes from each
    other. A read at `position` copies. `first` is where its current copy begins, in bytes of the storage, and `ahead`
    are the bytes from there to what is new.
    """

    storage: Storage
    position: h.Node
    first: Form
    ahead: int
    rows: int
    apart: int
    lines: int


@dataclass(frozen=True, slots=True)
class SpreadTiles:
    """The tiles that a loop prefetches in its `turns`. `counter` is its Phi, which rises by `step` from `begin`."""

    loop: Loop
    counter: h.Phi
    begin: int
    step: int
    turns: int
    tiles: tuple[NextTile, ...]


def spread_tiles(placed: Placement, plan: StoragePlan, fork: h.Fork) -> SpreadTiles | None:
    """What a loop in a fork prefetches of the tiles that are copied in the forks just before: of the loops with known
    trip counts, that with the most operations, as far as these take the time of prefetches. None if there is no such
    loop, or no such tile.
    """
    tiles = list(_new_parts(placed, plan, fork))
    found = max(_loops(placed, fork), key=lambda it: it[0], default=None) if tiles else None
    if found is None:
        return None
    work, loop, counter, (begin, step), turns = found
    kept, lines = list[NextTile](), 0
    for tile in tiles:
        more = lines + _lines_each_turn(tile, turns)
        if more * _WORK <= work:
            lines = more
            kept.append(tile)
    return SpreadTiles(loop, counter, begin, step, turns, tuple(kept)) if kept else None


def _lines_each_turn(tile: NextTile, turns: int) -> int:
    """The cache lines that are prefetched in each turn: whole columns of lines, or a part of one."""
    if tile.lines >= turns:
        return tile.rows * -(-tile.lines // turns)
    return -(-tile.rows // (turns // tile.lines))


def prefetched_later(placed: Placement, plan: StoragePlan, fork: h.Fork) -> frozenset[h.Node]:
    """The positions of reads in a fork whose next tile is prefetched in one of the forks after it."""
    following = _next_fork(placed, fork)
    while following is not None:
        spread = spread_tiles(placed, plan, following)
        if spread is not None:
            return frozenset(it.position for it in spread.tiles)
        following = _next_fork(placed, following)
    return frozenset()


def _next_fork(placed: Placement, fork: h.Fork) -> h.Fork | None:
    """The fork that begins where another one is joined."""
    following = placed.graph.successors[placed.nest.joins[fork]]
    return following[0] if len(following) == 1 and isinstance(following[0], h.Fork) else None


def _forks_before(placed: Placement, fork: h.Fork) -> Iterator[h.Fork]:
    """The forks that are joined one after another, until the last is where a fork begins; the last first."""
    control = fork.control
    while isinstance(control, h.Join):
        before = placed.nest.forks[control]
        yield before
        control = before.control


def _new_parts(placed: Placement, plan: StoragePlan, fork: h.Fork) -> Iterator[NextTile]:
    around = placed.nest.around[fork][:-1]
    if not around or isinstance(around[-1].factor, h.DynamicLiteral):
        return
    for before in _forks_before(placed, fork):
        for leader, nodes in placed.blocks.items():
            if before in placed.nest.around[leader]:
                reads = (it for it in nodes if isinstance(it, h.Read))
                found = (_new_part(placed, plan, it, leader, before, fork) for it in reads)
                yield from (it for it in found if it is not None)


def _new_part(
    placed: Placement, plan: StoragePlan, read: h.Read, leader: h.Node, before: h.Fork, after: h.Fork
) -> NextTile | None:
    """The part of a tile that one read in the fork `before` copies, and the next copy has in addition."""
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
    dimensions = _dimensions(placed, position, leader, before)
    step = _step(placed, position, before, after)
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
    moved = step * stride
    new, ahead = (moved, span) if moved <= span else (span, moved)
    if rows > _MOST_ROWS:
        return None
    bytes_of = Form({node: factor * stride for node, factor in first.terms.items()}, first.constant * stride)
    return NextTile(storage, position, bytes_of, ahead, rows, apart, -(-new // _LINE))


def _dimensions(
    placed: Placement, position: h.Node, leader: h.Node, fork: h.Fork
) -> tuple[Form, list[tuple[int, int]]] | None:
    """The least position that a read has in a fork, and the factors and the numbers of what is added to it: of counters
    of loops, and of threads. None if that is not known.
    """
    around = placed.loops.around[fork]
    loops = {it.header: it for it in placed.loops.around[leader] if it not in around}
    inside = {it for it in placed.nest.around[leader] if it is fork or fork in placed.nest.around[it]}
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


def _step(placed: Placement, position: h.Node, before: h.Fork, after: h.Fork) -> int | None:
    """By how many elements the next copy is further on: that of the next turn of the innermost loop around both forks,
    or else of the next workgroup.
    """
    shared = [it for it in placed.loops.around[before] if it in placed.loops.around[after]]
    if shared:
        moved = movement(position, shared[-1], placed)
        return None if moved is None or moved.terms else moved.constant
    fork = [it for it in placed.nest.around[before] if not isinstance(it.factor, h.DynamicLiteral)][-1]
    terms = form_of(position).terms.items()
    return sum(factor for term, factor in terms if isinstance(term, h.ThreadID) and term.fork is fork)


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
    """Where a counter begins, by what it rises, and in how many turns."""
    first = start(Form({phi: 1}), loop)
    moved = movement(phi, loop, placed)
    trips = max_trip_count(placed, loop)
    if first is None or first.terms or moved is None or moved.terms or moved.constant <= 0 or not isfinite(trips):
        return None
    return first.constant, moved.constant, max(1, ceil(trips - 1))
