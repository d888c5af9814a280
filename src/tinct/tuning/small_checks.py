"""Points of a nest are compared with its definition at small sizes: in the interpreter of core IR where that is cheap,
else, at the largest of the sizes, on the CPU.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
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
    _right: set[Decisions] = field(default_factory=set[Decisions])
    """The points that are right, and their structures."""

    @cached_property
    def _trials(self) -> list[_Trial]:
        return [_Trial(TrialData(self.task.nest, it)) for it in small_sizes(self.task.nest)]

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
        legal = [it for it in self._trials if not illegal(self._decided(point, it))]
        if not legal:  # a level that is the whole of a small dimension may break a rule
            raise Rejected("failed", "it cannot be checked at small sizes")
        dear = [it for it in legal if _is_dear(self._decided(point, it))]
        for trial in legal:
            if trial not in dear:
                data = trial.data
                lowered = self.task.lowered(point, data.sizes)
                trial.compare(lowered.interpreted(data.inputs, data.sizes, timeout=_SMALL_SECONDS))
        for trial in dear[-1:]:
            data = trial.data
            lowered = self.task.lowered(point, data.sizes)
            trial.compare(lowered.run(data.inputs, sizes=data.sizes, device="cpu", timeout=self.patience))

    def _decided(self, point: Decisions, trial: _Trial) -> Decided:
        return Decided(self.task.nest, point, trial.data.sizes, self.task.reassociate)


@dataclass(eq=False)
class _Trial:
    """Small sizes with inputs, and what the definition gives for them."""

    data: TrialData

    def compare(self, results: Arrays) -> None:
        """Raises Rejected if results differ from the definition."""
        check_results(self.data, self._definition, results, self._allowance, "the definition")

    @cached_property
    def _definition(self) -> Arrays:
        return self._interpreted(self.data.nest)

    @cached_property
    def _allowance(self) -> Allowance:
        """What results may be apart: all that are compared here are of the CPU's functions."""
        return Allowance(self.data.nest, "cpu", self._interpreted)

    def _interpreted(self, nest: Nest) -> Arrays:
        """The outputs of a nest with these inputs by its definition. Raises DeviceError if that takes too long."""
        return interp.run(nest, self.data.inputs, self.data.sizes, timeout=_SMALL_SECONDS)


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
