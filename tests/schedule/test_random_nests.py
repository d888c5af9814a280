"""Random points of random nests give what the definition gives: whole numbers bit for bit."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import pytest

from tinct.tuning.allowance import Allowance

from .campaign import Expected, check_search, check_seed


@pytest.mark.parametrize("seed", range(16))
def test_random_points(seed: int) -> None:
    checked = check_seed(seed, ("interp", "cpu") if seed % 4 < 2 else ("interp",), most=2)
    assert checked.points > 0
    assert not checked.problems, "\n".join(f"{it.message}\n{it.nest}{it.point}" for it in checked.problems)


@pytest.mark.parametrize("seed", range(1000, 1008))
def test_searches_on_other_machines(seed: int) -> None:
    checked = check_search(seed, ("cpu",))
    assert checked.points > 0
    assert not checked.problems, "\n".join(f"{it.message}\n{it.nest}{it.point}" for it in checked.problems)


def test_differences() -> None:
    """Of whole numbers and what is not rounded there is none, of floats as much as operations round."""
    outputs = {"y": np.float32([1000, 1]), "n": np.int32([3])}
    expected = Expected(outputs, cast("Allowance", Allowed()))
    assert not list(expected.differences({"y": np.float32([1000.05, 1]), "n": np.int32([3])}))
    (found,) = expected.differences({"y": np.float32([1000, 1.01]), "n": np.int32([3])})
    assert found.startswith("y: 1 of 2 differ, first [1]: expected 1.0")
    (found,) = expected.differences({"y": np.float32([np.nan, 1]), "n": np.int32([3])})
    assert found.startswith("y: 1 of 2 differ")
    (found,) = expected.differences({"y": outputs["y"], "n": np.int32([4])})
    assert found.startswith("n: 1 of 1 differ")


class Allowed:
    def of(self, output: str) -> npt.NDArray[np.float64] | None:
        return np.array([0.1, 0.001]) if output == "y" else None
