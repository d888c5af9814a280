"""The tolerance for devices that round the weights of linear filters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct import blending
from tinct.backend.gpu import GpuDevice
from tinct.blending import blending_error, ramp_error, tolerance_on
from tinct.compare import Tolerance
from tinct.testing import assert_agrees

Doubles = npt.NDArray[np.float64]
Rounding = Callable[[Doubles], Doubles]

EXACT = np.linspace(0, 1, (1 << 16) + 1)
STEP = 2.0**-8


def floor(weights: Doubles) -> Doubles:
    return np.floor(weights / STEP) * STEP


def nearest(weights: Doubles) -> Doubles:
    return np.round(weights / STEP) * STEP


@pytest.mark.parametrize("rounding", [floor, nearest])
def test_the_bound_holds_for_bilinear_samples_and_is_not_twice_what_it_must_be(rounding: Rounding) -> None:
    error = ramp_error(rounding(EXACT).astype(np.float32))
    assert error == STEP
    random = np.random.default_rng(3)
    weights, texels = random.random((2, 100_000)), random.integers(0, 2, (4, 100_000)).astype(float)

    def sampled(x: Doubles, y: Doubles) -> Doubles:
        one, two, three, four = texels
        return (1 - y) * ((1 - x) * one + x * two) + y * ((1 - x) * three + x * four)

    worst = np.abs(sampled(*weights) - sampled(*rounding(weights))).max()
    assert worst <= 2 * error
    assert worst > (2 if rounding is floor else 1) * error / 2


def test_results_that_are_rounded_count_as_they_err() -> None:
    """In f16 there are more results than 2^12, which are up to 2^-12 off."""
    assert ramp_error(EXACT.astype(np.float16).astype(np.float32)) == 2.0**-12
    assert ramp_error(EXACT.astype(np.float32)) == 2.0**-16


def test_a_device_with_a_coarse_filter_agrees_by_blends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blending, "_measured", lambda adapter: STEP)
    bound = Tolerance(absolute=1e-6, blends=2)
    assert tolerance_on(bound, "cpu") == tolerance_on(bound, "gpu via hercules") == Tolerance(absolute=1e-6)
    assert tolerance_on(bound, "gpu", "cpu") == Tolerance(absolute=1e-6 + 2 * STEP)
    assert tolerance_on(bound, "gpu:vulkan", "gpu") == Tolerance(absolute=1e-6 + 4 * STEP)
    assert tolerance_on(Tolerance(ulp=3), "gpu") == Tolerance(ulp=3)


def test_what_is_measured_is_a_number_of_bits() -> None:
    if not GpuDevice.available():
        pytest.skip("no GPU")
    # Vulkan demands 4 bits at least
    assert 2.0**-16 <= blending_error("gpu") <= 2.0**-4
    assert blending_error("cpu") == blending_error("interp") == blending_error("gpu via hercules") == 0


def test_assert_agrees_takes_blends(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tinct.load("""
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = 1; }""").kernel()

    def check(devices: list[str], expected: float) -> None:
        bound = Tolerance(absolute=1e-6, blends=1)
        given = {"out": np.zeros(1, np.float32)}
        assert_agrees(kernel, given, threads=1, devices=devices, tolerance=bound, expected={"out": [expected]})

    with pytest.raises(AssertionError, match="1 of 1 differ"):
        check(["cpu"], 1 + STEP)
    if GpuDevice.available():
        monkeypatch.setattr(blending, "_measured", lambda adapter: STEP)
        check(["gpu"], 1 + STEP)
        with pytest.raises(AssertionError, match="1 of 1 differ"):
            check(["gpu"], 1 + 2 * STEP)
