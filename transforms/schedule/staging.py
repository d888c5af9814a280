"""Copies of tiles in workgroup memory, which the invocations of a workgroup make together and load from."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import gcd, prod

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Affine, Boundary, Buffering, Execution, LevelName, Load, Stage, Term
from .addresses import Addresses
from .frame import Frame, number_of
from .places import ANYWHERE
from .tiles import InnerLevel, Tile, is_free, slide_of, span, tile_of
from .vectors import vector_of

MOST_STEPS = 8
"""The most elements that one invocation copies in code that is written out; for more, there is a loop."""
_IDLE = 0.2
"""A copy row by row may take this share of steps more than one where rows follow on each other, since no division has
to find an element's row.
"""
_FEW = 32
"""The most invocations that are few: a vector or two of a CPU, or a subgroup of a GPU."""
_IDLE_OF_FEW = 1.0
"""The same for few invocations: their vectors would be in two rows, and each such load gathers. Rows of 18 numbers by 8
invocations take half of the time in rows (AVX2, Zen 3).
"""


@dataclass(frozen=True, slots=True)
class _Ring:
    """Where the elements along the subscript at `position` are, of which there are `extent`, `unit` apart in memory:
    the first one is at the number `begin`, and after the last number comes 0. Each `rows` of them are beside each
    other in all iterations; `offsets` are where they begin, if loads know which ones they need.
    """

    position: int
    extent: int
    unit: int
    begin: Value
    rows: int
    offsets: Sequence[Value]

    def offset(self, frame: Frame, coordinate: Value) -> Value:
        """Where the element at a coordinate is; for a known one, without a division."""
        known = number_of(coordinate)
        if known is not None and self.offsets:
            part, rest = divmod(known, self.rows)
            return frame.binary(BinaryOp.ADD, self.offsets[part], u32(rest * self.unit))
        number = frame.binary(BinaryOp.REMAINDER, frame.binary(BinaryOp.ADD, self.begin, coordinate), u32(self.extent))
        return frame.binary(BinaryOp.MULTIPLY, number, u32(self.unit))


@dataclass(slots=True)
class Staging:
    """The copies of a kernel."""

    addresses: Addresses
    tiles: dict[str, Tile] = field(default_factory=dict[str, Tile])
    """The tile of each load that is staged."""
    memory: dict[Stage, c.Var] = field(default_factory=dict[Stage, c.Var])
    places: dict[Stage, Value] = field(default_factory=dict[Stage, Value])
    """Where in memory the current copy begins."""
    rings: dict[Stage, _Ring] = field(default_factory=dict[Stage, "_Ring"])
    """Where in memory the current rows of a copy that slides are, but before the first iteration."""

    def __post_init__(self) -> None:
        decided = self.addresses.decided
        for stage in decided.stages:
            tile = tile_of(stage, decided)
            self.tiles.update(dict.fromkeys(stage.loads, tile))
            scalar = scalar_type(tile.loads[0].type)
            store = scalar if tile.width == 1 else w.vector(tile.width, scalar)
            name = f"{tile.loads[0].array}_tile"
            self.memory[stage] = self.addresses.frame.shared(name, store, tile.length * tile.places // tile.width)

    def enter(self, stages: Sequence[Stage]) -> None:
        """Before a loop that makes copies: invocations may still read those of an earlier execution of the loop. Of
        what slides, the rows are copied that an iteration before the first one would leave.
        """
        if any(it.buffering is not Buffering.SINGLE for it in stages):
            self.addresses.frame.barrier()
        for stage in stages:
            if stage.buffering is Buffering.SLIDING and stage.at is not None:
                tile = self.tiles[stage.loads[0]]
                position, step = slide_of(tile, self.addresses.decided)
                self.places[stage] = u32(0)
                self.rings.pop(stage, None)
                self.addresses.at[stage.at] = u32(0)
                with self._rows(_cut(tile, position, tile.extents[position] - step), tile) as coordinates:
                    self._copy_one(tile, coordinates)
                del self.addresses.at[stage.at]

    def fill(self, stages: Sequence[Stage]) -> None:
        """Make the copies for the current iterations."""
        if not stages:
            return
        frame = self.addresses.frame
        if any(it.at is not None and it.buffering is not Buffering.DOUBLE for it in stages):
            frame.barrier()
        for stage in stages:
            tile = self.tiles[stage.loads[0]]
            self.places[stage] = self._place(tile)
            if stage.buffering is Buffering.SLIDING and stage.at is not None:
                self._copy_new_rows(tile, self.addresses.at[stage.at])
            else:
                self._copy(tile)
        frame.barrier()

    def _place(self, tile: Tile) -> Value:
        at = tile.stage.at
        if at is None or tile.places == 1:
            return u32(0)
        frame = self.addresses.frame
        turn = frame.binary(BinaryOp.REMAINDER, self.addresses.at[at], u32(2))
        return frame.binary(BinaryOp.MULTIPLY, turn, u32(tile.length // tile.width))

    def _copy(self, tile: Tile) -> None:
        """Copy a tile, element after element, or row by row where invocations have enough to do in each, or are few."""
        count, lane = self.addresses.lane()
        frame, extents = self.addresses.frame, tile.vectors
        rows, row = prod(extents[:-1]), prod(extents[-1:])
        steps, steps_by_rows = _steps(rows * row, count), rows * _steps(row, count)
        if steps <= MOST_STEPS:
            for step in range(steps):
                number = frame.binary(BinaryOp.ADD, lane, u32(step * count))
                self._copy_numbered(tile, number, is_tested=(step + 1) * count > rows * row)
        elif rows > 1 and steps_by_rows <= (1 + (_IDLE_OF_FEW if count <= _FEW else _IDLE)) * steps:
            with self._rows(extents, tile) as coordinates:
                self._copy_one(tile, coordinates)
        else:
            with self._counted(steps, count, lane) as number:
                self._copy_numbered(tile, number, is_tested=rows * row % count > 0)

    def _copy_new_rows(self, tile: Tile, turn: Value) -> None:
        """Copy the rows that the iteration before did not have, in place of those that this one does not need."""
        frame, (position, step) = self.addresses.frame, slide_of(tile, self.addresses.decided)
        self.rings[tile.stage] = self._ring(tile, turn)
        kept = tile.extents[position] - step
        with self._rows(_cut(tile, position, step), tile) as coordinates:
            coordinates[position] = frame.binary(BinaryOp.ADD, coordinates[position], u32(kept))
            self._copy_one(tile, coordinates)

    def _ring(self, tile: Tile, turn: Value) -> _Ring:
        frame, (position, step) = self.addresses.frame, slide_of(tile, self.addresses.decided)
        extent, unit = tile.extents[position], tile.strides[position] // tile.width
        rows = gcd(step, extent)

        def moved(distance: int, first: int, modulus: int) -> Value:
            passed = frame.binary(BinaryOp.MULTIPLY, turn, u32(distance))
            return frame.binary(BinaryOp.REMAINDER, frame.binary(BinaryOp.ADD, passed, u32(first)), u32(modulus))

        count = extent // rows if self._is_known(tile, position) else 0
        parts = (moved(step // rows, it, extent // rows) for it in range(count))
        offsets = [frame.binary(BinaryOp.MULTIPLY, it, u32(rows * unit)) for it in parts]
        return _Ring(position, extent, unit, moved(step, 0, extent), rows, offsets)

    def _is_known(self, tile: Tile, position: int) -> bool:
        """Whether loads are at known places along a subscript of a tile: only written-out levels contribute to it."""
        decided = self.addresses.decided
        names = [it.name for it in tile.first[position].terms if it.name in decided.scope.dimensions]
        shared = (it for name in names for it in decided.names(name) if is_free(it, tile.stage, decided))
        return all(decided.execution(it) is Execution.UNROLLED for it in shared)

    @contextmanager
    def _rows(self, extents: Sequence[int], tile: Tile) -> Generator[list[Value]]:
        """The coordinates of the elements of an invocation in a part of a tile, row by row. Rows have the elements of
        the part, or more, where the tile has room for whole steps of all invocations.
        """
        frame, (count, lane) = self.addresses.frame, self.addresses.lane()
        rows, row = prod(extents[:-1]), extents[-1]
        whole = _steps(row, count) * count
        row = whole if whole <= _room(tile) else row
        with (
            frame.builder.counting(u32(0), u32(rows), name=frame.name("row")) as which,
            self._counted(_steps(row, count), count, lane) as number,
            self._tested(number, row, is_tested=row % count > 0),
        ):
            yield [*self._coordinates(extents[:-1], which), number]

    @contextmanager
    def _tested(self, number: Value, end: int, *, is_tested: bool) -> Generator[None]:
        """A block; if `is_tested`, only for a number before the end."""
        builder = self.addresses.frame.builder
        with ExitStack() as stack:
            if is_tested:
                stack.enter_context(builder.when(builder.binary(BinaryOp.LESS, number, u32(end))))
            stack.enter_context(self.addresses.block())
            yield

    @contextmanager
    def _counted(self, steps: int, count: int, lane: Value) -> Generator[Value]:
        """The numbers of an invocation in a loop of so many steps; in each, `count` invocations have adjacent ones."""
        frame = self.addresses.frame
        if steps == 1:
            yield lane
            return
        with frame.builder.counting(u32(0), u32(steps), name=frame.name("step")) as turn:
            ahead = frame.binary(BinaryOp.MULTIPLY, turn, u32(count))
            yield frame.binary(BinaryOp.ADD, ahead, lane)

    def _copy_numbered(self, tile: Tile, number: Value, *, is_tested: bool) -> None:
        """Copy the element with a number in the tile, or a vector; if `is_tested`, only if there is one."""
        with self._tested(number, prod(tile.vectors), is_tested=is_tested):
            coordinates = self._coordinates(tile.vectors, number)
            is_in_order = tile.along == len(tile.extents) - 1 and not tile.stage.padding
            to = number if is_in_order else self._offset(tile, coordinates)
            self.addresses.frame.builder.store(self._element(tile, to), self._fetched(tile, coordinates))

    def _copy_one(self, tile: Tile, coordinates: Sequence[Value]) -> None:
        """Copy an element of the tile, or a vector. Invocations next to each other copy what lies next to each other in
        the array.
        """
        to = self._offset(tile, coordinates)
        self.addresses.frame.builder.store(self._element(tile, to), self._fetched(tile, coordinates))

    def _fetched(self, tile: Tile, coordinates: Sequence[Value]) -> Value:
        """What the array has at a place in the tile: an element, or a vector."""
        frame, load = self.addresses.frame, tile.loads[0]
        firsts = [self._first(it, tile) for it in tile.first]
        if load.array in frame.widths:
            firsts[-1] = frame.binary(BinaryOp.DIVIDE, firsts[-1], u32(tile.width))
            subscripts = [frame.binary(BinaryOp.ADD, *it) for it in zip(firsts, coordinates, strict=True)]
            return frame.builder.load(self.addresses.vector_at(load.array, subscripts))
        parts: list[Value] = []
        for lane in range(tile.width):
            places = list(coordinates)
            if tile.width > 1:
                scaled = frame.binary(BinaryOp.MULTIPLY, places[tile.along], u32(tile.width))
                places[tile.along] = frame.binary(BinaryOp.ADD, scaled, u32(lane))
            subscripts = [frame.binary(BinaryOp.ADD, *it) for it in zip(firsts, places, strict=True)]
            parts.append(self.addresses.fetched(load, subscripts, [ANYWHERE] * len(subscripts)))
        return parts[0] if tile.width == 1 else vector_of(frame.builder, parts)

    def _coordinates(self, extents: Sequence[int], number: Value) -> list[Value]:
        """The place of the element with a number among so many along each subscript."""
        frame, left = self.addresses.frame, number
        found: list[Value] = []
        for extent in reversed(extents[1:]):
            found.append(frame.binary(BinaryOp.REMAINDER, left, u32(extent)) if extent > 1 else u32(0))
            left = frame.binary(BinaryOp.DIVIDE, left, u32(extent)) if extent > 1 else left
        return [left, *reversed(found)] if extents else []

    def _element(self, tile: Tile, offset: Value) -> Value:
        at = self.addresses.frame.binary(BinaryOp.ADD, self.places[tile.stage], offset)
        return self.addresses.frame.builder.access(self.memory[tile.stage], [at])

    def _offset(self, tile: Tile, coordinates: Sequence[Value]) -> Value:
        """The number of an element or vector in memory, whose coordinate along `tile.along` counts these, too."""
        frame, ring = self.addresses.frame, self.rings.get(tile.stage)
        offset: Value = u32(0)
        for position, (stride, coordinate) in enumerate(zip(tile.strides, coordinates, strict=True)):
            if ring is not None and position == ring.position:
                part = ring.offset(frame, coordinate)
            else:
                steps = 1 if position == tile.along else stride // tile.width
                part = frame.binary(BinaryOp.MULTIPLY, coordinate, u32(steps))
            offset = frame.binary(BinaryOp.ADD, offset, part)
        return offset

    def _first(self, subscript: Affine, tile: Tile) -> Value:
        """The least subscript that the copy has."""

        def value_of(name: str, coefficient: int) -> Value:
            if name in self.addresses.frame.sizes:
                return self.addresses.frame.sizes[name]
            fixed = self._part(name, tile.stage, is_shared=False)
            last = span(name, tile.stage, self.addresses.decided) - 1
            return self.addresses.frame.binary(BinaryOp.ADD, fixed, u32(last if coefficient < 0 else 0))

        return self.addresses.summed(subscript, value_of)

    def _vectors_before(self, term: Term, tile: Tile, width: int) -> Value:
        """How many vectors of a row are before the one that the shared levels of a dimension choose."""
        decided, frame = self.addresses.decided, self.addresses.frame
        total: Value = u32(0)
        for level, stride in decided.strides(term.name).items():
            if not is_free(level, tile.stage, decided):
                continue
            step = term.coefficient * stride
            if step % width:  # the level that reads vectors: it is written out
                total = frame.binary(BinaryOp.ADD, total, u32(self.addresses.written[level] * step // width))
            else:
                scaled = frame.binary(BinaryOp.MULTIPLY, self.addresses.at[level], u32(step // width))
                total = frame.binary(BinaryOp.ADD, total, scaled)
        return total

    def _part(self, dimension: str, stage: Stage, *, is_shared: bool) -> Value:
        """What levels contribute to the index: those whose iterations share the copy, or all others."""
        decided = self.addresses.decided
        names = decided.names(dimension)
        levels: list[LevelName] = [it for it in names if is_free(it, stage, decided) is is_shared]
        return self.addresses.part_of_index(dimension, levels, name=f"{dimension}_{'in' if is_shared else 'from'}")

    def loaded(self, load: Load) -> Value:
        """What a load gives, from the copy: the elements of a vector, or one of them."""
        tile = self.tiles[load.name]
        inner = tile.inner
        if inner is None:
            used = [it.name for subscript in load.subscripts for it in subscript.terms]
            return self.addresses.for_each_component(used, lambda: self._scalar(load, tile))
        is_whole = self.addresses.decided.count(inner.level) == inner.width
        if is_whole and self.addresses.active_vector(load.dimensions) == inner.level:
            return self._vector(load, tile, inner, 0)
        return self.addresses.for_each_component(load.dimensions, lambda: self._component(load, tile, inner))

    def _component(self, load: Load, tile: Tile, inner: InnerLevel) -> Value:
        """The element at the current iteration of the level that reads vectors."""
        number = self.addresses.written[inner.level]
        whole = self._vector(load, tile, inner, number // inner.width)
        return self.addresses.frame.builder.access(whole, [u32(number % inner.width)])

    def _vector(self, load: Load, tile: Tile, inner: InnerLevel, number: int) -> Value:
        """The vector with a number among those that the level reads, at the current iterations of all others."""
        others = frozenset(
            it for it in self.addresses.written.items() if it[0].dimension in load.dimensions and it[0] != inner.level
        )
        with self.addresses.written_as(((inner.level, number * inner.width),)):
            return self.addresses.memo(
                ("vector of a copy", load.name, number, others), lambda: self._scalar(load, tile)
            )

    def _scalar(self, load: Load, tile: Tile) -> Value:
        """What memory has at the current iterations of all levels."""
        distances = [it.constant - first.constant for it, first in zip(load.subscripts, tile.first, strict=True)]
        coordinates = [self._coordinate(at, distance, tile) for at, distance in enumerate(distances)]
        return self.addresses.frame.builder.load(self._element(tile, self._offset(tile, coordinates)))

    def _coordinate(self, position: int, distance: int, tile: Tile) -> Value:
        """Where in the tile a subscript is: at `distance` from the first one, plus what shared levels contribute. Along
        the rows, whole vectors count.
        """
        frame, inner = self.addresses.frame, tile.inner
        width = inner.width if inner is not None and position == inner.position else 1
        place: Value = u32(distance // width)
        for term in tile.first[position].terms:
            if term.name in frame.sizes:
                continue
            if width > 1:
                place = frame.binary(BinaryOp.ADD, self._vectors_before(term, tile, width), place)
                continue
            part = self._part(term.name, tile.stage, is_shared=True)
            if term.coefficient < 0:
                last = span(term.name, tile.stage, self.addresses.decided) - 1
                part = frame.binary(BinaryOp.SUBTRACT, u32(last), part)
            scaled = frame.binary(BinaryOp.MULTIPLY, u32(abs(term.coefficient)), part)
            place = frame.binary(BinaryOp.ADD, scaled, place)
        return place


def _room(tile: Tile) -> int:
    """How many elements of a row may be copied, or vectors: those of the padding, too, where elements outside of the
    array have a value. Then no invocation has to be tested, and all of the memory is written.
    """
    is_padding_copied = tile.along == len(tile.extents) - 1 and tile.loads[0].boundary is not Boundary.INSIDE
    return tile.length // prod(tile.vectors[:-1]) // tile.width if is_padding_copied else tile.vectors[-1]


def _cut(tile: Tile, position: int, count: int) -> list[int]:
    """The extents of a part of a tile that has so many elements along a subscript."""
    return [count if at == position else it for at, it in enumerate(tile.vectors)]


def _steps(elements: int, count: int) -> int:
    """The steps in which so many invocations copy elements."""
    return -(-elements // count)
