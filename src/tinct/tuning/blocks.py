"""Structured points: blocks of outputs that an invocation computes, with vectors along one dimension.

A block loads each element of an input once for several outputs, so that a matrix product of blocks of 8 rows and two
vectors of columns has ten loads for 16 products. Blocks need not be powers of two: those of 3, 6 or 12 may fit
registers, or a size, better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import permutations, product
from math import prod
from typing import Final

from ..ir.schedule.nodes import Buffering, Decisions, Execution, Keep, Level, LevelName, Load, Location, Stage, Store
from ..transforms.schedule.legality import MOST_CARRIED
from ..transforms.schedule.tasks import Carry
from ..transforms.schedule.tiles import whole_padding
from .choices import Facts, joined_by_invocations, with_workgroups
from .level_patterns import MOST_SHARED, Levels, part_factors

_VECTORS: Final = (1, 2, 4)
"""The vectors that the invocations along a dimension fill."""
_MANY_INVOCATIONS: Final = 256
"""As many invocations have one output each."""
_SQUARE: Final = 16
"""The invocations along each dimension of a square."""
_COLUMNS: Final = (1, 2, 3, 4)
"""Vectors of a block."""
_ROWS: Final = (1, 2, 4, 6, 8, 12)
"""Rows of a block along another dimension."""
_ROWS_OF_WINDOWS: Final = (1, 2, 3, 4, 6, 8, 12)
"""The same of a block of a stencil."""
_VECTORS_OF_WINDOWS: Final = (1, 2)
"""The vectors that the invocations fill where what is summed up is written out."""
_SHORT: Final = 8
_MOST_WRITTEN: Final = 32
"""The longest window of which blocks may have many rows, and the longest one that is written out at all."""
_ROW: Final = 128
"""Outputs along a row of blocks that one workgroup computes by turns."""
_ROWS_OF_COPIES: Final = (_ROW, 2 * _ROW)
"""The same where it copies what they read: the longer the row, the less is copied for two workgroups."""
_ROWS_OF_MANY_COPIES: Final = (16, 32, 64)
"""The same where it copies such rows of several channels, of which its memory has room for short ones only."""
_ROW_OF_PARTS: Final = 32
_CHANNELS_OF_PART: Final = 16
_MOST_TURNS_OF_PARTS: Final = 16
"""The same where it copies such rows of some channels at a time; how many these are; and how many blocks across share
the copies at most, whose sums lie in arrays.
"""
_ACROSS: Final = (4, 8)
"""Outputs of a block along a dimension that what is read through the window does not depend on."""
_MOST_TURNS: Final = 8
"""So many such blocks, one after the other, in one workgroup: they read the same window."""
_FEWEST_PACKED: Final = 8
"""Outputs of blocks for which what they load is also tried in the order in which it is read."""
_MOST_ROWS_OF_TURN: Final = 4
"""Blocks across rows in each of these turns."""
_MOST_SLIDES: Final = 32
"""Blocks across rows that one workgroup computes by turns: so many that the first one of them hardly counts."""
_CHUNK: Final = 256
_FEWEST_CHUNKS: Final = 4
"""Terms of a sum that are added up for several blocks before the next ones are, and the fewest chunks of these."""
_TURNS_OF_CHUNK: Final = (1, 2, 4, 8)
"""Blocks along the vectors of which each chunk has the sums."""
_BYTES_OF_SUM: Final = 4
_COLUMNS_OF_ROWS: Final = (1, 2, 4)
_ROWS_AT_ONCE: Final = (4, 8)
"""Vectors of a row, and rows, that are written out where whole rows are gone through."""
_LENGTHS: Final = (512, 2048, 8192)
"""Elements of a row for which one workgroup carries values."""
_PARTS_AT_ONCE: Final = (2, 4, 8)
"""Parts that are read at the same time."""
_TURNS_OF_PART: Final = (256, 1024, 4096)
_ROWS_OF_PART: Final = (4, 16)
"""The vectors of a part of a row, and the rows of a part that has several."""
_FEWEST_GROUPS: Final = 4
"""Workgroups that there are at least where each has several rows."""
_MOST_SUMS: Final = 32
"""Rows and columns make at most as many outputs: more do not fit in registers."""


def blocks(facts: Facts) -> Iterator[Decisions]:
    """Blocks along the dimensions that nothing is carried along, squares, and vectors that share a reduction; not all
    of them are legal.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    for along in free:
        others = [it for it in free if it != along]
        for other in others:
            yield from _squares(facts, free, along, other)
        for second in others or (None,):
            yield from _of_pair(facts, free, along, second)
    for along in sorted(facts.in_parts):
        yield from _along_reduction(facts, free, along)


