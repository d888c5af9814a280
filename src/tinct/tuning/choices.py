"""What is decided of a nest: tables of kinds of decisions.

`CHOICES` spans the regular space, which is sampled and, where it is small, gone through whole: each choice gives all
decisions that differ from given ones in its kind. `MOVES` change decisions at random, so that all legal points can be
reached. Neither needs to give legal decisions only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import prod
from random import Random
from typing import Final, Literal, TypeAlias

from ..base.cached import cached_property
from ..ir.limits import MOST_WORKGROUPS
from ..ir.schedule.extents import dimension_sizes
from ..ir.schedule.nodes import (
    Boundary,
    Buffering,
    Decisions,
    DimensionLevels,
    ElementType,
    Execution,
    Fby,
    Keep,
    Level,
    LevelName,
    Load,
    Location,
    Nest,
    Scatter,
    Stage,
)
from ..transforms.schedule.decided import AT_ONCE, Decided, kind_of
from ..transforms.schedule.legality import illegal
from ..transforms.schedule.stages import is_staged, part_dimensions
from ..transforms.schedule.tasks import Carry
from ..transforms.schedule.tiles import whole_padding
from .computed_again import needed_again, read_again, worth_keeping
from .level_patterns import Levels, part_factors, patterns

_WITHOUT_JOINING: Final = {
    Execution.TREE: Execution.UNROLLED,
    Execution.SUBGROUP: Execution.INVOCATION,
    Execution.ATOMIC: Execution.WORKGROUP,
    Execution.PARTIAL: Execution.WORKGROUP,
}
"""Levels that mean the same where nothing is carried along them."""
_MOST_PERMUTED: Final = 3
"""All orders of at most so many dimensions are tried; of more, each one as the last."""
_FEW_PARTS: Final = 8
"""So many parts are joined by one invocation, unless other levels are chosen."""
_MOST_JOINING: Final = 64
"""Invocations that join parts, unless other levels are chosen."""
DEFAULT_LANES: Final = 16
"""The lanes of blocks on GPUs in hardware: a fraction of a subgroup, so that several rows of a block share one."""
GpuKind: TypeAlias = Literal["hardware", "software"]
"""Whether a GPU is one, or a driver that computes on the processor."""
_BETWEEN_LOOPS: Final = (Location.REGISTERS, Location.WORKGROUP, Location.STORAGE)
"""Where a value may be that another loop needs."""


@dataclass(frozen=True)
class Facts:
    """What choices depend on: the nest, its sizes, whether floats may be reassociated, whether the device has
    subgroups, of which kind it is if it is a GPU, and how many `lanes` a vector has: blocks have as many invocations
    beside each other, or some times as many.
    """

    nest: Nest
    sizes: Mapping[str, int]
    reassociate: bool = False
    has_subgroups: bool = True
    gpu: GpuKind | None = None
    lanes: int = DEFAULT_LANES
    _part_names: dict[tuple[str, ...], Mapping[str, str]] = field(
        default_factory=dict[tuple[str, ...], Mapping[str, str]], compare=False
    )
    """For dimensions with partial levels, those of their parts."""

    @cached_property
    def plain(self) -> Decided:
        """The nest with loops only."""
        return Decided(self.nest, Decisions((), ()), self.sizes, self.reassociate)

    def decided(self, decisions: Decisions) -> Decided:
        """The nest with decisions."""
        return replace(self.plain, decisions=decisions)

    @cached_property
    def extents(self) -> dict[str, int]:
        """The size of each dimension."""
        return dimension_sizes(self.nest, self.sizes)

    @cached_property
    def carried(self) -> frozenset[str]:
        """The dimensions that values are carried along."""
        return frozenset(name for it in self.plain.tasks if isinstance(it, Carry) for name in it.on)

    @cached_property
    def scattered(self) -> frozenset[str]:
        """The dimensions along which values are joined to elements at computed places."""
        return frozenset(name for it in self.nest.body if isinstance(it, Scatter) for name in it.dimensions)

    @cached_property
    def bounded(self) -> frozenset[str]:
        """The dimensions that loads depend on which may be outside of their arrays."""
        loads = [it for it in self.plain.scope.values.values() if isinstance(it, Load)]
        tested = [it for it in loads if it.boundary is not Boundary.INSIDE]
        return frozenset(term.name for it in tested for subscript in it.subscripts for term in subscript.terms)

    @cached_property
    def sums(self) -> frozenset[frozenset[str]]:
        """The dimensions of each subscript of a load."""
        loads = [it for it in self.plain.scope.values.values() if isinstance(it, Load)]
        return frozenset(
            frozenset(term.name for term in it.terms if term.name in self.extents)
            for load in loads
            for it in load.subscripts
        )

    @cached_property
    def in_parts(self) -> frozenset[str]:
        """The dimensions along which only values are carried that may be accumulated in parts."""
        carries = [it for it in self.plain.tasks if isinstance(it, Carry)]
        ordered = {
            name
            for it in carries
            if it.lasts or any(v.name not in self.plain.reductions for v in it.fbys)
            for name in it.on
        }
        return self.carried - ordered

    @cached_property
    def by_atomics(self) -> frozenset[str]:
        """The dimensions along which atomic operations in an output may join what workgroups carry. Not floats, whose
        sums would differ from run to run.
        """
        atomic = (Level(Execution.ATOMIC, None),)
        carried = (it for it in self.nest.body if isinstance(it, Fby) and it.type in (ElementType.F32, ElementType.F16))
        floats = {name for it in carried for name in it.dimensions}
        points = {it: Decisions((DimensionLevels(it, atomic),), ()) for it in self.in_parts - floats}
        return frozenset(it for it, point in points.items() if not illegal(self.decided(point)))

    @cached_property
    def executions(self) -> tuple[Execution, ...]:
        """How levels may be executed on the device."""
        return tuple(it for it in Execution if self.has_subgroups or it is not Execution.SUBGROUP)

    @cached_property
    def needed_again(self) -> tuple[str, ...]:
        """The values that other loops need, but for what only indices are needed for."""
        return needed_again(self.plain)

    @cached_property
    def read_again(self) -> tuple[str, ...]:
        """The loads of many elements that are made again for each iteration of a dimension they do not depend on."""
        return read_again(self.plain, self.extents)

    @cached_property
    def worth_keeping(self) -> tuple[str, ...]:
        """What tasks compute of many elements again for each iteration of a dimension it does not depend on."""
        return worth_keeping(self.plain, self.extents)

    @cached_property
    def patterns(self) -> dict[str, list[Levels]]:
        """The regular levels of each dimension."""
        return {
            name: list(patterns(size, is_carried=name in self.carried, in_parts=name in self.in_parts))
            for name, size in self.extents.items()
        }

    def levels(self, decisions: Decisions) -> dict[str, Levels]:
        """The levels of each dimension, in the order of the decisions. The parts of partial levels are dimensions."""
        listed = {it.dimension: it.levels for it in decisions.dimensions}
        names = [*self.extents, *self.parts(listed)]
        return {**listed, **{it: (Level(Execution.LOOP, None),) for it in names if it not in listed}}

    def parts(self, levels: Mapping[str, Levels]) -> dict[str, int]:
        """The dimensions of parts that partial levels bring, with their sizes."""
        partial = tuple(it for it in self.extents if it in levels and _partial(levels[it]) is not None)
        if partial not in self._part_names:
            level = (Level(Execution.PARTIAL, None),)
            decided = self.decided(Decisions(tuple(DimensionLevels(it, level) for it in partial), ()))
            self._part_names[partial] = part_dimensions(decided)
        return {name: self._part_count(of, levels[of]) for of, name in self._part_names[partial].items()}

    def _part_count(self, dimension: str, levels: Levels) -> int:
        level = _partial(levels) or 0
        inner = prod(it.factor or 1 for it in levels[1:])
        return -(-self.extents[dimension] // inner) if level == 0 else levels[level].factor or 1

    def with_levels(self, decisions: Decisions, levels: Mapping[str, Levels]) -> Decisions:
        """Decisions with other levels: loops are around written-out levels, what is carried inside of what is not.

        Only the order of dimensions that are spread means something: the others come first, as they are declared.
        Levels of parts that there are not are left out, and how levels join what they carry where they carry nothing.
        """
        known = [*self.extents, *self.parts(levels)]
        levels = {it: self._usual_executions(it, its) for it, its in levels.items() if it in known}
        spread = [it for it in levels if _is_spread(levels[it])]
        names = [*(it for it in known if it in levels and it not in spread), *spread]
        dimensions = tuple(DimensionLevels(name, levels[name]) for name in names)
        loops = [it for it in sequential(levels) if not _is_written_out(levels, it)]
        stages = tuple(it for it in decisions.stages if it.at is None or it.at in loops)
        grid = decisions.grid if set(decisions.grid) == set(with_workgroups(levels)) else ()
        return replace(decisions, dimensions=dimensions, order=self.usual_order(levels), stages=stages, grid=grid)

    def within_limits(self, decisions: Decisions) -> Decisions:
        """The decisions, with loops in workgroups of which a dispatch would otherwise have too many along an axis."""
        levels = self.levels(decisions)
        looped = {name: self._with_fewer_workgroups(name, its) for name, its in levels.items() if name in self.extents}
        changed = {name: its for name, its in looped.items() if its != levels[name]}
        return self.with_levels(decisions, {**levels, **changed}) if changed else decisions

    def _with_fewer_workgroups(self, dimension: str, levels: Levels) -> Levels:
        first, *rest = levels
        count = -(-self.extents[dimension] // prod(it.factor or 1 for it in rest))
        if kind_of(first.execution) is not Execution.WORKGROUP or count <= MOST_WORKGROUPS:
            return levels
        turns = 1 << (-(-count // MOST_WORKGROUPS) - 1).bit_length()
        return (first, Level(Execution.LOOP, turns), *rest)

    def _usual_executions(self, dimension: str, levels: Levels) -> Levels:
        """The levels of a dimension; where nothing is carried along it, those that mean the same without joining."""
        if self.is_carried(dimension) or dimension in self.scattered:
            return levels
        return tuple(replace(it, execution=_WITHOUT_JOINING.get(it.execution, it.execution)) for it in levels)

    def usual_order(self, levels: Mapping[str, Levels]) -> tuple[LevelName, ...]:
        """Loops outermost; of loops and of written-out levels, first those of dimensions that nothing is carried on."""
        names = sequential(levels)
        order = tuple(sorted(names, key=lambda it: (_is_written_out(levels, it), self.is_carried(it.dimension))))
        return () if order == tuple(self.declared(names)) else order

    def order_from_carried(self, levels: Mapping[str, Levels]) -> tuple[LevelName, ...]:
        """Loops outermost; of loops and of written-out levels, first those of dimensions that values are carried on."""
        names = sequential(levels)
        return tuple(sorted(names, key=lambda it: (_is_written_out(levels, it), not self.is_carried(it.dimension))))

    def order_of_blocks(self, levels: Mapping[str, Levels]) -> tuple[LevelName, ...]:
        """Loops outermost, those of dimensions that values are carried on inside; of written-out levels these outside,
        so that each value that is loaded serves a whole block before the next one is needed.
        """

        def place(name: LevelName) -> tuple[bool, bool]:
            written = _is_written_out(levels, name)
            return written, self.is_carried(name.dimension) is not written

        return tuple(sorted(sequential(levels), key=place))

    def declared(self, names: Sequence[LevelName]) -> list[LevelName]:
        """Levels in the order of the declarations, parts last."""
        position = {name: number for number, name in enumerate(self.extents)}
        return sorted(names, key=lambda it: (position.get(it.dimension, len(position)), it.level))

    def is_carried(self, dimension: str) -> bool:
        """Whether values are carried along a dimension, of the nest or of parts."""
        return dimension in self.carried or dimension not in self.extents


def sequential(levels: Mapping[str, Levels]) -> list[LevelName]:
    """The loops and written-out levels: those that an order lists."""
    return [
        LevelName(name, number)
        for name, its in levels.items()
        for number, level in enumerate(its)
        if kind_of(level.execution) not in AT_ONCE
    ]


def with_workgroups(levels: Mapping[str, Levels]) -> tuple[str, ...]:
    """The dimensions that are spread over workgroups."""
    return tuple(
        name for name, its in levels.items() if any(kind_of(it.execution) is Execution.WORKGROUP for it in its)
    )


def _partial(levels: Levels) -> int | None:
    """The position of the partial level."""
    found = [at for at, it in enumerate(levels) if it.execution is Execution.PARTIAL]
    return found[0] if found else None


def _is_spread(levels: Levels) -> bool:
    return any(kind_of(it.execution) in AT_ONCE for it in levels)


def _is_written_out(levels: Mapping[str, Levels], name: LevelName) -> bool:
    return levels[name.dimension][name.level].execution is not Execution.LOOP


Choice: TypeAlias = Callable[[Facts, Decisions], Iterator[Decisions]]
Move: TypeAlias = Callable[[Facts, Decisions, Random], Decisions | None]


def other_levels(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Other regular levels of one dimension."""
    levels = facts.levels(decisions)
    for name, its in facts.patterns.items():
        yield from (facts.with_levels(decisions, {**levels, name: it}) for it in its if it != levels[name])


