"""The search for values of a kernel's overrides, on the inputs of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..arguments import search_time_of
from ..base.cached import cached_property
from ..base.errors import DeviceError, InputError
from ..cases import Case, Input, load_cases
from ..cases.model import Constant
from ..compare import EXACT, Tolerance, compare
from ..ir.hints import unknown_name
from ..ir.types import Sampler as SamplerType
from ..ir.types import Texture
from ..kernel import Kernel
from ..shader import load
from .bench import PATIENCE, Bench, Job
from .devices import check_device
from .overrides import OverrideSpace, Point
from .point_processes import PointProcesses, compile_into_cache, number_of_processes
from .rejected import Rejected, rejecting
from .search import Found, Progress, Search

_ROUNDS: Final = 7


@dataclass(frozen=True)
class KernelTask:
    """What is to be tuned: the overrides of a kernel that has a case file, on a case, for a device.

    Without a name, the case is the one with the most invocations. Raises InputError and ShaderError.
    """

    path: Path
    values: Mapping[str, Sequence[Constant]]
    constraints: Sequence[str] = ()
    case_name: str | None = None
    device: str = "cpu"
    contract: bool = False
    patience: float = PATIENCE
    """Seconds that compiling and a first run may take."""

    def case(self, constants: Mapping[str, Constant] | None = None) -> Case:
        """The case, with other constants. Raises CaseError."""
        cases = load_cases(self.path, constants or {})[0].cases
        if self.case_name is None:
            return max(cases, key=_extent)
        found = next((it for it in cases if it.name == self.case_name), None)
        if found is None:
            names = [it.name for it in cases]
            raise InputError(unknown_name(f"there is no case {self.case_name!r}", self.case_name, names))
        return found

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel."""
        case = self.case()
        if case.is_of_function:
            raise InputError(f"{case.kernel_path} holds Hercules IR, which has no overrides")
        return load(case.kernel_path).kernel(case.entry)

    def space(self) -> OverrideSpace:
        """All combinations of values. Raises InputError and ShaderError."""
        return OverrideSpace(self.values, self.constraints, self.kernel.shader.overrides, self.case().constants)


def _extent(case: Case) -> int:
    x, y, z = case.threads or case.workgroups or (0, 0, 0)
    return x * y * z


def tune_kernel(
    task: KernelTask, *, seconds: float, seed: int = 0, watch: Callable[[Progress], None] = lambda _: None
) -> Found[Point]:
    """The search for the fastest values whose results are right. Point () stands for the constants of the case.

    Raises InputError, ShaderError, DeviceError if no values work, and KeyboardInterrupt if nothing was found by then.
    """
    check_device(task.device, contract=task.contract)
    limit = search_time_of(seconds)
    space = task.space()
    problem = KernelProblem(task)
    processes = problem.processes(number_of_processes(limit))
    search = Search(
        space,
        problem.measure,
        problem.compare,
        seconds=limit,
        seed=seed,
        watch=watch,
        base=(),
        prepare=partial(problem.prepare, processes),
        together=processes.together,
    )
    with processes:  # they start while inputs are made
        problem.read()
        with problem.bench:
            found = search.run()
    if found.best is None:
        why = next((it.why for it in found.attempts if it.why), "no values satisfy the constraints")
        raise DeviceError(f"no values of overrides work on {task.device}: {why}")
    return found


