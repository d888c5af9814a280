"""Checking one random kernel on several devices, and on each tier of the CPU."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from tinct.backend.cpu import CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

from .generate import Generator

TIERS: tuple[Tier, ...] = get_args(Tier)
HERE = ("interp", "hercules", *TIERS)
"""What needs no GPU."""
Arrays = Mapping[str, npt.NDArray[Any]]


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


def difference(wgsl: str, buffers: Arrays, workgroups: int, devices: Sequence[str]) -> str | None:
    """Where the first device's answer and another's part, if they do."""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    first, *others = devices
    expected = run_on(kernel, buffers, (workgroups, 1, 1), first)
    for device in others:
        actual = run_on(kernel, buffers, (workgroups, 1, 1), device)
        for name, array in expected.items():
            bad = np.flatnonzero(array != actual[name])
            if bad.size:
                at = int(bad[0])
                return f"{name}[{at}] is {array.flat[at]} on {first}, {actual[name].flat[at]} on {device}"
    return None


def run_on(kernel: Kernel, buffers: Mapping[str, Any], workgroups: tuple[int, int, int], device: str) -> Arrays:
    """The outputs of a kernel on a device, or on one tier of the CPU."""
    for tier in TIERS:
        if tier == device:
            code = compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))
            packed = pack_buffers(kernel.bindings, buffers)
            code.run([packed[it.point] for it in code.slots], workgroups)
            return unpack_buffers(kernel.bindings, packed, buffers)
    return kernel.run(buffers, workgroups=workgroups, device=device)
