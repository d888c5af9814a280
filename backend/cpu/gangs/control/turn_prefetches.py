"""Prefetches at the beginning of each turn of a loop, of what is read after the loop.

Where lanes iterate over adjacent *segments* of an array, such as the rows of a compressed sparse matrix, the segments
of all lanes are contiguous, but in each iteration each lane reads from another cache line, a pattern that hardware
prefetchers do not recognise. So each iteration prefetches as many bytes as it reads, starting behind the gang's
segments: these are the next gang's.

Where a workgroup computes with a *tile* that it copied before, a part of the next tile is prefetched in each turn (see
`analysis.next_tiles`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .....base.cached import cached_property
from .....ir.hercules import nodes as h
from ...layout import ArrayLayout
from ...memory import CACHE_LINE
from ...storage import Storage
from ..analysis.body import Level
from ..analysis.next_tiles import NextTile, SpreadTiles, spread_tiles
from ..analysis.segments import segment_counter
from ..context import GangContext
from ..memory.prefetch import byte_distance, prefetch
from ..values.values import GangValues


class SegmentPrefetch:
    """Finds loops over segments, and writes their prefetches."""

    def __init__(self, context: GangContext, values: GangValues) -> None:
        self._placed, self._plan, self._users = context.placed, context.plan, context.users
        self._site = context.site
        self._values = values

    def begin(self, level: Level) -> str | None:
        """Before a loop: make the slot that counts iterations; None if the loop has no segments."""
        if segment_counter(self._placed, level.header) is None:
            return None
        iterations = self._values.slots.make("i64")
        self._values.slots.store("i64", "0", iterations)
        return iterations

    def prefetch_next(self, level: Level, iterations: str) -> None:
        """Write the prefetches of an iteration, where the header's Phis are defined."""
        values, site, out = self._values, self._site, self._values.out
        counter = segment_counter(self._placed, level.header)
        assert counter is not None
        with site.at(level.header), site.in_part(site.count - 1):
            last = values.memory.lane("i32", values.vector(counter), str(site.lanes - 1))
        threads = site.lanes * site.count
        done = values.slots.load("i64", iterations)
        values.slots.store("i64", values.one.binary("add", "i64", done, "1"), iterations)
        behind = values.one.binary("mul", "i64", done, str(threads - 1))
        position = values.one.binary("add", "i64", behind, values.one.convert("zext", "i32", last, "i64"))
        for storage, stride in dict.fromkeys(self._segments(level, counter)):
            start = values.base(storage)
            first = out.value(f"getelementptr [{stride} x i8], ptr {start}, i64 {position}")
            prefetch(out, first, threads * stride)

    def _segments(self, level: Level, counter: h.Phi) -> Iterator[tuple[Storage, int]]:
        """The bindings whose element at the counter's position is read in each iteration, and the bytes of
        an element.
        """
        positions: list[h.Node] = [counter, *(it for it in self._users[counter] if isinstance(it, h.Cast))]
        for position in positions:
            for node in self._users[position]:
                match node:
                    case h.Read(collection=collection, indices=[h.PositionIndex(position=at), *_]) if at is position:
                        is_inside = self._placed.place.get(node) in level.leaders
                        storage = None if isinstance(collection, h.ConstantNode) else self._plan.of(collection)
                        if is_inside and storage is not None and storage.is_binding:
                            assert isinstance(storage.layout, ArrayLayout)
                            yield storage, storage.layout.stride
                    case _:
                        pass


class TilePrefetch:
    """Prefetches the tile that a workgroup copies next, in the turns of the loop that computes with this one."""

    def __init__(self, context: GangContext, values: GangValues) -> None:
        self._context, self._values = context, values
        self._one, self._out = context.one, context.out

    @cached_property
    def _spread(self) -> SpreadTiles | None:
        fork = self._context.gang.forks[0]
        return spread_tiles(self._context.placed, self._context.plan, fork).get(fork)

    def begin_turn(self, level: Level) -> None:
        """Write those of a turn, where the header's Phis are defined, if it is that loop."""
        if self._context.site.is_rare or self._spread is None or level.container is not self._spread.loops[-1].loop:
            return
        with self._context.site.at(level.header):
            turn = self._turn(self._spread)
            for tile in self._spread.tiles:
                self._prefetch(tile, turn, self._spread.turns)

    def _turn(self, spread: SpreadTiles) -> str:
        """The number of the current turn, an i64."""
        one, turn = self._one, "0"
        for it in spread.loops:
            risen = byte_distance(one, self._values.scalar, self._context.types, -it.begin, [(it.counter, 1)])
            number = risen if it.step == 1 else one.binary("udiv", "i64", risen, str(it.step))
            turn = one.binary("add", "i64", one.binary("mul", "i64", turn, str(it.turns)), number)
        return turn

    def _prefetch(self, tile: NextTile, turn: str, turns: int) -> None:
        """The lines of a turn."""
        one, share = self._one, tile.share(turns)
        part = one.binary("urem", "i64", turn, str(share.across)) if share.across > 1 else "0"
        line = one.binary("mul", "i64", part, str(share.lines))
        first = one.binary("mul", "i64", one.binary("udiv", "i64", turn, str(share.across)), str(share.rows))
        offset = one.binary("add", "i64", one.binary("mul", "i64", line, str(CACHE_LINE)), self._next_copy(tile))
        start = self._out.value(f"getelementptr i8, ptr {self._values.base(tile.storage)}, i64 {offset}")
        for distance in self._distances(tile, first, share.rows):
            pointer = self._out.value(f"getelementptr i8, ptr {start}, i64 {distance}")
            prefetch(self._out, pointer, share.lines * CACHE_LINE)

    def _distances(self, tile: NextTile, first: str, count: int) -> Iterator[str]:
        """How many bytes `count` rows of a tile begin after its first one, from the row with the number `first` on."""
        one, rows = self._one, tile.rows
        if len(rows) == 1 or (rows and rows[0].count % count == 0):  # they are in one group
            begin = self._distance(tile, first)
            yield from (one.binary("add", "i64", begin, str(it * rows[0].apart)) for it in range(count))
        else:
            numbers = (one.binary("add", "i64", first, str(it)) for it in range(count))
            yield from (self._distance(tile, it) for it in numbers)

    def _distance(self, tile: NextTile, row: str) -> str:
        """How many bytes the row with a number begins after the first one, an i64."""
        one, total = self._one, "0"
        for rows in tile.rows:
            is_last = rows is tile.rows[-1]
            number = row if is_last else one.binary("urem", "i64", row, str(rows.count))
            row = row if is_last else one.binary("udiv", "i64", row, str(rows.count))
            total = one.binary("add", "i64", total, one.binary("mul", "i64", number, str(rows.apart)))
        return total

    def _next_copy(self, tile: NextTile) -> str:
        """Where the next copy of a tile begins to read what is new, an i64."""
        following = self._context.nodes.following
        numbers = (it for it in tile.first.terms if isinstance(it, h.ThreadID))
        is_next = not tile.is_in_loop and all(it.fork in following for it in numbers)

        def scalar(node: h.Node) -> str:
            return following[node.fork] if is_next and isinstance(node, h.ThreadID) else self._values.scalar(node)

        begin = tile.first.constant + tile.known + (0 if is_next else tile.moved)
        return byte_distance(self._one, scalar, self._context.types, begin, tile.first.terms.items())
