"""Tests of what is measured of a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import tinct
from tinct.tuning import bench
from tinct.tuning.bench import Bench, Job, undisturbed_time
from tinct.tuning.measured_rates import rates_of
from tinct.tuning.rates import ASSUMED, BARRIERS, MEASURED_INVOCATIONS

TURNS = 200
MODULE = (
    BARRIERS
    + """
override turns: u32 = 0;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
"""
)
VALUES = {"x": np.ones(1, np.float32), "y": np.zeros(MEASURED_INVOCATIONS, np.float32)}


def test_what_barriers_store_depends_on_all_turns() -> None:
    """Else compilers find that they need no turns, and barriers seem to take no time."""
    kernel = tinct.load(MODULE)["barriers"]
    found = kernel.run(VALUES, workgroups=2, constants={"turns": TURNS}, device="cpu")
    expected = np.roll(np.arange(MEASURED_INVOCATIONS, dtype=np.float32), -TURNS)
    np.testing.assert_array_equal(found["y"], expected)


@pytest.mark.parametrize("shortest", [0.0, 1.0])
def test_a_time_that_is_too_short_does_not_count(monkeypatch: pytest.MonkeyPatch, shortest: float) -> None:
    """Clocks of two processors may differ, by which one of many timings is too short."""
    times: Iterator[float] = iter([3.0, shortest, *([2.0] * 1000)])
    monkeypatch.setattr(Bench, "once", lambda *_: next(times))
    kernel = tinct.load(MODULE)["barriers"]
    job = Job.of(kernel, (1, 1, 1), {"turns": 1})
    assert undisturbed_time("cpu", job, VALUES) == 2.0


def test_a_long_job_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_LONGEST_ALONE", 0.0)
    monkeypatch.setattr(Bench, "once", lambda *_: 3.0)
    kernel = tinct.load(MODULE)["barriers"]
    job = Job.of(kernel, (1, 1, 1), {"turns": 1})
    assert undisturbed_time("cpu", job, VALUES) == 3.0


def test_a_product_and_a_sum_in_one_operation_stand_for_one_or_two() -> None:
    assert rates_of("cpu").fused > 0
    assert replace(ASSUMED, fused=ASSUMED.operations / 2).of_fused == 2
    assert replace(ASSUMED, fused=2 * ASSUMED.operations).of_fused == 1  # measured while the machine was fast
    assert ASSUMED.of_fused == 1  # where nothing is fused
