"""The search for decisions of a nest: candidates are checked, measured on a device, and the best is kept on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, prod
from random import Random
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ..base.cached import cached_property
from ..base.errors import DeviceError, InputError, TinctError
from ..buffers import buffer_elements
from ..compare import Tolerance, compare
from ..ir.schedule import interp
from ..ir.schedule.nodes import Decisions, Execution, Level, Nest
from ..ir.schedule.text import parse_decisions, print_decisions, print_nest
from ..ir.tokens import TextError
from ..kernel import Kernel
from ..transforms.schedule.decided import AT_ONCE, Decided
from ..transforms.schedule.legality import illegal
from ..transforms.schedule.stages import stages_of
from .bench import Bench, Dispatched, Job
from .choices import Facts
from .cost import cost_of
from .decision_space import DecisionSpace
from .devices import checked_device, has_subgroups, identity, is_hardware, versions
from .kept import Record, keep_record, read_record, record_name
from .measured_rates import rates_of
from .rejected import Rejected, first_line, rejecting
from .search import Found, Progress, Search
from .trial_data import TrialData, small_sizes

_ROUNDS: Final = 7
_MANY_ROUNDS: Final = 41
_COMPARING: Final = 1.0
"""How often the fastest points are measured by turns: often where that takes at most so many seconds."""
_LONGEST: Final = 10.0
_SHORTEST: Final = 2.0
_POINTS: Final = 20
"""Seconds that compiling and a first run of a point may take, and the points of a search for which there is time at
least.
"""
_REFERENCES: Final = 40
"""Random points of which the one that is probably the fastest computes what all others are compared with."""
_SMALL_SECONDS: Final = 10.0
"""Seconds that an interpreter may take for a check at small sizes."""
_MOST_WORK: Final = 5000
"""Iterations that an interpreter is given in such a check; it takes some ten microseconds for each."""

Arrays = Mapping[str, npt.NDArray[Any]]


class Lowered(Protocol):
    """A nest with decisions, as `nests.LoweredNest` is."""

    def dispatches(self, sizes: Mapping[str, int]) -> tuple[tuple[Kernel, tuple[int, int, int]], ...]:
        """The kernel and the numbers of workgroups of each dispatch."""
        ...

    def buffers(self, sizes: Mapping[str, int]) -> Arrays:
        """What outputs, and parts that go from one dispatch to the next, have before the dispatches."""
        ...

    def firsts(self) -> Mapping[str, float]:
        """What the elements of outputs are before the dispatches, where that is not 0."""
        ...

    def bits(self) -> frozenset[str]:
        """The outputs of f32 that are bound as their bits."""
        ...

    def interpreted(
        self, inputs: Arrays, sizes: Mapping[str, int], *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, of core IR in its interpreter."""
        ...

    def run(
        self,
        arrays: Arrays,
        *,
        sizes: Mapping[str, int] | None = None,
        device: str = "cpu",
        timeout: float | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name."""
        ...


Lower = Callable[[Decisions, Mapping[str, int]], Lowered]
"""Lowers the nest with legal decisions for some sizes only. Raises InputError for illegal ones."""


@dataclass(frozen=True)
class Task:
    """What is to be tuned: a nest at sizes, for a device. `lower` is the nest's."""

    nest: Nest
    sizes: Mapping[str, int]
    lower: Lower
    device: str = "cpu"
    reassociate: bool = False
    contract: bool = False

    @cached_property
    def record(self) -> str:
        """The name of what is kept for it: by nest, class of sizes, device and versions."""
        options = f"reassociate={self.reassociate} contract={self.contract}"
        device = identity(self.device), versions(self.device)
        return record_name("nest", print_nest(self.nest), size_class(self.sizes), options, self.device, *device)


@dataclass(frozen=True, slots=True)
class Best:
    """The best decisions, with their time; `found` is None if they were kept from an earlier search."""

    decisions: Decisions
    milliseconds: float
    found: Found[Decisions] | None


def size_class(sizes: Mapping[str, int]) -> str:
    """Sizes that are tuned alike: equal powers of two below, and equal divisibility by up to 16."""
    return ", ".join(f"{name}: {it.bit_length()}, {min(it & -it, 16)}" for name, it in sizes.items())


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
    checked_device(task.device)
    if any(it == 0 for it in task.sizes.values()):
        raise InputError("a size is 0: there is nothing to tune")
    before = read_record(task.record)
    kept = None if before is None else _kept(before, task, seconds)
    if kept is not None and not renew:
        return kept
    problem = NestProblem(task, patience=patience_of(seconds))
    with problem.bench:
        found = Search(
            problem.space(_decisions_of(before)),
            problem.measure,
            problem.compare,
            seconds=seconds,
            seed=seed,
            watch=watch,
        ).run()
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
    _expected_small: dict[int, Arrays] = field(default_factory=dict[int, Arrays])
    _jobs: dict[Decisions, Job] = field(default_factory=dict[Decisions, Job])
    _right: set[Decisions] = field(default_factory=set[Decisions])
    """The points that are right at small sizes, and their structures."""

    @cached_property
    def facts(self) -> Facts:
        """What choices depend on."""
        device = self.task.device
        subgroups, hardware = has_subgroups(device), is_hardware(device)
        return Facts(self.task.nest, self.task.sizes, self.task.reassociate, subgroups, is_hardware=hardware)

    @cached_property
    def data(self) -> TrialData:
        """The inputs at the tuned sizes."""
        return TrialData(self.task.nest, self.task.sizes)

    @cached_property
    def bench(self) -> Bench:
        """The device with the inputs, and zeros for the outputs."""
        values = {name: buffer_elements(it) for name, it in {**self.data.inputs, **self.data.outputs}.items()}
        return Bench(self.task.device, values, contract=self.task.contract, patience=self.patience, form="plain")

    def space(self, kept: Sequence[Decisions]) -> DecisionSpace:
        """All legal decisions."""
        rates = rates_of(self.task.device)
        contract = self.task.contract
        return DecisionSpace(self.facts, lambda it: cost_of(it, rates, contract=contract), kept)

    def measure(self, point: Decisions, best: float) -> float:
        """The seconds of a point whose results are right. Raises Rejected.

        At small sizes, one point of each structure is checked, and each one that is faster than all before.
        """
        with rejecting():
            self._check_structure(point)
            job = self.job(point)
            results = self.bench.results(job, list(self.data.outputs), best)
            self._compare_with_reference(results)
            seconds = self.bench.seconds(job, best)
            if seconds < best:
                self.check_small(point)
            return seconds

    def compare(self, points: Sequence[Decisions]) -> Sequence[float]:
        """The seconds of points that were measured before, by turns; infinite for one that is wrong at small sizes."""
        right = [it for it in points if self._is_right(it)]
        jobs = [self.job(it) for it in right]
        found = self.bench.by_turns(jobs, _ROUNDS)
        if _MANY_ROUNDS * sum(found) < _COMPARING:
            found = self.bench.by_turns(jobs, _MANY_ROUNDS)
        times = dict(zip(right, found, strict=True))
        return [times.get(it, inf) for it in points]

    def _is_right(self, point: Decisions) -> bool:
        try:
            with rejecting():
                self.check_small(point)
        except Rejected:
            return False
        return True

    def job(self, point: Decisions) -> Job:
        """The dispatches of a point."""
        if point not in self._jobs:
            self._jobs[point] = job_of(self.task.lower(point, self.task.sizes), self.task.nest, self.task.sizes)
        return self._jobs[point]

    # Small sizes

    @cached_property
    def _small(self) -> list[TrialData]:
        return [TrialData(self.task.nest, it) for it in small_sizes(self.task.nest)]

    def check_small(self, point: Decisions) -> None:
        """Compare a point with the definition, at small sizes: in the interpreter of core IR where that is cheap, else,
        at the largest of the sizes, on the CPU. Raises Rejected.
        """
        if point not in self._right:
            self._check_small(point)
            self._right |= {point, structure(point)}

    def _check_structure(self, point: Decisions) -> None:
        if structure(point) not in self._right:
            self.check_small(point)

    def _check_small(self, point: Decisions) -> None:
        legal = [it for it in self._small if not illegal(self._decided(point, it))]
        if not legal:  # a level that is the whole of a small dimension may break a rule
            raise Rejected("failed", "it cannot be checked at small sizes")
        dear = [it for it in legal if _work(self._decided(point, it)) > _MOST_WORK]
        for data in legal:
            if data not in dear:
                lowered = self.task.lower(point, data.sizes)
                self._check(data, lowered.interpreted(data.inputs, data.sizes, timeout=_SMALL_SECONDS))
        for data in dear[-1:]:
            lowered = self.task.lower(point, data.sizes)
            self._check(data, lowered.run(data.inputs, sizes=data.sizes, device="cpu", timeout=self.patience))

    def _decided(self, point: Decisions, data: TrialData) -> Decided:
        return Decided(self.task.nest, point, data.sizes, self.task.reassociate)

    def _check(self, data: TrialData, results: Arrays) -> None:
        _compared(data, self._definition(data), results, "the definition")

    def _definition(self, data: TrialData) -> Arrays:
        number = self._small.index(data)
        if number not in self._expected_small:
            self._expected_small[number] = interp.run(self.task.nest, data.inputs, data.sizes, timeout=_SMALL_SECONDS)
        return self._expected_small[number]

    # Tuned sizes

    def _compare_with_reference(self, results: Arrays) -> None:
        shaped = {
            name: results[name][: it.size].view(it.dtype).reshape(it.shape) for name, it in self.data.outputs.items()
        }
        _compared(self.data, self.reference, shaped, "the CPU")

    @cached_property
    def reference(self) -> Arrays:
        """The outputs at the tuned sizes, by decisions that keep the order of all operations, on the CPU.

        Raises DeviceError if none of them work.
        """
        facts = Facts(self.task.nest, self.task.sizes, reassociate=False)
        rates = rates_of("cpu")
        space = DecisionSpace(facts, lambda it: cost_of(it, rates))
        random = Random(0)
        points = [*space.starts(), *(space.sample(random) for _ in range(_REFERENCES))]
        ranked = sorted({it for it in points if it is not None}, key=lambda it: (space.cost(it).expected, str(it)))
        why = ""
        for point in ranked:
            try:
                self.check_small(point)
                lowered = self.task.lower(point, self.task.sizes)
                return lowered.run(self.data.inputs, sizes=self.task.sizes, device="cpu", timeout=6 * self.patience)
            except (TinctError, Rejected) as error:
                why = first_line(error)
        raise DeviceError(f"nothing computes {self.task.nest.name!r} on the CPU to compare with: {why}")


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


def job_of(lowered: Lowered, nest: Nest, sizes: Mapping[str, int]) -> Job:
    """The dispatches of a nest that was lowered for some sizes. Buffers of its own are the parts of partial levels, and
    the outputs that begin with something else than 0, or are bound as bits.
    """
    dispatches = tuple(Dispatched(kernel, workgroups, {}) for kernel, workgroups in lowered.dispatches(sizes))
    shared = {it.name for it in nest.arrays} - set(lowered.firsts()) - lowered.bits()
    own = {name: it for name, it in lowered.buffers(sizes).items() if name not in shared}
    return Job(dispatches, {name: buffer_elements(it) for name, it in own.items()})


def _work(decided: Decided) -> int:
    """Iterations of all loops and written-out levels of all dispatches, roughly."""
    return sum(map(_work_of_stage, stages_of(decided).stages))


def _work_of_stage(decided: Decided) -> int:
    spread = prod(max(decided.count(it) or 1, 1) for it in decided.order if decided.kind(it) in AT_ONCE)
    return spread * sum(prod(max(decided.count(it) or 1, 1) for it in decided.path(task)) for task in decided.tasks)


def _compared(data: TrialData, expected: Arrays, actual: Arrays, what: str) -> None:
    """Raises Rejected if outputs differ."""
    for name, array in expected.items():
        tolerance = data.tolerance(name)
        if _are_near(array, actual[name], tolerance):
            continue
        comparison = compare(array, actual[name], tolerance)
        if not comparison.agrees:
            sizes = ", ".join(f"{it} = {size}" for it, size in data.sizes.items())
            raise Rejected("wrong", f"{name} differs from {what} at {sizes}: {comparison}")


def _are_near(expected: npt.NDArray[Any], actual: npt.NDArray[Any], tolerance: Tolerance) -> bool:
    """Whether all elements are equal, or nearer than the absolute bound: a quick test, which most points pass."""
    if np.array_equal(expected, actual):
        return True
    with np.errstate(all="ignore"):
        return not tolerance.is_exact and bool(np.max(np.abs(expected - actual), initial=0.0) <= tolerance.absolute)


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
        task.lower(decisions[0], task.sizes)
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
