"""A slice of the campaign of random kernels; the whole is `python -m tests.differential`."""

from __future__ import annotations

import pytest

from .campaign import check_seed


@pytest.mark.parametrize("seed", range(40))
def test_tiers_agree(seed: int) -> None:
    problem = check_seed(seed, ("interp", "hercules", "cpu"))
    assert problem is None, f"{problem.message}\n{problem.wgsl}"
