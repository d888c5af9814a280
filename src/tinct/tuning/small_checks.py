"""Points of a nest are compared with its definition at small sizes: in the interpreter of core IR where that is cheap,
else, at the largest of the sizes, on the CPU.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..base.cached import cached_property
from ..compare import Tolerance, compare
from ..ir.schedule import interp
from ..ir.schedule.nodes import Decisions, Execution, Level, Nest
from ..transforms.schedule.decided import AT_ONCE, WRITTEN_OUT, Decided
from ..transforms.schedule.legality import illegal
from ..transforms.schedule.stages import stages_of
from .allowance import Allowance
from .nest_task import Arrays, Task
from .rejected import Rejected
from .trial_data import TrialData, small_sizes

_SMALL_SECONDS: Final = 10.0
"""Seconds that an interpreter may take for a check."""
_MOST_WORK: Final = 15_000
_WORK_OF_CODE: Final = 600
"""Iterations that an interpreter is given for each dispatch of a check, and for each that is written out there: for as
many it takes about as long as compiling does, 5 to 10 µs for each.
"""


@dataclass
class SmallChecks:
    """The checks of a task. On the CPU, compiling and running may take `patience` seconds."""

    task: Task
    patience: float
    _expected: dict[int, Arrays] = field(default_factory=dict[int, Arrays])
    _allowances: dict[int, Allowance] = field(default_factory=dict[int, Allowance])
    _right: set[Decisions] = field(default_factory=set[Decisions])
    """The points that are right, and their structures."""

    @cached_property
    def _data(self) -> list[TrialData]:
        return [TrialData(self.task.nest, it) for it in small_sizes(self.task.nest)]

    def is_structure_right(self, point: Decisions) -> bool:
        """Whether a point of its structure is known to be right."""
        return structure(point) in self._right

    def note_right(self, point: Decisions) -> None:
        """Another process has compared the point."""
        self._right |= {point, structure(point)}

    def check_structure(self, point: Decisions) -> None:
        """Compare a point, unless one of its structure is right. Raises Rejected."""
        if not self.is_structure_right(point):
            self.check(point)

    def check(self, point: Decisions) -> None:
        """Compare a point, unless it is known to be right. Raises Rejected."""
        if point not in self._right:
            self._check(point)
            self.note_right(point)

    def _check(self, point: Decisions) -> None:
        legal = [it for it in self._data if not illegal(self._decided(point, it))]
        if not legal:  # a level that is the whole of a small dimension may break a rule
            raise Rejected("failed", "it cannot be checked at small sizes")
        dear = [it for it in legal if _is_dear(self._decided(point, it))]
        for data in legal:
            if data not in dear:
                lowered = self.task.lowered(point, data.sizes)
                self._compare(data, lowered.interpreted(data.inputs, data.sizes, timeout=_SMALL_SECONDS))
        for data in dear[-1:]:
            lowered = self.task.lowered(point, data.sizes)
            self._compare(data, lowered.run(data.inputs, sizes=data.sizes, device="cpu", timeout=self.patience))

    def _decided(self, point: Decisions, data: TrialData) -> Decided:
        return Decided(self.task.nest, point, data.sizes, self.task.reassociate)

    def _compare(self, data: TrialData, results: Arrays) -> None:
        check_results(data, self._definition(data), results, self._allowance(data), "the definition")

    def _definition(self, data: TrialData) -> Arrays:
        number = self._data.index(data)
        if number not in self._expected:
            self._expected[number] = _interpreted(data, self.task.nest)
        return self._expected[number]

    def _allowance(self, data: TrialData) -> Allowance:
        """What results may be apart: all that are compared here are of the CPU's functions."""
        number = self._data.index(data)
        if number not in self._allowances:
            self._allowances[number] = Allowance(self.task.nest, "cpu", partial(_interpreted, data))
        return self._allowances[number]


def _interpreted(data: TrialData, nest: Nest) -> Arrays:
    """The outputs of a nest with these inputs by its definition. Raises DeviceError if that takes too long."""
    return interp.run(nest, data.inputs, data.sizes, timeout=_SMALL_SECONDS)


def structure(point: Decisions) -> Decisions:
    """The point with 2 for all factors that are powers of two, and 3 for others: these are lowered in the same way."""
    return replace(
        point,
        dimensions=tuple(
            replace(it, levels=tuple(replace(level, factor=_of_structure(level)) for level in it.levels))
            for it in point.dimensions
        ),
    )


def _of_structure(level: Level) -> int | None:
    factor = level.factor
    if factor is None or level.execution is Execution.VECTOR:
        return factor
    return 3 if factor & (factor - 1) else 2


def _is_dear(decided: Decided) -> bool:
    """Whether the dispatches take longer in an interpreter than to be compiled."""
    stages = stages_of(decided).stages
    written = sum(_iterations(it, (*WRITTEN_OUT, Execution.VECTOR)) for it in stages)
    return sum(map(_work_of_stage, stages)) > _MOST_WORK * len(stages) + _WORK_OF_CODE * written


def _work_of_stage(decided: Decided) -> int:
    """Iterations of all loops and written-out levels, roughly."""
    spread = prod(max(decided.count(it) or 1, 1) for it in decided.order if decided.kind(it) in AT_ONCE)
    return spread * _iterations(decided, tuple(Execution))


def _iterations(decided: Decided, kinds: Container[Execution]) -> int:
    """Those of the levels of some kinds around each task, of all tasks together."""
    paths = ([it for it in decided.path(task) if decided.execution(it) in kinds] for task in decided.tasks)
    return sum(prod(max(decided.count(it) or 1, 1) for it in path) for path in paths)


def check_results(data: TrialData, expected: Arrays, actual: Arrays, allowance: Allowance, what: str) -> None:
    """Raises Rejected if outputs differ by more than their tolerances, and where anything is rounded, than that and
    what is allowed.
    """
    for name, array in expected.items():
        tolerance = data.tolerance(name)
        if _are_near(array, actual[name], tolerance):
            continue
        comparison = compare(array, actual[name], tolerance)
        if not comparison.agrees and not data.is_exact:
            allowed = allowance.of(name)
            if allowed is not None:
                comparison = compare(array, actual[name], tolerance, {(): allowed})
        if not comparison.agrees:
            sizes = ", ".join(f"{it} = {size}" for it, size in data.sizes.items())
            raise Rejected("wrong", f"{name} differs from {what} at {sizes}: {comparison}")


def _are_near(expected: npt.NDArray[Any], actual: npt.NDArray[Any], tolerance: Tolerance) -> bool:
    """Whether all elements are equal, or nearer than the absolute bound: a quick test, which most points pass."""
    if np.array_equal(expected, actual):
        return True
    with np.errstate(all="ignore"):
        return not tolerance.is_exact and bool(np.max(np.abs(expected - actual), initial=0.0) <= tolerance.absolute)
