"""Random points of random nests, compared with what the definition gives."""

from __future__ import annotations

import os
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from tests.machines import machine, random_rates

from tinct import InputError, TinctError
from tinct.ir.core.verifier import verify
from tinct.nests import LoweredNest
from tinct.tuning import nest_tuning
from tinct.tuning.rejected import failed
from tinct.tuning.trial_data import TrialData, small_sizes

from .random_nests import Sample, random_decisions, random_sample

MOST_TRIES = 250
"""Random decisions for one nest, of which most are illegal for some nests."""
ALLOWED = 1e-4
"""Floats may differ by this share of the largest result: sums and products in parts are rounded in other places."""
TIERS = ("gang", "gang", "lane", "auto")
"""The tiers of the CPU's code, most often that which does most."""
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A point whose results are wrong on a device, or that fails there."""

    seed: int
    message: str
    nest: str
    point: str


@dataclass(frozen=True, slots=True)
class Checked:
    """How many points were compared for a seed, and what was found."""

    points: int
    problems: tuple[Problem, ...]


def check_seed(seed: int, devices: Sequence[str], most: int) -> Checked:
    """Compare up to `most` points of the nest of a seed: of f32 for each other seed, else of whole numbers. On the CPU
    each is compiled for some machine and some tier, unless the environment names the vectors and the tier.
    """
    random = Random(seed)
    sample = random_sample(seed, "f32" if seed % 2 else "i32")
    expected = sample.nest.run(sample.arrays, sizes=sample.sizes)
    points, problems = 0, list[Problem]()
    for _ in range(MOST_TRIES):
        decisions = random_decisions(sample, random)
        sizes = sample.sizes if random.random() < 0.4 else None
        try:
            lowered = sample.nest.lower(decisions, sizes=sizes, reassociate=True)
        except InputError as error:
            assert str(error).startswith("decisions: "), error  # noqa: PT017 (no other error may come)
            continue
        points += 1
        tier = {"TINCT_CPU_TIER": random.choice(TIERS)}
        with machine(random.randrange(1 << 16)) as here, patch.dict(os.environ, {**tier, **os.environ}):
            code = f"{here}, {os.environ['TINCT_CPU_TIER']}"
            message = first_difference(lowered, sample, expected, devices, code)
        if message is not None:
            problems.append(Problem(seed, message, str(sample.nest), decisions))
        if points == most:
            break
    return Checked(points, tuple(problems))


def check_search(seed: int, devices: Sequence[str]) -> Checked:
    """Tune the nest of a seed on each device, on a machine whose speeds are random, for a second. What it returns must
    be right, and no point may fail in the compiler. Of nests that do not round, no point may be wrong, and some are
    contracted: in others large values may cancel, of which other orders differ by more than a search takes for right.
    """
    random = Random(seed)
    sample = random_sample(seed, "f32" if seed % 2 else "i32")
    expected = sample.nest.run(sample.arrays, sizes=sample.sizes)
    nest = sample.nest.ir
    is_exact = all(TrialData(nest, it).amplitude is not None for it in (sample.sizes, *small_sizes(nest)))
    rates, contract = random_rates(random), is_exact and random.random() < 0.3
    points, problems = 0, list[Problem]()
    for device in devices:
        with (
            machine(seed) as here,
            patch.object(nest_tuning, "rates_of", lambda _: rates),
            patch.object(nest_tuning, "rejecting", _rejecting),
        ):
            try:
                best = sample.nest.tune(
                    sample.sizes, device=device, seconds=1, seed=seed, reassociate=True, contract=contract, renew=True
                )
            except Exception:  # a campaign goes on whatever a stage raises
                problems.append(Problem(seed, f"{device}, {here}: {traceback.format_exc()}", str(sample.nest), ""))
                continue
            found = best.run(sample.arrays)
        points += len(best.attempts)
        wrong = [(it.why, str(it.point)) for it in best.attempts if is_exact and it.status == "wrong"]
        wrong += [(f"{it} is wrong", str(best.decisions)) for it in expected if not agrees(found[it], expected[it])]
        problems += [Problem(seed, f"{device}, {here}: {why}", str(sample.nest), point) for why, point in wrong]
    return Checked(points, tuple(problems))


@contextmanager
def _rejecting() -> Generator[None]:
    """What costs a point in a search, but for bugs of the compiler."""
    try:
        yield
    except TinctError as error:
        raise failed(error) from None


def first_difference(
    lowered: LoweredNest, sample: Sample, expected: Arrays, devices: Sequence[str], code: str
) -> str | None:
    """Where the first device is wrong. `code` says what the CPU's code is for."""
    for device in devices:
        try:
            verify(lowered.core)
            found = lowered.run(sample.arrays, sizes=sample.sizes, device=device)
        except Exception:  # a campaign goes on whatever a stage raises
            return f"{device}, {code}: {traceback.format_exc(limit=-4)}"
        for name, array in expected.items():
            if not agrees(found[name], array):
                return f"{device}, {code}: {name} is {found[name].tolist()}, not {array.tolist()}"
    return None


def agrees(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> bool:
    """Whether results are equal, or floats are near each other."""
    if expected.dtype != np.float32:
        return np.array_equal(found, expected)
    most = float(np.abs(expected.astype(np.float64)).max(initial=1.0))
    return bool(np.allclose(found.astype(np.float64), expected.astype(np.float64), rtol=ALLOWED, atol=ALLOWED * most))