def other_axes(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Other dimensions along x of the grid, and in memory order of workgroups."""
    listed = decisions.dimensions
    spread = [it for it in listed if _is_spread(it.levels)]
    rest = [it for it in listed if it not in spread]
    if len(spread) > _MOST_PERMUTED:
        orders = [[*(it for it in spread if it is not last), last] for last in spread]
    else:
        orders = [list(it) for it in permutations(spread)]
    yield from (replace(decisions, dimensions=(*rest, *it)) for it in orders)


def other_orders(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """The usual order of loops, the one of the declarations, and the usual one with loops of carried values outside."""
    levels = facts.levels(decisions)
    yield replace(decisions, order=facts.usual_order(levels))
    yield replace(decisions, order=())
    yield replace(decisions, order=facts.order_from_carried(levels))


def other_grids(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Other orders of the dimensions with workgroups, apart from those of invocations; or no order of their own."""
    names = with_workgroups(facts.levels(decisions))
    yield replace(decisions, grid=())
    if 1 < len(names) <= _MOST_PERMUTED:
        yield from (replace(decisions, grid=it) for it in permutations(names))


def other_stages(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """A copy in workgroup memory less, more, with another padding, doubled, or one that slides."""
    levels = facts.levels(decisions)
    loops = [it for it in sequential(levels) if not _is_written_out(levels, it)]
    for at, stage in enumerate(decisions.stages):
        rest = (*decisions.stages[:at], *decisions.stages[at + 1 :])
        paddings = dict.fromkeys((0, 1, _whole_padding(facts, decisions, at)))
        others = [replace(stage, buffering=it) for it in Buffering if it is not stage.buffering]
        others += [replace(stage, at=it, buffering=Buffering.SLIDING) for it in loops if it != stage.at]
        others += [replace(stage, padding=it) for it in paddings if it != stage.padding]
        yield replace(decisions, stages=rest)
        yield from (replace(decisions, stages=(*rest, it)) for it in others)
    staged = {name for stage in decisions.stages for name in stage.loads}
    places = (*(it for it in loops if it.dimension in facts.carried), None)
    for value in facts.plain.scope.values.values():
        if isinstance(value, Load) and value.name not in staged:
            yield from (replace(decisions, stages=(*decisions.stages, Stage((value.name,), it))) for it in places)


def _whole_padding(facts: Facts, decisions: Decisions, at: int) -> int:
    """The padding with which a copy has whole rows; 0 for decisions that break a rule or make several dispatches."""
    decided = facts.decided(decisions)
    return 0 if is_staged(decided) or illegal(decided) else whole_padding(decided.stages[at], decided)


def other_peels(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """One dimension more or less of which iterations are peeled, of those that have something to peel off."""
    decided = facts.decided(decisions)
    for name in facts.extents:
        if name not in decisions.peeled and name not in facts.bounded and not decided.is_padded(name):
            continue
        kept = tuple(it for it in decisions.peeled if it != name)
        yield replace(decisions, peeled=kept if name in decisions.peeled else (*kept, name))


def other_sharing(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Whether workgroups share what is carried along a dimension, by partial levels or by atomic operations, and how
    many iterations each of them has.
    """
    levels = facts.levels(decisions)
    for name in facts.extents:
        if name not in facts.in_parts:
            continue
        rest = _within_workgroup(levels[name])
        if rest is None:
            continue
        yield facts.with_levels(decisions, {**levels, name: (Level(Execution.LOOP, None), *rest)})
        inner = prod(it.factor or 1 for it in rest)
        for factor in part_factors(facts.extents[name], inner):
            its = (Level(Execution.LOOP, factor), *rest)
            if name in facts.by_atomics:
                atomic = Level(Execution.ATOMIC, None)
                yield facts.with_levels(decisions, {**levels, name: (atomic, *its)})
            shared = facts.with_levels(decisions, {**levels, name: (Level(Execution.PARTIAL, None), *its)})
            yield shared
            yield from joined_by_invocations(facts, shared)


def _within_workgroup(levels: Levels) -> Levels | None:
    """The levels below the loop of a dimension, which is the first, or the first inside of workgroups; None without."""
    first, *rest = levels
    if first.execution in (Execution.PARTIAL, Execution.ATOMIC):
        return tuple(rest[1:]) if rest and rest[0].execution is Execution.LOOP else None
    return tuple(rest) if first.execution is Execution.LOOP else None


def joined_by_invocations(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Decisions with as many invocations as there are parts to join, up to a subgroup or two."""
    levels = facts.levels(decisions)
    parts = {name: size for name, size in facts.parts(levels).items() if size > _FEW_PARTS}
    if parts:
        counts = {name: min(_MOST_JOINING, 1 << (size.bit_length() - 1)) for name, size in parts.items()}
        joining = {
            it: (Level(Execution.LOOP, None), Level(Execution.INVOCATION, count)) for it, count in counts.items()
        }
        yield facts.with_levels(decisions, {**levels, **joining})


def other_joins(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Other levels of one dimension of parts."""
    levels = facts.levels(decisions)
    for name, size in facts.parts(levels).items():
        for its in patterns(size, is_carried=True, in_parts=True):
            if its != levels[name]:
                yield facts.with_levels(decisions, {**levels, name: its})


def other_subgroups(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Subgroup operations in place of a tree for what the invocations of one dimension carry, or the reverse."""
    swapped = {Execution.INVOCATION: Execution.SUBGROUP, Execution.SUBGROUP: Execution.INVOCATION}
    levels = facts.levels(decisions) if facts.has_subgroups else {}
    for name, its in levels.items():
        other = tuple(replace(it, execution=swapped.get(it.execution, it.execution)) for it in its)
        if facts.is_carried(name) and other != its:
            yield facts.with_levels(decisions, {**levels, name: other})


def other_private(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """One output less or more of which workgroups have copies."""
    for it in facts.nest.body:
        if isinstance(it, Scatter):
            kept = tuple(name for name in decisions.private if name != it.array)
            yield replace(decisions, private=kept if it.array in decisions.private else (*kept, it.array))


def other_locations(facts: Facts, decisions: Decisions) -> Iterator[Decisions]:
    """Another location, or none, for one value that other loops need, or that is loaded again and again: in storage it
    is in the order in which it is read.
    """
    kept = {it.value: it.location for it in decisions.kept}
    inputs = (*facts.read_again, *facts.worth_keeping)
    places = dict.fromkeys(inputs, (Location.STORAGE,)) | dict.fromkeys(facts.needed_again, _BETWEEN_LOOPS)
    for name, locations in places.items():
        rest = tuple(it for it in decisions.kept if it.value != name)
        if name in kept:
            yield replace(decisions, kept=rest)
        for location in locations:
            if location is not kept.get(name):
                yield replace(decisions, kept=(*rest, Keep(name, location)))


CHOICES: Final[Mapping[str, Choice]] = {
    "levels": other_levels,
    "sharing": other_sharing,
    "joins": other_joins,
    "subgroups": other_subgroups,
    "axes": other_axes,
    "order": other_orders,
    "grid": other_grids,
    "stages": other_stages,
    "private": other_private,
    "locations": other_locations,
    "peel": other_peels,
}
"""The kinds of decisions of the regular space. Other levels come first: they change the order, too."""


def change_levels(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """Other regular levels of one dimension."""
    name = random.choice(list(facts.patterns))
    return facts.with_levels(decisions, {**facts.levels(decisions), name: random.choice(facts.patterns[name])})


def change_factor(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """A factor twice or half as large."""
    levels = facts.levels(decisions)
    found = [(name, at) for name, its in levels.items() for at, level in enumerate(its) if (level.factor or 0) > 1]
    if not found:
        return None
    name, at = random.choice(found)
    factor = levels[name][at].factor or 1
    changed = replace(levels[name][at], factor=random.choice((factor * 2, max(factor // 2, 2))))
    return _with_one(decisions, name, _replaced(levels[name], at, (changed,)))


def move_factor(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """A factor of two from one level to another one, of the same dimension or not."""
    levels = facts.levels(decisions)
    found = [(name, at) for name, its in levels.items() for at, level in enumerate(its) if level.factor is not None]
    if len(found) < 2:
        return None
    (one, first), (other, second) = random.sample(found, 2)
    less, more = levels[one][first], levels[other][second]
    if (less.factor or 0) < 4:
        return None
    made = _with_one(decisions, one, _replaced(levels[one], first, (replace(less, factor=(less.factor or 0) // 2),)))
    its = facts.levels(made)[other]
    return _with_one(made, other, _replaced(its, second, (replace(more, factor=(more.factor or 0) * 2),)))


def change_execution(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """One level executed in another way."""
    levels = facts.levels(decisions)
    name = random.choice(list(levels))
    at = random.randrange(len(levels[name]))
    other = replace(levels[name][at], execution=random.choice(facts.executions))
    return facts.with_levels(decisions, {**levels, name: _replaced(levels[name], at, (other,))})


def split_level(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """A level more."""
    levels = facts.levels(decisions)
    name = random.choice(list(levels))
    at = random.randrange(1, len(levels[name]) + 1)
    new = Level(random.choice(facts.executions), 2 ** random.randint(1, 4))
    return facts.with_levels(decisions, {**levels, name: (*levels[name][:at], new, *levels[name][at:])})


def merge_levels(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """A level less."""
    levels = facts.levels(decisions)
    found = [(name, at) for name, its in levels.items() for at in range(1, len(its))]
    if not found:
        return None
    name, at = random.choice(found)
    return facts.with_levels(decisions, {**levels, name: _replaced(levels[name], at, ())})


def swap_levels(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """Two levels of a dimension in each other's places."""
    levels = facts.levels(decisions)
    found = [name for name, its in levels.items() if len(its) > 2]
    if not found:
        return None
    name = random.choice(found)
    its = list(levels[name])
    one, other = random.sample(range(1, len(its)), 2)
    its[one], its[other] = its[other], its[one]
    return facts.with_levels(decisions, {**levels, name: tuple(its)})


def swap_order(facts: Facts, decisions: Decisions, random: Random) -> Decisions | None:
    """Two loops or written-out levels in each other's places."""
    order = list(decisions.order) or facts.declared(sequential(facts.levels(decisions)))
    if len(order) < 2:
        return None
    one, other = random.sample(range(len(order)), 2)
    order[one], order[other] = order[other], order[one]
    return replace(decisions, order=tuple(order))


MOVES: Final[Mapping[str, Move]] = {
    "levels": change_levels,
    "factor": change_factor,
    "move factor": move_factor,
    "execution": change_execution,
    "split": split_level,
    "merge": merge_levels,
    "swap levels": swap_levels,
    "swap order": swap_order,
}
"""Changes of decisions at random, beside those of `CHOICES` that have other names."""


def _with_one(decisions: Decisions, name: str, levels: Levels) -> Decisions:
    """Decisions with other levels for a dimension, of the same number and sort, so that the order stays as it is."""
    return replace(
        decisions,
        dimensions=tuple(replace(it, levels=levels) if it.dimension == name else it for it in decisions.dimensions),
    )


def _replaced(levels: Levels, at: int, others: Levels) -> Levels:
    return (*levels[:at], *others, *levels[at + 1 :])
