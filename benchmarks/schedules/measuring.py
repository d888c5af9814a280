"""Times a nest beside NumPy, kernels by hand and what the machine does at most. Results are compared first.

Rounds are interleaved, and medians of them count. Where others use the machine, its pace changes from round to round:
each time is divided by the pace of its round. All times leave out what copies to and from a GPU take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from math import inf
from random import Random
from statistics import median
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from tinct.base.errors import TinctError
from tinct.buffers import buffer_elements
from tinct.ir.schedule.text import print_decisions
from tinct.nests import TunedNest
from tinct.nests.lowered import LoweredNest
from tinct.tuning.bench import Bench, paired_times
from tinct.tuning.nest_jobs import job_of
from tinct.tuning.rejected import Rejected, first_line
from tinct.tuning.trial_data import TrialData

from .gpu_copy import GpuCopy
from .hand_written import HandWritten, Prepared, hand_written
from .libraries import Library
from .limits import CpuLimits, Limits
from .problems import Problem, Scale

_ALLOWED = 1e-3
"""Results may differ from NumPy's by this share of the largest one: NumPy adds in another order, in blocks."""
_HOPELESS = 4.0
"""What takes this many times the best of its kind in the first round is not timed again."""
_LEAST = 1e-3
"""Seconds that a round of one way takes at least: shorter dispatches are repeated."""
_LONG = 0.5
"""Seconds from which on a way is timed at its first run."""

TUNED, BY_HAND, NUMPY, LIBRARY, SHADERS = "tuned", "by hand", "NumPy", "PyTorch", "shaders/"
Way = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Run:
    """How a nest is measured."""

    device: str
    rounds: int
    contract: bool
    scale: Scale


@dataclass(slots=True)
class Row:
    """A nest that was measured. Seconds are those of each way in a round like most of them, `shortest` those of its
    fastest round; `limits` are bytes and operations a second.
    """

    name: str
    device: str
    scale: Scale
    contract: bool
    sizes: dict[str, int]
    traffic: int
    operations: int
    decisions: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    shortest: dict[str, float] = field(default_factory=dict[str, float])
    limits: dict[str, float] = field(default_factory=dict[str, float])
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    compiling: list[float] = field(default_factory=list[float])
    """The seconds that compiling each candidate took."""
    notes: list[str] = field(default_factory=list[str])

    @property
    def title(self) -> str:
        return f"{self.name}, contracted" if self.contract else self.name

    @property
    def ours(self) -> float:
        """The seconds of the tuned nest, or of decisions by hand where it was not tuned."""
        return self.seconds.get(TUNED, self.seconds.get(BY_HAND, inf))

    @property
    def hand_written(self) -> float | None:
        """The seconds of the fastest kernel of `shaders/`."""
        return min((it for name, it in self.seconds.items() if name.startswith(SHADERS)), default=None)

    def share(self, limit: str) -> float | None:
        """The share of a limit that ours reaches."""
        rate = self.limits.get(limit)
        work = self.operations if limit in ("fma", "separate") else self.traffic
        return None if rate is None else work / self.ours / rate

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measured(problem: Problem, lowered: Mapping[str, LoweredNest], tuned: TunedNest | None, run: Run) -> Row:
    """All ways, in interleaved rounds. `lowered` has the tuned nest and that by hand, where there is one."""
    sizes = problem.sizes_for(run.scale)
    data = TrialData(problem.nest.ir, sizes)
    values = {name: buffer_elements(it) for name, it in {**data.inputs, **data.outputs}.items()}
    row = Row(
        problem.name,
        run.device,
        run.scale,
        run.contract,
        dict(sizes),
        sum(it.nbytes for it in values.values()),
        problem.operations(sizes),
        {way: print_decisions(it.decisions) for way, it in lowered.items()},
        attempts={} if tuned is None else _counts(tuned),
        compiling=[] if tuned is None else [it.compiling for it in tuned.attempts if it.compiling is not None],
    )
    limits, kernels = _limits(problem, run), list[Prepared]()
    fitting = list(_fitting(problem, data, run, row.notes))
    with Bench(run.device, values, contract=run.contract, form="plain", patience=60.0) as bench:
        try:
            ways = _ways(problem, data, lowered, bench, run, fitting, kernels)
            samples, rates = _rounds(ways, run, limits.measure)
        finally:
            limits.close()
            for it in kernels:
                it.close()
    usual = usual_times({**samples, **{name: [1 / it for it in its] for name, its in rates.items()}})
    row.seconds = {name: usual[name] for name in samples}
    row.shortest = {name: min(it) for name, it in samples.items()}
    row.limits = {name: 1 / usual[name] for name in rates}
    return row


