"""Prefetches of loads in loops that move on by more than a gang reads at a time.

Hardware prefetchers follow what is read in order, and do not go from page to page. Here each iteration reads elsewhere:

- In a *grid-stride loop* all threads of a dispatch move on together, by their number. Each iteration prefetches what
  some later one reads.
- In a *tile* that a workgroup goes through, its gangs read a piece of each row in turn. Each iteration prefetches what
  the same thread of the next workgroup reads in it. Where one gang reads all of a row in order, it does so if the loop
  computes much: processors do not look ahead so far, and memory has nothing else to do. It does not where a loop after
  a barrier prefetches the next tile (`next_tiles`).
- Down a *column* each iteration reads another row, far from the one before. It prefetches what a much later one reads,
  unless the loop is short: what is read after its end is another's, and mostly in a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....base.cached import cached_property
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from ...trip_counts import max_trip_count
from ..analysis.costs import operations_for_each_read
from ..analysis.forms import Form, computed_from, form_of, start
from ..analysis.next_tiles import spread_tiles
from ..analysis.shapes import UNIFORM
from ..context import GangContext
from .addresses import ValueQueries, VaryingIndex
from .prefetch import FIRST, SECOND, byte_distance, prefetch
from .runs import Run, moved_on

_AHEAD = 4
"""How many iterations of a grid-stride loop later the data are read that one prefetches."""
_LARGEST_TILE = 1 << 18
"""The most bytes between what two workgroups read: the caches of one processor hold them."""
_MUCH = 12
"""The fewest operations for each read of a loop that reads its row in order, and prefetches the next one. Rows of 4 KiB
whose exponentials are summed up take 0.65 of the time (Intel, family 6, model 167). Loops with less to do, such as the
one before that finds the largest element, are as slow as memory: there prefetches gain nothing, or lose up to a tenth.
"""
_FAR = 2048
"""The least number of bytes between the rows of a column."""
_ROWS = 32
"""How many rows before it is needed a row of a column is prefetched, into the second cache: its misses do not wait for
those of the first one. Sums of the columns of 4096² numbers take 0.55 of the time (Zen 4), with prefetches to the first
cache 0.9.
"""
_LONG = 2 * _ROWS
"""The most turns of a loop down a column that does not prefetch. Sums of 17 rows, weighted, of an image of 2048² take
0.52 to 0.86 of the time without prefetches, and those of 16 channels in a convolution half of it (Zen 3).
"""


@dataclass(frozen=True, slots=True)
class _Distance:
    """A number of bytes, and scalars, each times a number of bytes; what is so far away is prefetched to a cache."""

    constant: int
    terms: Sequence[tuple[h.Node, int]] = ()
    cache: int = FIRST


@dataclass(frozen=True, slots=True)
class _Turn:
    """The positions of all reads of a turn of a loop, and whether it computes much beside them."""

    positions: Sequence[Sequence[Form]]
    computes_much: bool

    def pieces(self, varying: Sequence[VaryingIndex], size: int, step: int) -> int:
        """How many pieces of `size` bytes the reads take of the `step` bytes by which a read at `varying` moves on."""
        own, strides = [form_of(it.position) for it in varying], [it.stride for it in varying]
        found = set[int]()
        for forms in self.positions:
            distances = [one.distance(other) for one, other in zip(forms, own, strict=False)]
            if len(forms) == len(own) and None not in distances:
                apart = sum(it * stride for it, stride in zip(distances, strides, strict=True) if it is not None)
                found.add(round(apart / size))
        return sum(abs(it) * size < step for it in found)


class LoopPrefetches:
    """Writes the prefetches of loads in loops."""

    def __init__(self, context: GangContext, values: ValueQueries) -> None:
        self._context, self._placed, self._gang, self._site = context, context.placed, context.gang, context.site
        self._one, self._out, self._values = context.one, context.out, values
        self._turns: dict[Loop, _Turn] = {}

    def emit(self, start: str, run: Run) -> None:
        """Prefetch for a load of a gang from a pointer on, if it is in such a loop."""
        loops = self._placed.loops.around[self._site.here]
        distance = self._distance(run.varying, loops[-1]) if loops and run.step > 0 else None
        if distance is not None:
            ahead = self._out.value(f"getelementptr i8, ptr {start}, i64 {self._bytes(distance)}")
            prefetch(self._out, ahead, run.step * self._site.lanes, distance.cache)

    def _distance(self, varying: Sequence[VaryingIndex], loop: Loop) -> _Distance | None:
        moved = moved_on(varying, loop, self._placed)
        if moved is None:
            return None
        constant, terms = moved
        if terms:
            moves = any(self._counts_workgroups(node) for node, _ in terms) and all(map(self._is_fixed, terms))
            return _Distance(_AHEAD * constant, [(node, _AHEAD * it) for node, it in terms]) if moves else None
        read = sum(it.stride for it in varying) * self._site.lanes * self._gang.parts
        tile = self._tile(varying, loop)
        if read <= constant < tile <= _LARGEST_TILE:
            turn = self._turn(loop)
            is_worth_it = turn.computes_much or read * turn.pieces(varying, read, constant) < constant
            is_left = is_worth_it and not any(it.position in self._later for it in varying)
            return _Distance(tile) if is_left else None
        is_own = self._gang.forks[-1] in self._placed.nest.around[loop.header]
        is_column = is_own and abs(constant) >= _FAR and max_trip_count(self._placed, loop) - 1 > _LONG
        return _Distance(_ROWS * constant, cache=SECOND) if is_column else None

    @cached_property
    def _later(self) -> frozenset[h.Node]:
        """The positions of reads whose next tile is prefetched where this one is computed with."""
        spread = spread_tiles(self._placed, self._context.plan, self._gang.forks[0]).values()
        return frozenset(tile.position for it in spread for tile in it.tiles)

    def _turn(self, loop: Loop) -> _Turn:
        if loop not in self._turns:
            nodes = (it for leader in loop.body for it in self._placed.blocks.get(leader, ()))
            reads = [it.indices for it in nodes if isinstance(it, h.Read)]
            positions = ([it.position for it in indices if isinstance(it, h.PositionIndex)] for indices in reads)
            computes_much = operations_for_each_read(self._placed, loop) >= _MUCH
            self._turns[loop] = _Turn([list(map(form_of, it)) for it in positions], computes_much=computes_much)
        return self._turns[loop]

    def _tile(self, varying: Sequence[VaryingIndex], loop: Loop) -> int:
        """The bytes between what two workgroups read at first; 0 if a counter begins in several ways."""
        total = 0
        for index in varying:
            first = start(form_of(index.position), loop)
            if first is None:
                return 0
            terms = first.terms.items()
            total += index.stride * sum(factor for node, factor in terms if self._context.is_workgroup(node))
        return total

    def _is_fixed(self, term: tuple[h.Node, int]) -> bool:
        """Whether a term is a scalar that does not change in the gang's loops."""
        home = self._placed.place.get(term[0])
        is_outside = home is None or self._gang.forks[-1] not in self._placed.nest.around[home]
        return is_outside and self._values.shape(term[0]) == UNIFORM

    def _counts_workgroups(self, node: h.Node) -> bool:
        """Whether a value is computed from the number of workgroups."""
        factors = {it.factor for it in self._placed.nest.around[self._gang.forks[0]][:-1]}
        return any(isinstance(it, h.DynamicConstantNode) and it.value in factors for it in computed_from(node))

    def _bytes(self, distance: _Distance) -> str:
        scalar, types = self._values.scalar, self._placed.types
        return byte_distance(self._one, scalar, types, distance.constant, distance.terms)
