"""Times dispatches on buffers that stay on their device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from random import Random
from statistics import median
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy.typing as npt

from ..backend.cpu.aligned import begins_with_line
from ..base.errors import DeviceError, TinctError
from ..devices import adapter_named
from ..ir.samplers import Sampler
from ..kernel import Kernel
from ..reflection import BindingInfo
from ..sessions import Buffer, Session
from ..sessions.calls import Constants, Options
from ..sessions.gpu_replay import GpuReplay, replay_of
from ..sessions.launches import Launch
from .pace import Pace
from .rejected import failed

T = TypeVar("T")
_Key: TypeAlias = tuple[str, str, int]
"""The name of a buffer; its type and size if it is one of some jobs only."""

PATIENCE: Final = 10.0
"""Seconds that compiling and a first run may take: what takes longer counts as hanging."""
_SLOWER: Final = 20.0
"""A first run may take this many times the best time, beside `_GRACE`."""
_GRACE: Final = 1.0
_LATER: Final = 5.0
"""As long as there is no best time, it may take this many times what is expected."""
_LONGEST_TIMING: Final = 3.0
_LONGEST_BY_TURNS: Final = 10.0
"""Seconds that timing a job again and again may take, and timing several by turns: each is timed once in any case."""
_LEAST: Final = 2e-3
"""Seconds that one timing takes at least on the CPU: shorter dispatches are repeated. Where arrays are about as large
as a cache, times are steady only after some dispatches of the same kernel.
"""
_LEAST_ONCE: Final = 3e-4
"""The same where a single dispatch is timed, to be compared with other programs."""
_GPU_LEAST: Final = 4e-3
"""Seconds of a timing on a GPU, which begins slowly."""
_TURNS: Final = 2000
_LEAST_OF_TURNS: Final = 5e-4
"""The turns of a kernel's loop at first, and the seconds that all of them take at least."""
_MOST_REPEATS: Final = 64
_MOST_ON_GPU: Final = 1000
_RUNS: Final = 8
_MOST_PREPARED: Final = 32
"""The number of jobs whose launches are kept."""
_MOST_ALONE: Final = 40
_LONGEST_ALONE: Final = 0.25
"""Timings of a job that is measured alone, and the seconds after which there is no other."""
_UNCOUNTED: Final = 8
"""Of so many of them, the shortest one does not count."""
_SLOW: Final = 1.5
_HOPELESS: Final = 3.0
"""A point that takes this many times the best is timed once more only, or not at all."""
_TICK: Final = 1e-9
"""Seconds. A clock that did not tick says nothing of shares."""
_CHEAP: Final = 0.01
"""Seconds. A shorter run is timed as often even if it is slow: after other work on the machine, the first one takes up
to 2.3 times as long as later ones, and the second up to 1.5 times (softmax, 1 ms, on an Intel Xeon with 2 cores), or 10
and 2 times (matrix by vector, 12 µs, on a Zen 5 with 2 cores).
"""
_AGAIN: Final = 3
_LONGEST_AGAIN: Final = 0.1
"""Timings of the job that tells the pace of the machine, beside the first one, and the seconds that they may take."""


