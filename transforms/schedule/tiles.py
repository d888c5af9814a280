"""The parts of arrays that are copied to workgroup memory: which elements they have, and which decisions are legal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from ...ir.hints import unknown_name
from ...ir.schedule.nodes import Affine, Buffering, Execution, LevelName, Load, Map, Stage, Use
from ...ir.schedule.scope import used_by
from ...ir.schedule.text import level_name_text
from .decided import Decided
from .tasks import Carry, Task

MOST_PADDING = 64
"""The most unused elements at the end of a row: more banks than any device has."""


@dataclass(frozen=True, slots=True)
class InnerLevel:
    """A written-out level, or one of vectors, whose iterations read neighbours along a subscript of a copy: `width` of
    them at a time, as a vector.
    """

    level: LevelName
    position: int
    width: int


@dataclass(frozen=True, slots=True)
class Tile:
    """The elements of an array that the loads of a stage need while the levels outside of the copy stand still.

    They are a box: `extents` elements along each subscript, from the one that `first` is at.
    """

    stage: Stage
    loads: tuple[Load, ...]
    first: tuple[Affine, ...]
    """The subscripts with the least constants among the loads."""
    extents: tuple[int, ...]
    inner: InnerLevel | None = None

    @property
    def width(self) -> int:
        """The elements of each vector that memory consists of; 1 for scalars."""
        return 1 if self.inner is None else self.inner.width

    @property
    def along(self) -> int:
        """The position of the subscript whose neighbours lie beside each other in memory: the last one, but for vectors
        of others.
        """
        return len(self.extents) - 1 if self.inner is None else self.inner.position

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements apart neighbours along each subscript are in memory."""
        return self._placed[0]

    @property
    def elements(self) -> int:
        """The number of elements that are copied."""
        return prod(self.extents)

    @property
    def vectors(self) -> tuple[int, ...]:
        """The number of vectors along each subscript, or of scalars."""
        return tuple(it // self.width if at == self.along else it for at, it in enumerate(self.extents))

    @property
    def length(self) -> int:
        """The elements of memory for one copy."""
        return self._placed[1]

    @property
    def places(self) -> int:
        """The number of copies that memory holds."""
        return 2 if self.stage.buffering is Buffering.DOUBLE else 1

    @property
    def _placed(self) -> tuple[tuple[int, ...], int]:
        """The strides and the length. Rows, with their padding, are whole vectors."""
        strides, apart = [0] * len(self.extents), 1
        innermost_first = sorted(range(len(self.extents)), key=lambda it: (it != self.along, -it))
        for position in innermost_first:
            strides[position] = apart
            if position == self.along:
                apart = -(-(self.extents[position] + self.stage.padding) // self.width) * self.width
            else:
                apart *= self.extents[position]
        return tuple(strides), apart


def tile_of(stage: Stage, decided: Decided) -> Tile:
    """The tile of a stage that breaks no rule."""
    loads = tuple(it for it in map(decided.scope.values.get, stage.loads) if isinstance(it, Load))
    first, extents = list[Affine](), list[int]()
    for subscripts in zip(*(it.subscripts for it in loads), strict=True):
        constants = [it.constant for it in subscripts]
        first.append(Affine(subscripts[0].terms, min(constants)))
        steps = [abs(it.coefficient) * (span(it.name, stage, decided) - 1) for it in subscripts[0].terms]
        extents.append(sum(steps) + max(constants) - min(constants) + 1)
    found = Tile(stage, loads, tuple(first), tuple(extents))
    inner = [level for position in range(len(first)) for level in _inner_levels(found, position, decided)]
    return replace(found, inner=max(inner, key=lambda it: _preference(it.level, decided), default=None))


class Slide(NamedTuple):
    """How a copy moves: in each iteration by `step` elements along the subscript at `position`."""

    position: int
    step: int


def slide_of(tile: Tile, decided: Decided) -> Slide:
    """How the tile of a stage that breaks no rule moves in each iteration of the loop that copies it."""
    (found,) = _moves(tile, decided)
    return found


def _moves(tile: Tile, decided: Decided) -> list[Slide]:
    """How a tile moves in each iteration of the loop that copies it, along each subscript."""
    at = tile.stage.at
    terms = ((position, term) for position, subscript in enumerate(tile.first) for term in subscript.terms)
    return [
        Slide(position, term.coefficient * decided.strides(at.dimension)[at])
        for position, term in terms
        if at is not None and term.name == at.dimension
    ]


def _slides(tile: Tile, decided: Decided) -> bool:
    """Whether a tile moves along one subscript, upwards, part of it stays, and invocations do not copy the elements
    along that subscript side by side.
    """
    moves = _moves(tile, decided)
    if len(moves) != 1 or moves[0].position in (tile.along, len(tile.extents) - 1):
        return False
    return 0 < moves[0].step < tile.extents[moves[0].position]


def whole_padding(stage: Stage, decided: Decided) -> int:
    """The least padding of a stage that breaks no rule with which each row is copied in whole steps of all invocations;
    0 if it is more than is allowed.
    """
    tile = tile_of(stage, decided)
    padding = -tile.vectors[-1] % decided.invocations * tile.width
    return padding if padding <= MOST_PADDING else 0


def _preference(level: LevelName, decided: Decided) -> tuple[bool, int]:
    """Orders levels by how good their vectors are: first that of vectors, which uses them whole, then the innermost
    one, which uses components soonest one after another.
    """
    return decided.is_vector(level), decided.order.index(level)


def _inner_levels(tile: Tile, position: int, decided: Decided) -> Iterator[InnerLevel]:
    """The levels whose iterations read whole vectors along a subscript, wherever all others are."""
    terms = [it for it in tile.first[position].terms if it.name in decided.scope.dimensions]
    apart = [it.subscripts[position].constant - tile.first[position].constant for it in tile.loads]
    for term in terms:
        level = decided.names(term.name)[-1]
        others = (it for at, it in enumerate(tile.first) if at != position)
        if term.coefficient != 1 or any(it.name == term.name for other in others for it in other.terms):
            continue
        is_written_out = decided.execution(level) in (Execution.UNROLLED, Execution.VECTOR)
        if not (is_written_out and is_free(level, tile.stage, decided)):
            continue
        steps = [
            it.coefficient * stride
            for it in terms
            for name, stride in decided.strides(it.name).items()
            if name != level and is_free(name, tile.stage, decided)
        ]
        if min(steps, default=0) < 0:
            continue
        count = decided.count(level) or 1
        width = next((it for it in (4, 2) if not any(step % it for step in (count, *steps, *apart))), None)
        if width is not None:
            yield InnerLevel(level, position, width)


def span(name: str, stage: Stage, decided: Decided) -> int:
    """How many neighbouring indices of a dimension a copy covers; 1 for a size."""
    if name not in decided.scope.dimensions:
        return 1
    strides = decided.strides(name).items()
    steps = [((decided.count(it) or 1) - 1) * stride for it, stride in strides if is_free(it, stage, decided)]
    return 1 + sum(steps)


def is_free(level: LevelName, stage: Stage, decided: Decided) -> bool:
    """Whether the iterations of a level share a copy."""
    kind = decided.kind(level)
    if kind in (Execution.INVOCATION, Execution.VECTOR):
        return True
    if kind is Execution.WORKGROUP:
        return False
    return stage.at is None or decided.order.index(level) > decided.order.index(stage.at)


def stage_mistakes(decided: Decided) -> Iterator[str]:
    """What is illegal about the copies in workgroup memory: sentences."""
    staged = [it for stage in decided.stages for it in stage.loads]
    for name in dict.fromkeys(it for it in staged if staged.count(it) > 1):
        yield f"{name!r} is copied twice"
    for stage in decided.stages:
        found = list(_stage_mistakes(stage, decided))
        yield from found
        if found:
            continue
        yield from _use_mistakes(stage, decided)
        if stage.loads and stage.buffering is Buffering.SLIDING and not _slides(tile_of(stage, decided), decided):
            place = "the kernel" if stage.at is None else level_name_text(stage.at)
            yield f"the copy for {stage.loads[0]!r} does not slide along its rows in {place}"


def _stage_mistakes(stage: Stage, decided: Decided) -> Iterator[str]:
    loads = [it for it in decided.scope.values.values() if isinstance(it, Load)]
    by_name = {it.name: it for it in loads}
    unknown = [it for it in stage.loads if it not in by_name]
    inputs = {it.array for it in loads}
    for name in unknown:
        yield unknown_name(f"there is no load and no input {name!r}", name, [*by_name, *inputs])
    if not stage.loads or unknown:
        return
    first, *others = (by_name[it] for it in stage.loads)
    for load in others:
        if not _is_shifted(first, load):
            yield f"{load.name!r} and {first.name!r} are not at constant distances in one array"
    if stage.at is None and stage.buffering is Buffering.DOUBLE:
        yield f"the copy for {first.name!r} is made once, so it needs no second place"
    if stage.at is not None and (stage.at not in decided.order or decided.execution(stage.at) is not Execution.LOOP):
        yield f"{level_name_text(stage.at)} is no loop"
        return
    if stage.padding > MOST_PADDING:
        yield f"a padding of {stage.padding} elements; at most {MOST_PADDING} is allowed"
    for load in (first, *others):
        for dimension in load.dimensions:
            yield from _unknown_spans(load, dimension, stage, decided)


def _unknown_spans(load: Load, dimension: str, stage: Stage, decided: Decided) -> Iterator[str]:
    for level in decided.names(dimension):
        is_used = any(it.name == dimension for subscript in load.subscripts for it in subscript.terms)
        if is_used and is_free(level, stage, decided) and decided.count(level) is None:
            yield f"a copy for {load.name!r} has all iterations of {level_name_text(level)}: their number is not known"


def _is_shifted(load: Load, other: Load) -> bool:
    terms = [frozenset(it.terms) for it in load.subscripts]
    same = [frozenset(it.terms) for it in other.subscripts] == terms
    return same and (load.array, load.boundary) == (other.array, other.boundary)


def _use_mistakes(stage: Stage, decided: Decided) -> Iterator[str]:
    """Uses at other indices, or outside of the loop."""
    loads = set(stage.loads)
    for value in decided.scope.values.values():
        if isinstance(value, Map):
            for name in sorted(loads & decided.demand(used_by(value)).loads):
                yield f"{value.name!r} needs {name!r} at other indices, which are not copied"
    if stage.at is None:
        return
    place = level_name_text(stage.at)
    for task in decided.tasks:
        path = decided.path(task)
        used = sorted(loads & decided.demand_of(task).loads)
        if used and stage.at not in path:
            yield f"{used[0]!r} is used outside of {place}"
        elif isinstance(task, Carry) and not _is_around(stage.at, path, decided.carrying(task)):
            firsts = [it.first.name for it in task.fbys if isinstance(it.first, Use)]
            yield from (f"{it!r} is used outside of {place}" for it in sorted(loads & decided.demand(firsts).loads))


def _is_around(level: LevelName, path: Sequence[LevelName], carrying: Sequence[LevelName]) -> bool:
    return level in (path[: path.index(carrying[0])] if carrying else path)


def stages_in(level: LevelName, tasks: Sequence[Task], decided: Decided) -> list[Stage]:
    """The copies that are made in each iteration of a loop, for the tasks in it."""
    found = [it for it in decided.stages if it.at == level]
    used = {name for task in tasks for name in decided.demand_of(task).loads} if found else set[str]()
    return [it for it in found if not used.isdisjoint(it.loads)]
