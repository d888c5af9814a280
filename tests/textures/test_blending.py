"""How exactly a device blends is measured by the weights that it tells apart."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from tinct.backend.gpu import GpuDevice
from tinct.blending import Blending, blending, measured_on, ramp_error

from .simulated_filters import H200, simulate, simulate_h200

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


def test_what_is_measured_of_filters_that_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter is exact, and so only as good as the number of samples."""
    assert measured_on("interp", 513) == Blending(2.0**-9, 0.0)
    with monkeypatch.context() as patch:
        simulate_h200(patch)
        found = measured_on("interp", 513)
        assert found.place == H200.place
        assert 0.95 * H200.product < found.product <= H200.product
    with monkeypatch.context() as patch:
        simulate(patch, math.floor, STEP)
        assert measured_on("interp", 513) == Blending(STEP, 0.0)
        simulate(patch, math.floor, STEP, math.floor)
        found = measured_on("interp", 513)
        assert found.place == STEP
        assert 0.9 * STEP < found.product <= STEP


def test_what_is_measured_is_a_number_of_bits() -> None:
    if not GpuDevice.available():
        pytest.skip("no GPU")
    # Vulkan demands 4 bits at least
    found = blending("gpu")
    assert 2.0**-16 <= found.place <= 2.0**-4
    assert 0 <= found.product <= found.place
    assert blending("cpu") == blending("interp") == blending("gpu via hercules") == Blending()
