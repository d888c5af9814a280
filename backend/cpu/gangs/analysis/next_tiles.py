"""Tiles that the invocations of a workgroup copy, and compute with after a barrier, found for the loop that computes.

A copy waits for memory, which has nothing to do while the workgroup computes. So the loop that computes prefetches what
the next copy reads, a part in each of its turns: a burst of prefetches in the copy itself would fill the buffers for
misses, and wait as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, prod
from typing import NamedTuple

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from ...layout import ArrayLayout
from ...memory import CACHE_LINE
from ...storage import Storage, StoragePlan
from ...trip_counts import max_trip_count
from .bounds import constant_value
from .costs import operations_of_turn
from .forms import Form, form_of, movement, start

_BURST = 16
"""The most cache lines that a turn prefetches. Processors wait for about twice as many at the same time, and a loop
loads, too: 7×7 stencils with tiles of 30 rows take 0.88 of the time with 8 lines in each turn of an inner loop instead
of 30 in each turn of the outer one (Zen 3).
"""
_MOST_TURNS = 64
"""The most turns of a loop over which prefetches are spread."""
_WORK = 8
"""The fewest operations of a turn for each line that it prefetches: with less, the loop waits for memory anyway."""
_DEPTH = 8
"""The most quotients and remainders, one of another, by which the parts of an element's number are found."""


class Share(NamedTuple):
    """What a turn prefetches: so many lines of so many rows. So many turns take what is beside each other in rows."""

    rows: int
    lines: int
    across: int


@dataclass(frozen=True, slots=True)
class Rows:
    """So many rows of a tile, or so many groups of rows, each so many bytes from the one before."""

    count: int
    apart: int