@dataclass
class KernelProblem:
    """Checks and measures values of overrides."""

    task: KernelTask
    _expected: dict[str, npt.NDArray[Any]] | None = None
    _jobs: dict[Point, Job] = field(default_factory=dict[Point, Job])
    _rejected: dict[Point, Rejected] = field(default_factory=dict[Point, Rejected])
    """The points that could not be compiled."""

    @cached_property
    def _arrays(self) -> dict[str, Input]:
        return self.task.case().inputs_of(self.task.kernel.bindings)

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        case = self.task.case()
        values: dict[str, Any] = {**self._arrays, **case.samplers}
        missing = [it.name for it in self.task.kernel.bindings if it.name not in values]
        if missing:
            raise InputError(f"{case.file}: case '{case.name}': there is nothing for the binding '{missing[0]}'")
        return values

    @cached_property
    def known(self) -> dict[str, npt.NDArray[Any]]:
        """The outputs that the numpy reference gives. Raises CaseError."""
        return self.task.case().expected(self._arrays) or {}

    @cached_property
    def bench(self) -> Bench:
        """The device with the inputs of the case. What is read and written is as it was before each timing."""
        values = self._inputs
        written = [it.name for it in self.task.kernel.bindings if it.is_written]
        restored = [it for it in written if _has_content(self._arrays[it])]
        return Bench(
            self.task.device, values, contract=self.task.contract, restored=restored, patience=self.task.patience
        )

    @cached_property
    def _outputs(self) -> dict[str, Tolerance]:
        """The outputs that are compared: those of the case, or else all that the kernel writes, exactly."""
        written = [it.name for it in self.task.kernel.bindings if it.is_written]
        given = {name: it for name, it in self.task.case().outputs.items() if name in written}
        return given or dict.fromkeys(written, EXACT)

    def read(self) -> None:
        """Make the inputs and what is known of the outputs. Raises CaseError: a fault of the case, not of a point."""
        assert self.known is not None

    def processes(self, count: int) -> PointProcesses[Point, float | None]:
        """So many processes, for `prepare`; none where machine code is not made for points alone: for a GPU, and for
        kernels with textures and samplers, which are compiled for those that are bound.
        """
        has_handles = any(isinstance(it.type, (Texture, SamplerType)) for it in self.task.kernel.bindings)
        is_of_use = self.task.device == "cpu" and not has_handles
        compile_point = partial(_compile, self.task)
        return PointProcesses(compile_point, count if is_of_use else 0, patience=self.task.patience)

    def prepare(self, processes: PointProcesses[Point, float | None], points: Sequence[Point]) -> dict[Point, float]:
        """Compile the kernel with these values, several at a time. Returns for how many seconds each was compiled."""
        compiling: dict[Point, float] = {}
        for point, made in zip(points, processes.prepared(points), strict=False):  # nothing, if there are none
            if isinstance(made, Rejected):
                self._rejected[point] = made
            elif made is not None:
                compiling[point] = made
        return compiling

    def measure(self, point: Point, best: float) -> float:
        """The seconds of values with which the results are right. Raises Rejected."""
        with rejecting():
            if point in self._rejected:
                raise self._rejected[point]
            job = self._job(point)
            results = self.bench.results(job, list(self._outputs), best)
            self._check(results)
            return self.bench.seconds(job, best)

    def compare(self, points: Sequence[Point]) -> Sequence[float]:
        """The seconds of points that were measured before, by turns."""
        return self.bench.by_turns([self._job(it) for it in points], _ROUNDS)

    def _job(self, point: Point) -> Job:
        if point not in self._jobs:
            case = self.task.case(dict(point))
            self._jobs[point] = Job.of(self.task.kernel, case.workgroups, case.constants, case.threads)
        return self._jobs[point]

    def _check(self, results: Mapping[str, npt.NDArray[Any]]) -> None:
        """Compare with the numpy reference, and what that does not have with the constants of the case; if those do not
        work, with the first values that do. Raises Rejected.
        """
        if self._expected is None:
            self._expected = {**results, **self.known}
        for name, tolerance in self._outputs.items():
            try:
                comparison = compare(self._expected[name], results[name], tolerance)
            except ValueError as error:
                raise Rejected("wrong", f"{name}: {error}") from None
            if not comparison.agrees:
                raise Rejected("wrong", f"{name} differs: {comparison}")


def _compile(task: KernelTask, point: Point) -> float | None:
    """Have the machine code with these values in the cache on disk. Returns the seconds that compiling took, None if it
    was there, and raises what compiling raises.
    """
    constants = task.case(dict(point)).constants
    return compile_into_cache([task.kernel], constants, contract=task.contract, patience=task.patience)


def _has_content(value: Input) -> bool:
    arrays = value if isinstance(value, list) else [value]
    return any(np.ascontiguousarray(it).reshape(-1).view(np.uint8).any() for it in arrays)
