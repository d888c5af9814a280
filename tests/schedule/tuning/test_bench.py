"""Tests of the bench that times candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import median

import numpy as np
import pytest

import tinct
from tinct.kernel import Kernel
from tinct.sessions import Buffer, Session
from tinct.sessions.calls import Options
from tinct.sessions.launches import Launch
from tinct.tuning.bench import Bench, Job, paired_times

COUNTER = """
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] += 1u; }
"""
SIZE = 256


def job() -> Job:
    return Job.of(tinct.load(COUNTER)["main"], (SIZE // 64, 1, 1), {})


@dataclass
class Bound:
    """The kernels that a bench binds to buffers, and the last buffer that each is bound to."""

    kernels: list[Kernel] = field(default_factory=list[Kernel])
    buffers: dict[Kernel, Buffer] = field(default_factory=dict[Kernel, Buffer])

    def counts(self, counted: Job) -> set[int]:
        """How often each element was counted since the buffer was made."""
        return {int(it) for it in self.buffers[counted.dispatches[0].kernel].numpy()}


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Bound:
    found, prepared = Bound(), Session.prepared

    def noted(session: Session, kernel: Kernel, buffers: Mapping[str, Buffer], options: Options) -> Launch:
        found.kernels.append(kernel)
        found.buffers[kernel] = buffers["x"]
        return prepared(session, kernel, buffers, options)

    monkeypatch.setattr(Session, "prepared", noted)
    return found


@pytest.fixture
def values() -> dict[str, object]:
    return {"x": np.zeros(SIZE, np.uint32)}


def test_a_job_is_bound_once(bound: Bound, values: dict[str, object]) -> None:
    """Binding takes as long as a short dispatch, and would be counted as its time."""
    first, second = job(), job()
    with Bench("cpu", values) as bench:
        bench.results(first, ["x"], inf)
        bench.seconds(first, inf)
        bench.seconds(second, inf)
        assert min(bench.by_turns([first, second], 3)) > 0
    assert bound.kernels == [first.dispatches[0].kernel, second.dispatches[0].kernel]


def test_a_job_is_bound_to_new_buffers(bound: Bound, values: dict[str, object]) -> None:
    counted = job()
    with Bench("cpu", values) as bench:
        assert set(bench.results(counted, ["x"], inf)["x"]) == {1}
        bench.seconds(counted, inf)
        (times,) = bound.counts(counted)
        assert times > 1
        assert set(bench.results(counted, ["x"], inf)["x"]) == {1}


def test_each_timing_begins_with_restored_values(bound: Bound, values: dict[str, object]) -> None:
    counted = job()
    with Bench("cpu", values, restored=("x",)) as bench:
        bench.results(counted, ["x"], inf)
        bench.seconds(counted, inf)
        bench.by_turns([counted], 3)
        assert bound.counts(counted) == {1}


def test_few_jobs_stay_bound(bound: Bound, values: dict[str, object]) -> None:
    """A search measures thousands, whose machine code is not kept."""
    jobs = [job() for _ in range(40)]
    with Bench("cpu", values) as bench:
        bench.by_turns(jobs, 1)
        bench.by_turns(jobs[-32:], 1)
        before = len(bound.kernels)
        bench.by_turns(jobs[-32:], 1)
        assert len(bound.kernels) == before
        bench.by_turns(jobs[:1], 1)
        assert len(bound.kernels) == before + 1


@pytest.mark.parametrize(
    ("times", "best", "expected", "count"),
    [
        (
            [2e-3, 1.5e-3, 1.2e-3, 1e-3] + [1.1e-3] * 7,
            1e-3,
            1e-3,
            11,
        ),  # the first ones are slower, whatever they are of
        ([1.2e-4, 1.4e-5] + [1.1e-5] * 9, 2e-5, 1.1e-5, 11),
        ([4e-3, 3.5e-3], 1e-3, 3.5e-3, 2),
        ([80e-3], 20e-3, 80e-3, 1),
        ([40e-3, 32e-3], 20e-3, 32e-3, 2),  # where it takes long, slow points are left soon
        ([2e-3, 1.9e-3] + [1.8e-3] * 9, inf, 1.8e-3, 11),
    ],
)
def test_how_often_a_job_is_timed(
    monkeypatch: pytest.MonkeyPatch, times: list[float], best: float, expected: float, count: int
) -> None:
    left = list(times)
    monkeypatch.setattr(Bench, "_timed", lambda *_: left.pop(0))
    assert Bench("cpu", {}).seconds(job(), best) == expected
    assert len(times) - len(left) == count


def timed(monkeypatch: pytest.MonkeyPatch, times: Mapping[Job, float], slower: Sequence[float]) -> list[Job]:
    """Have jobs take so long; `slower` has what all times are multiplied by, timing after timing, and then for good.
    Returns the jobs in the order of their timings.
    """
    found: list[Job] = []

    def took(_: Bench, it: Job, repeats: int) -> float:
        found.append(it)
        return times[it] * slower[min(len(found), len(slower)) - 1]

    monkeypatch.setattr(Bench, "_timed", took)
    return found


@pytest.mark.parametrize("slower", [2.0, 0.5])
@pytest.mark.parametrize("seconds", [1e-3, 0.1])
def test_times_are_those_of_the_machine_as_it_was(
    monkeypatch: pytest.MonkeyPatch, seconds: float, slower: float
) -> None:
    """After some jobs that were measured while it is slower or faster."""
    first, second = job(), job()
    times = {first: seconds, second: 0.9 * seconds}
    timed(monkeypatch, times, [1.0] * 60 + [slower])
    bench = Bench("cpu", {})
    found = [bench.seconds(it, inf) for it in (first, *[second] * 12)]
    assert found[:2] == [times[first], times[second]]
    assert found[-1] == pytest.approx(times[second])


def test_a_single_slow_timing_says_nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = job(), job()
    times = {first: 1e-3, second: 2e-3}
    timed(monkeypatch, times, [*[1.0] * 20, *[3.0] * 10, 1.0])  # those of the first one, after the second
    bench = Bench("cpu", {})
    assert [bench.seconds(it, inf) for it in (first, second, second, second)] == [1e-3, 2e-3, 2e-3, 2e-3]


def test_a_job_that_is_far_faster_tells_the_pace_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast, last = job(), job(), job()
    found = timed(monkeypatch, {slow: 0.5, fast: 1e-3, last: 2e-3}, [1.0])
    bench = Bench("cpu", {})
    assert [bench.seconds(it, inf) for it in (slow, fast, last)] == [0.5, 1e-3, 2e-3]
    assert found[-1] is fast
    assert slow not in found[found.index(fast) :]


def test_jobs_by_turns_have_another_order_in_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job leaves in caches serves or hinders the next one, which shall not always be the same; and a job that
    does not take long runs once before it is timed, since then caches hold what it left itself.
    """
    jobs = [job() for _ in range(4)]
    found = timed(monkeypatch, dict(zip(jobs, (1e-3, 2e-3, 3e-3, 0.5), strict=True)), [1.0])
    assert Bench("cpu", {}).by_turns(jobs, 5) == pytest.approx([1e-3, 2e-3, 3e-3, 0.5])
    rounds = [tuple(found[begin : begin + 7]) for begin in range(7, len(found), 7)]
    assert len(rounds) == 5
    assert len(set(rounds)) > 1
    assert all(Counter(it) == Counter([*jobs, *jobs[:3]]) for it in rounds)


