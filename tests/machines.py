"""Machines that nobody here has. What things cost decides which code is made; all of it must be right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from random import Random
from unittest.mock import patch

from tests.cpu.levels import available

from tinct.backend.cpu.machine import AccessCosts, Cache, Copying, MachineCosts, adopt_costs, costs_so_far, kept
from tinct.base.records import replace
from tinct.tuning.rates import ASSUMED, CacheRate, Rates

_MOST = 16.0
"""A cost is at most this many times what the table says, and at least that part of it."""
_FIRST_CACHES = (16 << 10, 32 << 10, 48 << 10, 128 << 10)
_GROWTHS = (8, 16, 64)


@contextmanager
def machine(seed: int | None) -> Iterator[str]:
    """Code is for a machine of which a seed says how fast operations, caches and memory are, with some level of vectors
    unless the environment names one. Without a seed it is for this machine. Yields what to say of the machine.
    """
    if seed is None:
        yield "this machine"
        return
    random, levels = Random(seed), ["native", *available()]
    level = os.environ.get("TINCT_CPU_TARGET") or random.choice(levels)
    with patch.dict(kept._found), patch.dict(os.environ):  # pyright: ignore[reportPrivateUsage]
        for each in levels:
            os.environ["TINCT_CPU_TARGET"], os.environ["TINCT_CPU_COSTS"] = each, "table"
            costs = random_costs(random, costs_so_far())
            os.environ["TINCT_CPU_COSTS"] = "measured"
            adopt_costs(costs)
        os.environ["TINCT_CPU_TARGET"] = level
        yield f"machine {seed}, {level}"


def random_costs(random: Random, known: MachineCosts) -> MachineCosts:
    """Costs that have nothing to do with each other, each some times more or less than what is known."""
    other, sizes = partial(_other, random), _cache_sizes(random, random.randint(1, 3))
    access = {it.name: getattr(known.access, it.name) for it in fields(AccessCosts)}
    copied = [sizes[0] << (2 * step) for step in range(random.randint(0, 8))]
    copies = [tuple(Copying(it, other(20.0), other(20.0)) for it in copied) for _ in range(2)]
    return replace(
        known,
        source="measured",
        access=AccessCosts(**{name: cost and other(cost) for name, cost in access.items()}),
        caches=tuple(Cache(level, size, other(100.0)) for level, size in enumerate(sizes, start=1)),
        bandwidth=other(20.0),
        wake_up=random.choice((0.0, other(1e-4))),
        copies=copies[0],
        copies_apart=copies[1],
    )


def random_rates(random: Random) -> Rates:
    """Rates that a search may find on some device, each some times more or less than what is assumed of one that cannot
    be measured.
    """
    other = partial(_other, random)

    def none_or(value: float) -> float:
        return random.choice((0.0, other(value)))

    memory = other(ASSUMED.memory)
    return Rates(
        memory=memory,
        cached=max(memory, other(ASSUMED.cached)),
        operations=other(ASSUMED.operations),
        units=random.choice((1, 2, 8, 64, 132)),
        lanes=random.choice((4, 8, 16, 32)),
        registers=random.choice((16, 32, 64, 255)),
        launch=other(ASSUMED.launch),
        gather=other(ASSUMED.gather),
        load=other(ASSUMED.load),
        barrier=none_or(ASSUMED.barrier),
        workgroup=other(ASSUMED.workgroup),
        page=none_or(ASSUMED.page),
        caches=tuple(CacheRate(it, other(1e11)) for it in _cache_sizes(random, random.randint(0, 3))),
        spreads=random.random() < 0.3,
        latency=none_or(1e-7),
        is_software=random.random() < 0.2,
        of_four=other(ASSUMED.of_four),
        fused=none_or(ASSUMED.operations),
    )


def _other(random: Random, value: float) -> float:
    return value * _MOST ** random.uniform(-1, 1)


def _cache_sizes(random: Random, count: int) -> list[int]:
    sizes = [random.choice(_FIRST_CACHES)]
    while len(sizes) < count:
        sizes.append(sizes[-1] * random.choice(_GROWTHS))
    return sizes[:count]
