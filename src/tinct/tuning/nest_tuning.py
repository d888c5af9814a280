"""The search for decisions of a nest: candidates are checked, measured on a device, and the best is kept on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Final, TypeAlias

from ..base.cached import cached_property
from ..base.errors import DeviceError, InputError
from ..ir.schedule.nodes import Decisions, Nest
from ..ir.schedule.text import parse_decisions, print_decisions, print_nest
from ..ir.tokens import TextError
from ..transforms.schedule.decided import Decided
from .allowance import Allowance
from .bench import Bench, Job
from .choices import Facts
from .cost import cost_of
from .decision_space import DecisionSpace
from .devices import check_device, gpu_kind, has_subgroups, identity, versions
from .kept import Record, keep_record, read_record
from .measured_rates import block_lanes, rates_of
from .nest_jobs import bench_of, job_of, results_in_order, shaped
from .nest_preparation import NestPreparation, NestRequest, PreparedNest
from .nest_task import Arrays, Task
from .point_processes import PointProcesses, number_of_processes
from .rates import Rates
from .rejected import Rejected, rejecting
from .search import Cost, Found, Progress, Search
from .small_checks import SmallChecks, check_results, structure
from .trial_data import TrialData

_ROUNDS: Final = 7
_MANY_ROUNDS: Final = 41
_COMPARING: Final = 2.0
"""How often the fastest points are measured by turns, and how often at most, if that takes no more than so many
seconds.
"""
_LONGEST: Final = 10.0
_SHORTEST: Final = 3.0
_POINTS: Final = 20
"""Seconds that compiling and a first run of a point may take, and the points of a search for which there is time at
least.
"""
_PATIENT: Final = 4
"""How many times as long compiling a point may take if no point that is expected to be fast was compiled in time."""

Processes: TypeAlias = PointProcesses[NestRequest, PreparedNest]


@dataclass(frozen=True, slots=True)
class Best:
    """The best decisions, with their time; `found` is None if they were kept from an earlier search."""

    decisions: Decisions
    milliseconds: float
    found: Found[Decisions] | None


def tune_nest(
    task: Task,
    *,
    seconds: float,
    seed: int = 0,
    renew: bool = False,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Best:
    """The fastest decisions that a search of so many seconds finds; kept ones, where as long a search found them.

    Raises InputError for what cannot be tuned, DeviceError if no decisions work, and KeyboardInterrupt if nothing was
    found by then.
    """
    check_device(task.device, contract=task.contract)
    if any(it == 0 for it in task.sizes.values()):
        raise InputError("a size is 0: there is nothing to tune")
    before = read_record(task.record)
    kept = None if before is None else _kept(before, task, seconds)
    if kept is not None and not renew:
        return kept
    problem = NestProblem(task, patience=patience_of(seconds))
    processes = problem.processes(number_of_processes(seconds))
    search = Search(
        problem.space(_decisions_of(before)),
        problem.measure,
        problem.compare,
        seconds=seconds,
        seed=seed,
        watch=watch,
        prepare=partial(problem.prepare, processes),
        together=processes.together,
        measure_patiently=problem.measure_patiently,
    )
    with processes, problem.bench:  # the processes start while inputs are made
        found = search.run()
    if found.best is None:
        why = next((it.why for it in found.attempts if it.why), "no decisions are legal")
        raise DeviceError(f"no decisions of {task.nest.name!r} work on {task.device}: {why}")
    best = Best(found.best, found.seconds * 1e3, found)
    keep_record(task.record, _record(task, best, seconds), partial(_is_better, best, before))
    return best


def patience_of(seconds: float) -> float:
    """How long compiling and running one point may take in a search of so many seconds: most take less than one."""
    return min(_LONGEST, max(_SHORTEST, seconds / _POINTS))


@dataclass
class NestProblem:
    """Checks and measures decisions of a nest."""

    task: Task
    patience: float = 10.0
    _jobs: dict[Decisions, Job] = field(default_factory=dict[Decisions, Job])
    _wgsl: dict[Decisions, str] = field(default_factory=dict[Decisions, str])
    """The points that other processes have prepared."""
    _rejected: dict[Decisions, Rejected] = field(default_factory=dict[Decisions, Rejected])
    """The points that could not be prepared."""

    @cached_property
    def checks(self) -> SmallChecks:
        """Comparisons with the definition at small sizes."""
        return SmallChecks(self.task, self.patience)

    @cached_property
    def facts(self) -> Facts:
        """What choices depend on."""
        device = self.task.device
        return Facts(
            self.task.nest,
            self.task.sizes,
            self.task.reassociate,
            has_subgroups(device),
            gpu_kind(device),
            block_lanes(device),
        )

    @cached_property
    def data(self) -> TrialData:
        """The inputs at the tuned sizes."""
        return TrialData(self.task.nest, self.task.sizes)

    @cached_property
    def bench(self) -> Bench:
        """The device with the inputs, and zeros for the outputs."""
        return bench_of(self.task, self.data.inputs, self.data.outputs, patience=self.patience)

    def space(self, kept: Sequence[Decisions]) -> DecisionSpace:
        """All legal decisions."""
        return DecisionSpace(self.facts, self._price, kept)

    @cached_property
    def _rates(self) -> Rates:
        return rates_of(self.task.device)

    def _price(self, decided: Decided) -> Cost:
        return cost_of(decided, self._rates, contract=self.task.contract)

    def processes(self, count: int) -> Processes:
        """So many processes, for `prepare`."""
        return PointProcesses(NestPreparation(self.task, self.patience), count, patience=self.patience)

    def prepare(self, processes: Processes, points: Sequence[Decisions]) -> dict[Decisions, float]:
        """Check points and compile them, several at a time. Of each structure, one point is checked. Returns for how
        many seconds each was compiled.
        """
        structures: dict[Decisions, Decisions] = {}
        for point in points:
            if not self.checks.is_structure_right(point):
                structures.setdefault(structure(point), point)
        checked = set(structures.values())
        requests = [NestRequest(it, must_check=it in checked) for it in points]
        found = processes.prepared(requests, meanwhile=lambda: self.reference)
        compiling: dict[Decisions, float] = {}
        for point, made in zip(points, found, strict=False):  # nothing, if there are no processes
            if isinstance(made, Rejected):
                self._rejected[point] = made
                continue
            if point in checked:
                self.checks.note_right(point)
            self._wgsl[point] = made.wgsl
            if made.compiling is not None:
                compiling[point] = made.compiling
        return compiling

    def measure(self, point: Decisions, best: float) -> float:
        """The seconds of a point whose results are right. Raises Rejected.

        At small sizes, one point of each structure is checked, and each one that is faster than all before.
        """
        with rejecting():
            if point in self._rejected:
                raise self._rejected[point]
            self.checks.check_structure(point)
            job = self.job(point)
            expected = self._price(self.facts.decided(point)).expected
            results = self.bench.results(job, list(self.data.outputs), best, expected)
            self._compare_with_reference(results)
            seconds = self.bench.seconds(job, best)
            if seconds < best:
                self.checks.check(point)
            return seconds

    def measure_patiently(self, point: Decisions, best: float) -> float:
        """The same for a point that could not be compiled in time: it has more of it."""
        self._rejected.pop(point, None)
        self.checks.patience = self.bench.patience = _PATIENT * self.patience
        try:
            return self.measure(point, best)
        finally:
            self.checks.patience = self.bench.patience = self.patience

    def compare(self, points: Sequence[Decisions]) -> Sequence[float]:
        """The seconds of points that were measured before, by turns; infinite for one that is wrong at small sizes."""
        right = [it for it in points if self._is_right(it)]
        jobs = [self.job(it) for it in right]
        begun = time.perf_counter()
        found = self.bench.by_turns(jobs, _ROUNDS)
        rounds = int(_COMPARING * _ROUNDS / (time.perf_counter() - begun))
        if rounds > _ROUNDS:
            found = self.bench.by_turns(jobs, min(rounds, _MANY_ROUNDS))
        times = dict(zip(right, found, strict=True))
        return [times.get(it, inf) for it in points]

    def _is_right(self, point: Decisions) -> bool:
        try:
            with rejecting():
                self.checks.check(point)
        except Rejected:
            return False
        return True

    def job(self, point: Decisions) -> Job:
        """The dispatches of a point."""
        if point not in self._jobs:
            lowered = self.task.lowered(point)
            if point in self._wgsl:
                lowered.adopt_wgsl(self._wgsl[point])
            self._jobs[point] = job_of(lowered, self.task.nest, self.task.sizes)
        return self._jobs[point]

    # Tuned sizes

    def _compare_with_reference(self, results: Arrays) -> None:
        if isinstance(self.reference, Rejected):
            raise self.reference
        found = shaped(results, self.data.outputs)
        check_results(self.data, self.reference, found, self._allowance, "the CPU")

    @cached_property
    def reference(self) -> Arrays | Rejected:
        """The outputs at the tuned sizes, on the CPU; why there are none if no decisions work."""
        try:
            return results_in_order(self.checks, self.data.inputs, self.data.outputs)
        except Rejected as error:
            return error

    @cached_property
    def _allowance(self) -> Allowance:
        return Allowance(self.task.nest, self.task.device, self._of_other)

    def _of_other(self, nest: Nest) -> Arrays:
        """The outputs of another nest with the same inputs. Raises Rejected."""
        checks = SmallChecks(replace(self.task, nest=nest), self.patience)
        return results_in_order(checks, self.data.inputs, TrialData(nest, self.task.sizes).outputs)


# Kept results


def _record(task: Task, best: Best, seconds: float) -> Record:
    assert best.found is not None
    return {
        "kind": "nest",
        "name": task.nest.name,
        "nest": print_nest(task.nest),
        "sizes": dict(task.sizes),
        "device": task.device,
        "identity": identity(task.device),
        "versions": versions(task.device),
        "reassociate": task.reassociate,
        "contract": task.contract,
        "decisions": print_decisions(best.decisions),
        "milliseconds": best.milliseconds,
        "seconds": 0.0 if best.found.is_interrupted else seconds,
        "attempts": dict(best.found.counts),
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _kept(record: Record, task: Task, seconds: float) -> Best | None:
    """A kept result, if it is of the same sizes and of as long a search, and still legal."""
    decisions = _decisions_of(record)
    if not decisions or record.get("sizes") != dict(task.sizes) or record.get("seconds", -inf) < seconds:
        return None
    try:
        task.lowered(decisions[0])
    except InputError:
        return None
    return Best(decisions[0], float(record["milliseconds"]), None)


def _decisions_of(record: Record | None) -> list[Decisions]:
    text = None if record is None else record.get("decisions")
    try:
        return [parse_decisions(text)] if isinstance(text, str) else []
    except TextError:
        return []


def _is_better(best: Best, before: Record | None, there: Record) -> bool:
    """Whether a result replaces the one that is there: that which the search began with, or a slower one."""
    return there == before or best.milliseconds < float(there.get("milliseconds", inf))
