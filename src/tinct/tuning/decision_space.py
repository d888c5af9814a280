"""The legal decisions of a nest at sizes, as a space that `search` searches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from operator import itemgetter
from random import Random
from typing import Final

from ..base.cached import cached_property
from ..ir.limits import MOST_WORKGROUPS
from ..ir.schedule.nodes import Decisions, Execution, Keep, Level, LevelName, Load, Location
from ..transforms.schedule.decided import WRITTEN_OUT, Decided
from ..transforms.schedule.legality import illegal
from ..transforms.schedule.stages import stages_of
from ..transforms.schedule.tasks import Carry
from .blocks import (
    all_in_order,
    blocks,
    by_turns,
    in_chunks,
    parts_at_once,
    passes,
    tree_level,
    unrolled_level,
    whole_rows,
    windows,
)
from .choices import CHOICES, MOVES, Facts, other_peels, other_sharing, sequential
from .hardware_blocks import streams, tiles
from .level_patterns import Levels
from .search import Cost
from .software_blocks import large_blocks

_TRIES: Final = 12
"""Attempts at a random change that is legal."""
_MOST_RAW: Final = 4
"""A space counts as large if it has this many times more points, legal or not, than may be tried whole."""
_SHARE: Final = {"stages": 0.2, "peel": 0.2, "grid": 0.3, "sharing": 0.3, "subgroups": 0.3}
"""How often random points have decisions of a kind: those that rarely help are mostly left to the search."""
_SIMD: Final = 64
"""Invocations of a workgroup in the point that a search begins with."""
_MOST_WINDOWED: Final = 10
"""Blocks of a stencil that a search begins with."""
_CHEAPEST: Final = 4
"""So many of them are those that cost least, of whatever kind."""
_SHAPES: Final = 2
"""Shapes of each kind of them."""
_MOST_LARGE: Final = 4
"""Structured points that a search for a GPU in software begins with."""
_MOST_ACROSS: Final = 2
"""Reductions across rows that a search begins with."""
_MOST_BY_TURNS: Final = 2
"""Shapes of blocks that a search begins with by turns, too."""
_MOST_IN_CHUNKS: Final = 3
"""Shapes of blocks with which a search begins in chunks, too."""
_CLOSE: Final = 1.5
"""The cost model does not tell which of two such blocks is faster if one costs up to so many times as much."""
_INVOCATIONS: Final = (16, 32, 64, 128, 256)
"""Those of workgroups for rows."""
_PARTS: Final = (2, 4)
"""The parts in which an invocation reduces a row."""
_ALWAYS: Final = (1, 2, 4)
_TURNS: Final = (*_ALWAYS, 3, 5, 7)
"""Iterations of a loop that are written out in one turn."""
_WHOLE: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class _Judged:
    """The first legal point of its meaning, and what it takes."""

    first: Decisions
    cost: Cost


@dataclass
class DecisionSpace:
    """A space of decisions. `kept` are points that were good before; those that are illegal are left out."""

    facts: Facts
    price: Callable[[Decided], Cost]
    kept: Sequence[Decisions] = ()
    _judged: dict[Decisions, _Judged | None] = field(default_factory=dict[Decisions, "_Judged | None"])
    """None for what is illegal."""
    _first: dict[Hashable, _Judged] = field(default_factory=dict[Hashable, "_Judged"])
    """What is found of the first legal point of each meaning, which stands for all of them."""
    _descriptions: dict[Decisions, tuple[Hashable, Hashable]] = field(
        default_factory=dict[Decisions, "tuple[Hashable, Hashable]"]
    )

    def is_legal(self, decisions: Decisions) -> bool:
        """Whether the nest can be lowered with the decisions."""
        return self._found(decisions) is not None

    def cost(self, point: Decisions) -> Cost:
        """What a legal point takes."""
        found = self._found(point)
        assert found is not None, "an illegal point has no cost"
        return found.cost

    def _found(self, point: Decisions) -> _Judged | None:
        if point not in self._judged:
            self._judged[point] = self._judge(point)
        return self._judged[point]

    def _judge(self, point: Decisions) -> _Judged | None:
        decided = self.facts.decided(point)
        if illegal(decided) or not _is_dispatchable(decided):
            return None
        meaning = meaning_of(decided)
        if meaning not in self._first:
            self._first[meaning] = _Judged(point, self.price(decided))
        return self._first[meaning]

    def _legal(self, points: Iterable[Decisions]) -> Iterator[Decisions]:
        """Those that are legal; one of all that mean the same."""
        return (it.first for it in map(self._found, points) if it is not None)

    def starts(self) -> Sequence[Decisions]:
        """Points that were good before, the structured one that costs least, one with invocations for each element of
        the outputs, where these are few, the one whose workgroups share the reductions that costs least, one with a
        workgroup for each row, blocks of a stencil, whole rows, parts of reductions, blocks by turns, blocks that fit,
        and long sums in chunks. For a GPU in software, several structured ones, and what costs least first: loads
        decide how long a point takes, and are well known.
        """
        is_software = self.facts.gpu == "software"
        structured = sorted(self.structured(), key=self._expected)
        others = (self.simple(), self.shared(), self.by_rows(), *self.windowed(), *self.across_rows())
        others = (*others, *self.by_parts(), *self.by_turns(structured), *self.fitting(structured))
        others = (*others, *self.in_chunks(structured))
        made = (*structured[: _MOST_LARGE if is_software else 1], *others)
        legal = list(self._legal(made))
        if is_software:
            legal.sort(key=self._expected)
        elif self.facts.gpu is None:
            legal = list(map(self._without_tails, legal))
        return list(dict.fromkeys((*self._legal(self.kept), *legal)))

    def _ranked(self, points: Iterable[Decisions]) -> list[Decisions]:
        """Those that are legal, with no more workgroups than a dispatch may have; first those that cost least."""
        made = map(self.facts.within_limits, points)
        return sorted(dict.fromkeys(self._legal(made)), key=self._expected)

    def _expected(self, point: Decisions) -> float:
        return self.cost(point).expected

    def _without_tails(self, point: Decisions) -> Decisions:
        """A legal point of whose loops within a workgroup only the last turn tests iterations, which is apart; or only
        of those over what is carried, or the point itself where that is not legal. The model does not know what masks
        cost a processor.
        """
        decided, levels = self.facts.decided(point), self.facts.levels(point)
        padded = [it for it in self.facts.extents if decided.is_padded(it)]
        within = [it for it in padded if levels[it][0].execution is not Execution.WORKGROUP]
        carried = [it for it in padded if it in self.facts.carried]
        peels = (tuple(dict.fromkeys((*point.peeled, *its))) for its in (within, carried))
        return next(self._legal(replace(point, peeled=it) for it in peels), point)

    def simple(self) -> Decisions:
        """Workgroups for all dimensions that nothing is carried along, at most three, and invocations for the last."""
        free = [it for it in self.facts.extents if it not in self.facts.carried]
        levels: dict[str, Levels] = {it: (Level(Execution.LOOP, None),) for it in self.facts.extents}
        levels |= {it: (Level(Execution.WORKGROUP, None),) for it in free[-3:]}
        if free:
            last = free[-1]
            levels[last] = (*levels[last], Level(Execution.INVOCATION, _SIMD))
            found = self.facts.within_limits(self.facts.with_levels(Decisions((), ()), levels))
            if self.is_legal(found):
                return found
        return Decisions((), ())

    def shared(self) -> Decisions:
        """One invocation or 64 for each part of what is carried along the longest dimension."""
        facts, simple = self.facts, self.simple()
        free = prod(size for name, size in facts.extents.items() if name not in facts.carried)
        longest = max(facts.in_parts, key=facts.extents.__getitem__, default=None)
        if longest is None or free >= _SIMD:
            return simple
        levels = facts.levels(simple)
        its = Level(Execution.LOOP, None), Level(Execution.INVOCATION, _SIMD)
        bases = [simple, facts.with_levels(simple, {**levels, longest: its})]
        found = [it for base in bases for it in other_sharing(facts, base) if self.is_legal(it)]
        return min(found, key=self._expected, default=simple)

    def windowed(self) -> Sequence[Decisions]:
        """Blocks of a stencil that load each element once for several outputs: those that cost least, and of each kind
        the two shapes that cost least. Costs are too close to tell which is the fastest.
        """
        points = self._ranked(windows(self.facts))
        close = [it for it in points if self._expected(it) <= _CLOSE * self._expected(points[0])]
        firsts: dict[Hashable, dict[Hashable, Decisions]] = {}
        for point in close:
            firsts.setdefault(self.kind(point), {}).setdefault(self.shape(point), point)
        several = [[*its.values()][:_SHAPES] for its in firsts.values()]
        of_kinds = [its[at] for at in range(_SHAPES) for its in several if at < len(its)]
        return list(dict.fromkeys((*close[:_CHEAPEST], *of_kinds, *close)))[:_MOST_WINDOWED]

    def across_rows(self) -> Sequence[Decisions]:
        """The points that go through whole rows and cost least. The model does not know what reading some lines of each
        row costs, which differs more from processor to processor. On a GPU in hardware, an invocation has no caches for
        such arrays.
        """
        if self.facts.gpu == "hardware":
            return []
        return self._ranked(whole_rows(self.facts))[:_MOST_ACROSS]

    def by_parts(self) -> Sequence[Decisions]:
        """For each number of parts of a reduction that a processor reads at the same time, the point that costs least.
        The model does not know how many loads a processor has on the way.
        """
        if self.facts.gpu is not None:
            return []
        firsts: dict[int, Decisions] = {}
        for point in self._ranked(parts_at_once(self.facts)):
            levels = (it for its in self.facts.levels(point).values() for it in its)
            firsts.setdefault(prod(it.factor or 1 for it in levels if it.execution in WRITTEN_OUT), point)
        return list(firsts.values())

    def by_turns(self, points: Iterable[Decisions]) -> Sequence[Decisions]:
        """The first of some points, of different shapes, whose blocks load what lies in storage in the order in which
        it is read, with these blocks by turns, and for a CPU with all inputs in such an order. The model does not know
        which of two inputs a processor loads ahead better, nor which rows share sets of a cache. A GPU in hardware
        needs many workgroups more than long ones.
        """
        found: dict[Hashable, Sequence[Decisions]] = {}
        for point in () if self.facts.gpu == "hardware" else points:
            if self.shape(point) not in found and any(it.location is Location.STORAGE for it in point.kept):
                turned = list(self._legal(by_turns(self.facts, point)))
                several = (point, *turned) if turned and self.facts.gpu is None else ()
                ordered = self._legal(it for one in several for it in all_in_order(self.facts, one))
                found |= {self.shape(point): [*turned, *ordered]} if turned else {}
            if len(found) == _MOST_BY_TURNS:
                break
        return [it for its in found.values() for it in its]

    def in_chunks(self, points: Sequence[Decisions]) -> Sequence[Decisions]:
        """Of blocks that keep nothing, those of different shapes that go through long sums in chunks and cost least, if
        they cost less than all of the points. A GPU has no room for the arrays of sums.
        """
        if self.facts.gpu is not None:
            return []
        least = min(map(self._expected, points), default=0.0)
        shapes = {self.shape(it): it for it in points if not it.kept}
        cheapest = (self._ranked(in_chunks(self.facts, it))[:1] for it in shapes.values())
        found = [it for its in cheapest for it in its if self._expected(it) < least]
        return sorted(found, key=self._expected)[:_MOST_IN_CHUNKS]

    def fitting(self, points: Sequence[Decisions]) -> Sequence[Decisions]:
        """The first of the points that compute the least beyond the ends of dimensions, and keep nothing in storage;
        the same by turns. What they gain is certain, and what the model adds to their costs, for blocks that load more
        for each operation, often is not.
        """
        alone = [] if self.facts.gpu == "hardware" else [it for it in points if not it.kept]
        if not alone:
            return []
        point = min(alone, key=self._left_over)
        return [point, *self._legal(by_turns(self.facts, point))]

    def _left_over(self, point: Decisions) -> float:
        """The iterations of all dimensions, by those that are not beyond an end, in whole percents."""
        share, levels = 1.0, self.facts.levels(point)
        for name, extent in self.facts.extents.items():
            block = prod(it.factor or 1 for it in levels[name][1:])
            share *= -(-extent // block) * block / max(extent, 1)
        return round(share, 2)

    def by_rows(self, invocations: int = _SIMD, parts: Mapping[str, int] = _WHOLE) -> Decisions:
        """A workgroup for each row that is first reduced and then gone through again, as in softmax. Its invocations
        share all loops over the row, where `simple` would reduce the row for each group of its elements. Each reduces
        it in so many `parts` along a dimension, which do not wait for each other.
        """
        facts = self.facts
        carries = [it for it in facts.plain.tasks if isinstance(it, Carry)]
        reduced = {name for it in carries for name in it.dimensions - facts.carried}
        again = {it for it in facts.extents if it not in facts.carried and it not in reduced}
        if not carries or not again:
            return self.simple()
        inner = {name for it in carries if not it.dimensions & facts.carried <= set(it.on) for name in it.on}
        shared = again | (facts.in_parts - inner)
        levels: dict[str, Levels] = {it: (Level(Execution.LOOP, None),) for it in facts.extents}
        levels |= {it: (*levels[it], *tree_level(parts.get(it, 1))) for it in shared & facts.in_parts}
        levels |= {it: (*levels[it], Level(Execution.INVOCATION, invocations)) for it in shared}
        rows = [it for it in facts.extents if it in reduced]
        levels |= {it: (Level(Execution.WORKGROUP, None),) for it in rows[-3:]}
        return facts.within_limits(facts.with_levels(Decisions((), ()), levels))

    def structured(self) -> Iterator[Decisions]:
        """Blocks of outputs in registers, with vectors along each dimension, workgroups for rows that are reduced and
        read again, which may keep what they compute in their memory, passes for values that other loops need, and, for
        a GPU in hardware, what its memory of workgroups and its many loads at a time are for: those that are legal.
        """
        return self._legal(self._structured())

    def _structured(self) -> Iterable[Decisions]:
        along = sorted(self.facts.in_parts)
        choices = [_WHOLE, *({it: count} for it in along for count in _PARTS)]
        choices += [dict.fromkeys(along, count) for count in _PARTS]
        rows = [self.by_rows(count, parts) for parts in choices for count in _INVOCATIONS]
        if self._computed_once:
            rows += [replace(it, kept=self._computed_once) for it in rows]
        others: Iterable[Decisions] = ()
        if self.facts.gpu == "hardware":
            others = *tiles(self.facts), *streams(self.facts)
        elif self.facts.gpu == "software":
            others = large_blocks(self.facts)
        made = (*rows, *passes(self.facts), *blocks(self.facts), *others)
        return dict.fromkeys(map(self.facts.within_limits, made))

    @cached_property
    def _computed_once(self) -> tuple[Keep, ...]:
        """Where a workgroup keeps what other loops of it need again, but for what is only loaded."""
        values = self.facts.plain.scope.values
        return tuple(Keep(it, Location.WORKGROUP) for it in self.facts.needed_again if not isinstance(values[it], Load))

    def some(self, random: Random, count: int) -> Sequence[Decisions]:
        """Up to so many structured points, and the simple one: a fast one is among them, and they are judged sooner
        than all.
        """
        structured = list(self._structured())
        return list(self._legal((self.simple(), *random.sample(structured, min(count, len(structured))))))

    def refined(self, point: Decisions) -> Iterator[Decisions]:
        """The point with other numbers of iterations written out in each turn of a loop, and with other iterations
        peeled.

        What that saves depends on how the loop is compiled, which no model knows.
        """
        for name, (first, *rest) in self.facts.levels(point).items():
            if first.execution is Execution.LOOP and name in self.facts.extents:
                counts = self._turns(name, (rest[0].factor or 1) if _has_turns(rest) else 1)
                yield from self._legal(self._with_turns(point, name, it) for it in counts)
        yield from self._legal(other_peels(self.facts, point))

    def _turns(self, name: str, now: int) -> list[int]:
        """Other numbers of iterations that a turn of a loop may have: few, and odd ones only if none is left over."""
        size = self.facts.extents[name]
        return [it for it in _TURNS if it != now and it < size and (it in _ALWAYS or size % it == 0)]

    def _with_turns(self, point: Decisions, name: str, count: int) -> Decisions:
        """The point with so many iterations of a dimension's loop in a turn of the innermost loop."""
        levels = self.facts.levels(point)
        order = list(point.order) or self.facts.declared(sequential(levels))
        first, *rest = levels[name]
        inner = LevelName(name, 1)
        if _has_turns(rest):
            del rest[0]
            order = [_moved(it, name, -1) for it in order if it != inner]
        levels[name] = (first, *rest)
        if count > 1:
            loops = [it for it in order if levels[it.dimension][it.level].execution is Execution.LOOP]
            at = order.index(loops[-1]) + 1
            order = [*(_moved(it, name, 1) for it in order[:at]), inner, *(_moved(it, name, 1) for it in order[at:])]
        made = self.facts.with_levels(point, {**levels, name: (first, *unrolled_level(count), *rest)})
        return replace(made, order=tuple(order))

    def kind(self, point: Decisions) -> Hashable:
        """How levels are executed, but not how many iterations they have, nor in which order."""
        return self._described(point)[0]

    def shape(self, point: Decisions) -> Hashable:
        """The levels of all dimensions."""
        return self._described(point)[1]

    def _described(self, point: Decisions) -> tuple[Hashable, Hashable]:
        if point not in self._descriptions:
            levels = sorted(self.facts.levels(point).items(), key=itemgetter(0))
            copies = bool(point.stages), tuple(it.location.value for it in point.kept)
            kind = tuple((name, *(it.execution.value for it in its)) for name, its in levels), copies
            factors = tuple(it.factor for _, its in levels for it in its)
            self._descriptions[point] = kind, (kind, factors)
        return self._descriptions[point]

    def whole(self, most: int) -> Sequence[Decisions] | None:
        """All regular points that are legal; None if there are more."""
        names, patterns = list(self.facts.patterns), self.facts.patterns.values()
        if prod(map(len, patterns)) > most * _MOST_RAW:
            return None
        every = (dict(zip(names, its, strict=True)) for its in product(*patterns))
        found = dict.fromkeys(self.facts.with_levels(Decisions((), ()), it) for it in every)
        for name, choice in CHOICES.items():
            if name != "levels":
                found |= dict.fromkeys(other for point in list(found) for other in choice(self.facts, point))
            if len(found) > most * _MOST_RAW:
                return None
        legal = list(dict.fromkeys(self._legal(found)))
        return legal if len(legal) <= most else None

    def sample(self, random: Random) -> Decisions | None:
        """A random regular point."""
        for _ in range(_TRIES):
            levels = {name: random.choice(its) for name, its in self.facts.patterns.items()}
            point = self.facts.with_levels(Decisions((), ()), levels)
            for name, choice in CHOICES.items():
                if name != "levels" and random.random() < _SHARE.get(name, 0.5):
                    point = random.choice([point, *choice(self.facts, point)])
            for it in self._legal([point]):
                return it
        return None

    def neighbour(self, point: Decisions, random: Random) -> Decisions | None:
        """A legal point that differs in one kind of decision, at times in two."""
        for _ in range(_TRIES):
            made: Decisions | None = point
            for _ in range(random.choice((1, 1, 2))):
                made = self._changed(made, random) if made is not None else None
            for it in self._legal([] if made is None else [made]):
                if it != point:
                    return it
        return None

    def _changed(self, point: Decisions, random: Random) -> Decisions | None:
        name = random.choice(list(dict.fromkeys((*CHOICES, *MOVES))))
        if name in MOVES:
            return MOVES[name](self.facts, point, random)
        found = list(CHOICES[name](self.facts, point))
        return random.choice(found) if found else None

    def child(self, first: Decisions, second: Decisions, random: Random) -> Decisions | None:
        """The levels of each dimension from one of two points; everything else from the first."""
        one, other = self.facts.levels(first), self.facts.levels(second)
        levels = {name: its if random.random() < 0.5 else other.get(name, its) for name, its in one.items()}
        levels |= {name: its for name, its in other.items() if name not in one}
        if levels == one:
            return None
        made = self.facts.with_levels(replace(first, order=()), levels)
        return next(self._legal([made]), None)