def usual_times(samples: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """What each takes in a round like most of them (see `paired_times`), of times in rounds; the median of what was not
    timed in all rounds. Times are shares of their own median first: they differ by orders of magnitude.
    """
    own = {name: median(it) for name, it in samples.items()}
    rounds = max(map(len, samples.values()), default=0)
    whole = [name for name, it in samples.items() if len(it) == rounds]
    shares = paired_times([[it / own[name] for it in samples[name]] for name in whole])
    return own | {name: own[name] * share for name, share in zip(whole, shares, strict=True)}


def _fitting(problem: Problem, data: TrialData, run: Run, notes: list[str]) -> Iterator[HandWritten]:
    """The kernels by hand that run in time, with right results; `notes` says which do not. Each runs alone, since one
    that is stopped takes the buffers of all others on a GPU with it.
    """
    for kernel in hand_written(problem.name, data.sizes, data.inputs):
        try:
            with closing(Prepared(kernel, data.inputs, run.device, contract=run.contract)) as prepared:
                found = prepared.result()
        except TinctError as error:
            notes.append(f"{kernel.name} is left out: {first_line(error)}")
            continue
        expected = problem.numpy(*data.inputs.values()) if kernel.expected is None else kernel.expected
        _check(f"{problem.name}, {kernel.name}", expected, found)
        yield kernel


def _counts(tuned: TunedNest) -> dict[str, int]:
    statuses = ("measured", "pruned", "wrong", "failed")
    return {status: sum(it.status == status for it in tuned.attempts) for status in statuses}


def _limits(problem: Problem, run: Run) -> Limits:
    """What is measured of the device in each round, if anything is."""
    if run.device == "cpu":
        return CpuLimits(problem.limit) if CpuLimits.available() else Limits()
    return GpuCopy(run.device) if run.scale == "large" and problem.limit == "copy" else Limits()


def _ways(
    problem: Problem,
    data: TrialData,
    lowered: Mapping[str, LoweredNest],
    bench: Bench,
    run: Run,
    fitting: Sequence[HandWritten],
    kernels: list[Prepared],
) -> dict[str, Way]:
    """What is timed, by name; each has run once, and its result was right. What is prepared of
    kernels by hand goes to `kernels`."""
    inputs = data.inputs
    (output,) = data.outputs
    expected = problem.numpy(*inputs.values())
    ways: dict[str, Way] = {NUMPY: _timed(lambda: problem.numpy(*inputs.values()))}
    for name, it in lowered.items():
        job = job_of(it, problem.nest.ir, data.sizes)
        try:
            found = bench.results(job, [output], inf)[output]
        except Rejected as error:
            raise click.ClickException(f"{problem.name}, {name}: {error}") from None
        _check(f"{problem.name}, {name}", expected, found)
        ways[name] = partial(bench.once, job)
    if run.device != "cpu" and Library.has(problem.name):
        library = Library(problem.name, inputs)
        _check(f"{problem.name}, {LIBRARY}", expected, library.result())
        ways[LIBRARY] = library.seconds
    for kernel in fitting:
        kernels.append(Prepared(kernel, inputs, run.device, contract=run.contract))
        ways[SHADERS + kernel.name] = kernels[-1].seconds
    return ways


def _timed(call: Callable[[], object]) -> Way:
    def seconds() -> float:
        started = time.perf_counter()
        call()
        return time.perf_counter() - started

    return seconds


def _rounds(
    ways: Mapping[str, Way], run: Run, limits: Callable[[], Mapping[str, float]]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """The seconds of each way in each round, once only for a kernel by hand that is far from the best of them; and the
    rates of the device in each round.

    Ways are in another order in each round, since the second of two finds some of its data in the caches.
    """
    samples: dict[str, list[float]] = {name: [] for name in ways}
    rates: dict[str, list[float]] = {}
    for number in range(run.rounds):
        for name, rate in limits().items():
            rates.setdefault(name, []).append(rate)
        best = min((min(it) for name, it in samples.items() if it and name.startswith(SHADERS)), default=inf)
        for name, way in Random(number).sample(list(ways.items()), len(ways)):
            if not (name.startswith(SHADERS) and samples[name] and samples[name][0] > _HOPELESS * best):
                samples[name].append(_repeated(way))
    return samples, rates


def _repeated(way: Way) -> float:
    """The fastest of some times. The first one is not counted unless it is long: it wakes threads and fills caches."""
    first = way()
    if first >= _LONG:
        return first
    return min(way() for _ in range(1 + min(4, int(_LEAST / max(first, 1e-7)))))


def _check(name: str, expected: npt.NDArray[Any], actual: npt.NDArray[Any]) -> None:
    """Raises ClickException for elements that are too far apart."""
    found = actual.reshape(-1)[: expected.size].view(expected.dtype).reshape(expected.shape)
    most = float(np.abs(expected.astype(np.float64)).max(initial=1.0))
    difference = float(np.abs(expected.astype(np.float64) - found.astype(np.float64)).max(initial=0.0))
    if not difference <= _ALLOWED * most:
        raise click.ClickException(f"{name}: the results differ by {difference}")
