"""Checking one random kernel on several devices."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tinct.ir.source import Source
from tinct.shader import Shader

from .generate import Generator


@dataclass(frozen=True, slots=True)
class Problem:
    """A kernel on which devices differ, or fail."""

    seed: int
    message: str
    wgsl: str


def check_seed(seed: int, devices: Sequence[str]) -> Problem | None:
    """The first difference between the devices on the kernel of a seed."""
    generator = Generator(seed)
    wgsl = generator.kernel()
    try:
        message = difference(wgsl, generator.buffers(), generator.workgroups, devices)
    except Exception:  # a campaign goes on whatever a stage raises
        message = traceback.format_exc(limit=-4)
    return None if message is None else Problem(seed, message, wgsl)


def difference(
    wgsl: str, buffers: Mapping[str, npt.NDArray[Any]], workgroups: int, devices: Sequence[str]
) -> str | None:
    """Where the first device's answer and another's part, if they do."""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    first, *others = devices
    expected = kernel.run(buffers, workgroups=workgroups, device=first)
    for device in others:
        actual = kernel.run(buffers, workgroups=workgroups, device=device)
        for name, array in expected.items():
            bad = np.flatnonzero(array != actual[name])
            if bad.size:
                at = int(bad[0])
                return f"{name}[{at}] is {array.flat[at]} on {first}, {actual[name].flat[at]} on {device}"
    return None
