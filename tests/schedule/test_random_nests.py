"""Random points of random nests give what the definition gives: whole numbers bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from .campaign import agrees, check_search, check_seed


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


def test_what_agrees() -> None:
    """Floats are compared by the largest one, whole numbers exactly."""
    large = np.float32([1000, 1])
    assert agrees(large + np.float32(0.05), large)
    assert not agrees(large + 1, large)
    assert not agrees(np.float32([1000, np.nan]), large)
    assert not agrees(np.int32([1000, 2]), np.int32([1000, 1]))
