"""A slice of the campaign of random kernels; the whole is `python -m tests.differential`."""

from __future__ import annotations

import pytest

from .campaign import check_seed

FOUND_FAULTS = (58, 98, 1017, 1025, 1126, 1158, 1177, 1285)
"""Seeds whose kernels once could not be scheduled."""


@pytest.mark.parametrize("seed", [*range(40), *FOUND_FAULTS])
def test_tiers_agree(seed: int) -> None:
    problem = check_seed(seed, ("interp", "hercules", "cpu"))
    assert problem is None, f"{problem.message}\n{problem.wgsl}"