def _is_dispatchable(decided: Decided) -> bool:
    """Whether no dispatch has more workgroups along an axis than WebGPU allows. All sizes are known."""
    counts = (it.count(name) or 0 for it in stages_of(decided).stages for name in it.axes(Execution.WORKGROUP))
    return max(counts, default=0) <= MOST_WORKGROUPS


def meaning_of(decided: Decided) -> Hashable:
    """What decides the code of a nest at known sizes: equal for decisions that differ only in the order of levels which
    no task has both of, or in that of dimensions whose levels have the same axes all the same. Decisions with several
    dispatches, and with copies, which are made between the loops of all tasks, mean the same only if they are equal.
    """
    decisions, tasks = decided.decisions, decided.tasks
    has_parts = any(it.execution is Execution.PARTIAL for its in decided.levels.values() for it in its)
    if has_parts or decisions.stages or any(it.location is Location.STORAGE for it in decisions.kept):
        return decisions
    return (
        frozenset(decided.levels.items()),
        tuple(decided.path(it) for it in tasks),
        tuple(decided.joined(it) for it in tasks if isinstance(it, Carry)),
        tuple(frozenset(decided.axes(it).items()) for it in (Execution.WORKGROUP, Execution.INVOCATION)),
        (frozenset(decisions.peeled), decisions.private, decisions.kept),
    )


def _has_turns(inner: Sequence[Level]) -> bool:
    """Whether of the levels inside of a loop the first is iterations that are written out."""
    return bool(inner) and inner[0].execution is Execution.UNROLLED


def _moved(level: LevelName, dimension: str, by: int) -> LevelName:
    """The name of a level after levels of a dimension became more or fewer, below its first one."""
    return replace(level, level=level.level + by) if level.dimension == dimension and level.level else level
