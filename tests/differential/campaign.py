"""Checking one random kernel on several devices."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinct.ir.source import Source
from tinct.shader import Shader

from .generate import LANES, Generator

WORKGROUPS = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """A kernel on which devices differ, or fail."""

    seed: int
    message: str
    wgsl: str


def check_seed(seed: int, devices: Sequence[str]) -> Problem | None:
    """The first difference between the devices on the kernel of a seed."""
    wgsl = Generator(seed).kernel()
    try:
        message = _difference(wgsl, seed, devices)
    except Exception:  # a campaign goes on whatever a stage raises
        message = traceback.format_exc(limit=-4)
    return None if message is None else Problem(seed, message, wgsl)


def _difference(wgsl: str, seed: int, devices: Sequence[str]) -> str | None:
    kernel = Shader(Source.from_text(wgsl)).kernel()
    random = np.random.default_rng(seed)
    buffers = {
        "out": np.zeros(WORKGROUPS * LANES, np.uint32),
        "data": random.integers(0, 2**32, LANES, dtype=np.uint32) >> random.integers(0, 32, LANES, dtype=np.uint32),
        "n": np.uint32(random.integers(0, 4)),
        "totals": np.zeros(4, np.uint32),
    }
    first, *others = devices
    expected = kernel.run(buffers, workgroups=WORKGROUPS, device=first)
    for device in others:
        actual = kernel.run(buffers, workgroups=WORKGROUPS, device=device)
        for name, array in expected.items():
            bad = np.flatnonzero(array != actual[name])
            if bad.size:
                at = int(bad[0])
                return f"{name}[{at}] is {array[at]} on {first}, {actual[name][at]} on {device}"
    return None
