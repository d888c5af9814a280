"""What another process does for a point of a nest before it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.cached import cached_property
from ..ir.schedule.nodes import Decisions
from .nest_task import Task
from .point_processes import compile_into_cache
from .small_checks import SmallChecks


@dataclass(frozen=True, slots=True)
class NestRequest:
    """A point. `must_check`: no point of its structure has been compared at small sizes yet."""

    point: Decisions
    must_check: bool


@dataclass(frozen=True, slots=True)
class PreparedNest:
    """The WGSL of a point, and how many seconds compiling it for the CPU took; None if nothing was compiled."""

    wgsl: str
    compiling: float | None


@dataclass
class NestPreparation:
    """Checks and compiles points of a task. Compiling one may take `patience` seconds."""

    task: Task
    patience: float

    @cached_property
    def _checks(self) -> SmallChecks:
        return SmallChecks(self.task, self.patience)

    def __call__(self, request: NestRequest) -> PreparedNest:
        """Prepare a point; if it is for the CPU, machine code is then in the cache on disk.

        Raises Rejected, and what else compiling raises.
        """
        if request.must_check:
            self._checks.check(request.point)
        lowered, compiling = self.task.lowered(request.point), None
        if self.task.device == "cpu":
            kernels = (kernel for kernel, _ in lowered.dispatches(self.task.sizes))
            compiling = compile_into_cache(kernels, {}, contract=self.task.contract, patience=self.patience)
        return PreparedNest(lowered.wgsl, compiling)