@dataclass(frozen=True, slots=True)
class NextTile:
    """What the next copy of a tile reads and this one does not: `lines` cache lines of each row. Rows are in groups, of
    which `rows` has the innermost ones first. A read at `position` copies. `first` is where its current copy begins, in
    bytes of the storage, the next one begins `moved` bytes further on, and what is new there begins after the `known`
    bytes. The next copy is that of the next workgroup unless a `loop` around both copies all of them.
    """

    storage: Storage
    position: h.Node
    first: Form
    moved: int
    known: int
    is_in_loop: bool
    rows: tuple[Rows, ...]
    lines: int

    def share(self, turns: int) -> Share:
        """The least share of the lines with which so many turns prefetch all of them."""
        rows = prod(it.count for it in self.rows)
        shares: list[Share] = []
        for lines in range(1, self.lines + 1):
            across = -(-self.lines // lines)
            if across <= turns:
                shares.append(Share(-(-rows // (turns // across)), lines, across))
        return min(shares, key=lambda it: it.rows * it.lines)


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop in a number of `turns`, and its counter, a Phi that rises by `step` from `begin`."""

    loop: Loop
    counter: h.Phi
    begin: int
    step: int
    turns: int


@dataclass(frozen=True, slots=True)
class SpreadTiles:
    """The tiles that are prefetched in the turns of the last of these loops, each inside of the one before."""

    loops: tuple[Counted, ...]
    tiles: tuple[NextTile, ...]

    @property
    def turns(self) -> int:
        """The turns of the last loop in all turns of the others."""
        return _turns(self.loops)


def spread_tiles(placed: Placement, plan: StoragePlan, fork: h.Fork) -> Mapping[h.Fork, SpreadTiles]:
    """What loops prefetch in the forks that follow on each other around one fork: in each, the loop with the most
    operations of those with known trip counts, or loops inside of it, where its own turns are too few for all lines.
    Each tile is prefetched once, in the first fork after its copy whose loop takes the time of the prefetches.
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
    """The tiles that a fork's loops have time to prefetch: the outermost ones that take all tiles, or as many as any
    loops. None if there are none, or no such loops.
    """
    best: SpreadTiles | None = None
    loops, work = _busiest(placed, fork, ()) if tiles else ((), 0.0)
    while loops:
        turns, lines, kept = _turns(loops), 0, list[NextTile]()
        for tile in tiles:
            share = tile.share(turns)
            more = lines + share.rows * share.lines
            if more * _WORK <= work and more <= _BURST:
                lines = more
                kept.append(tile)
        if len(kept) > (len(best.tiles) if best is not None else 0):
            best = SpreadTiles(loops, tuple(kept))
        if len(kept) == len(tiles):
            break
        loops, work = _busiest(placed, fork, loops)
    return best


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
    span, rows = _span_and_rows(extents, stride)
    moved = step * stride
    new = min(moved, span)
    bytes_of = Form({node: factor * stride for node, factor in first.terms.items()}, first.constant * stride)
    is_in_loop = bool(placed.loops.around[fork])
    lines = _lines(bytes_of, span - new, rows, new)
    return NextTile(storage, position, bytes_of, moved, span - new, is_in_loop, tuple(rows), lines)


def _span_and_rows(extents: Sequence[tuple[int, int]], size: int) -> tuple[int, list[Rows]]:
    """The bytes of elements of this size that are beside each other, for factors and numbers of what is added to a
    position, and the rows of these that there are, innermost ones first.
    """
    span, rows = size, list[Rows]()
    for factor, count in sorted(extents):
        if factor * size <= span:
            span += factor * size * (count - 1)
        else:
            rows.append(Rows(count, factor * size))
    return span, rows


def _lines(first: Form, known: int, rows: Sequence[Rows], new: int) -> int:
    """How many cache lines the `new` bytes after the `known` ones lie in at most, in each of some rows."""
    is_fixed = all(factor % CACHE_LINE == 0 for factor in (*first.terms.values(), *(it.apart for it in rows)))
    before = (first.constant + known) % CACHE_LINE if is_fixed else CACHE_LINE - 1
    return -(-(before + new) // CACHE_LINE)


def _dimensions(
    placed: Placement, position: h.Node, leader: h.Node, fork: h.Fork, depth: int = _DEPTH
) -> tuple[Form, list[tuple[int, int]]] | None:
    """The least position that a read has in a fork, and the factors and the numbers of what is added to it: of counters
    of loops, of threads, and of parts of these, as the row and the column of an element's number. None if that is not
    known.
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
            first = first.plus(Form(constant=counted.begin), factor)
            extents.append((factor * counted.step, counted.turns))
        elif isinstance(term, h.ThreadID) and term.fork in inside:
            if factor < 0 or not isinstance(term.fork.factor, h.DynamicLiteral):
                return None
            extents.append((factor, term.fork.factor.value))
        elif placed.place.get(term) is not None and fork in placed.nest.around[placed.place[term]]:
            count = _count_of_part(placed, term, leader, fork, depth) if depth > 0 else None
            if count is None or factor < 0:
                return None
            extents.append((factor, count))
        else:
            first = first.plus(Form({term: 1}), factor)
    return first, extents


def _count_of_part(placed: Placement, node: h.Node, leader: h.Node, fork: h.Fork, depth: int) -> int | None:
    """How many numbers a quotient or a remainder is, from 0 on, of numbers that threads of a fork count from 0 on. None
    if a node is neither.
    """
    match node:
        case h.Binary(
            op=h.BinaryOp.DIV | h.BinaryOp.REM | h.BinaryOp.SHIFT_RIGHT | h.BinaryOp.AND as op, lhs=lhs, rhs=rhs
        ):
            value, counted = constant_value(rhs), _dimensions(placed, lhs, leader, fork, depth - 1)
        case _:
            return None
    if value is None or value < 1 or counted is None or counted[0] != Form():
        return None
    count, apart = _span_and_rows(counted[1], 1)
    if apart:
        return None
    match op:
        case h.BinaryOp.DIV:
            return -(-count // value)
        case h.BinaryOp.SHIFT_RIGHT:
            return -(-count // (1 << value % 32))
        case h.BinaryOp.REM:
            return min(count, value)
        case h.BinaryOp.AND if value & (value + 1) == 0:
            return min(count, value + 1)
        case _:
            return None


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


def _busiest(placed: Placement, fork: h.Fork, loops: tuple[Counted, ...]) -> tuple[tuple[Counted, ...], float]:
    """These loops of a fork, each inside of the one before, and then the busiest loop of the last one, or of the fork:
    that with the most operations in a turn, which are given, too, of those that count up to a known number and have few
    turns in all turns of the others. No loops if there is none.
    """
    around = (*placed.loops.around[fork], *(it.loop for it in loops))
    best, most = tuple[Counted, ...](), 0.0
    for loop in placed.loops.loops:
        is_inside = fork in placed.nest.around[loop.header] and placed.loops.around[loop.header] == (*around, loop)
        phis = (it for it in placed.users.get(loop.header, ()) if isinstance(it, h.Phi)) if is_inside else ()
        counted = next((it for it in (_counted(placed, loop, phi) for phi in phis) if it is not None), None)
        if counted is None or not 1 < counted.turns <= _MOST_TURNS // _turns(loops):
            continue
        work = operations_of_turn(placed, loop)
        if work > most:
            best, most = (*loops, counted), work
    return best, most


def _turns(loops: Sequence[Counted]) -> int:
    """The turns of the last of some loops, each inside of the one before, in all turns of the others."""
    return prod(it.turns for it in loops)


def _counted(placed: Placement, loop: Loop, phi: h.Phi) -> Counted | None:
    """A loop with its counter, and in how many turns it counts at most. None if that is not known."""
    first = start(Form({phi: 1}), loop)
    moved = movement(phi, loop, placed)
    trips = max_trip_count(placed, loop)
    if first is None or first.terms or moved is None or moved.terms or moved.constant <= 0 or not isfinite(trips):
        return None
    return Counted(loop, phi, first.constant, moved.constant, max(1, ceil(trips - 1)))