def undisturbed_time(device: str, job: Job, values: Mapping[str, npt.NDArray[Any]], *, contract: bool = False) -> float:
    """The seconds of a job on buffers of its own, which it may write: one of the shortest times of some, as the others
    were disturbed. The shortest ones of many do not count: where the clocks of two processors differ, what begins on
    one and ends on the other may seem to take no time. Raises Rejected.
    """
    with Bench(device, values, contract=contract, form="plain") as bench:
        bench.results(job, [], inf)
        until, times = time.monotonic() + _LONGEST_ALONE, list[float]()
        while len(times) < _MOST_ALONE and (not times or time.monotonic() <= until):
            times.append(bench.once(job))
        return sorted(times)[len(times) // _UNCOUNTED]


def paired_times(times: Sequence[Sequence[float]]) -> list[float]:
    """One time for each job, of those that it took in rounds of all jobs: the median of what it took as a share of the
    median of the round, in a round like most of them.

    A machine changes from one round to another, and medians of the times themselves tell which jobs were lucky: of
    twelve kernels that copy 16 MB, as fast as each other, they differed by 1.12 where those of shares did by 1.03 (Zen
    5, whose third cache and memory others use).
    """
    if not times:
        return []
    rounds = [max(median(taken), _TICK) for taken in zip(*times, strict=True)]
    usual = median(rounds)
    return [usual * median(it / middle for it, middle in zip(taken, rounds, strict=True)) for taken in times]


def seconds_of_turn(seconds: Callable[[int], float], launch: float) -> float:
    """The seconds of a turn of a kernel's loop. `seconds` gives those of so many turns, without those of an empty
    dispatch, `launch`; there are as many turns as are measured well.
    """
    turns = _TURNS
    while True:
        taken = seconds(turns)
        if taken > max(_LEAST_OF_TURNS, 4 * launch):
            return taken / turns
        turns *= 4


def repeats_on_gpu(seconds: float) -> int:
    """How often what takes so long is repeated in a timing on a GPU."""
    return _repeats(seconds, _GPU_LEAST, _MOST_ON_GPU)


def _repeats(seconds: float, least: float, most: int) -> int:
    return max(1, min(most, round(least / max(seconds, 1e-7))))


@dataclass(frozen=True)
class Dispatched:
    """A kernel with all that a dispatch takes, but for the buffers."""

    kernel: Kernel
    workgroups: tuple[int, int, int] | None
    constants: Constants
    threads: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Zeros:
    """A buffer of so many zeros, of which none is copied to its device."""

    dtype: npt.DTypeLike
    count: int


@dataclass(frozen=True, slots=True)
class Lent:
    """A buffer that kernels only read. The CPU reads the array itself, if that begins with a line of the cache."""

    array: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Job:
    """Dispatches that are timed together, one after the other. `own` has what buffers have in the beginning that are
    not those of all jobs: parts that one dispatch stores for the next, or outputs that do not begin with the values of
    the bench. Jobs share them where names, types and sizes are equal. A job is equal to itself only.
    """

    dispatches: tuple[Dispatched, ...]
    own: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict[str, "npt.NDArray[Any]"])

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        workgroups: tuple[int, int, int] | None,
        constants: Constants,
        threads: tuple[int, int, int] | None = None,
    ) -> Job:
        """A single dispatch, on the buffers of the bench."""
        return cls((Dispatched(kernel, workgroups, constants, threads),))

    def key(self, name: str) -> _Key:
        """What identifies a buffer of the job."""
        own = self.own.get(name)
        return (name, "", 0) if own is None else (name, own.dtype.str, own.size)


