"""Decisions about a nest, resolved: every dimension has levels, and every level a place in one order.

Levels that are executed at the same time come first: workgroups, then invocations. Loops and written-out levels follow
in the order of the decisions; without one, dimension by dimension as they are declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod

from ...base.cached import cached_property
from ...ir.schedule.dependence import Closure
from ...ir.schedule.extents import range_of, value_of
from ...ir.schedule.nodes import (
    Affine,
    Decisions,
    Execution,
    Fby,
    Last,
    Level,
    LevelName,
    Load,
    Location,
    Map,
    Nest,
    Scatter,
    Stage,
    Store,
    Term,
    Use,
)
from ...ir.schedule.reductions import Reduction, reductions_of
from ...ir.schedule.scope import Scope, Writing
from .equal_values import with_equal_values
from .tasks import Carry, Demand, Task, Write, demand, demand_of, homes_of, tasks_of

WRITTEN_OUT = (Execution.UNROLLED, Execution.TREE)
IN_PARTS = (Execution.TREE, Execution.VECTOR)
AT_ONCE = (Execution.WORKGROUP, Execution.INVOCATION)
"""What levels are spread over."""


_MOST_NESTS = 256
"""Nests whose tasks are remembered: those of a search, and of the stages of its points."""


@dataclass(frozen=True)
class Work:
    """What has to be done for a nest, of which some values are held in memory. How long its arrays are has no part in
    that: the nest is without them.
    """

    nest: Nest
    held: frozenset[str]

    @cached_property
    def _scope(self) -> Scope:
        return Scope(self.nest)

    @cached_property
    def closure(self) -> Closure:
        """What the nest's statements need."""
        return Closure(self._scope)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Each task after those that it needs."""
        return tasks_of(self._scope, self.held)

    @cached_property
    def demands(self) -> Mapping[Task, Demand]:
        """What each task uses of others."""
        return {it: demand_of(it, self._scope, self.held) for it in self.tasks}

    @cached_property
    def homes(self) -> dict[str, Carry]:
        """The task behind each carried value and each value that is known at the end of dimensions."""
        return homes_of([it for it in self.tasks if isinstance(it, Carry)], self._scope)

    @cached_property
    def reductions(self) -> dict[str, Reduction]:
        """The carried values that may be accumulated in parts if floats may be reassociated, by name."""
        carried = [it for task in self.tasks if isinstance(task, Carry) for it in task.fbys]
        return reductions_of(carried, self._scope, self.closure)


@lru_cache(_MOST_NESTS)
def _work_of(nest: Nest, held: frozenset[str]) -> Work:
    """The work of a nest without arrays. Searches ask for that of the same few again and again."""
    return Work(nest, held)


@dataclass(eq=False)
class Analyses:
    """What follows from a nest, whatever is decided. The points of a search share it: comparing nests takes longer."""

    nest: Nest
    _works: dict[frozenset[str], Work] = field(default_factory=dict[frozenset[str], Work])
    _keeping: dict[frozenset[str], Analyses] = field(default_factory=dict[frozenset[str], "Analyses"])

    @cached_property
    def scope(self) -> Scope:
        """The names of the nest."""
        return Scope(self.nest)

    def work(self, held: frozenset[str]) -> Work:
        """What has to be done where some values are held in memory."""
        if held not in self._works:
            self._works[held] = _work_of(replace(self.nest, arrays=()), held)
        return self._works[held]

    def keeping(self, values: frozenset[str]) -> Analyses:
        """The same of the nest in which what is equal to some values is a map of them."""
        if values not in self._keeping:
            nest = with_equal_values(self.nest, values)
            self._keeping[values] = self if nest is self.nest else Analyses(nest)
        return self._keeping[values]


@dataclass(frozen=True, slots=True)
class AtomicStore:
    """A store of what a function accumulates along levels of workgroups, which join it in the array."""

    store: Store
    fby: Fby
    function: str
    levels: tuple[LevelName, ...]


def kind_of(execution: Execution) -> Execution:
    """What a level is spread over, workgroups or invocations; of any other level how it is executed."""
    if execution is Execution.SUBGROUP:
        return Execution.INVOCATION
    if execution is Execution.ATOMIC or execution is Execution.PARTIAL:
        return Execution.WORKGROUP
    return execution


@dataclass(frozen=True)
class Decided:
    """A verified nest with decisions. `sizes` are the numbers that sizes are known to be; all others are overrides.

    In the nest, values that are equal to kept ones are maps of these.
    """

    nest: Nest
    decisions: Decisions
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    reassociate: bool = False
    partials: Mapping[str, tuple[LevelName, ...]] = field(default_factory=dict[str, tuple[LevelName, ...]])
    """The arrays that get a part of each workgroup, with the levels whose iterations are the last subscripts of it."""
    packed: Mapping[str, tuple[LevelName, ...]] = field(default_factory=dict[str, tuple[LevelName, ...]])
    """The arrays between stages that are in the order of these levels, whose iterations are the subscripts."""
    scalars: frozenset[str] = frozenset()
    """Arrays that are bound as scalars, although all accesses may be vectors: other stages, or the
    other nodes of a graph, have other accesses.
    """
    analyses: Analyses | None = field(default=None, compare=False, repr=False)
    """Those of the nest, if they are known; else they are made."""

    def __post_init__(self) -> None:
        analyses = self.analyses
        if analyses is None or analyses.nest is not self.nest:
            analyses = Analyses(self.nest)
        kept = frozenset(it.value for it in self.decisions.kept)
        if kept:
            analyses = analyses.keeping(kept)
        object.__setattr__(self, "nest", analyses.nest)
        object.__setattr__(self, "analyses", analyses)

    @property
    def _analyses(self) -> Analyses:
        assert self.analyses is not None, "they are there since the object is"
        return self.analyses

    @cached_property
    def scope(self) -> Scope:
        """The names of the nest."""
        return self._analyses.scope

    @cached_property
    def kept(self) -> frozenset[str]:
        """The values that are kept in memory."""
        values = {it.value: self.scope.values.get(it.value) for it in self.decisions.kept}
        return frozenset(name for name, it in values.items() if it is not None and not isinstance(it, Map))

    @cached_property
    def work(self) -> Work:
        """What has to be done, whatever else is decided."""
        return self._analyses.work(self.kept)

    @property
    def closure(self) -> Closure:
        """What the nest's statements need."""
        return self.work.closure

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What has to be done, each task after those that it needs."""
        return self.work.tasks

    def location(self, value: str) -> Location:
        """Where a kept value is."""
        return next(it.location for it in self.decisions.kept if it.value == value)

    def demand(self, roots: Iterable[str]) -> Demand:
        """What the computation of values uses of tasks."""
        return demand(roots, self.scope, self.kept)

    def demand_of(self, task: Task) -> Demand:
        """What a task uses of others."""
        return self.work.demands[task]

    @property
    def homes(self) -> dict[str, Carry]:
        """The task behind each carried value and each value that is known at the end of dimensions."""
        return self.work.homes

    @cached_property
    def reductions(self) -> dict[str, Reduction]:
        """The carried values that may be accumulated in parts, by name."""
        return {name: it for name, it in self.work.reductions.items() if it.is_exact or self.reassociate}

    @cached_property
    def levels(self) -> dict[str, tuple[Level, ...]]:
        """The levels of each dimension, most significant first."""
        given = {it.dimension: it.levels for it in self.decisions.dimensions}
        return {it: given.get(it, (Level(Execution.LOOP, None),)) for it in self.scope.dimensions}

    @cached_property
    def _kinds(self) -> dict[str, list[Execution]]:
        return {name: [kind_of(it.execution) for it in its] for name, its in self.levels.items()}

    @cached_property
    def order(self) -> tuple[LevelName, ...]:
        """All levels, outermost first."""
        listed = [it.dimension for it in self.decisions.dimensions]
        dimensions = [*listed, *(it for it in self.levels if it not in listed)]
        grid = dict.fromkeys(it for it in (*self.decisions.grid, *dimensions) if it in self.levels)
        at_once = [it for name in grid for it in self._of_kind(name, Execution.WORKGROUP)]
        at_once += [it for name in dimensions for it in self._of_kind(name, Execution.INVOCATION)]
        rest = [it for name in self.levels for it in self._names(name) if self.kind(it) not in AT_ONCE]
        return (*at_once, *(self.decisions.order or rest))

    def _names(self, dimension: str) -> Iterator[LevelName]:
        return (LevelName(dimension, it) for it in range(len(self.levels[dimension])))

    def sequential(self, dimension: str) -> tuple[LevelName, ...]:
        """The loops and written-out levels of a dimension."""
        return tuple(it for it in self._names(dimension) if self.kind(it) not in AT_ONCE)

    def _of_kind(self, dimension: str, kind: Execution) -> Iterator[LevelName]:
        return (it for it in self._names(dimension) if self.kind(it) is kind)

    def names(self, dimension: str) -> tuple[LevelName, ...]:
        """The names of the levels of a dimension, most significant first."""
        return tuple(self._names(dimension))

    def is_vector(self, name: LevelName) -> bool:
        """Whether the iterations of a level are the components of vectors."""
        return self.execution(name) is Execution.VECTOR

    def vector_in(self, dimensions: Iterable[str]) -> LevelName | None:
        """The level of vectors among the levels of dimensions; there is at most one."""
        names = [it for name in dimensions for it in self._names(name) if self.is_vector(it)]
        return names[0] if names else None

    def width_in(self, dimensions: Iterable[str]) -> int:
        """The number of components of vectors in dimensions; 1 if there are none."""
        level = self.vector_in(dimensions)
        return 1 if level is None else self.count(level) or 1

    def execution(self, name: LevelName) -> Execution:
        """How a level is executed."""
        return self.levels[name.dimension][name.level].execution

    def kind(self, name: LevelName) -> Execution:
        """How a level is executed, but for how what it carries is joined: the kind of a level that is spread over
        workgroups or over invocations is one of these.
        """
        return self._kinds[name.dimension][name.level]

    def path(self, task: Task) -> tuple[LevelName, ...]:
        """The loops and written-out levels that a task is in, outermost first."""
        return self._paths[task.dimensions]

    @cached_property
    def _paths(self) -> Mapping[frozenset[str], tuple[LevelName, ...]]:
        loops = [it for it in self.order if self.kind(it) not in AT_ONCE]
        every = {it.dimensions for it in self.tasks}
        return {its: tuple(it for it in loops if it.dimension in its) for its in every}

    def is_spread(self, dimension: str) -> bool:
        """Whether the dimension has no loop and no written-out level."""
        return all(kind_of(it.execution) in AT_ONCE for it in self.levels[dimension])

    def axes(self, kind: Execution) -> Mapping[LevelName, int]:
        """The axis of each level of workgroups or of invocations. The dimension that is listed last has x.

        Dimensions that no task is in together share an axis, if the levels have equally many iterations. Levels of one
        invocation have what axes are left: naga knows subgroups only in workgroups along x.
        """
        return self._workgroup_axes if kind is Execution.WORKGROUP else self._invocation_axes

    @cached_property
    def _workgroup_axes(self) -> Mapping[LevelName, int]:
        return self._found_axes(Execution.WORKGROUP)

    @cached_property
    def _invocation_axes(self) -> Mapping[LevelName, int]:
        return self._found_axes(Execution.INVOCATION)

    def _found_axes(self, kind: Execution) -> Mapping[LevelName, int]:
        axes: dict[LevelName, int] = {}
        names = reversed([it for it in self.order if self.kind(it) is kind])
        for name in sorted(names, key=lambda it: kind is Execution.INVOCATION and self.count(it) == 1):
            taken = {axis for other, axis in axes.items() if not self._may_share(name, other)}
            axes[name] = next(it for it in range(len(taken) + 1) if it not in taken)
        return axes

    def _may_share(self, name: LevelName, other: LevelName) -> bool:
        if any(name.dimension in it.dimensions and other.dimension in it.dimensions for it in self.tasks):
            return False
        return self._extent(name) == self._extent(other)

    def _extent(self, name: LevelName) -> object:
        """Equal for levels that have equally many iterations."""
        count = self.count(name)
        size = self.scope.dimensions[name.dimension].size
        return (size, self.inner(name.dimension)) if count is None else count

    def axes_of(self, task: Task, kind: Execution) -> set[int]:
        """The axes that spread the dimensions of a task."""
        return {axis for it, axis in self.axes(kind).items() if it.dimension in task.dimensions}

    def size(self, dimension: str) -> int | None:
        """The size of a dimension, if it is known."""
        return self._sizes[dimension]

    @cached_property
    def _sizes(self) -> Mapping[str, int | None]:
        sizes = {name: it.size for name, it in self.scope.dimensions.items()}
        return {name: value_of(it, self.sizes) if self._is_known(it) else None for name, it in sizes.items()}

    def _is_known(self, size: Affine) -> bool:
        return all(it.name in self.sizes for it in size.terms)

    def inner(self, dimension: str) -> int:
        """How many iterations one of the first level stands for."""
        return self._inner[dimension]

    @cached_property
    def _inner(self) -> Mapping[str, int]:
        return {name: prod(it.factor or 1 for it in its[1:]) for name, its in self.levels.items()}

    def strides(self, dimension: str) -> Mapping[LevelName, int]:
        """How far apart the indices of neighbouring iterations of each level are."""
        return self._strides[dimension]

    @cached_property
    def _strides(self) -> Mapping[str, Mapping[LevelName, int]]:
        return {it: self._strides_of(it) for it in self.levels}

    def _strides_of(self, dimension: str) -> Mapping[LevelName, int]:
        stride, found = self.inner(dimension), dict[LevelName, int]()
        for name in self._names(dimension):
            stride //= self.count(name) or 1 if name.level else 1
            found[name] = stride
        return found

    def count(self, name: LevelName) -> int | None:
        """The number of iterations of a level, if it is known."""
        if name.level:
            return self.levels[name.dimension][name.level].factor
        size = self.size(name.dimension)
        return None if size is None else -(-size // self.inner(name.dimension))

    def is_padded(self, dimension: str) -> bool:
        """Whether the levels may have more iterations than the dimension."""
        size, inner = self.size(dimension), self.inner(dimension)
        return inner > 1 and (size is None or size % inner > 0)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The copies in workgroup memory, with the loads of an array in the place of its name."""
        loads: dict[str, list[str]] = {}
        for it in self.nest.body:
            if isinstance(it, Load):
                loads.setdefault(it.array, []).append(it.name)
        return tuple(
            replace(it, loads=tuple(load for name in it.loads for load in loads.get(name, [name])))
            for it in self.decisions.stages
        )

    def is_inside(self, load: Load, position: int, indices: Mapping[str, str]) -> bool:
        """Whether a subscript is known to be inside of its array for all iterations, with some indices for others."""
        return self.is_within(load.subscripts[position], self.scope.arrays[load.array].extents[position], indices)

    def is_within(self, subscript: Affine, extent: Affine, indices: Mapping[str, str]) -> bool:
        """Whether a sum is known to be from 0 to `extent` - 1 for all iterations, with some indices for others."""
        names = [indices.get(it.name, it.name) for it in subscript.terms]
        if subscript.constant == 0 and self.is_before_end(subscript, extent, indices):
            return True
        known = {it: size for it in self.scope.dimensions if (size := self.size(it)) is not None}
        if not all(it in known or it in self.sizes for it in (*names, *(it.name for it in extent.terms))):
            return False
        terms = tuple(Term(it.coefficient, name) for it, name in zip(subscript.terms, names, strict=True))
        low, high = range_of(Affine(terms, subscript.constant), self.sizes, known)
        return low >= 0 and high < value_of(extent, self.sizes)

    def is_before_end(self, subscript: Affine, extent: Affine, indices: Mapping[str, str]) -> bool:
        """Whether a subscript is an index in a dimension as long as the array, whatever that is, or less."""
        if len(subscript.terms) != 1 or subscript.terms[0].coefficient != 1 or subscript.constant > 0:
            return False
        name = subscript.terms[0].name
        dimension = self.scope.dimensions.get(indices.get(name, name))
        return dimension is not None and dimension.size == extent

    def is_in_parts(self, carry: Carry) -> bool:
        """Whether some iterations are accumulated apart from others."""
        return self.is_joined(carry) or self.is_partial(carry)

    def is_joined(self, carry: Carry) -> bool:
        """Whether a workgroup joins what it accumulated apart."""
        return self.waits(carry) or any(self.execution(it) in IN_PARTS for it in self.carrying(carry))

    def joined(self, carry: Carry) -> tuple[LevelName, ...]:
        """The levels of invocations and workgroups along which values are carried."""
        return tuple(it for it in self.order if it.dimension in carry.on and self.kind(it) in AT_ONCE)

    def waits(self, carry: Carry) -> bool:
        """Whether invocations wait for each other to join what they carry."""
        return any(self.kind(it) is Execution.INVOCATION for it in self.joined(carry))

    def reductions_in(self, carry: Carry) -> tuple[Reduction, ...]:
        """The reductions of a task whose values are accumulated in parts."""
        return tuple(dict.fromkeys(self.reductions[it.name] for it in carry.fbys))

    @property
    def uses_subgroups(self) -> bool:
        """Whether there are subgroup operations."""
        return self.joins_in_subgroups or any(it.location is Location.SUBGROUP for it in self.decisions.kept)

    @property
    def joins_in_subgroups(self) -> bool:
        """Whether subgroup operations join what is carried."""
        return any(isinstance(it, Carry) and self.by_subgroups(it) for it in self.tasks)

    @property
    def invocations(self) -> int:
        """The number of invocations of a workgroup."""
        return prod(self.workgroup_size())

    def by_subgroups(self, carry: Carry) -> bool:
        """Whether subgroup operations join what is carried."""
        return any(self.execution(it) is Execution.SUBGROUP for it in self.joined(carry))

    def is_partial(self, carry: Carry) -> bool:
        """Whether workgroups have parts of what is carried, which something else joins."""
        return any(self.kind(it) is Execution.WORKGROUP for it in self.joined(carry))

    def atomic_store(self, array: str) -> AtomicStore | None:
        """How an array is stored to by atomic operations; None if it is not."""
        for it in self.tasks:
            store = it.store if isinstance(it, Write) else None
            if isinstance(store, Store) and store.array == array and isinstance(store.value, Use):
                return self._atomic(store, store.value.name)
        return None

    def scatter(self, array: str) -> Scatter | None:
        """What joins values to the elements of an array that computed subscripts name."""
        found = (it for it in self.nest.body if isinstance(it, Scatter) and it.array == array)
        return next(found, None)

    @cached_property
    def private(self) -> tuple[Scatter, ...]:
        """Those for whose outputs each workgroup has a copy."""
        return tuple(it for it in map(self.scatter, self.decisions.private) if it is not None)

    def _atomic(self, store: Store, name: str) -> AtomicStore | None:
        last = self.scope.values[name]
        carry = self.homes.get(name)
        if not isinstance(last, Last) or carry is None or last in carry.lasts:
            return None
        levels = tuple(it for it in self.joined(carry) if self.execution(it) is Execution.ATOMIC)
        reduction = self.reductions.get(last.value)
        if not levels or reduction is None or not isinstance(reduction.join, str):
            return None
        return AtomicStore(store, reduction.fbys[0], reduction.join, levels)

    def joined_axes(self, store: Writing, kind: Execution) -> set[int]:
        """The axes of workgroups all of which store what they carry: parts of it, or by atomic operations."""
        atomic = self.atomic_store(store.array)
        levels = self.partials.get(store.array, () if atomic is None else atomic.levels)
        return {axis for it, axis in self.axes(kind).items() if it in levels}

    def carrying(self, carry: Carry) -> tuple[LevelName, ...]:
        """The loops and written-out levels along which values are carried, outermost first."""
        return tuple(it for it in self.path(carry) if it.dimension in carry.on)

    def distinct(self, carry: Carry) -> list[LevelName]:
        """The levels whose iterations have variables of their own."""
        return [
            it
            for it in self.path(carry)
            if self.execution(it) is Execution.TREE
            or (self.execution(it) in WRITTEN_OUT and it.dimension not in carry.on)
        ]

    def looped(self, carry: Carry) -> tuple[LevelName, ...]:
        """The loops inside of the outermost one that carries, along other dimensions: what is carried in each of their
        iterations has memory of its own.
        """
        return self._looped[carry]

    @cached_property
    def _looped(self) -> Mapping[Carry, tuple[LevelName, ...]]:
        return {it: self._loops_within(it) for it in self.tasks if isinstance(it, Carry)}

    def _loops_within(self, carry: Carry) -> tuple[LevelName, ...]:
        path, carrying = self.path(carry), self.carrying(carry)
        inside = path[path.index(carrying[0]) :] if carrying else ()
        return tuple(it for it in inside if it.dimension not in carry.on and self.execution(it) is Execution.LOOP)

    def turns_apart(self, carry: Carry) -> int | None:
        """How many iterations the loops of `looped` have together, if that is known."""
        counts = [self.count(it) for it in self.looped(carry)]
        return None if None in counts else prod(it or 0 for it in counts)

    def workgroup_size(self) -> tuple[int, int, int]:
        """The invocations of a workgroup along x, y and z, where they are known."""
        counts = [1, 1, 1]
        for name, axis in self.axes(Execution.INVOCATION).items():
            counts[axis] = self.count(name) or 1
        return counts[0], counts[1], counts[2]