def test_rounds_in_which_the_machine_is_slow_do_not_decide_which_job_is_fast() -> None:
    paces = (1.0, 2.0, 1.0, 2.0, 1.5)
    times = [[seconds * pace for pace in paces] for seconds in (0.1, 0.11, 0.2)]
    times[0][4] *= 1.2  # a disturbed one, which is the median of the times
    first, second, third = paired_times(times)
    assert (second / first, third / second) == (pytest.approx(1.1), pytest.approx(2 / 1.1))
    assert second == pytest.approx(median(times[1]), rel=0.1)


def test_no_job_takes_no_time() -> None:
    assert paired_times([]) == Bench("cpu", {}).by_turns([], 3) == []


def test_a_clock_that_does_not_tick_disturbs_no_comparing() -> None:
    assert paired_times([[0.0, 1.0, 1.0], [0.0, 2.0, 2.0]]) == pytest.approx([1.0, 2.0])


@pytest.mark.parametrize(("seconds", "once", "by_turns"), [(0.01, 10, 1 + 7), (5.0, 2, 1 + 2), (60.0, 2, 1 + 1)])
def test_jobs_that_take_seconds_are_timed_few_times(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, object], seconds: float, once: int, by_turns: int
) -> None:
    counted = job()
    timed: list[Job] = []

    def took(_: Bench, it: Job, repeats: int) -> float:
        timed.append(it)
        return seconds

    monkeypatch.setattr(Bench, "_timed", took)
    with Bench("cpu", values) as bench:
        assert bench.seconds(counted, inf) == seconds
        assert len(timed) == once
        assert bench.by_turns([counted], 7) == [seconds]
    assert len(timed) == once + by_turns


def test_what_is_expected_to_take_long_has_more_time(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, object]
) -> None:
    limits: list[float] = []
    monkeypatch.setattr(Launch, "start", lambda _, limit: limits.append(limit))
    with Bench("cpu", values, patience=2.0) as bench:
        for expected in (0.0, 10.0):
            bench.results(job(), [], inf, expected)
        bench.results(job(), [], 0.1, 10.0)
    least, long, known = limits
    assert (least, long) == (2.0, 52.0)
    assert known < 10