@dataclass
class Bench:
    """Buffers on a device. `values` are the bindings of all kernels, by name; `restored` those that each timing needs
    as they were. Compiling and a first run may take `patience` seconds. Values are packed for the first kernel that is
    run. Plain ones are arrays with the bytes that all kernels take, `Lent` ones or copied, or `Zeros`.

    After a failure of a device, the buffers are made again.
    """

    device: str
    values: Mapping[str, Any]
    contract: bool = False
    restored: Sequence[str] = ()
    patience: float = PATIENCE
    form: Literal["as bound", "plain"] = "as bound"
    _longest: float = PATIENCE
    """Seconds after which a run counts as hanging: those that some first run had at most."""
    _session: Session | None = None
    _buffers: dict[_Key, Buffer | Sampler] = field(default_factory=dict[_Key, "Buffer | Sampler"])
    _prepared: dict[Job, list[Launch]] = field(default_factory=dict[Job, "list[Launch]"])
    """The launches of the jobs that were run last: binding a kernel takes as long as a short dispatch."""
    _replays: dict[Job, GpuReplay | None] = field(default_factory=dict[Job, "GpuReplay | None"])
    """The same launches, prepared to be replayed on a GPU; None where that cannot be."""
    _reference: Job | None = None
    """A job that is timed again after others, to tell the pace of the machine: the first one, until another one is far
    faster.
    """
    _pace: Pace = field(default_factory=Pace)

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the buffers."""
        session, self._session = self._session, None
        self._buffers.clear()
        self._forget_prepared()
        if session is not None:
            with suppress(TinctError):  # a device that failed has nothing to give back
                session.close()

    def results(
        self, job: Job, names: Sequence[str], best: float, expected: float = 0.0
    ) -> dict[str, npt.NDArray[Any]]:
        """What a first run writes. Raises Rejected for a job that fails, or takes far longer than the best time, or, if
        there is none, than expected.
        """
        slow = _LATER * expected if best == inf else _GRACE + _SLOWER * best
        limit = self.patience + slow
        self._longest = max(self._longest, limit)

        def run() -> dict[str, npt.NDArray[Any]]:
            self._restore(job, list(dict.fromkeys((*names, *job.own))))
            launches = self._launches(job)
            self._upload(it for it in self._buffers.values() if isinstance(it, Buffer))
            for launch in launches:
                launch.start(limit)
            return {it: self._buffer(job, it).numpy() for it in names}

        return self._guarded(run)

    def seconds(self, job: Job, best: float) -> float:
        """The time of a job, the shortest of several. It has run before. Raises Rejected.

        If a job that was timed before takes another time by now, the machine has changed. What is returned is what the
        job would have taken then.
        """

        def run() -> float:
            best_now = best * self._pace.factor
            found = self._shortest(job, best_now)
            if self._reference is None or found * _HOPELESS < self._pace.last:
                self._reference, self._pace = job, Pace()
                self._pace.note(found)
            elif found <= _HOPELESS * best_now:
                self._pace.note(self._again(self._reference))
            return found / self._pace.factor

        return self._guarded(run)

    def _again(self, job: Job) -> float:
        """The time of a job that was timed before, the shortest of few timings."""
        first = self._first_timing(job)
        repeats = self._repeats(first)
        runs = min(_AGAIN, int(_LONGEST_AGAIN / (first * repeats)))
        return min([first, *(self._timed(job, repeats) for _ in range(runs))])

    def _shortest(self, job: Job, best: float) -> float:
        """The shortest of several timings; of few, for a job that takes much longer than the best."""
        first = self._first_timing(job)
        if first > _HOPELESS * best:
            return first
        first = min(first, self._timed(job, 1))
        if first > max(_SLOW * best, _CHEAP):
            return first
        repeats = self._repeats(first)
        runs = min(_RUNS, int(_LONGEST_TIMING / (first * repeats)))
        return min([first, *(self._timed(job, repeats) for _ in range(runs))])

    def _first_timing(self, job: Job) -> float:
        """The time of a job after other work: of a cheap one the shorter of two, as the first one says little."""
        first = self._timed(job, 1)
        return first if first >= _CHEAP else min(first, self._timed(job, self._repeats(first)))

    def once(self, job: Job) -> float:
        """The time of a single run; the mean of some, if they are very short."""
        return self._timed(job, self._repeats(self._timed(job, 1), _LEAST_ONCE))

    def by_turns(self, jobs: Sequence[Job], rounds: int) -> list[float]:
        """The times of several jobs, in rounds of all of them: see `paired_times`. There are fewer rounds of jobs
        that take seconds.

        The order of the jobs is another one in each round, and what caches have of the job before is not timed: a job
        runs several times, and the first time is not counted unless it is long.
        """
        first = [self._first_timing(it) for it in jobs]
        repeats = [self._repeats(it) for it in first]
        whole = sum(seconds * count for seconds, count in zip(first, repeats, strict=True))
        times: list[list[float]] = [[] for _ in jobs]
        random = Random(0)
        for _ in range(max(1, min(rounds, int(_LONGEST_BY_TURNS / max(whole, 1e-9))))):
            for number in random.sample(range(len(jobs)), len(jobs)):
                if first[number] < _CHEAP and not self.restored:
                    self._timed(jobs[number], 1)
                times[number].append(self._timed(jobs[number], repeats[number]))
        return paired_times(times)

    # One run

    def _repeats(self, seconds: float, least: float = _LEAST) -> int:
        """How often a job that takes so long is repeated in a timing, which takes at least so long on the CPU."""
        if self.restored:
            return 1
        return _repeats(seconds, least, _MOST_REPEATS) if self.device == "cpu" else repeats_on_gpu(seconds)

    def _timed(self, job: Job, repeats: int) -> float:
        """The seconds of a run, the mean of some: on a GPU those on its own clock, where that is possible."""
        if self.restored:
            self._restore(job, self.restored)
        session, launches = self._opened(), self._launches(job)
        if self.device != "cpu":
            replay = self._replay(job, launches)
            if replay is not None:
                return replay.seconds(repeats, timeout=self._longest) / repeats
        started = time.perf_counter()
        for _ in range(repeats):
            for launch in launches:
                launch.again()
        session.wait(self._longest)
        return (time.perf_counter() - started) / repeats

    def _replay(self, job: Job, launches: Sequence[Launch]) -> GpuReplay | None:
        if job not in self._replays:
            self._replays[job] = replay_of(self._opened().gpu(self.device), "a timing", launches)
        replay = self._replays[job]
        return replay if replay is not None and replay.prepare() else None

    def _launches(self, job: Job) -> list[Launch]:
        launches = self._prepared.pop(job, None) or [self._launch(it, job) for it in job.dispatches]
        self._prepared[job] = launches
        if len(self._prepared) > _MOST_PREPARED:
            oldest = next(iter(self._prepared))
            del self._prepared[oldest]
            self._replays.pop(oldest, None)
        return launches

    def _launch(self, it: Dispatched, job: Job) -> Launch:
        options = Options(it.workgroups, it.threads, it.constants, self.device, contract=self.contract, is_trial=False)
        return self._opened().prepared(it.kernel, self._bound(it.kernel, job), options)

    def _restore(self, job: Job, names: Sequence[str]) -> None:
        """Give buffers what they had in the beginning, on the device."""
        session = self._opened()
        self._forget_prepared()
        for name in names:
            old = self._buffers.pop(job.key(name), None)
            kernel = next(it.kernel for it in job.dispatches if name in {info.name for info in it.kernel.bindings})
            made = self._bound(kernel, job)[name]
            assert isinstance(made, Buffer)
            if isinstance(old, Buffer):
                old.release()
            self._upload([made])
        session.wait(PATIENCE)

    def _upload(self, buffers: Iterable[Buffer]) -> None:
        """Have buffers on the GPU, if the device is one: no time limit of a run counts what that takes."""
        if adapter_named(self.device) is None:
            return
        side = self._opened().gpu(self.device)
        for it in buffers:
            it.memory.need(side.place_of(it.memory, via_hercules=False), "a timing begins")
        with side.watched():
            side.queue().wait()

    def _forget_prepared(self) -> None:
        self._prepared.clear()
        self._replays.clear()

    def _bound(self, kernel: Kernel, job: Job) -> dict[str, Any]:
        for info in kernel.bindings:
            if job.key(info.name) not in self._buffers:
                self._buffers[job.key(info.name)] = self._made(info, job)
        return {it.name: self._buffers[job.key(it.name)] for it in kernel.bindings}

    def _made(self, info: BindingInfo, job: Job) -> Buffer | Sampler:
        value = job.own[info.name] if info.name in job.own else self.values[info.name]
        if isinstance(value, Sampler):
            return value
        session = self._opened()
        if self.form == "as bound":
            return session.buffer(value, info)
        match value:
            case Zeros():
                return session.empty(value.dtype, value.count)
            case Lent():
                is_aligned = begins_with_line(value.array)
                return session.adopt(value.array) if is_aligned else session.buffer(value.array)
            case _:
                return session.buffer(value)

    def _buffer(self, job: Job, name: str) -> Buffer:
        found = self._buffers[job.key(name)]
        assert isinstance(found, Buffer)
        return found

    def _opened(self) -> Session:
        if self._session is None:
            self._session = Session(self.device)
        return self._session

    def _guarded(self, run: Callable[[], T]) -> T:
        """What a function returns; a failure costs the point that it is of, and the buffers."""
        try:
            return run()
        except DeviceError as error:
            self.close()
            raise failed(error) from None
        except (TinctError, MemoryError) as error:
            raise failed(error) from None
