"""A slice of the campaign of random kernels; the whole is `python -m tests.differential`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .campaign import HERE, check_seed, difference

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.wgsl"))
"""Random kernels, of 8 invocations, that once could not be scheduled."""


@pytest.mark.parametrize("seed", range(30))
def test_devices_and_tiers_agree(seed: int) -> None:
    problem = check_seed(seed, HERE)
    assert problem is None, f"{problem.message}\n{problem.wgsl}"


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_found_faults(path: Path) -> None:
    random = np.random.default_rng(int(path.stem))
    buffers = {
        "out": np.zeros(16, np.uint32),
        "data": random.integers(0, 2**32, 8, dtype=np.uint32) >> random.integers(0, 32, 8, dtype=np.uint32),
        "n": np.full((), random.integers(0, 4), np.uint32),
        "totals": np.zeros(4, np.uint32),
    }
    assert difference(path.read_text(encoding="utf-8"), buffers, 2, HERE) is None