def _of_pair(facts: Facts, free: list[str], along: str, other: str | None) -> Iterator[Decisions]:
    for lanes, columns, rows in _sizes(facts, other):
        is_wide = lanes == _MANY_INVOCATIONS and columns * rows > 1
        if is_wide or columns * rows > _MOST_SUMS or columns * lanes >= 2 * facts.extents[along]:
            continue
        levels = spread(facts, free)
        levels[along] = (*levels[along], *unrolled_level(columns), Level(Execution.INVOCATION, lanes))
        if other is not None:
            levels[other] = (*levels[other], *unrolled_level(rows))
        made = facts.with_levels(Decisions((), ()), levels)
        yield from _with_grids(facts, made)
        if columns * rows >= _FEWEST_PACKED:
            for kept in filter(None, (_packed(facts, along), _converted(facts))):
                yield from _with_grids(facts, replace(made, kept=kept))


def _sizes(facts: Facts, other: str | None) -> Iterator[tuple[int, int, int]]:
    """Invocations, columns and rows of blocks; among them those of so many rows that hardly any are left over."""
    for lanes, columns in product(_lanes(facts), _COLUMNS):
        rows = (1,) if other is None else (*_ROWS, _fitting(facts.extents[other], _MOST_SUMS // columns - 1))
        yield from ((lanes, columns, it) for it in dict.fromkeys(rows))


def _fitting(extent: int, most: int) -> int:
    """How many elements parts of a dimension have so that the last part has the fewest beyond the end: at most so many,
    and at least half as many.
    """
    return min(range(max(most // 2, 1), max(most, 1) + 1), key=lambda it: (-extent % it, -it))


def windows(facts: Facts) -> Iterator[Decisions]:
    """Blocks of a stencil: what it sums up along one dimension is written out, so that each element is loaded once for
    several outputs. Of the border, which costs more, the interior is apart, but on GPUs in software, which execute both
    sides of a test.

    What a stencil reads may serve outputs across another dimension, too, as those of a convolution: then blocks have
    several of these, and a workgroup computes all that read the same window, if they are few, or the blocks of a row,
    one after the other. A workgroup may copy what it reads to its memory first, for one block after the other: rows of
    an input whose length is a power of two would share few sets of a cache, and what the next workgroup copies is
    prefetched meanwhile. Of many channels it copies some at a time. GPUs in software load from both memories alike, and
    copies of several channels are left out.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    bounded = facts.bounded - facts.carried if facts.gpu != "software" else ()
    peeled = tuple(it for it in facts.extents if it in bounded)
    for along, other in permutations(free, 2):
        window = [it for it in _summed_with(facts, other) if facts.extents[it] <= _MOST_WRITTEN]
        if window:
            levels = spread(facts, free) | dict.fromkeys(window, (Level(Execution.UNROLLED, None),))
            across = [it for it in free if it not in (along, other)]
            for name, count in ((along, 1), *product(across, _ACROSS)):
                several = _with_several(facts, levels, name, count)
                for block in _of_window(several, along, other, facts.lanes, _MOST_SUMS // count):
                    made = facts.with_levels(Decisions((), ()), block)
                    yield replace(made, order=facts.order_of_blocks(block), peeled=peeled)
                    if not across:
                        if any(facts.extents[it] > _SHORT for it in window):  # blocks are small
                            yield from _along_rows(facts, block, along, other, peeled)
                        for copied in _with_copies(facts, block, along, {along, other, *window}, _ROWS_OF_COPIES):
                            yield copied
                            yield from _sliding(facts, copied, other)
                    elif count > 1:
                        yield from _along_rows(facts, block, along, other)
                        if facts.gpu != "software":
                            yield from _with_copies(facts, block, along, {along, other, *window}, _ROWS_OF_MANY_COPIES)
                            yield from _with_copies_of_parts(facts, block, along, other, name)


def _along_rows(
    facts: Facts, block: Mapping[str, Levels], along: str, other: str, peeled: tuple[str, ...] = ()
) -> Iterator[Decisions]:
    """Decisions whose workgroups compute blocks along a dimension by turns, each block as a whole, or in each iteration
    of what is summed up beside the window, if anything is. Then a row of an input is read as far as the blocks go
    before the next channel is: rows of many channels that are a power of two apart would share few sets of a cache.
    """
    levels = _turned(facts, block, along)
    made = replace(facts.with_levels(Decisions((), ()), levels), peeled=peeled)
    order = facts.order_of_blocks(levels)
    yield replace(made, order=order)
    apart = _beside_window(facts, along, other)
    if apart:
        outside = [it for it in order if it.dimension in apart]
        rest = [it for it in order if it not in outside]
        at = next(at for at, it in enumerate(rest) if it.dimension in (along, *facts.carried))
        yield replace(made, order=(*rest[:at], *outside, *rest[at:]))


def by_turns(facts: Facts, point: Decisions) -> Iterator[Decisions]:
    """A point of which each workgroup computes several blocks along the dimension of its vectors, one after the other:
    what they all load of an input stays in a cache meanwhile. None where a block is a whole row already. Then such a
    point with several blocks across rows in each turn, for which the vectors stay in the first cache.
    """
    levels = facts.levels(point)
    for along, (first, *inner) in levels.items():
        if first.execution is not Execution.WORKGROUP or all(it.execution is not Execution.INVOCATION for it in inner):
            continue
        turned = _turned(facts, levels, along)
        if turned != levels:
            yield facts.with_levels(point, turned)
            yield from _with_rows(facts, point, turned, along)


def all_in_order(facts: Facts, point: Decisions) -> Iterator[Decisions]:
    """A point that keeps some inputs in storage in the order in which blocks read them, with all others, too, that are
    read again: rows of a block that are a power of two apart would share few sets of a cache.
    """
    kept = {it.value for it in point.kept}
    if kept and kept < set(facts.read_again):
        yield replace(point, kept=tuple(Keep(it, Location.STORAGE) for it in facts.read_again))


def _with_rows(facts: Facts, point: Decisions, turned: Mapping[str, Levels], along: str) -> Iterator[Decisions]:
    """A point by turns along a dimension, with several blocks across rows in each turn."""
    for across, (first, *inner) in turned.items():
        if across != along and first.execution is Execution.WORKGROUP:
            turns = _fitting(_blocks_along(facts, across, inner), _MOST_ROWS_OF_TURN)
            levels = {**turned, across: (first, *_looped(turns), *inner)}
            order = sorted(facts.order_of_blocks(levels), key=lambda it: it != LevelName(along, 1))
            yield replace(facts.with_levels(point, levels), order=tuple(order))


def in_chunks(facts: Facts, point: Decisions) -> Iterator[Decisions]:
    """A point of which each workgroup goes through a long sum in chunks: for each chunk through several blocks, along
    the vectors and across rows, whose sums lie in arrays meanwhile. What blocks read of a chunk stays in the caches.
    """
    levels = facts.levels(point)
    blocked = [it for it, (first, *inner) in levels.items() if first.execution is Execution.WORKGROUP and inner]
    vectors = [it for it in blocked if levels[it][-1] == Level(Execution.INVOCATION, facts.lanes)]
    sums = [it for it in facts.carried if levels[it] == (Level(Execution.LOOP, None),)]
    sums = [it for it in sums if facts.extents[it] >= _FEWEST_CHUNKS * _CHUNK]
    if len(sums) != 1 or len(blocked) != 2 or len(vectors) != 1:
        return
    (summed,), (along,) = sums, vectors
    (across,) = (it for it in blocked if it != along)
    written = (it for name in blocked for it in levels[name] if it.execution is Execution.UNROLLED)
    most = MOST_CARRIED // (_BYTES_OF_SUM * prod(it.factor or 1 for it in written))
    blocks_along, blocks_across = (_blocks_along(facts, it, levels[it][1:]) for it in (along, across))
    for turns in _TURNS_OF_CHUNK:
        turns_across = _fitting(blocks_across, min(blocks_across, most // turns))
        if turns <= blocks_along and turns_across > 1:
            loops = {summed: _looped(_CHUNK), along: _looped(turns), across: _looped(turns_across)}
            made = levels | {name: (levels[name][0], *its, *levels[name][1:]) for name, its in loops.items()}
            first = (LevelName(summed, 0), *(LevelName(it, 1) for it in (along, across) if loops[it]))
            order = (*first, *(it for it in facts.order_of_blocks(made) if it not in first))
            yield replace(facts.with_levels(point, made), order=order)


def _turned(facts: Facts, block: Mapping[str, Levels], along: str, row: int = _ROW) -> dict[str, Levels]:
    """Levels of which a workgroup computes several blocks along a dimension, one after the other: at most a row of so
    many outputs.
    """
    first, *inner = block[along]
    turns = _fitting(_blocks_along(facts, along, inner), row // prod(it.factor or 1 for it in inner))
    return {**block, along: (first, *_looped(turns), *inner)}


def _blocks_along(facts: Facts, name: str, inner: Sequence[Level]) -> int:
    """The blocks along a dimension, of which one has the iterations of these levels."""
    return -(-facts.extents[name] // prod(it.factor or 1 for it in inner))


def _with_copies(
    facts: Facts, block: Mapping[str, Levels], along: str, read: AbstractSet[str], lengths: Sequence[int]
) -> Iterator[Decisions]:
    """Decisions whose workgroups compute blocks along a dimension by turns, and copy what depends on the dimensions
    `read`, if anything does: rows of these lengths, which are copied in whole steps of all invocations.
    """
    for row in lengths:
        levels = _turned(facts, block, along, row)
        yield from _copying(facts, levels, facts.order_of_blocks(levels), read, None)


def _with_copies_of_parts(
    facts: Facts, block: Mapping[str, Levels], along: str, other: str, across: str
) -> Iterator[Decisions]:
    """Decisions whose workgroups go through many channels in parts, copy what they read of one, and compute with that
    for one block after the other, also across the channels of the output.
    """
    for channels in sorted(_beside_window(facts, along, other)):
        if facts.extents[channels] > _CHANNELS_OF_PART:
            levels = _turned(facts, block, along, _ROW_OF_PARTS)
            workgroups, *_, written = levels[across]
            turns = min(_blocks_along(facts, across, [written]), _MOST_TURNS_OF_PARTS)
            levels[across] = (workgroups, *_looped(turns), written)
            levels[channels] = (Level(Execution.LOOP, None), Level(Execution.LOOP, _CHANNELS_OF_PART))
            at = LevelName(channels, 0)
            order = (at, *(it for it in facts.order_of_blocks(levels) if it != at))
            yield from _copying(facts, levels, order, {along, other, channels}, at)


def _copying(
    facts: Facts,
    levels: Mapping[str, Levels],
    order: tuple[LevelName, ...],
    read: AbstractSet[str],
    at: LevelName | None,
) -> Iterator[Decisions]:
    """Decisions that copy what depends on the dimensions `read`, if anything does, in each iteration of a level, or
    once: in whole steps of all invocations.
    """
    scope = facts.plain.scope
    loads = [it for it in scope.values.values() if isinstance(it, Load) and read <= scope.dimensions_of(it.name)]
    if loads:
        arrays = dict.fromkeys(it.array for it in loads)
        stages = tuple(Stage(tuple(it.name for it in loads if it.array == array), at) for array in arrays)
        copied = replace(facts.with_levels(Decisions((), ()), levels), order=order, stages=stages)
        decided = facts.decided(copied)
        padded = tuple(replace(it, padding=whole_padding(it, decided)) for it in decided.stages)
        yield replace(copied, stages=padded)


def _sliding(facts: Facts, copied: Decisions, across: str) -> Iterator[Decisions]:
    """Decisions whose workgroups compute blocks across rows, too, one after the other, and copy for each of them the
    rows that the one before did not need.
    """
    first, *inner = facts.levels(copied)[across]
    count = _blocks_along(facts, across, inner)
    turns = _fitting(count, _MOST_SLIDES)
    if count >= turns:
        made = facts.with_levels(copied, {**facts.levels(copied), across: (first, *_looped(turns), *inner)})
        at = LevelName(across, 1)
        order = (at, *(it for it in facts.order_of_blocks(facts.levels(made)) if it != at))
        stages = tuple(replace(it, at=at, buffering=Buffering.SLIDING) for it in copied.stages)
        yield replace(made, order=order, stages=stages)


def _of_window(levels: dict[str, Levels], along: str, other: str, lanes: int, most: int) -> Iterator[dict[str, Levels]]:
    """Levels with up to so many outputs of a block along two dimensions."""
    for vectors, columns, rows in product(_VECTORS_OF_WINDOWS, _COLUMNS, _ROWS_OF_WINDOWS):
        if columns * rows <= most:
            its = (*levels[along], *unrolled_level(columns), Level(Execution.INVOCATION, vectors * lanes))
            yield levels | {along: its, other: (*levels[other], *unrolled_level(rows))}


def _with_several(facts: Facts, levels: dict[str, Levels], name: str, count: int) -> dict[str, Levels]:
    """Levels with several outputs of a block along a dimension; a workgroup has the blocks of all of them by turns, if
    they are few.
    """
    turns = -(-facts.extents[name] // count)
    looped = _looped(turns if count > 1 and turns <= _MOST_TURNS else 1)
    return levels | {name: (*levels[name], *looped, *unrolled_level(count))}


def passes(facts: Facts) -> Iterator[Decisions]:
    """A pass for each value that other loops need for the rows of an output, or that a loop would compute again and
    again, as for the scores and weights of attention: the value is kept in storage, and each pass computes blocks, of
    several rows and of vectors along a row. Where a kept value is summed up for each element of a row of another one,
    vectors of both would be joined by trees: those of a GPU wait for each other, which takes it longer than one vector.
    """
    found = _passes_of(facts)
    if found is None:
        return
    needed, rows, along = found
    carries = [it for it in facts.plain.tasks if isinstance(it, Carry)]
    both = {it for task in carries for it in task.on if it in along and task.dimensions & set(along) > {it}}
    vectors = (Level(Execution.INVOCATION, facts.lanes),)
    kept = tuple(Keep(it, Location.STORAGE) for it in needed)
    loads = dict.fromkeys(((), *(_packed(facts, it) for it in along)))
    for columns, count in product(_COLUMNS, _ROWS):
        if columns * count <= _MOST_SUMS:
            levels = spread(facts, rows)
            levels |= {it: (*levels[it], *unrolled_level(columns), *vectors) for it in along if it not in both}
            levels |= {it: (*levels[it], *(() if facts.gpu else vectors)) for it in both}
            levels[rows[-1]] = (*levels[rows[-1]], *unrolled_level(count))
            blocked = facts.with_levels(Decisions((), ()), levels)
            yield from (replace(blocked, kept=(*packed, *kept)) for packed in loads)


def _passes_of(facts: Facts) -> tuple[list[str], list[str], list[str]] | None:
    """The values that passes keep, the dimensions of the rows of all passes, and those of vectors. None where a nest
    has no such values, or carries nothing else.
    """
    scope = facts.plain.scope
    stored = [it.dimensions for it in facts.nest.body if isinstance(it, Store)]
    outputs = {name for names in stored for name in names}
    again = dict.fromkeys((*facts.needed_again, *facts.worth_keeping))
    needed = [it for it in again if not isinstance(scope.values[it], Load) and scope.dimensions_of(it) & outputs]
    made = [*(tuple(it for it in facts.extents if it in scope.dimensions_of(name)) for name in needed), *stored]
    rows = [it for it in facts.extents if all(it in names for names in made)]
    along = list(dict.fromkeys(names[-1] for names in made if names and names[-1] not in rows))
    return (needed, rows, along) if needed and rows and along and facts.carried - set(along) else None


def _beside_window(facts: Facts, along: str, other: str) -> AbstractSet[str]:
    """The dimensions that are summed up along beside a window, as the channels of a convolution's input."""
    return facts.carried - {it for name in (along, other) for it in _summed_with(facts, name)}


def _summed_with(facts: Facts, along: str) -> list[str]:
    """The dimensions that values are carried along whose index is added to another one's in a subscript."""
    subscripts = [names for names in facts.sums if along in names]
    return [it for it in facts.extents if it in facts.carried and any(it in names for names in subscripts)]


def _packed(facts: Facts, along: str) -> tuple[Keep, ...]:
    """What blocks load as vectors, again for each row of blocks, in storage in the order in which it is read."""
    scope = facts.plain.scope
    return tuple(Keep(it, Location.STORAGE) for it in facts.read_again if {along} < scope.dimensions_of(it))


def _converted(facts: Facts) -> tuple[Keep, ...]:
    """All that blocks compute again and again, in storage, if that is more than loads, and passes do not keep it."""
    is_any = facts.worth_keeping != facts.read_again and _passes_of(facts) is None
    return tuple(Keep(it, Location.STORAGE) for it in facts.worth_keeping) if is_any else ()


def _squares(facts: Facts, free: list[str], along: str, other: str) -> Iterator[Decisions]:
    """As many invocations along one dimension as along the other, for arrays that are transposed. Those along the first
    one are beside each other.
    """
    for turns in (1, 4, 16):
        levels = spread(facts, free)
        levels[along] = (*levels.pop(along), Level(Execution.INVOCATION, _SQUARE))
        levels[other] = (*levels[other], *_looped(turns), Level(Execution.INVOCATION, _SQUARE))
        yield from _with_grids(facts, facts.with_levels(Decisions((), ()), levels))


def whole_rows(facts: Facts) -> Iterator[Decisions]:
    """Reductions across the rows of an input: several rows at a time are gone through from end to end, and what is
    carried for each of their elements lies in arrays. A block of columns would read some lines of each row, which no
    cache expects. Several workgroups share the rows where that is legal.
    """
    for along, across in product(facts.extents, sorted(facts.carried)):
        if along in facts.carried or not _is_across_rows(facts, along, across):
            continue
        for columns, rows, length in product(_COLUMNS_OF_ROWS, _ROWS_AT_ONCE, _LENGTHS):
            turns = -(-min(length, facts.extents[along]) // (columns * facts.lanes))
            inner = (*_looped(turns), *unrolled_level(columns), Level(Execution.INVOCATION, facts.lanes))
            several = unrolled_level(rows)
            levels = spread(facts, [it for it in facts.extents if it not in facts.carried])
            levels |= {along: (*levels[along], *inner), across: (Level(Execution.LOOP, None), *several)}
            yield _from_carried(facts, levels)
            for own in part_factors(facts.extents[across], rows) if across in facts.in_parts else ():
                parts = Level(Execution.PARTIAL, None), Level(Execution.LOOP, own), *several
                yield _from_carried(facts, levels | {across: parts})


def _is_across_rows(facts: Facts, along: str, across: str) -> bool:
    """Whether an input that is read once is read along rows in one dimension, and from row to row in another."""
    return any(last == [along] and [across] in rest for *rest, last in _read_once(facts))


def _read_once(facts: Facts) -> Iterator[list[list[str]]]:
    """The dimensions in each subscript of the inputs whose elements are loaded once each."""
    for load in facts.plain.scope.values.values():
        if isinstance(load, Load) and load.subscripts:
            names = [[term.name for term in it.terms] for it in load.subscripts]
            if {name for its in names for name in its} == set(facts.extents):
                yield names


def _from_carried(facts: Facts, levels: Mapping[str, Levels]) -> Decisions:
    made = facts.with_levels(Decisions((), ()), levels)
    return replace(made, order=facts.order_from_carried(facts.levels(made)))


def _along_reduction(facts: Facts, free: list[str], along: str) -> Iterator[Decisions]:
    """Invocations share what is carried along a dimension, for one or several elements of the outputs at a time."""
    for lanes, turns in product(_lanes(facts), (1, 4, 16)):
        for unrolled in (1, 2, 4):
            levels = spread(facts, free)
            levels[along] = (Level(Execution.LOOP, None), *tree_level(unrolled), Level(Execution.INVOCATION, lanes))
            if free:
                levels[free[-1]] = (*levels[free[-1]], *_looped(turns))
            yield facts.with_levels(Decisions((), ()), levels)


def parts_at_once(facts: Facts) -> Iterator[Decisions]:
    """Reductions along the rows of an input that is read once, of which each workgroup goes through several parts at
    the same time, each from end to end: a processor fetches each of them ahead, and so has more loads on the way than
    of one part. They are parts of a row, which several workgroups share where that is legal, or several rows each.
    """
    free = [it for it in facts.extents if it not in facts.carried]
    for along in sorted(facts.in_parts):
        if any(its[-1] == [along] for its in _read_once(facts)):
            for count, vectors in product(_PARTS_AT_ONCE, _VECTORS[:2]):
                yield from _parts_of_row(facts, along, free, count, vectors * facts.lanes)
                if free:
                    yield from _parts_of_rows(facts, along, free, count, vectors * facts.lanes)


def _parts_of_row(facts: Facts, along: str, free: list[str], count: int, lanes: int) -> Iterator[Decisions]:
    for turns in _TURNS_OF_PART:
        if count * turns * lanes <= min(MOST_SHARED, facts.extents[along] // 2):
            inner = (Level(Execution.TREE, count), Level(Execution.LOOP, turns), Level(Execution.INVOCATION, lanes))
            levels = spread(facts, free)
            yield facts.with_levels(Decisions((), ()), levels | {along: (Level(Execution.LOOP, None), *inner)})
            shared = {along: (Level(Execution.PARTIAL, None), *inner)}
            yield from joined_by_invocations(facts, facts.with_levels(Decisions((), ()), levels | shared))


def _parts_of_rows(facts: Facts, along: str, free: list[str], count: int, lanes: int) -> Iterator[Decisions]:
    for turns in _ROWS_OF_PART:
        if count * turns <= facts.extents[free[-1]] // _FEWEST_GROUPS and lanes <= facts.extents[along]:
            levels = spread(facts, free)
            levels[free[-1]] = (*levels[free[-1]], Level(Execution.UNROLLED, count), Level(Execution.LOOP, turns))
            levels[along] = (Level(Execution.LOOP, None), Level(Execution.INVOCATION, lanes))
            yield facts.with_levels(Decisions((), ()), levels)


def spread(facts: Facts, free: list[str]) -> dict[str, Levels]:
    """Workgroups for the last of the free dimensions, at most three, and loops for all others."""
    levels: dict[str, Levels] = {it: (Level(Execution.LOOP, None),) for it in facts.extents}
    return levels | {it: (Level(Execution.WORKGROUP, None),) for it in free[-3:]}


def _with_grids(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """The decisions with workgroups next to each other along each of two dimensions; of more, changes find which."""
    names = with_workgroups(facts.levels(decisions))
    yield decisions
    if len(names) == 2:
        yield replace(decisions, grid=names[::-1])


def _lanes(facts: Facts) -> tuple[int, ...]:
    """The invocations along the dimension of vectors."""
    return (*(it * facts.lanes for it in _VECTORS), _MANY_INVOCATIONS)


def _looped(count: int) -> Levels:
    return (Level(Execution.LOOP, count),) if count > 1 else ()


def unrolled_level(count: int) -> Levels:
    """A level of so many iterations that are written out; none of one."""
    return (Level(Execution.UNROLLED, count),) if count > 1 else ()


def tree_level(count: int) -> Levels:
    """A level of so many parts that a tree joins; none of one."""
    return (Level(Execution.TREE, count),) if count > 1 else ()
