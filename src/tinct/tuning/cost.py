"""What a point of the space of schedules takes: a lower bound, which prunes, and an estimate, which ranks.

The bound counts bytes that must come from memory once, and operations at the device's peak, on as many units as there
are workgroups. The estimate adds what usually costs more: vectors that are not full, elements that lie apart, repeated
loads, spilled registers, chains of dependent operations, barriers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

from ..ir.schedule.extents import extents_of
from ..ir.schedule.nodes import (
    Affine,
    Array,
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
from ..ir.schedule.scope import Writing, used_by
from ..transforms.schedule.decided import IN_PARTS, WRITTEN_OUT, Decided, kind_of
from ..transforms.schedule.outputs import known_length
from ..transforms.schedule.stages import stages_of
from ..transforms.schedule.tasks import Carry, Hold, Task, Write, roots_of
from ..transforms.schedule.tiles import tile_of
from .rates import Rates
from .search import Cost

_WRITTEN: Final = (*WRITTEN_OUT, Execution.VECTOR)
"""Levels of which a turn of the loops around has all iterations."""
_LATENCY: Final = 4.0
"""Cycles until the result of an addition can be used."""
_SPILL: Final = 3.0
"""Operations that a spilled register costs in each iteration of the loop around it."""
_TURN: Final = 2.0
"""Operations of a turn of a loop beside its body."""
_WORKGROUP: Final = 40.0
_COPIED: Final = 3.0
_BARRIER: Final = 60.0
"""Operations of a vector that beginning a workgroup takes, copying an element to its memory, and a barrier."""
_SHUFFLE: Final = 2.0
"""Operations of a vector that joining what two invocations of a subgroup carry takes."""
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
_OVERLAP: Final = 0.3
"""The share of each of several costs that does not happen at the same time as the others."""
_LIKELY_CACHED: Final = 1 << 20
"""Bytes of all arrays that are probably in caches."""
_SAFETY: Final = 0.7
"""The bound is this share of what the model says, since rates are measured on a machine with other work."""
_TRUST: Final = 0.2
"""No point is taken to be faster than this share of its estimate."""
_CODE: Final = 0.02
"""What doubling the code costs, as a share: in the cache of instructions, and in compiling."""


def cost_of(decided: Decided, rates: Rates) -> Cost:
    """What a nest with legal decisions takes on a device, in one dispatch or several. All sizes are known."""
    models = [_Model(it, rates) for it in stages_of(decided).stages]
    least, expected = sum(it.least for it in models), sum(it.expected for it in models)
    return Cost(max(_SAFETY * least, _TRUST * expected), expected)


@dataclass
class _Model:
    decided: Decided
    rates: Rates

    @cached_property
    def least(self) -> float:
        """Seconds that nothing can save."""
        operations = sum(self._operations(it, is_least=True) for it in self.decided.tasks)
        return self.rates.launch / 2 + max(
            self._bytes / max(self.rates.memory, self.rates.cached if self._is_cached else 0.0),
            operations / (self.rates.operations * self._used),
        )

    @cached_property
    def expected(self) -> float:
        """Seconds that are likely."""
        rates = self.rates
        vector_rate = rates.operations / rates.units / rates.lanes
        """Operations on vectors a second of one unit."""
        vectors = -(-self._invocations * self._gang_workgroups // rates.lanes) * (
            self._workgroups / self._gang_workgroups
        )
        each = sum(self._expected_operations(it) for it in self.decided.tasks)
        each += sum(self._copy(it) for it in self.decided.decisions.stages)
        each += sum(map(self._private, self.decided.private))
        each += _WORKGROUP * rates.lanes / max(self._invocations, 1)
        rounds = -(-self._workgroups // self._gang_workgroups)
        busy = rounds / -(-rounds // rates.units)
        """Units that are busy, on the average."""
        compute = vectors * each / vector_rate / min(busy, rates.units)
        traffic = self._traffic / rates.cached
        memory = self._bytes / (rates.cached if self._is_cached else rates.memory)
        points = sum(self._count(self._levels(it, is_loop=False)) for it in self.decided.tasks)
        code = 1.0 + _CODE * points.bit_length()
        return rates.launch + code * (max(compute, memory, traffic) + _OVERLAP * (compute + memory + traffic))

    # Sizes

    @cached_property
    def _workgroups(self) -> int:
        return prod(self._grid.values())

    @cached_property
    def _grid(self) -> dict[int, int]:
        counts: dict[int, int] = {}
        for name, axis in self.decided.axes(Execution.WORKGROUP).items():
            counts[axis] = max(self.decided.count(name) or 0, 1)
        return counts

    @cached_property
    def _invocations(self) -> int:
        return prod(self.decided.workgroup_size())

    @cached_property
    def _gang_workgroups(self) -> int:
        """Workgroups that share a vector: workgroups of one invocation, on a CPU."""
        return min(self._grid.get(0, 1), self.rates.lanes) if self._invocations == 1 else 1

    @property
    def _used(self) -> float:
        return min(self._workgroups, self.rates.units) / self.rates.units

    @cached_property
    def _bytes(self) -> int:
        return sum(map(self._array_bytes, self.decided.nest.arrays))

    def _array_bytes(self, array: Array) -> int:
        return prod(max(it, 1) for it in extents_of(array, self.decided.sizes)) * (
            2 if array.type.value == "f16" else 4
        )

    @property
    def _is_cached(self) -> bool:
        return self._bytes <= _LIKELY_CACHED

    def _count(self, names: Iterable[LevelName]) -> int:
        return prod(max(self.decided.count(it) or 0, 1) for it in names)

    def _levels(self, task: Task, *, is_loop: bool) -> list[LevelName]:
        wanted = (Execution.LOOP,) if is_loop else _WRITTEN
        return [it for it in self.decided.path(task) if self.decided.execution(it) in wanted]

    # Operations

    def _operations(self, task: Task, *, is_least: bool) -> float:
        """Operations of all invocations, at the least: each value once for each point of its dimensions."""
        scope = self.decided.scope
        total = 0.0
        for name in self._needed(task):
            value = scope.values[name]
            if isinstance(value, Compute):
                points = prod(max(self._size(it), 1) for it in scope.dimensions_of(name) & task.dimensions)
                total += points * (1.0 if is_least else _EXPENSIVE.get(value.function, 1.0))
        return total

    def _size(self, dimension: str) -> int:
        return self.decided.size(dimension) or 0

    def _expected_operations(self, task: Task) -> float:
        """Operations on vectors of one invocation."""
        scope, decided = self.decided.scope, self.decided
        turns = self._count(self._levels(task, is_loop=True))
        body = 0.0
        loads = 0
        for name in self._needed(task):
            value = scope.values[name]
            if not isinstance(value, (Compute, Load)):
                continue
            points = self._points(name, task)
            if isinstance(value, Compute):
                body += points * _EXPENSIVE.get(value.function, 1.0)
            else:
                loads += points
                hoisted = self._turns_without(task, self._of(name, task))
                body += points * self._access(value.array, value.subscripts) / hoisted
        carried = self._count(it for it in self._levels(task, is_loop=False)) if isinstance(task, Carry) else 0
        registers = self._parts(task) * len(task.values) if isinstance(task, Carry) else 0
        spilled = max(0, registers + min(loads, 4) - self.rates.registers)
        body += _SPILL * spilled + _TURN
        if isinstance(task, Write):
            body += self._count(self._levels(task, is_loop=False)) * self._stored(task.store)
        chain = _LATENCY * 2 * carried / max(self._parts(task), 1) if isinstance(task, Carry) else 0.0
        barrier = 0.0
        if isinstance(task, Carry) and decided.waits(task):
            outer = self._count(it for it in self._levels(task, is_loop=True) if it.dimension not in task.on)
            barrier = outer * self._parts(task) * self._joining(task)
        return turns * max(body, chain) + barrier

    def _stored(self, store: Writing) -> float:
        """Operations on vectors that storing one vector takes."""
        if isinstance(store, Scatter):
            return self.rates.lanes * _SCATTERED
        each = _ATOMIC if self.decided.atomic_store(store.array) else 0.0
        return each + self._access(store.array, store.subscripts)

    def _private(self, scatter: Scatter) -> float:
        """Operations on vectors of one invocation for a copy of an output: to fill it, and to join it in the end."""
        elements = -(-(known_length(scatter.array, self.decided) or 0) // max(self._invocations, 1))
        return 2 * _BARRIER + elements * (_COPIED + self.rates.lanes * _SCATTERED)

    def _joining(self, task: Carry) -> float:
        """Operations on vectors that joining what the invocations of a workgroup carry takes: a barrier for each
        halving, or shuffles in subgroups, and barriers only across these.
        """
        if not self.decided.by_subgroups(task):
            return _BARRIER * max(1, self._invocations.bit_length())
        lanes = min(self._invocations, self.rates.lanes)
        subgroups = -(-self._invocations // lanes)
        return _SHUFFLE * lanes.bit_length() + (_BARRIER * 2 if subgroups > 1 else 0.0)

    def _copy(self, stage: Stage) -> float:
        """Operations on vectors of one invocation for a copy in workgroup memory, with its barriers."""
        turns = 1
        if stage.at is not None:
            outer = self.decided.order[: self.decided.order.index(stage.at) + 1]
            turns = self._count(it for it in outer if self.decided.execution(it) is Execution.LOOP)
        barriers = 1 if stage.buffering is Buffering.DOUBLE else 2
        elements = tile_of(stage, self.decided).elements / max(self._invocations, 1)
        return turns * (_COPIED * elements + barriers * _BARRIER)

    def _turns_without(self, task: Task, dimensions: frozenset[str]) -> int:
        """The turns of innermost loops that a value does not depend on: compilers compute it outside of them."""
        loops = self._levels(task, is_loop=True)
        inner: list[LevelName] = []
        while loops and loops[-1].dimension not in dimensions:
            inner.append(loops.pop())
        return self._count(inner)

    def _parts(self, task: Carry) -> int:
        """The variables of each carried value."""
        kind = self.decided.execution
        return self._count(
            it
            for it in self.decided.path(task)
            if kind(it) in IN_PARTS or (kind(it) in _WRITTEN and it.dimension not in task.on)
        )

    def _points(self, name: str, task: Task) -> int:
        """How many of a value one turn computes."""
        dimensions = self._of(name, task)
        return self._count(it for it in self._levels(task, is_loop=False) if it.dimension in dimensions)

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

    # Memory

    def _access(self, array: str, subscripts: Iterable[Affine]) -> float:
        """Operations on vectors that accessing one vector takes."""
        lane = self._lane
        if lane is None:
            return 1.0
        lanes = min(self.rates.lanes, self._invocations * self._gang_workgroups)
        step = abs(self._step(array, subscripts, lane))
        run = min(lanes, self.decided.count(lane) or 1)
        runs = -(-lanes // run) if step <= 1 else lanes
        if runs == 1:
            return 0.5 if step == 0 else 1.0
        gather = self.rates.gather * self.rates.operations / self.rates.units / self.rates.lanes
        return 1.0 + min(2.0 * runs, max(gather, lanes / 2))

    def _step(self, array: str, subscripts: Iterable[Affine], lane: LevelName) -> int:
        """How many elements apart neighbouring lanes are."""
        given = list(subscripts)
        extents = extents_of(self.decided.scope.arrays[array], self.decided.sizes)
        stride, found = prod(max(it, 1) for it in extents[len(given) :]), 0
        for subscript, extent in zip(reversed(given), reversed(extents[: len(given)]), strict=True):
            own = sum(it.coefficient for it in subscript.terms if it.name == lane.dimension)
            found += own * self._inner(lane) * stride
            stride *= max(extent, 1)
        return found

    def _inner(self, name: LevelName) -> int:
        return prod(it.factor or 1 for it in self.decided.levels[name.dimension][name.level + 1 :])

    @cached_property
    def _lane(self) -> LevelName | None:
        """The level whose iterations are neighbouring lanes."""
        kind = Execution.WORKGROUP if self._invocations == 1 else Execution.INVOCATION
        axes = {it: axis for it, axis in self.decided.axes(kind).items() if (self.decided.count(it) or 0) > 1}
        return min(axes, key=axes.__getitem__) if axes else None

    @cached_property
    def _traffic(self) -> float:
        """Bytes that all workgroups load, each element once a workgroup."""
        total = 0.0
        for task in self.decided.tasks:
            for name in self._needed(task):
                value = self.decided.scope.values[name]
                if isinstance(value, Load):
                    total += self._workgroups * self._footprint(value)
        return total

    def _footprint(self, load: Load) -> float:
        dimensions = {term.name for it in load.subscripts for term in it.terms} & self.decided.scope.dimensions.keys()
        count = 1.0
        for name in dimensions:
            levels = self.decided.levels[name]
            spread = [it for it in range(len(levels)) if kind_of(levels[it].execution) is Execution.WORKGROUP]
            covered = max(self._size(name), 1)
            for level in spread:
                covered = -(-covered // max(self.decided.count(LevelName(name, level)) or 1, 1))
            count *= covered
        return count * (2 if load.type.value == "f16" else 4)


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
