"""Copies of tiles in workgroup memory, which the invocations of a workgroup make together and load from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Affine, Buffering, LevelName, Load, Stage
from .addresses import Addresses
from .tiles import Tile, is_free, span, tile_of

MOST_STEPS = 8
"""The most elements that one invocation copies in code that is written out; for more, there is a loop."""


@dataclass(slots=True)
class Staging:
    """The copies of a kernel."""

    addresses: Addresses
    tiles: dict[str, Tile] = field(default_factory=dict[str, Tile])
    """The tile of each load that is staged."""
    memory: dict[Stage, c.Var] = field(default_factory=dict[Stage, c.Var])
    places: dict[Stage, Value] = field(default_factory=dict[Stage, Value])
    """Where in memory the current copy begins."""

    def __post_init__(self) -> None:
        decided = self.addresses.decided
        for stage in decided.stages:
            tile = tile_of(stage, decided)
            self.tiles.update(dict.fromkeys(stage.loads, tile))
            store = scalar_type(tile.loads[0].type)
            name = f"{tile.loads[0].array}_tile"
            self.memory[stage] = self.addresses.frame.shared(name, store, tile.length * tile.places)

    def enter(self, stages: Sequence[Stage]) -> None:
        """Before a loop that makes copies: invocations may still read those of an earlier execution of the loop."""
        if any(it.buffering is Buffering.DOUBLE for it in stages):
            self.addresses.frame.barrier()

    def fill(self, stages: Sequence[Stage]) -> None:
        """Make the copies for the current iterations."""
        if not stages:
            return
        frame = self.addresses.frame
        if any(it.at is not None and it.buffering is Buffering.SINGLE for it in stages):
            frame.barrier()
        for stage in stages:
            tile = self.tiles[stage.loads[0]]
            self.places[stage] = self._place(tile)
            self._copy(tile)
        frame.barrier()

    def _place(self, tile: Tile) -> Value:
        at = tile.stage.at
        if at is None or tile.places == 1:
            return u32(0)
        frame = self.addresses.frame
        turn = frame.binary(BinaryOp.REMAINDER, self.addresses.at[at], u32(2))
        return frame.binary(BinaryOp.MULTIPLY, turn, u32(tile.length))

    def _copy(self, tile: Tile) -> None:
        count, lane = self.addresses.lane()
        steps = -(-tile.elements // count)
        builder = self.addresses.frame.builder
        if steps <= MOST_STEPS:
            for step in range(steps):
                is_last = (step + 1) * count > tile.elements
                self._copy_one(tile, self.addresses.frame.binary(BinaryOp.ADD, lane, u32(step * count)), is_last)
            return
        with builder.counting(u32(0), u32(steps), name=self.addresses.frame.name("step")) as turn:
            ahead = self.addresses.frame.binary(BinaryOp.MULTIPLY, turn, u32(count))
            number = self.addresses.frame.binary(BinaryOp.ADD, ahead, lane)
            self._copy_one(tile, number, tile.elements % count > 0)

    def _copy_one(self, tile: Tile, number: Value, is_tested: bool) -> None:
        frame = self.addresses.frame
        with ExitStack() as stack:
            if is_tested:
                condition = frame.builder.binary(BinaryOp.LESS, number, u32(tile.elements))
                stack.enter_context(frame.builder.when(condition))
            stack.enter_context(self.addresses.block())
            coordinates = self._coordinates(tile, number)
            firsts = [self._first(it, tile) for it in tile.first]
            subscripts = [frame.binary(BinaryOp.ADD, *it) for it in zip(firsts, coordinates, strict=True)]
            load = tile.loads[0]
            value = self.addresses.fetched(load, subscripts, range(len(subscripts)))
            to = self._offset(tile, coordinates) if tile.stage.padding else number
            frame.builder.store(self._element(tile, to), value)

    def _coordinates(self, tile: Tile, number: Value) -> list[Value]:
        """The place in the tile of the element with a number."""
        frame, left = self.addresses.frame, number
        found: list[Value] = []
        for extent in reversed(tile.extents[1:]):
            found.append(frame.binary(BinaryOp.REMAINDER, left, u32(extent)) if extent > 1 else u32(0))
            left = frame.binary(BinaryOp.DIVIDE, left, u32(extent)) if extent > 1 else left
        return [left, *reversed(found)] if tile.extents else []

    def _element(self, tile: Tile, offset: Value) -> Value:
        at = self.addresses.frame.binary(BinaryOp.ADD, self.places[tile.stage], offset)
        return self.addresses.frame.builder.access(self.memory[tile.stage], [at])

    def _offset(self, tile: Tile, coordinates: Sequence[Value]) -> Value:
        frame = self.addresses.frame
        offset: Value = u32(0)
        for stride, coordinate in zip(tile.strides, coordinates, strict=True):
            offset = frame.binary(BinaryOp.ADD, offset, frame.binary(BinaryOp.MULTIPLY, coordinate, u32(stride)))
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

    def _part(self, dimension: str, stage: Stage, *, is_shared: bool) -> Value:
        """What levels contribute to the index: those whose iterations share the copy, or all others."""
        decided = self.addresses.decided
        names = decided.names(dimension)
        levels: list[LevelName] = [it for it in names if is_free(it, stage, decided) is is_shared]
        return self.addresses.part_of_index(dimension, levels, name=f"{dimension}_{'in' if is_shared else 'from'}")

    def loaded(self, load: Load) -> Value:
        """The element of a load, from the copy."""
        tile = self.tiles[load.name]
        distances = [it.constant - first.constant for it, first in zip(load.subscripts, tile.first, strict=True)]
        coordinates = [self._coordinate(*it, tile) for it in zip(tile.first, distances, strict=True)]
        return self.addresses.frame.builder.load(self._element(tile, self._offset(tile, coordinates)))

    def _coordinate(self, subscript: Affine, distance: int, tile: Tile) -> Value:
        """Where in the tile a subscript is: at `distance` from the first one, plus what shared levels contribute."""
        frame = self.addresses.frame
        place: Value = u32(distance)
        for term in subscript.terms:
            if term.name in frame.sizes:
                continue
            part = self._part(term.name, tile.stage, is_shared=True)
            if term.coefficient < 0:
                last = span(term.name, tile.stage, self.addresses.decided) - 1
                part = frame.binary(BinaryOp.SUBTRACT, u32(last), part)
            scaled = frame.binary(BinaryOp.MULTIPLY, u32(abs(term.coefficient)), part)
            place = frame.binary(BinaryOp.ADD, scaled, place)
        return place
