"""Random points of random nests, compared with what the definition gives."""

from __future__ import annotations

import os
import traceback
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import numpy.typing as npt
from tests.machines import machine, random_rates

from tinct import InputError, TinctError
from tinct.compare import EXACT, compare
from tinct.ir.core.verifier import verify
from tinct.ir.schedule.interp import run
from tinct.nests import LoweredNest
from tinct.tuning import nest_tuning
from tinct.tuning.allowance import Allowance
from tinct.tuning.rejected import failed

from .random_nests import Sample, random_decisions, random_sample

MOST_TRIES = 250
"""Random decisions for one nest, of which most are illegal for some nests."""
TIERS = ("gang", "gang", "lane", "auto")
"""The tiers of the CPU's code, most often that which does most."""
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Expected:
    """What the definition gives, and how far other orders of operations may be off."""

    outputs: Arrays
    allowance: Allowance

    def differences(self, found: Arrays) -> Iterator[str]:
        """The outputs that are wrong: sentences."""
        for name, array in self.outputs.items():
            allowed = self.allowance.of(name)
            comparison = compare(array, found[name], EXACT, None if allowed is None else {(): allowed})
            if not comparison.agrees:
                yield f"{name}: {comparison}, {found[name].tolist()}, not {array.tolist()}"


def expected_of(sample: Sample) -> Expected:
    """What the nest of a sample must give."""
    outputs = sample.nest.run(sample.arrays, sizes=sample.sizes)
    return Expected(outputs, Allowance(sample.nest.ir, "gpu", lambda it: run(it, sample.arrays, sample.sizes)))


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
    expected = expected_of(sample)
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
    """Tune the nest of a seed on each device, on a machine whose speeds are random, for a second; some are contracted.
    What it returns must be right, no point may be wrong, and none may fail in the compiler.
    """
    random = Random(seed)
    sample = random_sample(seed, "f32" if seed % 2 else "i32")
    expected = expected_of(sample)
    rates, is_contracted = random_rates(random), random.random() < 0.3
    points, problems = 0, list[Problem]()
    for device in devices:
        contract = is_contracted and device == "cpu"
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
        wrong = [(it.why, str(it.point)) for it in best.attempts if it.status == "wrong"]
        wrong += [(it, str(best.decisions)) for it in expected.differences(found)]
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
    lowered: LoweredNest, sample: Sample, expected: Expected, devices: Sequence[str], code: str
) -> str | None:
    """Where the first device is wrong. `code` says what the CPU's code is for."""
    for device in devices:
        try:
            verify(lowered.core)
            found = lowered.run(sample.arrays, sizes=sample.sizes, device=device)
        except Exception:  # a campaign goes on whatever a stage raises
            return f"{device}, {code}: {traceback.format_exc(limit=-4)}"
        for difference in expected.differences(found):
            return f"{device}, {code}: {difference}"
    return None
