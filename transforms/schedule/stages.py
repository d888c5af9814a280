"""Splits a nest with partial levels or with values in storage into stages, which are dispatched one after the other.

A partial level spreads a reduction over workgroups. In one stage each workgroup stores its part in an array; the stages
that use the result load all parts and join them, along a dimension of its own: `j_part` for a level of `j`. That is a
nest again, with an element of the array as the element, so that decisions about `j_part` are as those about any other
dimension. What several stages use is computed in each of them, but for a value that is kept in storage: one stage
stores its elements, and those that need it load them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ...base.cached import kept_with_argument
from ...ir.schedule.extents import value_of
from ...ir.schedule.functions import COPY
from ...ir.schedule.nodes import (
    Affine,
    Array,
    Boundary,
    Compute,
    Constant,
    Decisions,
    Dimension,
    Direction,
    ElementType,
    Execution,
    Fby,
    Gather,
    Last,
    LevelName,
    Load,
    Location,
    Map,
    Nest,
    Operand,
    Scatter,
    Statement,
    Store,
    Term,
    Use,
)
from ...ir.schedule.reductions import Reduction
from ...ir.schedule.scope import Writing, used_by
from .decided import Decided
from .names import Names, names_of
from .tasks import Carry, Hold, Task, Write, demand_of
from .vectors import vector_arrays

Quotient: TypeAlias = tuple[Affine, int]
"""A sum, to be divided by a number and rounded up."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of a nest, each a nest with decisions, in the order of their dispatches.

    `part_sizes` are sizes that the stages have in addition: the numbers of parts along partial levels.
    """

    stages: tuple[Decided, ...]
    part_sizes: Mapping[str, Quotient]

    def of_scalars(self, arrays: Iterable[str]) -> Stages:
        """The same stages, with arrays that are bound as scalars."""
        names = frozenset(arrays)
        return Stages(tuple(replace(it, scalars=it.scalars | names) for it in self.stages), self.part_sizes)

    def with_part_sizes(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes, with those of parts where they follow."""
        return {**sizes, **_known(self.part_sizes, sizes)}


def partial_level(decided: Decided, dimension: str) -> LevelName | None:
    """The partial level of a dimension; there is at most one."""
    names = [it for it in decided.names(dimension) if decided.execution(it) is Execution.PARTIAL]
    return names[0] if names else None


def part_dimensions(decided: Decided) -> dict[str, str]:
    """For each dimension with a partial level along which something is carried, the dimension of its parts."""
    partial = [it for it in decided.scope.dimensions if partial_level(decided, it) is not None]
    if not partial:
        return {}
    names = Names({decided.nest.name, *names_of(decided.nest)})
    carried = {name for it in decided.tasks if isinstance(it, Carry) for name in it.on}
    return {it: names.fresh(f"{it}_part") for it in partial if it in carried}


def is_staged(decided: Decided) -> bool:
    """Whether a nest has several stages."""
    return bool(part_dimensions(decided)) or any(it.location is Location.STORAGE for it in decided.decisions.kept)


def without_parts(decided: Decided) -> Decided:
    """The decisions but for those about dimensions of parts, which the nest does not have."""
    parts = set(part_dimensions(decided).values())
    return replace(decided, decisions=_about(decided.decisions, lambda it: it not in parts, ())) if parts else decided


def stages_of(decided: Decided) -> Stages:
    """The stages of a nest; all values that are carried along partial levels may be accumulated in parts."""
    return _split(decided) if is_staged(decided) else Stages((decided,), {})


@kept_with_argument
def _split(decided: Decided) -> Stages:
    """The rules for decisions ask for the stages, and whoever lowers or judges a nest after that."""
    return _Split(decided).stages()


