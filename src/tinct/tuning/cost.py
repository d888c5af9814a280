"""What a point of the space of schedules takes: a lower bound, which prunes, and an estimate, which ranks.

The bound counts bytes that must come from memory once, and operations at the device's peak, on as many units as there
are workgroups. The estimate adds what usually costs more: vectors that are not full, elements that lie apart, loads
beside operations (`lanes`), what comes into caches again (`cache_traffic`), spilled registers, chains of dependent
operations, barriers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from math import prod
from operator import add
from typing import Final

from ..base.cached import cached_property
from ..ir.schedule.extents import extents_of
from ..ir.schedule.nodes import (
    Affine,
    Array,
    Boundary,
    Buffering,
    Compute,
    Execution,
    Fby,
    Last,
    LevelName,
    Load,
    Map,
    Scatter,
    Stage,
)
from ..ir.schedule.scope import Value, Writing, used_by
from ..transforms.schedule.decided import IN_PARTS, WRITTEN_OUT, Decided
from ..transforms.schedule.memory import carried_bytes
from ..transforms.schedule.outputs import known_length
from ..transforms.schedule.reciprocals import is_by_reciprocal
from ..transforms.schedule.stages import stages_of
from ..transforms.schedule.tasks import Carry, Hold, Task, Write, roots_of
from ..transforms.schedule.tiles import slide_of, tile_of
from .cache_traffic import Access, Traffic, joined_accesses
from .lanes import Lanes, as_load, element_bytes
from .rates import MEASURED_INVOCATIONS, Rates
from .search import Cost

_WRITTEN: Final = (*WRITTEN_OUT, Execution.VECTOR)
"""Levels of which a turn of the loops around has all iterations."""
_LATENCY: Final = 8.0
"""Operations on independent vectors that can be done until the result of one can be used."""
_SPILL: Final = 4.0
"""Operations that a spilled register costs in each iteration of the loop around it."""
_TURN: Final = 4.0
"""Operations of a turn of a loop beside its body."""
_COPIED: Final = 6.0
"""Operations of a vector that copying an element to the memory of a workgroup takes."""
_SHUFFLE: Final = 2 * _LATENCY
"""Operations of a vector that joining what two invocations of a subgroup carry takes: an operation that waits for a
shuffle, which waits for the operation before.
"""
_ATOMIC: Final = 40.0
"""Operations of a vector that an atomic operation on one element takes, while other workgroups do the same."""
_SCATTERED: Final = 3.0
"""Operations of a lane that joining its value to an element at a place of its own takes."""
_EXPENSIVE: Final = {
    "exp": 12.0,
    "exp2": 10.0,
    "log": 14.0,
    "sin": 16.0,
    "cos": 16.0,
    "sqrt": 6.0,
    "/": 6.0,
    "pow": 30.0,
}
"""Operations that a function stands for; all others are one. Only ranks depend on them."""
_CLAMPED: Final = 1.5
"""Operations that clamping a subscript takes, or comparing it with the extent of the array."""
_SMALL_BODY: Final = 20
_MOST_PARTS: Final = 4
_SOME_PARTS: Final = 2
"""Operations and loads of a loop up to which invocations of a CPU run in gangs of several vectors; of four, or, if
there are twice as many, of two.
"""
_WORD: Final = 4
"""The bytes of most elements that are carried."""
_AT_A_TIME: Final = 8
"""Vectors that a unit of a GPU in hardware runs at a time, so that each waits while others compute."""
_OF_VECTOR: Final = 1.5
"""Loads of a scalar that the load of a vector from workgroup memory stands for."""
_COPY_LATENCY: Final = 0.1
"""The share of the latency of memory that workgroup memory has."""
_SHARE_ALONE: Final = 2.0
"""Units that are busy get this many times their share of the bandwidth of memory, while others are idle."""
_OVERLAP: Final = 0.3
"""The share of each of several costs that does not happen at the same time as the others."""
_SAFETY: Final = 0.7
"""The bound is this share of what the model says, since rates are measured on a machine with other work."""
_TRUST: Final = 0.2
"""No point is taken to be faster than this share of its estimate."""
_LARGE_CODE: Final = 400.0
"""Operations and accesses of code that takes five seconds to compile, so that it is ranked as if it ran half as fast;
code of half that size takes less than one."""
_LARGE_CODE_IN_SOFTWARE: Final = 4000.0
"""The same for the drivers of GPUs in software."""


def cost_of(decided: Decided, rates: Rates, *, contract: bool = False) -> Cost:
    """What a nest with legal decisions takes on a device, in one dispatch or several. All sizes are known. With
    `contract`, products that are added to something are no operations of their own.
    """
    models = [_fastest(it, rates, contract) for it in stages_of(decided).stages]
    least, expected = sum(it.least for it in models), sum(it.expected for it in models)
    return Cost(max(_SAFETY * least, _TRUST * expected), expected)


def _fastest(decided: Decided, rates: Rates, contract: bool) -> _Model:
    """The model of a dispatch. On a CPU, workgroups of one invocation are the lanes of vectors, or are executed one
    after another, whichever takes less.
    """
    together = _Model(decided, rates, contract)
    if together.lanes.merged == 1:
        return together
    return min(together, _Model(decided, rates, contract, merges=False), key=lambda it: it.expected)


@dataclass
class _Model:
    decided: Decided
    rates: Rates
    contract: bool
    merges: bool = True

    @cached_property
    def least(self) -> float:
        """Seconds that nothing can save."""
        operations = sum(map(self._operations, self.decided.tasks))
        return self.rates.launch / 2 + max(
            self._bytes / max(self.rates.memory, self.rates.cached if self._is_cached else 0.0),
            operations / (self.rates.operations * min(self._workgroups, self.rates.units) / self.rates.units),
        )

    @cached_property
    def expected(self) -> float:
        """Seconds that are likely, more for code that takes long to compile."""
        parallel = self._parallel
        costs = [self._computing / parallel, self._waiting, *self._transfers]
        return self.rates.launch + self._code * (max(costs) + _OVERLAP * (sum(costs) - max(costs)))

    @property
    def _code(self) -> float:
        """What the time is multiplied by for code that takes long to compile. Drivers of GPUs in hardware compile what
        takes LLVM seconds in a fraction of one.
        """
        if self.rates.spreads:
            return 1.0
        bodies = ((it, self._bodies[it]) for it in self.decided.tasks)
        size = sum((its.operations + its.accesses) * self._gang(it) for it, its in bodies)
        large = _LARGE_CODE_IN_SOFTWARE if self.rates.is_software else _LARGE_CODE
        return 1.0 + (size / large) ** 2

    # Units

    @property
    def _computing(self) -> float:
        """Seconds of one unit for all vectors."""
        lanes = self.lanes
        each = sum(map(self._computed, self.decided.tasks))
        each += sum(map(self._copy, self.decided.stages))
        each += sum(map(self._private, self.decided.private))
        each += self.rates.workgroup / lanes.vectors
        return each * lanes.vectors * self._workgroups / lanes.merged

    @property
    def _parallel(self) -> float:
        """Units that are busy, on the average."""
        each = self.lanes.vectors if self.rates.spreads else 1
        rounds = -(-self._workgroups * each // self.lanes.merged)
        return min(rounds / -(-rounds // self.rates.units), self.rates.units)

    @property
    def _waiting(self) -> float:
        """Seconds that vectors wait for what they load, where many of them run on a unit at a time: each turn of a loop
        waits for all its loads together.
        """
        if not self.rates.spreads:
            return 0.0
        turns = sum(self._count(self._loops(it)) * self._latencies(it) for it in self.decided.tasks)
        turns += sum(map(self._copies, self.decided.stages))
        vectors = self._workgroups * self.lanes.vectors
        return turns * self.rates.latency * max(1.0, vectors / (_AT_A_TIME * self.rates.units))

    def _latencies(self, task: Task) -> float:
        """The latencies of memory that a turn waits for."""
        loads = {it for it in self._needed(task) if isinstance(self.decided.scope.values[it], Load)}
        return 1.0 if loads - self._staged else _COPY_LATENCY if loads else 0.0

    @property
    def _transfers(self) -> list[float]:
        """Seconds for what caches get from each other, and the last one from memory, and for finding pages."""
        caches = self.rates.caches
        memory = self.rates.memory * min(1.0, _SHARE_ALONE * self._parallel / self.rates.units)
        sources = [*(it.bandwidth * self._parallel for it in caches[1:]), memory]
        pages = sum(it.pages() for it in self._traffics) * self.rates.page / self._parallel
        has_sets = len(caches) > 1  # those of a GPU are not known
        loaded = [sum(it.into(cache.size, has_sets=has_sets) for it in self._traffics) for cache in caches]
        into = [size + self._carried_into(cache.size) for size, cache in zip(loaded, caches, strict=True)]
        return [pages, *(size / bandwidth for size, bandwidth in zip(into, sources, strict=False))]

    def _carried_into(self, size: int) -> float:
        """The bytes that a cache gets of arrays of carried values that do not fit there."""
        lanes = self.lanes
        carries = [it for it in self.decided.tasks if isinstance(it, Carry)]
        large = [it for it in carries if carried_bytes(it, self.decided) * self._gang(it) * self.rates.lanes > size]
        moved = sum(map(self._moved, large))
        return moved * lanes.vectors * self.rates.lanes * _WORD * self._workgroups

    @cached_property
    def _traffics(self) -> list[Traffic]:
        return [
            Traffic(self.decided, self.lanes, it, joined_accesses(self._accesses(it)), self._passes(it))
            for it in self.decided.tasks
        ]

    def _accesses(self, task: Task) -> Iterable[Access]:
        for name in self._needed(task):
            value = as_load(name, self.decided.scope)
            if value is not None:
                yield Access(value.array, value.subscripts, sort="copied" if name in self._staged else "load")
        if isinstance(task, Write) and not isinstance(task.store, Scatter):
            yield Access(task.store.array, task.store.subscripts, sort="store")

    @cached_property
    def _copied_widths(self) -> dict[str, int]:
        """The width of the vectors that a copy in workgroup memory consists of, for each load."""
        tiles = (tile_of(it, self.decided) for it in self.decided.stages)
        return {load.name: tile.width for tile in tiles for load in tile.loads}

    @cached_property
    def _staged(self) -> frozenset[str]:
        return frozenset(name for it in self.decided.stages for name in it.loads)

    # Sizes

    @cached_property
    def lanes(self) -> Lanes:
        """The invocations of a workgroup, as vectors."""
        return Lanes(self.decided, self.rates, self.merges)

    @cached_property
    def _workgroups(self) -> int:
        axes = self.decided.axes(Execution.WORKGROUP)
        return prod({axis: max(self.decided.count(it) or 0, 1) for it, axis in axes.items()}.values())

    @cached_property
    def _bytes(self) -> int:
        return sum(map(self._array_bytes, self.decided.nest.arrays))

    def _array_bytes(self, array: Array) -> int:
        extents = extents_of(array, self.decided.sizes)
        return prod(max(it, 1) for it in extents) * element_bytes(self.decided, array.name)

    @property
    def _is_cached(self) -> bool:
        return self._bytes <= max((it.size for it in self.rates.caches), default=0)

    def _count(self, names: Iterable[LevelName]) -> int:
        return prod(max(self.decided.count(it) or 0, 1) for it in names)

    def _loops(self, task: Task) -> list[LevelName]:
        return self._divided[task][0]

    def _written(self, task: Task) -> list[LevelName]:
        return self._divided[task][1]

    @cached_property
    def _divided(self) -> Mapping[Task, tuple[list[LevelName], list[LevelName]]]:
        kinds = {task: [(it, self.decided.execution(it)) for it in path] for task, path in self._paths.items()}
        return {
            task: ([it for it, kind in its if kind is Execution.LOOP], [it for it, kind in its if kind in _WRITTEN])
            for task, its in kinds.items()
        }

    @cached_property
    def _paths(self) -> Mapping[Task, tuple[LevelName, ...]]:
        return {it: self.decided.path(it) for it in self.decided.tasks}

    # Operations

    def _operations(self, task: Task) -> float:
        """Operations of all invocations, at the least: each value once for each point of its dimensions."""
        decided, scope, total = self.decided, self.decided.scope, 0.0
        for name in (it for it in self._needed(task) if isinstance(scope.values[it], Compute)):
            points = prod(max(decided.size(it) or 0, 1) for it in scope.dimensions_of(name) & task.dimensions)
            total += points * (self.rates.of_fused - 1.0 if name in self._fused else 1.0)
        return total

    def _computed(self, task: Task) -> float:
        """Seconds of one unit for a vector of invocations."""
        turns = self._count(self._loops(task))
        rates, body = self.rates, self._bodies[task]
        operations = (body.operations + _TURN + _SPILL * self._spilled(task)) * rates.operation
        loads = body.loads * rates.load
        busy = max(operations, loads) + _OVERLAP * min(operations, loads)
        if not isinstance(task, Carry):
            return turns * busy
        chain = _LATENCY * body.chained / (self._chains(task) * self._gang(task)) * rates.operation
        joined = 0.0
        if self.decided.waits(task):
            outer = self._count(it for it in self._loops(task) if it.dimension not in task.on)
            joined = outer * self._parts(task) * self._joining(task)
        return turns * max(busy, chain) + joined + self._moved(task) * rates.load

    def _chains(self, task: Carry) -> int:
        """The chains of dependent operations in the innermost loop that carries: in loops inside of it, each iteration
        has one of its own.
        """
        loops = self._loops(task)
        inside = list(takewhile(lambda it: it.dimension not in task.on, reversed(loops)))
        return self._parts(task) * (self._count(inside) if len(inside) < len(loops) else 1)

    def _moved(self, task: Carry) -> int:
        """How often a vector of what is carried is loaded from an array or stored there: each variable once in every
        iteration of the loops inside of the outermost one that carries.
        """
        looped = self.decided.looped(task)
        if not looped:
            return 0
        loops = self._loops(task)
        turns = self._count(loops[: loops.index(looped[-1]) + 1])
        return 2 * turns * len(task.values) * self._parts(task)

    @cached_property
    def _bodies(self) -> Mapping[Task, _Body]:
        return {it: self._body_of(it) for it in self.decided.tasks}

    def _body_of(self, task: Task) -> _Body:
        """What a turn of the innermost loop computes and loads. Compilers compute outside of loops what does not depend
        on them.
        """
        scope = self.decided.scope
        operations, fused, loads, accesses = 0.0, 0.0, 0.0, 0
        for value in (scope.values[it] for it in self._needed(task)):
            if isinstance(value, Compute):
                points, hoisted = self._points(value.name, task), self._turns_without(task, self._of(value.name, task))
                operations += points * self._price(value) / hoisted
                fused += points * (value.name in self._fused) / hoisted
        for group in self._loads_beside(task):
            points, hoisted = self._elements(group, task), self._turns_without(task, self._of(group[0].name, task))
            operations += points * _CLAMPED * max(map(self._tested, group)) / hoisted
            accesses += points
            loads += points * max(map(self._loaded, group)) / hoisted
        if isinstance(task, Write):
            points = self._count(self._written(task))
            stored, each = self._stored(task.store)
            operations, loads, accesses = operations + points * stored, loads + points * each, accesses + points
            return _Body(operations, fused, loads, accesses, 0.0)
        written = self._count(it for it in self._written(task))
        return _Body(operations, fused, loads, accesses, float(written))

    def _loaded(self, load: Load) -> float:
        """The loads of a whole vector that one access stands for."""
        if self.rates.spreads and load.name in self._staged:
            width = self._copied_widths[load.name]
            return 1.0 if width == 1 else _OF_VECTOR / width
        return self.lanes.access(load.array, load.subscripts)

    def _price(self, value: Compute) -> float:
        """The operations that an operation on a vector stands for."""
        if value.name in self._fused:  # the other operation is its sum
            return self.rates.of_fused - 1.0
        return 1.0 if is_by_reciprocal(value, self.decided) else _EXPENSIVE.get(value.function, 1.0)

    @cached_property
    def _fused(self) -> frozenset[str]:
        """The products that are only added to something, or subtracted, in one operation."""
        values = self.decided.scope.values.values()
        others = {name for it in values if not _is_sum(it) for name in used_by(it)}
        sums = {name for it in values if _is_sum(it) for name in used_by(it)}
        products = {it.name for it in values if isinstance(it, Compute) and it.function == "*"}
        return frozenset(products & sums - others) if self.contract else frozenset()

    def _tested(self, load: Load) -> int:
        """How many subscripts of a load are clamped, or compared with the extent of the array: none of one from a copy,
        which has what is beyond, too.
        """
        if load.boundary is Boundary.INSIDE or load.name in self._staged:
            return 0
        peeled = self.decided.decisions.peeled
        tested = (it for at, it in enumerate(load.subscripts) if not self.decided.is_inside(load, at, {}))
        return sum(not any(term.name in peeled for term in it.terms) for it in tested)

    def _spilled(self, task: Task) -> int:
        """The registers of a vector of invocations that are moved to the stack and back."""
        if not isinstance(task, Carry):
            return 0
        kept = self._parts(task) * len(task.values) * self._gang(task)
        return max(0, kept + self._live(task) + self._has_temporaries(task) - self.rates.registers)

    def _has_temporaries(self, task: Carry) -> bool:
        """Whether something is computed that is neither carried on nor done together with a sum."""
        scope = self.decided.scope
        computed = {it for it in self._needed(task) if isinstance(scope.values[it], Compute)}
        return bool(computed - self._fused - set(roots_of(task)))

    def _live(self, task: Task) -> int:
        """The registers for what was loaded and is used again. The iterations of written-out levels are executed one
        after another: in all those of the outermost level that a load does not depend on, what it gives in the levels
        inside of that one is used.
        """
        scope, written, live = self.decided.scope, self._written(task), 0
        for name in self._needed(task):
            if isinstance(scope.values[name], Load):
                own = self._of(name, task)
                again = next((at for at, it in enumerate(written) if it.dimension not in own), len(written))
                live += self._count(it for it in written[again:] if it.dimension in own)
        return live

    def _gang(self, task: Task) -> int:
        """The vectors of invocations that go through the loops of a task together."""
        if self.rates.spreads or self.rates.is_software:
            return 1
        body = self._bodies[task]
        size = body.operations + body.fused + body.accesses
        most = _MOST_PARTS if size <= _SMALL_BODY else _SOME_PARTS if size <= 2 * _SMALL_BODY else 1
        return min(most, self.lanes.vectors)

    def _passes(self, task: Task) -> int:
        """How often the invocations of a workgroup go through all loops of a task, each time some of them: once where
        they run at the same time.
        """
        if self.rates.spreads:
            return 1
        return -(-self.lanes.vectors // self._gang(task))

    def _stored(self, store: Writing) -> tuple[float, float]:
        """Operations, and loads, that storing one vector takes."""
        if isinstance(store, Scatter):
            return self.rates.lanes * _SCATTERED, 0.0
        each = _ATOMIC if self.decided.atomic_store(store.array) else 0.0
        return each, self.lanes.access(store.array, store.subscripts)

    def _private(self, scatter: Scatter) -> float:
        """Seconds of one unit for a vector of invocations and a copy of an output: to fill it, and to join it in the
        end.
        """
        elements = -(-(known_length(scatter.array, self.decided) or 0) // max(self.lanes.invocations, 1))
        operations = elements * (_COPIED + self.rates.lanes * _SCATTERED)
        return 2 * self._barrier + operations * self.rates.operation

    @property
    def _barrier(self) -> float:
        """Seconds of one unit for a vector of invocations and a barrier."""
        return self.rates.barrier * self.rates.lanes / MEASURED_INVOCATIONS

    def _joining(self, task: Carry) -> float:
        """Seconds of one unit for a vector of invocations that join what they carry: a barrier for each halving, or
        shuffles in subgroups, and barriers only across these.
        """
        invocations = self.lanes.invocations
        if not self.decided.by_subgroups(task):
            return self._barrier * max(1, invocations.bit_length())
        lanes = min(invocations, self.rates.lanes)
        across = self._barrier * 2 if invocations > lanes else 0.0
        return _SHUFFLE * lanes.bit_length() * self.rates.operation + across

    def _copy(self, stage: Stage) -> float:
        """Seconds of one unit for a vector of invocations and a copy in workgroup memory, with its barriers."""
        turns, tile = self._copies(stage), tile_of(stage, self.decided)
        barriers = 1 if stage.buffering is Buffering.DOUBLE else 2
        elements = tile.elements / max(self.lanes.invocations, 1)
        if stage.buffering is Buffering.SLIDING:
            position, step = slide_of(tile, self.decided)
            elements *= step / tile.extents[position]
        each = 2 * self.rates.load if self.rates.is_software else _COPIED * self.rates.operation
        return turns * (elements * each + barriers * self._barrier)

    def _copies(self, stage: Stage) -> int:
        """How often a copy in workgroup memory is made."""
        if stage.at is None:
            return 1
        outer = self.decided.order[: self.decided.order.index(stage.at) + 1]
        return self._count(it for it in outer if self.decided.execution(it) is Execution.LOOP)

    def _turns_without(self, task: Task, dimensions: frozenset[str]) -> int:
        """The turns of innermost loops that a value does not depend on: compilers compute it outside of them."""
        loops = [*self._loops(task)]
        inner: list[LevelName] = []
        while loops and loops[-1].dimension not in dimensions:
            inner.append(loops.pop())
        return self._count(inner)

    def _parts(self, task: Carry) -> int:
        """The variables of each carried value."""
        kind = self.decided.execution
        return self._count(
            it
            for it in self._paths[task]
            if kind(it) in IN_PARTS or (kind(it) in _WRITTEN and it.dimension not in task.on)
        )

    def _points(self, name: str, task: Task) -> int:
        """How many of a value one turn computes."""
        dimensions = self._of(name, task)
        return self._count(it for it in self._written(task) if it.dimension in dimensions)

    def _loads_beside(self, task: Task) -> Iterable[Sequence[Load]]:
        """The loads of a task; those together that are a constant apart, as the neighbours of a point in a stencil."""
        groups: dict[Hashable, list[Load]] = {}
        for name in self._needed(task):
            value = as_load(name, self.decided.scope)
            if value is not None:
                terms = tuple(it.terms for it in value.subscripts)
                key = value.array, value.boundary, terms, self._of(name, task), name in self._staged
                groups.setdefault(key, []).append(value)
        return groups.values()

    def _elements(self, loads: Sequence[Load], task: Task) -> int:
        """How many elements one turn loads for each lane, of loads that are a constant apart: fewer than there are
        points where a window of a stencil moves on by less than its size.
        """
        first = loads[0]
        written = [it for it in self._written(task) if it.dimension in self._of(first.name, task)]
        if not first.subscripts:
            return self._count(written)
        if len(loads) == 1:
            return prod(self._distinct(it, written) for it in first.subscripts)
        *outer, inner = (self._offsets(it, written) for it in first.subscripts)
        rows: dict[tuple[int, ...], set[int]] = {}
        """The elements that are loaded, by all subscripts but the last."""
        for load in loads:
            *constants, last = (it.constant for it in load.subscripts)
            for at in product(*outer):
                rows.setdefault(tuple(map(add, at, constants)), set()).update(it + last for it in inner)
        return sum(map(len, rows.values()))

    def _offsets(self, subscript: Affine, written: Sequence[LevelName]) -> set[int]:
        """What iterations of some levels add to a subscript."""
        found = {0}
        for level in written:
            stride = self.decided.strides(level.dimension)[level]
            steps = [it.coefficient * stride for it in subscript.terms if it.name == level.dimension]
            if any(steps):
                found = {at + sum(steps) * turn for at in found for turn in range(self._count([level]))}
        return found

    def _distinct(self, subscript: Affine, written: Sequence[LevelName]) -> int:
        """How many values a subscript has in the iterations of some levels."""
        factors = {it.name: abs(it.coefficient) for it in subscript.terms}
        own = [it for it in written if factors.get(it.dimension)]
        reach = sum(
            factors[it.dimension] * self.decided.strides(it.dimension)[it] * (self._count([it]) - 1) for it in own
        )
        return min(self._count(own), 1 + reach)

    def _of(self, name: str, task: Task) -> frozenset[str]:
        """The dimensions of a value in a task; all of the task's for one that is computed again by way of a map."""
        dimensions = self.decided.scope.dimensions_of(name)
        return dimensions if dimensions <= task.dimensions else task.dimensions

    def _needed(self, task: Task) -> list[str]:
        """The values that a task computes."""
        return self._needed_by[task]

    @cached_property
    def _needed_by(self) -> Mapping[Task, list[str]]:
        return {it: needed(it, self.decided) for it in self.decided.tasks}


def _is_sum(value: Value) -> bool:
    return isinstance(value, Compute) and value.function in ("+", "-")


@dataclass(frozen=True, slots=True)
class _Body:
    """What a turn of the innermost loop has: operations on vectors, products that are done with their sums, loads of
    whole vectors that the accesses stand for, accesses, and operations that each wait for the one before.
    """

    operations: float
    fused: float
    loads: float
    accesses: int
    chained: float


def needed(task: Task, decided: Decided) -> list[str]:
    """The instructions whose values a task computes: all that it needs but what others carry or keep."""
    found: dict[str, None] = {}
    own = task.value if isinstance(task, Hold) else None
    pending = roots_of(task)
    while pending:
        name = pending.pop()
        value = decided.scope.values[name]
        if name in found or isinstance(value, (Fby, Last)) or (name in decided.kept and name != own):
            continue
        if not isinstance(value, Map):
            found[name] = None
        pending += used_by(value)
    return list(found)
