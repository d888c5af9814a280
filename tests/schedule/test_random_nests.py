"""Random points of random nests give what the definition gives, bit for bit."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tinct import InputError
from tinct.ir.core.verifier import verify

from .random_nests import random_decisions, random_sample

TRIES = 250


def legal_points(seed: int, most: int) -> int:
    sample, random = random_sample(seed), Random(seed)
    expected = sample.nest.run(sample.arrays, sizes=sample.sizes)
    count = 0
    for number in range(TRIES):
        sizes = sample.sizes if random.random() < 0.4 else None
        try:
            point = sample.nest.lower(random_decisions(sample, random), sizes=sizes)
        except InputError as error:
            assert str(error).startswith("decisions: ")  # noqa: PT017 (no other error may come)
            continue
        verify(point.core)
        device = "cpu" if number % 16 == 0 and seed % 4 == 0 else "interp"
        results = point.run(sample.arrays, sizes=sample.sizes, device=device)
        for name, array in expected.items():
            assert np.array_equal(results[name], array), f"{sample.nest}\n{point.wgsl}"
        count += 1
        if count == most:
            break
    return count


@pytest.mark.parametrize("seed", range(12))
def test_random_points(seed: int) -> None:
    assert legal_points(seed, most=2) > 0