def _known(quotients: Mapping[str, Quotient], sizes: Mapping[str, int]) -> dict[str, int]:
    return {
        name: -(-value_of(affine, sizes) // inner)
        for name, (affine, inner) in quotients.items()
        if all(it.name in sizes for it in affine.terms)
    }


def _about(decisions: Decisions, keeps: Callable[[str], bool], loads: Iterable[str]) -> Decisions:
    """The decisions about some dimensions, and about all loads and arrays but some."""
    return replace(
        decisions,
        dimensions=tuple(it for it in decisions.dimensions if keeps(it.dimension)),
        order=tuple(it for it in decisions.order if keeps(it.dimension)),
        stages=tuple(
            it
            for it in decisions.stages
            if (it.at is None or keeps(it.at.dimension)) and not set(loads).intersection(it.loads)
        ),
        peeled=tuple(it for it in decisions.peeled if keeps(it)),
        grid=tuple(it for it in decisions.grid if keeps(it)),
    )


def _completed(decided: Decided) -> Decisions:
    """Decisions whose order and grid, if there are any, have all levels. Those over parts are innermost in the order,
    and outermost in the grid, unless these say more.
    """
    order, grid = decided.decisions.order, decided.decisions.grid
    if order:
        loops = [it for name in decided.scope.dimensions for it in decided.sequential(name)]
        order = *order, *(it for it in loops if it not in order)
    if grid:
        spread = [it.dimension for it in decided.axes(Execution.WORKGROUP)]
        grid = *(it for it in spread if it not in grid), *grid
    return replace(decided.decisions, order=order, grid=grid)


@dataclass(slots=True)
class _Split:
    whole: Decided
    base: Decided = field(init=False)
    names: Names = field(init=False)
    part_dimensions: dict[str, Dimension] = field(default_factory=dict[str, Dimension])
    """By the dimensions that they are parts of."""
    part_sizes: dict[str, Quotient] = field(default_factory=dict[str, Quotient])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    """The arrays of parts, by the carried values that they are parts of."""
    stored: dict[str, Array] = field(default_factory=dict[str, Array])
    """The arrays of values in storage."""
    packed: dict[str, tuple[LevelName, ...]] = field(default_factory=dict[str, tuple[LevelName, ...]])
    """The levels in whose order arrays are, by the values in storage."""

    def __post_init__(self) -> None:
        self.base = without_parts(self.whole)
        self.names = Names({self.whole.nest.name, *names_of(self.whole.nest)})
        for of, name in part_dimensions(self.whole).items():
            self.names.taken.add(name)
            self.part_dimensions[of] = Dimension(name, self.part_count(of))
        for carry in filter(self.is_in_parts, self.base.tasks):
            assert isinstance(carry, Carry)
            for fby in carry.fbys:
                self.arrays[fby.name] = self.part_array(fby, carry)
        for keep in self.whole.decisions.kept:
            if keep.location is Location.STORAGE:
                extents = [self.base.scope.dimensions[it].size for it in self.kept_on(keep.value)]
                levels = self.packing(keep.value)
                if levels is not None:
                    self.packed[keep.value] = levels
                    extents = [Affine((), self.base.count(it) or 0) for it in levels]
                self.stored[keep.value] = self.array(f"{keep.value}_kept", self.type_of(keep.value), extents)

    def packing(self, value: str) -> tuple[LevelName, ...] | None:
        """The levels of a value's dimensions in the order in which they are gone through, so that what is read one
        after the other lies side by side. None where their numbers are not known, or where it is read in another order,
        too: by maps, as vectors, or for a copy in workgroup memory.
        """
        base = self.base
        maps = (it for it in base.scope.values.values() if isinstance(it, Map))
        mapped = (name for it in maps for name in base.demand(used_by(it)).kept)
        staged = (load for stage in base.stages for load in stage.loads)
        own = [it for it in base.order if it.dimension in self.kept_on(value)]
        if value in (*mapped, *staged) or any(base.is_vector(it) or not base.count(it) for it in own):
            return None
        places = {Execution.WORKGROUP: 0, Execution.INVOCATION: 2}
        return tuple(sorted(own, key=lambda it: places.get(base.kind(it), 1)))

    def part_count(self, dimension: str) -> Affine:
        """The number of parts: that of the level's iterations."""
        level = partial_level(self.base, dimension)
        assert level is not None
        if level.level:
            return Affine((), self.base.count(level) or 1)
        name = self.names.fresh(f"{dimension}_parts")
        self.part_sizes[name] = self.base.scope.dimensions[dimension].size, self.base.inner(dimension)
        return Affine((Term(1, name),), 0)

    def part_array(self, fby: Fby, carry: Carry) -> Array:
        outer = self.base.scope.ordered(carry.dimensions - set(carry.on))
        extents = [self.base.scope.dimensions[it].size for it in outer]
        extents += [self.part_dimensions[it.dimension].size for it in self.partial_levels(carry)]
        return self.array(f"{fby.name}_partials", fby.type, extents)

    def array(self, stem: str, type: ElementType, extents: Sequence[Affine]) -> Array:
        """An array that one stage stores to, and others load from; conditions are numbers there."""
        stored = ElementType.U32 if type is ElementType.BOOL else type
        return Array(Direction.OUT, self.names.fresh(stem), stored, tuple(extents))

    def type_of(self, value: str) -> ElementType:
        return self.base.scope.values[value].type

    def kept_on(self, value: str) -> tuple[str, ...]:
        return self.base.scope.ordered(self.base.scope.dimensions_of(value))

    def partial_levels(self, carry: Carry) -> tuple[LevelName, ...]:
        return tuple(it for it in self.base.joined(carry) if self.base.execution(it) is Execution.PARTIAL)

    def is_split(self, task: Task) -> bool:
        """Whether other stages need what a task stores."""
        return task.value in self.stored if isinstance(task, Hold) else self.is_in_parts(task)

    def is_in_parts(self, task: Task) -> bool:
        return isinstance(task, Carry) and bool(self.partial_levels(task))

    # Stages

    def stages(self) -> Stages:
        numbers = self._apart(self.numbers())
        last = max(numbers[it] + self.is_split(it) for it in self.base.tasks)
        made = [self.stage(number, numbers) for number in range(last + 1)]
        widths = [(array.name, vector_arrays(it).get(array.name, 1)) for it in made for array in it.nest.arrays]
        scalars = frozenset(name for name, width in widths if any(width != w for n, w in widths if n == name))
        return Stages(
            tuple(it if it.scalars == scalars else replace(it, scalars=scalars) for it in made), self.part_sizes
        )

    def numbers(self) -> dict[Task, int]:
        """The stage of each task: after those of the parts that it needs joined, and of the values that it loads."""
        needed = {task: list(self._needed(task)) for task in self.base.tasks}
        numbers: dict[Task, int] = dict.fromkeys(self.base.tasks, 0)
        for _ in self.base.tasks:
            found = {
                task: max([numbers[task], *(numbers[it] + later for it, later in others)])
                for task, others in needed.items()
            }
            if found == numbers:
                break
            numbers = found
        return numbers

    def _apart(self, numbers: Mapping[Task, int]) -> Mapping[Task, int]:
        """The stages, with one of its own for what would not be along all axes of a common grid. There its workgroups
        along the other axes would go through loops in which they do nothing.
        """
        if self.part_dimensions:
            return numbers
        apart: dict[Task, int] = {}
        for number in range(max(numbers.values()) + 1):
            groups = self._together(number, numbers)
            along = [frozenset[int]() for _ in groups]
            if len(groups) > 1:
                along = self._axes_of(groups, self.stage(number, numbers))
            kinds = list(dict.fromkeys(along))
            first = max(apart.values(), default=-1) + 1
            apart |= {
                task: first + kinds.index(its) for group, its in zip(groups, along, strict=True) for task in group
            }
        return apart

    def _axes_of(self, groups: Sequence[Sequence[Task]], stage: Decided) -> list[frozenset[int]]:
        """The axes of workgroups that groups of tasks are along, in a stage with all of them."""
        axes = stage.axes(Execution.WORKGROUP).items()
        dimensions = [{name for it in group for name in it.dimensions} for group in groups]
        return [frozenset(axis for name, axis in axes if name.dimension in its) for its in dimensions]

    def _together(self, number: int, numbers: Mapping[Task, int]) -> list[list[Task]]:
        """The tasks of a stage, those together that need each other in it."""
        groups: list[list[Task]] = []
        for task in self.base.tasks:
            if numbers[task] == number:
                needed = [it for it, _ in self._needed(task)]
                near = [group for group in groups if any(it in group for it in needed)]
                groups = [it for it in groups if it not in near] + [[*(it for group in near for it in group), task]]
        return groups

    def _needed(self, task: Task) -> Iterator[tuple[Task, int]]:
        """The tasks that a task needs, and how many stages later than each of them it is at least."""
        used = demand_of(task, self.base.scope, frozenset(self.stored))
        for name in used.kept:
            yield Hold(name, self.base.scope.dimensions_of(name)), 1
        for name in used.ends:
            home = self.base.homes[name]
            yield home, int(self.is_split(home))
        for name in used.reads:
            yield self.base.homes[name], 0

    def stage(self, number: int, numbers: Mapping[Task, int]) -> Decided:
        tasks = [it for it in self.base.tasks if numbers[it] == number]
        split = [it for it in self.base.tasks if self.is_split(it)]
        carries = [it for it in split if isinstance(it, Carry) and numbers[it] == number]
        joined = {it for it in split if isinstance(it, Carry) and numbers[it] < number}
        holds = [it.value for it in split if isinstance(it, Hold) and numbers[it] == number]
        loaded = {it.value for it in split if isinstance(it, Hold) and numbers[it] < number}
        body = _Body(self, [it.store for it in tasks if isinstance(it, Write)], carries, joined, holds, loaded)
        statements = body.statements()
        nest = self.nest(statements, f"{self.whole.nest.name}_{number + 1}")
        partials = {self.arrays[fby.name].name: self.partial_levels(it) for it in carries for fby in it.fbys}
        packed = {self.stored[it].name: self.packed[it] for it in (*holds, *loaded) if it in self.packed}
        sizes = {**self.whole.sizes, **_known(self.part_sizes, self.whole.sizes)}
        absent = _loads_of(self.whole.nest.body) - _loads_of(statements)
        plain = Decided(nest, Decisions((), ()))
        scope = plain.scope
        kept = tuple(it for it in self.whole.decisions.kept if it.value in scope.values and it.value not in self.stored)
        iterated = {name for it in plain.tasks for name in it.dimensions}
        iterated |= {name for it in kept for name in scope.dimensions_of(it.value)}
        decisions = _about(self.whole.decisions, iterated.__contains__, absent)
        arrays = {it.name for it in nest.arrays}
        private = tuple(it for it in decisions.private if it in arrays)
        decisions = replace(decisions, private=private, kept=kept)
        made = replace(
            self.whole,
            nest=nest,
            analyses=plain.analyses,
            decisions=decisions,
            sizes=sizes,
            partials=partials,
            packed=packed,
        )
        completed = _completed(made)
        return made if completed == made.decisions else replace(made, decisions=completed)

    def nest(self, statements: Sequence[Statement], name: str) -> Nest:
        whole = self.whole.nest
        used = {it for statement in statements for it in _dimensions_in(statement)}
        dimensions = [it for it in (*whole.dimensions, *self.part_dimensions.values()) if it.name in used]
        directions = {
            it.array: Direction.IN if isinstance(it, (Load, Gather)) else Direction.OUT
            for it in statements
            if isinstance(it, (Load, Gather, Store, Scatter))
        }
        arrays = [
            replace(it, direction=directions[it.name])
            for it in (*whole.arrays, *self.arrays.values(), *self.stored.values())
            if it.name in directions
        ]
        carried = {it.name for it in statements if isinstance(it, Fby)}
        combines = tuple(it for it in whole.combines if carried.issuperset(it.carried))
        sizes = (*whole.sizes, *self.part_sizes)
        return Nest(name, sizes, tuple(dimensions), tuple(arrays), tuple(statements), combines)


def _loads_of(statements: Iterable[Statement]) -> set[str]:
    """The loads among statements, and the arrays that they are from."""
    return {name for it in statements if isinstance(it, Load) for name in (it.name, it.array)}


def _dimensions_in(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Map):
        yield from (name for it in statement.pairs for name in (it.source, it.target))
    else:
        yield from statement.dimensions


@dataclass(slots=True)
class _Body:
    """The statements of a stage."""

    split: _Split
    stores: Sequence[Writing]
    carries: Sequence[Carry]
    """Those whose parts the stage stores."""
    joined: set[Carry]
    """Those whose parts it may join."""
    holds: Sequence[str]
    """The values that the stage puts in storage."""
    loaded: set[str]
    """Those that it may load from there."""
    made: list[Statement] = field(default_factory=list[Statement])
    begun: set[Reduction] = field(default_factory=set[Reduction])

    def statements(self) -> list[Statement]:
        needed = self.needed()
        for statement in self.split.base.nest.body:
            if isinstance(statement, (Store, Scatter)):
                self.made += [statement] if statement in self.stores else []
            elif statement.name in self.loaded:
                if statement.name in needed:
                    self.load_kept(statement.name)
            elif statement.name in needed:
                self.made += [self.joined_last(statement) if self.is_joined(statement) else statement]
        for carry in self.carries:
            for fby in carry.fbys:
                self.store_part(fby, carry)
        for name in self.holds:
            subscripts = self.subscripts(name)
            self.store(self.split.stored[name], name, self.split.type_of(name), self.split.kept_on(name), subscripts)
        return self.made

    def is_joined(self, statement: Statement) -> bool:
        """Whether a value is the last of a carried one whose parts are joined."""
        return isinstance(statement, Last) and self.split.base.homes.get(statement.name) in self.joined

    def needed(self) -> set[str]:
        pending = [name for it in self.stores for name in used_by(it)]
        pending += [*self.holds, *(fby.name for carry in self.carries for fby in carry.fbys)]
        found: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.uses(name)
        return found

    def uses(self, name: str) -> Iterable[str]:
        values = self.split.base.scope.values
        value = values[name]
        if name in self.loaded:
            return ()
        if isinstance(value, Last) and self.is_joined(value):
            firsts = [it.first for it in self.split.base.reductions[value.value].fbys]
            return [it.name for it in firsts if isinstance(it, Use)]
        return (*used_by(value), value.next) if isinstance(value, Fby) else used_by(value)

    def joined_last(self, last: Statement) -> Last:
        """The last of a carried value, along the dimensions of its parts."""
        assert isinstance(last, Last)
        carry = self.split.base.homes[last.name]
        on = tuple(self.split.part_dimensions[it.dimension].name for it in self.split.partial_levels(carry))
        reduction = self.split.base.reductions[last.value]
        if reduction not in self.begun:
            self.begun.add(reduction)
            self.join(reduction, carry, on)
        return replace(last, dimensions=on)

    def join(self, reduction: Reduction, carry: Carry, on: tuple[str, ...]) -> None:
        """Statements that load parts and join them."""
        outer = self.split.base.scope.ordered(carry.dimensions - set(carry.on))
        parts = [self.load_part(fby, outer, on) for fby in reduction.fbys]
        nexts: list[Statement] = []
        results = self.results(reduction, parts, (*outer, *on), nexts)
        for fby, result in zip(reduction.fbys, results, strict=True):
            self.made.append(replace(fby, next=result, dimensions=on))
        self.made += nexts

    def load_part(self, fby: Fby, outer: tuple[str, ...], on: tuple[str, ...]) -> Use:
        array = self.split.arrays[fby.name]
        name = self.split.names.fresh(f"{fby.name}_part")
        dimensions = (*outer, *on)
        self.made.append(_load(name, array, dimensions, _subscripts(dimensions)))
        return Use(name) if array.type is fby.type else self.compute("bool", fby.type, (Use(name),), (*outer, *on))

    def load_kept(self, name: str) -> None:
        array, type, on = self.split.stored[name], self.split.type_of(name), self.split.kept_on(name)
        subscripts = self.subscripts(name)
        if array.type is type:
            self.made.append(_load(name, array, on, subscripts))
            return
        number = self.split.names.fresh(f"{name}_number")
        self.made += [_load(number, array, on, subscripts), Compute(name, type, "bool", (Use(number),), on)]

    def subscripts(self, name: str) -> tuple[Affine, ...]:
        """Those of a value in storage; those of packed arrays are iterations of levels."""
        return () if name in self.split.packed else _subscripts(self.split.kept_on(name))

    def compute(self, function: str, type: ElementType, operands: tuple[Operand, ...], on: tuple[str, ...]) -> Use:
        name = self.split.names.fresh("t")
        self.made.append(Compute(name, type, function, operands, on))
        return Use(name)

    def results(
        self, reduction: Reduction, parts: Sequence[Use], on: tuple[str, ...], made: list[Statement]
    ) -> list[str]:
        """What carried values are after a part has been joined to them; adds the statements that compute it."""
        fbys, join, fresh = reduction.fbys, reduction.join, self.split.names.fresh
        if isinstance(join, str):
            name = fresh("t")
            made.append(Compute(name, fbys[0].type, join, (Use(fbys[0].name), parts[0]), on))
            return [name]
        known: dict[str, Operand] = {name: Use(fby.name) for name, fby in zip(join.left, fbys, strict=True)}
        known.update(zip(join.right, parts, strict=True))

        def value(operand: Operand) -> Operand:
            return operand if isinstance(operand, Constant) else known[operand.name]

        for it in join.body:
            assert isinstance(it, Compute)
            name = fresh("t")
            made.append(Compute(name, it.type, it.function, tuple(map(value, it.operands)), on))
            known[it.name] = Use(name)
        pairs = zip(fbys, join.results, strict=True)
        copies = [Compute(fresh("t"), fby.type, COPY, (value(it),), on) for fby, it in pairs]
        made += copies
        return [it.name for it in copies]

    def store_part(self, fby: Fby, carry: Carry) -> None:
        outer = self.split.base.scope.ordered(carry.dimensions - set(carry.on))
        array = self.split.arrays[fby.name]
        name = self.split.names.fresh(f"{fby.name}_end")
        self.made.append(Last(name, fby.type, fby.name, fby.dimensions))
        self.store(array, name, fby.type, outer, _subscripts(outer))

    def store(
        self, array: Array, name: str, type: ElementType, on: tuple[str, ...], subscripts: tuple[Affine, ...]
    ) -> None:
        value = Use(name) if array.type is type else self.compute("u32", array.type, (Use(name),), on)
        self.made.append(Store(array.name, subscripts, value, on))


def _load(name: str, array: Array, on: tuple[str, ...], subscripts: tuple[Affine, ...]) -> Load:
    return Load(name, array.type, array.name, subscripts, Boundary.INSIDE, on)


def _subscripts(dimensions: tuple[str, ...]) -> tuple[Affine, ...]:
    return tuple(Affine((Term(1, it),), 0) for it in dimensions)
